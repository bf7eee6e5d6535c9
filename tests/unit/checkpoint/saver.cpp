#include "checkpoint/save/saver.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/save/results.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <thread>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/layout.hpp"
#include "checkpoint/load/verify.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
namespace fs = std::filesystem;

namespace {

const std::vector<Spec> model{{"model/w", DType::f32, {700, 11}},
                              {"split", DType::f64, {9001}, Placement::sharded, 0},
                              {"columns", DType::bf16, {5, 900, 3}, Placement::sharded, 1},
                              {"own", DType::i16, {41}, Placement::per_rank},
                              {"tiny", DType::u8, {3}},
                              {"none", DType::f32, {0, 3}}};

checkpoint::Saver::Request request_for(const std::string& run_dir, std::int64_t number) {
  return {options_for(run_dir, number).meta, {}};
}

/// Runs training steps until the save is finished. In each step, the ranks exchange how far their parts of the save are.
checkpoint::SaveResult step_until_concluded(checkpoint::Saver& saver, Communicator& communicator, int& steps) {
  for (;;) {
    ++steps;
    const auto mine = saver.progress();
    communicator.start_maximum({0, 0, 0, 0, -mine.sealed, mine.finished});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto all = communicator.finish_maximum();
    if (auto result = saver.advance({-all[4], all[5]})) return *result;
  }
}

std::uint64_t bytes_of_file(const std::string& path) { return fs::file_size(path); }

}  // namespace

TEST_CASE("an asynchronous save contains the state as it was at start(), even if training changes it later") {
  Scratch run;
  Findings findings;
  run_ranks(3, [&](Communicator& communicator) {
    Model trained(model, communicator.rank(), communicator.size());
    checkpoint::Saver saver(options_for(run.path(), 0).saver, communicator);
    for (std::int64_t number = 0; number < 4; ++number) {
      trained.fill(static_cast<std::uint64_t>(number) + 1);
      if (saver.start(trained.state(), request_for(run.path(), number))) findings.add("failed at once");
      trained.fill(99);
      const auto result = saver.finish();
      if (!result || !result->committed) findings.add("not committed: " + (result ? result->error : ""));
    }
    saver.drain();
  });
  CHECK(findings.take() == std::vector<std::string>{});
  for (std::uint64_t number = 0; number < 4; ++number) {
    const auto directory = run / checkpoint::directory_name(static_cast<std::int64_t>(number));
    CHECK(checkpoint::verify(directory) == std::vector<std::string>{});
    Findings differences;
    run_ranks(2, [&](Communicator& communicator) {
      Model loaded(model, communicator.rank(), communicator.size());
      checkpoint::load_from(loaded.state(), directory, {}, communicator);
      differences.add(loaded.difference(number + 1, 3));
    });
    CHECK(differences.take() == std::vector<std::string>{});
  }
}

TEST_CASE("advance() returns the result of a save on all ranks at the same step") {
  Scratch run;
  std::vector<int> steps(4, 0);
  Findings findings;
  run_ranks(4, [&](Communicator& communicator) {
    Model trained(model, communicator.rank(), communicator.size());
    trained.fill(5);
    checkpoint::Saver saver(options_for(run.path(), 0).saver, communicator);
    saver.start(trained.state(), request_for(run.path(), 0));
    const auto result = step_until_concluded(saver, communicator, steps[static_cast<std::size_t>(communicator.rank())]);
    if (!result.committed || saver.in_flight()) findings.add("not finished: " + result.error);
    saver.drain();
  });
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK(steps == std::vector<int>(4, steps[0]));
  CHECK(load_on(2, model, run.path(), 5, 4).differences == std::vector<std::string>{});
}

TEST_CASE("a state larger than the staging memory is saved block by block") {
  Scratch run;
  std::vector<float> large(12 << 20);  // 48 MiB of state, 16 MiB of staging memory
  std::iota(large.begin(), large.end(), 0.0f);
  run_ranks(1, [&](Communicator& communicator) {
    State state;
    state.tensor("large", large);
    CHECK(save_now(state, options_for(run.path(), 0), communicator).committed);
  });
  auto expected = std::move(large);
  large.assign(expected.size(), -1);
  run_ranks(1, [&](Communicator& communicator) {
    State state;
    state.tensor("large", large);
    checkpoint::load_latest(state, run.path(), communicator);
  });
  CHECK((large == expected));
}

