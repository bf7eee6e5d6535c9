#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <span>
#include <thread>

#include "checkpoint/format/index.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/load/piece_reader.hpp"
#include "checkpoint/part.hpp"
#include "core/text/text.hpp"
#include "io/files/digest.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::vector<Spec> small{{"model/w", DType::f32, {30}},
                              {"split", DType::f64, {9, 2}, Placement::sharded, 0},
                              {"own", DType::i16, {4}, Placement::per_rank}};

void write_at(const std::string& path, std::uint64_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Changes the first index of a shard and updates all digests, as a writer with a bug would.
void tamper(const std::string& directory, std::size_t shard, const std::function<void(checkpoint::Index&)>& change) {
  auto manifest = checkpoint::read_manifest(directory);
  auto& record = manifest.shards[shard];
  auto& part = record.parts.front();
  auto index = checkpoint::index_from(checkpoint::read_part(directory, record, part), "shard");
  change(index);
  const auto text = checkpoint::index_text(index.rank, checkpoint::entries_text(index.tensors),
                                           checkpoint::entries_text(index.values), index.blocks, part.bytes);
  write_at(directory + "/" + record.name, part.at, text);
  part.digest = io::digest_of(std::string_view(text));
  fs::remove(directory + "/manifest.json");
  io::write_file(directory + "/manifest.json", checkpoint::to_text(manifest));
}

checkpoint::PartialResult load_from_on(int ranks, const std::vector<Spec>& specs, const std::string& path,
                                       const std::vector<std::string>& patterns,
                                       const std::function<void(Model&, int)>& look = {}) {
  checkpoint::PartialResult first;
  run_ranks(ranks, [&](Communicator& communicator) {
    Model model(specs, communicator.rank(), communicator.size());
    model.fill(99);
    auto result = checkpoint::load_from(model.state(), path, {patterns}, communicator);
    if (look) look(model, communicator.rank());
    if (communicator.rank() == 0) first = std::move(result);
  });
  return first;
}

}  // namespace

TEST_CASE("any slabs of a tensor load from any other slabs") {
  // A tensor of 6 x 8 is saved by 3 ranks in columns, and loaded by 2 ranks in four blocks each, in another order.
  Scratch run;
  const auto value_at = [](std::int64_t row, std::int64_t column) { return static_cast<float>(row * 8 + column); };
  run_ranks(3, [&](Communicator& communicator) {
    const auto part = part_of(8, communicator.rank(), 3);
    std::vector<float> columns;
    for (std::int64_t row = 0; row < 6; ++row)
      for (std::int64_t column = 0; column < part.count; ++column) columns.push_back(value_at(row, part.first + column));
    State state;
    state.slab("w", TensorView{columns.data(), DType::f32, {6, part.count}}, {0, part.first}, {6, 8});
    save_now(state, options_for(run.path(), 0), communicator);
  });
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    std::vector<std::vector<float>> blocks(4, std::vector<float>(6, -1));
    State state;
    for (std::int64_t i = 0; i < 4; ++i)
      state.slab("w", TensorView{blocks[static_cast<std::size_t>(i)].data(), DType::f32, {3, 2}},
                 {3 * communicator.rank(), 6 - 2 * i}, {6, 8});
    checkpoint::load_latest(state, run.path(), communicator);
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t n = 0; n < 6; ++n)
        if (blocks[static_cast<std::size_t>(i)][static_cast<std::size_t>(n)] !=
            value_at(3 * communicator.rank() + n / 2, 6 - 2 * i + n % 2))
          findings.add("block " + std::to_string(i));
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("tensors of several blocks load on any number of ranks") {
  Scratch run;
  const std::vector<Spec> large{{"whole", DType::f32, {5000, 1000}},
                                {"columns", DType::u8, {3000, 6001}, Placement::sharded, 1},
                                {"own", DType::f64, {300000}, Placement::per_rank}};
  REQUIRE(save_on(3, large, run.path(), 0, 4).committed);
  for (const int readers : {1, 2, 3, 4}) CHECK(load_on(readers, large, run.path(), 4, 3).differences.empty());
}

