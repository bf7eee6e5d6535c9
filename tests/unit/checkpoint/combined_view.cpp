#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "checkpoint/save/combined_view.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"
#include "support/cpp/skip.hpp"

using namespace trainrt;
using namespace trainrt::test;
namespace fs = std::filesystem;

namespace {

/// Runs a shell command. Returns its output and whether it succeeded.
std::pair<std::string, bool> run_shell(const std::string& command) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) output += static_cast<char>(c);
  return {output, pclose(pipe) == 0};
}

bool have(const std::string& command) {
  if (run_shell(command).second) return true;
  test::skip("reading a checkpoint with other tools: '" + command + "' does not work here");
  return false;
}

void write_reference(const Scratch& directory, const Model& model, std::uint64_t seed, int writers) {
  std::ofstream list(directory / "list");
  for (std::size_t i = 0; i < model.specs().size(); ++i) {
    const auto& spec = model.specs()[i];
    const auto copies = spec.placement == Placement::per_rank ? writers : 1;
    std::ofstream file(directory / std::to_string(i), std::ios::binary);
    for (int rank = 0; rank < copies; ++rank) file << whole_bytes(spec, seed, rank);
    Shape shape = spec.shape;
    if (spec.placement == Placement::per_rank) shape.insert(shape.begin(), writers);
    list << i << "\t" << spec.name << "\t" << name_of(spec.dtype) << "\t" << to_string(shape) << "\n";
  }
}

const char* const script = R"py(
import sys, json, numpy as np, h5py
view, reference = sys.argv[1:]
f = h5py.File(view, 'r')
kinds = {'f64': '<f8', 'f32': '<f4', 'f16': '<f2', 'i64': '<i8', 'i32': '<i4', 'i16': '<i2', 'i8': 'i1', 'u8': 'u1', 'bool': '?'}
count = 0
for line in open(reference + '/list', encoding='utf-8'):
    i, name, dtype, shape = line.rstrip('\n').split('\t')
    shape = tuple(json.loads(shape))
    raw = open(reference + '/' + i, 'rb').read()
    d = f[name]
    assert d.shape == shape, (name, d.shape, shape)
    got = d[()]
    if dtype.startswith('f8'):  # numpy has none: h5py gives float16
        assert d.dtype == np.dtype('<f2') and np.asarray(got).size == len(raw), (name, d.dtype)
    elif dtype == 'bf16':   # numpy has none: h5py gives float32, which holds every bf16
        bits = np.frombuffer(raw, '<u2').astype('<u4') << 16
        want = bits.view('<f4').reshape(shape)
        assert d.dtype == np.dtype('<f4'), (name, d.dtype)
        assert np.array_equal(got, want, equal_nan=True), name
    else:
        assert d.dtype == np.dtype(kinds[dtype]), (name, d.dtype)
        assert np.asarray(got).tobytes() == raw, name
    assert d.attrs.get('placement', b'whole') in (b'whole', b'sharded', b'per_rank'), name
    count += 1
assert f['epoch'][()] == -7 and f['steps'][()] == 2**60 + 7 and np.isnan(f['loss'][()])
assert f['done'].dtype == bool and f['done'][()]
assert f['note'].asstr()[()].startswith('größe 7'), f['note'][()]
assert f['nothing'].asstr()[()] == ''
assert f['note'].attrs['placement'] == b'value'
print('compared', count)
)py";

}  // namespace