TEST_CASE("every file layout stores the same checkpoint") {
  const std::vector<int> nodes{4, 4, 9, 4, 9};  // node numbers may be any numbers
  for (const auto& [layout, files] :
       std::map<FileLayout, int>{{FileLayout::rank, 5}, {FileLayout::node, 2}, {FileLayout::single, 1}}) {
    INFO(files << " files");
    Scratch run;
    Findings findings;
    run_ranks(5, [&](Communicator& communicator) {
      Model trained(every_kind(), communicator.rank(), communicator.size());
      trained.fill(8);
      auto save = options_for(run.path(), 0);
      save.saver.file_of_rank = checkpoint::files_of_ranks(layout, nodes);
      findings.add(save_now(trained.state(), save, communicator).error);
    });
    CHECK(findings.take() == std::vector<std::string>{});
    const auto directory = run / "checkpoint_000000";
    CHECK(checkpoint::read_manifest(directory).shards.size() == static_cast<std::size_t>(files));
    CHECK(checkpoint::verify(directory) == std::vector<std::string>{});
    for (const int readers : {1, 3, 5})
      CHECK(load_on(readers, every_kind(), run.path(), 8, 5).differences == std::vector<std::string>{});
  }
}

TEST_CASE("one large replicated tensor is divided so that ranks write about the same number of bytes") {
  Scratch run;
  std::vector<double> large(5 * 1000 * 1000);
  std::iota(large.begin(), large.end(), 0.5);
  Findings findings;
  run_ranks(4, [&](Communicator& communicator) {
    State state;
    state.tensor("model/embedding", TensorView{large.data(), DType::f64, {1, 5000, 1000}});
    findings.add(save_now(state, options_for(run.path(), 0), communicator).error);
  });
  CHECK(findings.take() == std::vector<std::string>{});
  for (int rank = 0; rank < 4; ++rank) {
    const auto bytes = bytes_of_file(run / ("checkpoint_000000/" + checkpoint::shard_name(rank)));
    CHECK(bytes > 9'900'000);
    CHECK(bytes < 10'200'000);
  }
  std::vector<double> loaded(large.size());
  run_ranks(3, [&](Communicator& communicator) {
    std::vector<double> mine(large.size());
    State state;
    state.tensor("model/embedding", TensorView{mine.data(), DType::f64, {1, 5000, 1000}});
    checkpoint::load_latest(state, run.path(), communicator);
    if (communicator.rank() == 2) loaded = std::move(mine);
  });
  CHECK((loaded == large));
}

TEST_CASE("a rank may hold several slabs of a tensor") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    // The tensor has 2 x 2 slabs of 3 x 3 elements. Rank 0 has slabs 0 and 3, rank 1 the others.
    std::vector<std::vector<int>> fields(2, std::vector<int>(9));
    State state;
    for (int i = 0; i < 2; ++i) {
      const int row = i;
      const int column = communicator.rank() == 0 ? i : 1 - i;
      std::fill(fields[static_cast<std::size_t>(i)].begin(), fields[static_cast<std::size_t>(i)].end(), 10 * row + column);
      state.slab("board", TensorView{fields[static_cast<std::size_t>(i)].data(), DType::i32, {3, 3}}, {3 * row, 3 * column},
                 {6, 6});
    }
    findings.add(save_now(state, options_for(run.path(), 0), communicator).error);
  });
  CHECK(findings.take() == std::vector<std::string>{});
  std::vector<int> board(36, -1);
  run_ranks(1, [&](Communicator& communicator) {
    State state;
    state.tensor("board", TensorView{board.data(), DType::i32, {6, 6}});
    checkpoint::load_latest(state, run.path(), communicator);
  });
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 6; ++column)
      CHECK(board[static_cast<std::size_t>(6 * row + column)] == 10 * (row / 3) + column / 3);
}