TEST_CASE("an invalid index with valid digests is detected by load, verify and PieceReader") {
  struct Case {
    std::string word;
    std::function<void(checkpoint::Index&)> change;
  };
  const std::vector<Case> cases{
      {"no block contains byte",
       [](checkpoint::Index& index) {
         index = {index.rank, {}, {}, {}};
       }},
      {"is outside the blocks", [](checkpoint::Index& index) { index.blocks.clear(); }},
      {"two blocks contain byte", [](checkpoint::Index& index) { index.blocks.push_back(index.blocks.front()); }},
      {"ends after the", [](checkpoint::Index& index) { index.blocks.back().bytes += 1; }},
      {"belongs to rank 5, not 0", [](checkpoint::Index& index) { index.rank = 5; }},
      {"'own' is a tensor of", [](checkpoint::Index& index) { index.tensors.back().name = "own"; }},
      {"instead of 1", [](checkpoint::Index& index) { index.values.push_back(index.values.front()); }},
      {"elements in its slabs",
       [](checkpoint::Index& index) {
         std::erase_if(index.tensors, [](const auto& entry) { return entry.name == "split"; });
       }},
      {"has 1 ranks instead of 2", [](checkpoint::Index& index) {
         std::erase_if(index.tensors, [](const auto& entry) { return entry.name == "own"; });
       }}};
  for (const auto& [word, change] : cases) {
    INFO(word);
    Scratch run;
    save_on(2, small, run.path(), 0, 1);
    save_on(2, small, run.path(), 1, 2);
    tamper(run / "checkpoint_000001", 0, change);
    for (const int readers : {1, 3}) {
      const auto loaded = load_on(readers, small, run.path(), 1, 2);
      CHECK(loaded.differences == std::vector<std::string>{});
      REQUIRE(loaded.result->skipped.size() == 1);
      CHECK_THAT(loaded.result->skipped.front(), Contains(word));
    }
    CHECK_THAT(join(checkpoint::verify(run / "checkpoint_000001")), Contains(word));
    CHECK_THAT(error_of([&] { checkpoint::PieceReader(run / "checkpoint_000001"); }), Contains(word));
  }
}

TEST_CASE("an index larger than the maximum is refused before it is read") {
  Scratch run;
  save_on(1, small, run.path(), 0, 1);
  save_on(1, small, run.path(), 1, 2);
  const auto directory = run / "checkpoint_000001";
  auto manifest = checkpoint::read_manifest(directory);
  auto& shard = manifest.shards.front();
  shard.parts.front().bytes = std::uint64_t{2} << 30;
  shard.bytes = shard.parts.front().at + shard.parts.front().bytes;
  std::filesystem::resize_file(directory + "/" + shard.name, shard.bytes);  // extend the file by a hole
  std::filesystem::remove(directory + "/manifest.json");
  io::write_file(directory + "/manifest.json", checkpoint::to_text(manifest));
  const auto loaded = load_on(1, small, run.path(), 1, 1);
  REQUIRE(loaded.result->skipped.size() == 1);
  CHECK_THAT(loaded.result->skipped.front(), Contains("an index of 2147483648 bytes; the maximum is"));
  CHECK_THAT(join(checkpoint::verify(directory)), Contains("the maximum is"));
}