TEST_CASE("h5py reads every tensor and value of a sharded checkpoint by name, from any directory, also after a move") {
  if (!have("/usr/bin/python3 -c 'import h5py'")) return;
  Scratch run;
  Scratch reference;
  REQUIRE(save_on(3, every_kind(), run / "", 4, 7).committed);
  write_reference(reference, Model(every_kind(), 0, 1), 7, 3);
  std::ofstream(reference / "compare.py") << script;
  const auto compare = [&](const std::string& directory) {
    return run_shell("cd / && /usr/bin/python3 '" + (reference / "compare.py") + "' '" + directory + "/state.h5' '" +
                     reference.path() + "'");
  };
  const auto expected = "compared " + std::to_string(every_kind().size()) + "\n";
  CHECK(compare(run / "checkpoint_000004").first == expected);
  fs::create_directory(run / "elsewhere");
  fs::rename(run / "checkpoint_000004", run / "elsewhere/my checkpoint");
  CHECK(compare(run / "elsewhere/my checkpoint").first == expected);
}

TEST_CASE("h5dump and h5ls show the combined view and every shard") {
  if (!have("h5dump --version")) return;
  Scratch run;
  REQUIRE(save_on(2, {{"model/w", DType::f32, {3}}, {"split", DType::i32, {5}, Placement::sharded, 0}}, run.path(), 0, 7)
              .committed);
  const auto directory = run / "checkpoint_000000";
  for (const auto& file : io::list_directory(directory)) {
    if (file == "manifest.json") continue;
    const auto [text, good] = run_shell("h5dump '" + directory + "/" + file + "'");
    INFO(text);
    CHECK(good);
  }
  const auto [dump, dumped] = run_shell("cd / && h5dump -p -d /split '" + directory + "/state.h5'");
  CHECK(dumped);
  CHECK_THAT(dump, Catch::Contains("VIRTUAL") && Catch::Contains("(0): "));
  const auto [list, listed] = run_shell("cd / && h5ls -rE '" + directory + "/state.h5'");
  CHECK(listed);
  CHECK_THAT(list, Catch::Contains("/model/w") && Catch::Contains("/split") && Catch::Contains("/epoch"));
}

TEST_CASE("a moved run can be restored") {
  Scratch place;
  fs::create_directory(place / "run");
  REQUIRE(save_on(3, every_kind(), place / "run", 0, 7).committed);
  fs::rename(place / "run", place / "renamed");
  CHECK(load_on(2, every_kind(), place / "renamed", 7, 3).differences == std::vector<std::string>{});
}

TEST_CASE("elements of a missing shard read as NaN in the combined view") {
  if (!have("/usr/bin/python3 -c 'import h5py'")) return;
  Scratch run;
  REQUIRE(save_on(2, {{"w", DType::f32, {4}, Placement::sharded, 0}, {"h", DType::bf16, {4}, Placement::sharded, 0}},
                  run.path(), 0, 7)
              .committed);
  fs::remove(run / "checkpoint_000000/shard-00001.h5");
  const auto [text, good] =
      run_shell("/usr/bin/python3 -c \"import h5py, numpy; f = h5py.File('" + (run / "checkpoint_000000/state.h5") +
                "', 'r'); print(numpy.isnan(f['w'][2:]).all(), numpy.isnan(f['h'][2:]).all())\"");
  CHECK(good);
  CHECK(text == "True True\n");
}

TEST_CASE("a checkpoint without a combined view loads, and its view is written with the same bytes") {
  Scratch run;
  REQUIRE(save_on(3, every_kind(), run.path(), 0, 7).committed);
  const auto directory = run / "checkpoint_000000";
  const auto view = io::read_file(directory + "/state.h5");
  fs::remove(directory + "/state.h5");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the view must not depend on the time
  const auto loaded = load_on(2, every_kind(), run.path(), 7, 3);
  CHECK(loaded.differences == std::vector<std::string>{});
  REQUIRE(loaded.result->notes.size() == 1);
  CHECK_THAT(loaded.result->notes.front(), Catch::Contains("state.h5"));
  io::make_directories(run / ".attempt-2");
  checkpoint::restore_view(directory, checkpoint::view_aside(run / ".attempt-2"));
  CHECK(checkpoint::verify(directory) == std::vector<std::string>{});
  CHECK((io::read_file(directory + "/state.h5") == view));
}