TEST_CASE("a save that cannot be written is dropped and reported once, and the next save succeeds") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Model trained(model, communicator.rank(), communicator.size());
    trained.fill(1);
    auto options = options_for(run.path(), 0).saver;
    options.writer.observer = [&, first = true](checkpoint::Phase phase) mutable {
      if (phase == checkpoint::Phase::prepared && std::exchange(first, false))      // reached on rank 0 only
        fs::create_directory(run / ".attempt-1/checkpoint_000001/shard-00001.h5");  // rank 1 cannot create its file
    };
    checkpoint::Saver saver(options, communicator);
    std::vector<bool> committed;
    for (std::int64_t number = 1; number < 4; ++number) {
      saver.start(trained.state(), request_for(run.path(), number));
      const auto result = saver.finish();
      committed.push_back(result->committed);
      if (number == 1) findings.add(result->error.find("rank 1") == std::string::npos ? "unnamed: " + result->error : "");
      if (saver.finish()) findings.add("said twice");
    }
    if (committed != std::vector<bool>{false, true, true}) findings.add("committed the wrong ones");
    saver.drain();
  });
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK_FALSE(fs::exists(run / "checkpoint_000001"));
  CHECK_FALSE(fs::exists(run / ".attempt-1/checkpoint_000001"));
  CHECK(load_on(3, model, run.path(), 1, 2).differences == std::vector<std::string>{});
}

TEST_CASE("files of the State are saved and restored, one for all ranks or one per rank") {
  Scratch run;
  Scratch place;
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(place / name) << text; };
  const std::string large(20 << 20, 'x');  // three blocks
  write("vocabulary", "a\nb\n");
  write("large", large);
  for (int rank = 0; rank < 3; ++rank) write("rng-" + std::to_string(rank), "state of " + std::to_string(rank));
  const auto attach = [&](State& state, const Communicator& communicator, const std::string& folder) {
    state.file("text/vocabulary", folder + "vocabulary");
    state.file("large", folder + "large");
    state.file("empty", folder + "empty");
    state.file("rng", folder + "rng-" + std::to_string(communicator.rank())).per_rank();
  };
  write("empty", "");
  Findings findings;
  run_ranks(3, [&](Communicator& communicator) {
    State state;
    attach(state, communicator, place / "");
    findings.add(save_now(state, options_for(run.path(), 0), communicator).error);
  });
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK(checkpoint::verify(run / "checkpoint_000000") == std::vector<std::string>{});
  CHECK(io::read_file(run / "checkpoint_000000/files/text/vocabulary") == "a\nb\n");
  Scratch other;
  run_ranks(2, [&](Communicator& communicator) {
    State state;
    attach(state, communicator, other / "back/");
    checkpoint::load_latest(state, run.path(), communicator);
  });
  CHECK(io::read_file(other / "back/vocabulary") == "a\nb\n");
  CHECK((io::read_file(other / "back/large") == large));
  CHECK(io::read_file(other / "back/empty").empty());
  CHECK(io::read_file(other / "back/rng-1") == "state of 1");

  flip_bit(run / "checkpoint_000000/files/large", 9'000'000, 3);
  CHECK_THAT(error_of([&] {
               run_ranks(2, [&](Communicator& communicator) {
                 State state;
                 attach(state, communicator, other / "again/");
                 checkpoint::load_latest(state, run.path(), communicator);
               });
             }),
             Catch::Contains("files/large"));
}

TEST_CASE("a missing file drops the checkpoint, with an error that names the file") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    State state;
    state.file("notes", run / "no such file");
    findings.add(save_now(state, options_for(run.path(), 0), communicator).error);
  });
  const auto errors = findings.take();
  REQUIRE(errors.size() == 2);
  CHECK(errors[0] == errors[1]);
  CHECK_THAT(errors[0], Catch::Contains("no such file") && Catch::Contains("rank 0"));
}

TEST_CASE("a save with read_back is committed") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Model trained(model, communicator.rank(), communicator.size());
    trained.fill(1);
    auto save = options_for(run.path(), 0);
    save.saver.writer.read_back = true;
    findings.add(save_now(trained.state(), save, communicator).error);
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("a string value may grow and shrink between saves") {
  Scratch run;
  std::string text;
  run_ranks(2, [&](Communicator& communicator) {
    std::string note;
    State state;
    state.value("note", note);
    checkpoint::Saver saver(options_for(run.path(), 0).saver, communicator);
    for (const std::size_t length : {3, 64, 65, 5000, 0, 7}) {
      note = std::string(length, 'n');
      saver.start(state, request_for(run.path(), static_cast<std::int64_t>(length)));
      saver.finish();
    }
    saver.drain();
    for (const std::size_t length : {0, 3, 7, 64, 65, 5000}) {
      checkpoint::load_from(state, run / checkpoint::directory_name(static_cast<std::int64_t>(length)), {}, communicator);
      if (note != std::string(length, 'n') && communicator.rank() == 0) text += std::to_string(length) + " ";
    }
  });
  CHECK(text.empty());
}