TEST_CASE("with optional tensors, nothing is copied from a damaged checkpoint") {
  Scratch run;
  auto with_more = small;
  with_more.push_back({"more", DType::f32, {64}});
  save_on(2, small, run.path(), 0, 1);
  save_on(2, with_more, run.path(), 1, 2);
  const auto manifest = checkpoint::read_manifest(run / "checkpoint_000001");
  flip_bit(run / "checkpoint_000001/shard-00000.h5", manifest.shards[0].hdf5_bytes() - 1, 0);
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Model model(small, communicator.rank(), communicator.size());
    std::vector<float> more(64, 7.0f);
    model.state().tensor("more", more).optional = true;
    const auto result = checkpoint::load_latest(model.state(), run.path(), communicator);
    findings.add(model.difference(1, 2));
    if (more != std::vector<float>(64, 7.0f)) findings.add("more");
    if (!result || result->skipped.size() != 1) findings.add("skipped");
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("an optional value of a damaged checkpoint is not loaded if the older checkpoint lacks it") {
  Scratch run;
  const auto with_state = [&](const std::function<void(Communicator&, State&, std::vector<float>&, double&)>& work) {
    run_ranks(2, [&](Communicator& communicator) {
      std::vector<float> weights(64);
      double later = 7;
      State state;
      state.tensor("weights", weights);
      work(communicator, state, weights, later);
    });
  };
  for (const std::int64_t index : {0, 1})
    with_state([&](Communicator& communicator, State& state, std::vector<float>& weights, double& later) {
      std::fill(weights.begin(), weights.end(), static_cast<float>(index));
      later = 8;
      if (index == 1) state.value("later", later);
      save_now(state, options_for(run.path(), index), communicator);
    });
  const auto manifest = checkpoint::read_manifest(run / "checkpoint_000001");
  flip_bit(run / "checkpoint_000001/shard-00000.h5", manifest.shards[0].hdf5_bytes() - 1, 0);
  Findings findings;
  with_state([&](Communicator& communicator, State& state, std::vector<float>& weights, double& later) {
    state.value("later", later).optional = true;
    const auto result = checkpoint::load_latest(state, run.path(), communicator);
    if (!result || result->skipped.size() != 1) findings.add("skipped");
    if (weights != std::vector<float>(64, 0.0f)) findings.add("weights");
    if (later != 7) findings.add("later");
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("small files are read by the calling thread, and large ones by several threads") {
  Scratch run;
  const auto others_read = [&](std::int64_t index) {
    std::atomic<bool> others{false};
    const auto self = std::this_thread::get_id();
    checkpoint::verify(run / checkpoint::directory_name(index), 2, [&](std::uint64_t, std::uint64_t) {
      if (std::this_thread::get_id() != self) others = true;
    });
    return others.load();
  };
  save_on(1, {{"model/w", DType::f32, {30}}}, run.path(), 0, 1);
  run_ranks(3, [&](Communicator& communicator) {
    Model model(small, communicator.rank(), communicator.size());
    auto save = options_for(run.path(), 1);
    save.saver.file_of_rank = {0, 0, 0};
    save_now(model.state(), save, communicator);
  });
  save_on(1, {{"model/w", DType::f32, {checkpoint::block_bytes / 4 + 1}}}, run.path(), 2, 1);
  CHECK_FALSE(others_read(0));
  CHECK_FALSE(others_read(1));
  CHECK(others_read(2));
}

TEST_CASE("ranks send each other the text of an index without its padding") {
  Scratch run;
  save_on(1, small, run.path(), 0, 1);
  const auto manifest = checkpoint::read_manifest(run / "checkpoint_000000");
  const auto& shard = manifest.shards.front();
  const auto text = checkpoint::read_part(run / "checkpoint_000000", shard, shard.parts.front());
  CHECK(text.back() == '}');
  CHECK(text.size() < shard.parts.front().bytes);
}

TEST_CASE("a missing combined view is a note, and a damaged one is damage") {
  Scratch run;
  save_on(2, small, run.path(), 0, 1);
  CHECK(load_on(2, small, run.path(), 1, 2).result->notes.empty());
  fs::remove(run / "checkpoint_000000/state.h5");
  const auto loaded = load_on(2, small, run.path(), 1, 2);
  REQUIRE(loaded.result->notes.size() == 1);
  CHECK_THAT(loaded.result->notes.front(), Contains("state.h5 is missing"));
  CHECK(checkpoint::verify(run / "checkpoint_000000").empty());
  std::ofstream(run / "checkpoint_000000/state.h5") << "x";
  CHECK_THAT(error_of([&] { load_on(2, small, run.path(), 1, 2); }), Contains("state.h5' is damaged"));
  CHECK(checkpoint::verify(run / "checkpoint_000000").size() == 1);
}

TEST_CASE("the progress of a verification ends at the total number of bytes") {
  Scratch run;
  save_on(2, every_kind(), run.path(), 0, 1);
  std::uint64_t last = 0;
  std::uint64_t all = 1;
  bool ascending = true;
  const auto findings = checkpoint::verify(run / "checkpoint_000000", 3, [&](std::uint64_t done, std::uint64_t of) {
    ascending = ascending && done >= last;
    last = done;
    all = of;
  });
  CHECK(findings.empty());
  CHECK(ascending);
  CHECK(last == all);
}

TEST_CASE("patterns load a part of a checkpoint and report taken, missing and unused entries") {
  Scratch run;
  save_on(2, {{"model/a", DType::f32, {6}}, {"model/b", DType::f32, {2}}, {"head/w", DType::f32, {3}}}, run.path(), 0, 1);
  const std::vector<Spec> other{
      {"model/a", DType::f32, {6}, Placement::sharded, 0}, {"model/c", DType::f32, {2}}, {"head/w", DType::f32, {5}}};
  Findings findings;
  const auto look = [&](Model& model, int rank) {
    for (std::size_t i = 0; i < other.size(); ++i) {
      State& state = model.state();
      const auto& view = state.tensors()[i].local;
      const std::string bytes(static_cast<const char*>(view.data), view.bytes());
      if (bytes != model.expected(i, other[i].name == "model/a" ? 1 : 99, rank)) findings.add(other[i].name);
    }
    if (model.epoch != -99) findings.add("epoch");
  };
  const auto result = load_from_on(3, other, run / "checkpoint_000000/", {"model/*"}, look);
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK(result.taken == std::vector<std::string>{"model/a"});
  CHECK(result.missing == std::vector<std::string>{"model/c"});
  CHECK(result.unused == std::vector<std::string>{"model/b"});
  CHECK(load_from_on(1, other, run.path(), {"!head/*", "!note"}).taken.size() == 6);
}

TEST_CASE("entries that patterns select must match the State, and at least one must exist") {
  Scratch run;
  save_on(2, {{"model/a", DType::f32, {6}}, {"head/w", DType::f32, {3}}}, run.path(), 0, 1);
  const std::vector<Spec> other{{"model/a", DType::f64, {6}}, {"head/w", DType::f32, {3}, Placement::per_rank}};
  const auto why = [&](const std::vector<std::string>& patterns) {
    return error_of([&] { load_from_on(2, other, run.path(), patterns); });
  };
  CHECK_THAT(why({"*"}), Contains("'model/a' is a tensor of f32 [6] in the checkpoint but a tensor of f64 [6]") &&
                             Contains("'head/w'") && Contains("'!NAME'"));
  CHECK_THAT(why({"nothing/*"}), Contains("nothing/*") && Contains("'model/a'") && Contains("the State has"));
  CHECK_THAT(why({}), Contains("a different model wrote it"));
}

TEST_CASE("a path without a checkpoint is an error that describes the path") {
  Scratch run;
  const auto why = [&](const std::string& path) -> std::string {
    try {
      load_from_on(2, small, path, {});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  std::ofstream(run / "file") << "x";
  fs::create_directory(run / "empty");
  CHECK_THAT(why(run / "no such"), Contains("no such") && Contains("it does not exist"));
  CHECK_THAT(why(run / "file"), Contains("it is a file"));
  CHECK_THAT(why(run / "empty"), Contains("without checkpoints"));
  save_on(2, small, run / "run", 3, 1);
  flip_bit(run / "run/checkpoint_000003/shard-00001.h5", 100, 1);
  CHECK_THAT(error_of([&] { load_from_on(2, small, run / "run/checkpoint_000003", {}); }),
             Contains("cannot load from") && Contains("shard-00001.h5' is damaged: bytes 0 to "));
}

TEST_CASE("PieceReader reads any box of any tensor, and every value") {
  Scratch run;
  const auto specs = every_kind();
  save_on(3, specs, run.path(), 0, 6);
  const checkpoint::PieceReader reader(run / "checkpoint_000000");
  REQUIRE(reader.tensors().size() == specs.size());
  for (const auto& spec : specs) {
    INFO(spec.name);
    const auto& tensor = reader.tensor(spec.name);
    std::string expected;
    const int ranks = spec.placement == Placement::per_rank ? 3 : 1;
    for (int rank = 0; rank < ranks; ++rank) expected += whole_bytes(spec, 6, rank);
    std::string found(expected.size(), '?');
    reader.read(tensor, std::as_writable_bytes(std::span(found)));
    CHECK((found == expected));
  }
  std::vector<std::uint16_t> row(2);
  reader.read(reader.tensor("own/bf16"), {{1, 1, 0}, {1, 1, 2}}, std::as_writable_bytes(std::span(row)));
  const auto own = whole_bytes(specs[11], 6, 1);
  REQUIRE(specs[11].name == "own/bf16");
  CHECK(std::memcmp(row.data(), own.data() + 4, 4) == 0);

  Model expected({}, 0, 1);
  expected.fill(6);
  REQUIRE(reader.values().size() == 6);
  CHECK(std::get<bool>(reader.values()[0].value) == expected.done);
  CHECK(std::get<std::int64_t>(reader.values()[1].value) == expected.epoch);
  CHECK(std::get<std::string>(reader.values()[3].value) == expected.note);
  CHECK(std::get<std::string>(reader.values()[4].value).empty());
  CHECK_THAT(error_of([&] { reader.tensor("own/bf17"); }), Contains("did you mean"));

  const auto at = reader.manifest().shards[1].hdf5_bytes() - 1;
  flip_bit(run / "checkpoint_000000/shard-00001.h5", at, 3);
  const auto& damaged = reader.tensor("own/f32");
  std::string bytes(48, '\0');
  CHECK_THAT(error_of([&] { reader.read(damaged, std::as_writable_bytes(std::span(bytes))); }),
             Contains("shard-00001.h5' is damaged"));
}

TEST_CASE("files of the State are restored and verified, and correct ones are not written") {
  Scratch run;
  Scratch node;
  const std::string large = std::string(checkpoint::block_bytes + 5, 'v') + "end";
  io::write_file(node / "vocabulary", large);
  for (const std::string rank : {"0", "1"}) io::write_file(node / ("log" + rank), "of rank " + rank);
  const auto with_files = [&](const std::string& folder, Communicator& communicator, State& state) {
    state.file("vocabulary", folder + "/vocabulary");
    state.file("log", folder + "/log" + std::to_string(communicator.rank())).per_rank();
  };
  const auto save = [&](std::int64_t index) {
    run_ranks(2, [&](Communicator& communicator) {
      State state;
      with_files(node.path(), communicator, state);
      save_now(state, options_for(run.path(), index), communicator);
    });
  };
  const auto load = [&](int ranks, const std::string& folder) {
    run_ranks(ranks, [&](Communicator& communicator) {
      State state;
      with_files(folder, communicator, state);
      checkpoint::load_latest(state, run.path(), communicator);
    });
  };
  save(0);
  CHECK(checkpoint::verify(run / "checkpoint_000000") == std::vector<std::string>{});
  load(3, node / "deep/er");
  CHECK((io::read_file(node / "deep/er/vocabulary") == large));
  CHECK(io::read_file(node / "deep/er/log1") == "of rank 1");
  CHECK(io::read_file(node / "deep/er/log2") == "of rank 0");

  const auto before = fs::last_write_time(node / "deep/er/vocabulary");
  std::ofstream(node / "deep/er/log1") << "of rank 7";
  load(3, node / "deep/er");
  CHECK(fs::last_write_time(node / "deep/er/vocabulary") == before);
  CHECK(io::read_file(node / "deep/er/log1") == "of rank 1");

  flip_bit(run / "checkpoint_000000/files/rank-00001/log", 3, 3);
  CHECK_THAT(error_of([&] { load(2, node / "elsewhere"); }), Contains("files/rank-00001/log' is damaged"));
  CHECK_FALSE(fs::exists(node / "elsewhere"));
  CHECK(checkpoint::verify(run / "checkpoint_000000").size() == 1);

  CHECK_THAT(error_of([&] {
               run_ranks(1, [&](Communicator& communicator) {
                 State state;
                 state.file("other", node / "other");
                 save(1);
                 checkpoint::load_latest(state, run.path(), communicator);
               });
             }),
             Contains("'other' is only in the State: a file"));
}
