// Tests of the golden checkpoints, tests/golden/runs/VERSION/checkpoint, which all later versions must be able to read.
// Three ranks on two nodes (two shard files) wrote each of them. `python3 tests/golden/record.py BUILD` writes the one of
// the current version by the test case [golden-write], which refuses to overwrite an existing one. If the version of the
// format changes, do not change existing folders: state in the tests how trainrt handles them.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/layout.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/load/verify.hpp"
#include "core/version.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

const std::string golden_runs = TRAINRT_SOURCE_DIR "/tests/golden/runs";

/// Returns the folders of the golden checkpoints of all versions.
std::vector<std::string> golden_folders() {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(golden_runs)) folders.push_back(entry.path() / "checkpoint");
  return folders;
}

constexpr int writers = 3;

/// Returns byte k of an entry. Does not use a library, so that the bytes never change.
std::byte golden_byte(std::size_t entry, std::size_t k, DType dtype, int rank) {
  const auto value = 37 * entry + 11 * k + k / 251 + 5 * static_cast<std::size_t>(rank) + 1;
  return static_cast<std::byte>(dtype == DType::boolean ? value & 1 : value & 0xff);
}

/// The state of one rank of the golden run: all dtypes, placements and kinds of values, several slabs, and files.
class Golden {
 public:
  Golden(int rank, int ranks, const std::string& folder) {
    for (const char* name : {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i64", "i32", "i16", "i8", "u8", "bool"})
      add({"whole/" + std::string(name), dtype_from(name), {3, 5}}, rank, ranks);
    for (const char* name : {"f32", "bf16", "bool"})
      add({"split/" + std::string(name), dtype_from(name), {7, 3}, Placement::sharded, 0}, rank, ranks);
    add({"columns", DType::i32, {2, 9, 2}, Placement::sharded, 1}, rank, ranks);
    for (const char* name : {"f64", "i16"})
      add({"own/" + std::string(name), dtype_from(name), {2, 2}, Placement::per_rank}, rank, ranks);
    add({"scalar", DType::f64, {}}, rank, ranks);
    add({"empty", DType::f32, {0, 4}}, rank, ranks);
    add({"größer", DType::u8, {5000}}, rank, ranks);
    add_pieces(rank, ranks);
    state.value("epoch", epoch);
    state.value("steps", steps);
    state.value("loss", loss);
    state.value("done", done);
    state.value("note", note);
    state.value("nothing", nothing);
    state.file("vocabulary.txt", folder + "/vocabulary.txt");
    state.file("log", folder + "/log-" + std::to_string(rank)).per_rank();
  }
  Golden(const Golden&) = delete;

  void fill() {
    for (auto& part : parts_) part.bytes = part.expected;
    epoch = -7;
    steps = std::int64_t{1} << 60;
    loss = 0.1;
    done = true;
    note = "größe 7";
    nothing.clear();
  }

  std::string difference() const {
    for (const auto& part : parts_)
      if (part.bytes != part.expected) return part.name;
    const bool values =
        epoch == -7 && steps == std::int64_t{1} << 60 && loss == 0.1 && done && note == "größe 7" && nothing.empty();
    return values ? "" : "values";
  }

  State state;
  std::int32_t epoch = 0;
  std::int64_t steps = 0;
  double loss = 0;
  bool done = false;
  std::string note = "?";
  std::string nothing = "?";

 private:
  struct Held {
    std::string name;
    std::vector<std::byte> bytes, expected;
  };

  /// Adds memory for a box of a tensor, and the bytes that a load must write to it.
  Held& hold(const std::string& name, DType dtype, const Shape& global, const Shape& offset, const Shape& shape,
             int source) {
    auto& held = parts_.emplace_back();
    held.name = name;
    const auto count = static_cast<std::size_t>(element_count(shape));
    for (std::size_t element = 0; element < count; ++element) {
      std::size_t in_whole = 0, step = 1, rest = element;
      for (auto axis = shape.size(); axis-- > 0;) {
        in_whole += (rest % static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(offset[axis])) * step;
        rest /= static_cast<std::size_t>(shape[axis]);
        step *= static_cast<std::size_t>(global[axis]);
      }
      for (std::size_t byte = 0; byte < size_of(dtype); ++byte)
        held.expected.push_back(golden_byte(entry_, in_whole * size_of(dtype) + byte, dtype, source));
    }
    held.bytes.assign(held.expected.size(), std::byte{0x5a});
    return held;
  }

  void add(const Spec& spec, int rank, int ranks) {
    ++entry_;
    Shape offset(spec.shape.size(), 0);
    Shape local = spec.shape;
    const auto axis = static_cast<std::size_t>(spec.axis);
    if (spec.placement == Placement::sharded) {
      const auto part = part_of(spec.shape[axis], rank, ranks);
      offset[axis] = part.first;
      local[axis] = part.count;
    }
    auto& held =
        hold(spec.name, spec.dtype, spec.shape, offset, local, spec.placement == Placement::per_rank ? rank % writers : 0);
    auto& entry = state.tensor(spec.name, TensorView{held.bytes.data(), spec.dtype, local});
    if (spec.placement == Placement::sharded) entry.sharded(spec.axis, offset[axis], spec.shape[axis]);
    if (spec.placement == Placement::per_rank) entry.per_rank();
  }

  /// Adds six boxes that tile a matrix, distributed over the ranks.
  void add_pieces(int rank, int ranks) {
    ++entry_;
    for (std::int64_t box = 0; box < 6; ++box) {
      if (box % ranks != rank) continue;
      const Shape offset{2 * (box / 3), 2 * (box % 3)};
      auto& held = hold("pieces", DType::i64, {4, 6}, offset, {2, 2}, 0);
      state.slab("pieces", TensorView{held.bytes.data(), DType::i64, {2, 2}}, offset, {4, 6});
    }
  }

  std::size_t entry_ = 0;
  std::deque<Held> parts_;
};

std::string log_of(int rank) { return "the log of rank " + std::to_string(rank) + "\n"; }

}  // namespace

TEST_CASE("write the golden checkpoint", "[.][golden-write]") {
  const auto golden_run = golden_runs + "/" + version + "/checkpoint";
  REQUIRE_FALSE(io::exists(golden_run));
  std::filesystem::create_directories(golden_run);
  Scratch own;
  io::write_file(own / "vocabulary.txt", "ein\nzwei\n");
  for (int rank = 0; rank < writers; ++rank) io::write_file(own / ("log-" + std::to_string(rank)), log_of(rank));
  Findings findings;
  run_ranks(writers, [&](Communicator& communicator) {
    Golden golden(communicator.rank(), communicator.size(), own.path());
    golden.fill();
    auto save = options_for(golden_run, 7);
    save.saver.file_of_rank = checkpoint::files_of_ranks(FileLayout::node, std::array{0, 0, 1});
    save.meta.metrics = {{"loss", 0.25}, {"accuracy", std::numeric_limits<double>::quiet_NaN()}};
    save.meta.metadata = R"({"by":"golden","tags":[1,"zwei",null]})";
    findings.add(save_now(golden.state, save, communicator).error);
  });
  io::remove_tree(golden_run + "/.attempt-1");
  REQUIRE(findings.take() == std::vector<std::string>{});
}

namespace {

/// Loads the golden checkpoint of a run directory on `ranks` ranks and checks its content and metadata.
void check_load(const std::string& golden_run, int ranks) {
  INFO(golden_run << " on " << ranks << " ranks");
  Scratch own;
  Findings findings;
  std::optional<checkpoint::LoadResult> result;
  run_ranks(ranks, [&](Communicator& communicator) {
    Golden golden(communicator.rank(), communicator.size(), own.path());
    auto loaded = checkpoint::load_latest(golden.state, golden_run, communicator);
    findings.add(golden.difference());
    if (io::read_file(own / ("log-" + std::to_string(communicator.rank()))) != log_of(communicator.rank() % writers))
      findings.add("log");
    if (communicator.rank() == 0) result = std::move(loaded);
  });
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK(io::read_file(own / "vocabulary.txt") == "ein\nzwei\n");
  REQUIRE(result);
  CHECK(result->skipped == std::vector<std::string>{});
  CHECK(result->notes == std::vector<std::string>{});
  const auto& meta = result->meta;
  CHECK(meta.number == 7);
  CHECK(meta.iteration == 14);
  CHECK(meta.step == 700);
  CHECK(meta.ranks == writers);
  CHECK(meta.metadata == R"({"by":"golden","tags":[1,"zwei",null]})");
  CHECK(meta.metrics.at("loss") == 0.25);
  CHECK(std::isnan(meta.metrics.at("accuracy")));
}

}  // namespace

TEST_CASE("the golden checkpoint of each version loads bit for bit on any number of ranks") {
  for (const auto& golden_run : golden_folders()) {
    const auto directory = golden_run + "/checkpoint_000007";
    CHECK(checkpoint::verify(directory) == std::vector<std::string>{});
    CHECK(checkpoint::unlisted_files(directory) == std::vector<std::string>{});
    for (const int ranks : {1, 2, 3, 4}) check_load(golden_run, ranks);
  }
}

TEST_CASE("the golden checkpoint of each version has exactly the files of its format") {
  const auto folders = golden_folders();
  CHECK(std::ranges::count(folders, golden_runs + "/" + version + "/checkpoint") == 1);
  for (const auto& golden_run : folders) {
    const auto manifest = checkpoint::read_manifest(golden_run + "/checkpoint_000007");
    REQUIRE(manifest.shards.size() == 2);
    CHECK(manifest.shards[0].parts.size() == 2);
    CHECK(manifest.shards[1].parts.size() == 1);
    CHECK(manifest.files.size() == 1 + writers);
  }
}
