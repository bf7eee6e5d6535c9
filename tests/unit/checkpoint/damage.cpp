#include <sys/mount.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/damage.hpp"
#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/all_damaged.hpp"
#include "checkpoint/save/phases.hpp"
#include "checkpoint/save/results.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"
#include "support/cpp/skip.hpp"

using namespace trainrt;
using namespace trainrt::test;
namespace fs = std::filesystem;

namespace {

const std::vector<Spec> small{{"model/w", DType::f32, {30}},
                              {"split", DType::f64, {9}, Placement::sharded, 0},
                              {"own", DType::i16, {4}, Placement::per_rank}};

std::vector<std::string> files_of(const std::string& directory) { return io::list_files_below(directory); }

/// Makes a run with checkpoints 0 (seed 1) and 1 (seed 2), saved on 2 ranks.
void save_two(const std::string& run_dir) {
  save_on(2, small, run_dir, 0, 1);
  save_on(2, small, run_dir, 1, 2);
}

/// Loads on 3 ranks. Expects that checkpoint 0 is loaded and that one was skipped with a message that contains `word`.
void expect_fallback(const std::string& run_dir, const std::string& word) {
  const auto loaded = load_on(3, small, run_dir, 1, 2);
  CHECK(loaded.differences == std::vector<std::string>{});
  REQUIRE(loaded.result->skipped.size() == 1);
  CHECK_THAT(loaded.result->skipped.front(), Catch::StartsWith("checkpoint_000001: ") && Catch::Contains(word));
  CHECK(loaded.result->meta.number == 0);
}

}  // namespace

TEST_CASE("a flipped bit in any file is detected and named, and the older checkpoint loads") {
  Scratch run;
  save_two(run.path());
  const auto newest = run / "checkpoint_000001";
  const auto files = files_of(newest);
  REQUIRE(files.size() == 4);  // two shards, the view, the manifest
  for (const auto& file : files) {
    const auto path = newest + "/" + file;
    const auto bytes = fs::file_size(path);
    for (const std::uint64_t at : {std::uint64_t{0}, bytes / 3, bytes / 2, bytes * 9 / 10, bytes - 1}) {
      INFO(file << " byte " << at);
      flip_bit(path, at, static_cast<int>(at % 8));
      expect_fallback(run.path(), file);
      CHECK(checkpoint::verify(newest).size() == 1);
      flip_bit(path, at, static_cast<int>(at % 8));
    }
  }
  CHECK(checkpoint::verify(newest).empty());
  CHECK(load_on(1, small, run.path(), 2, 2).differences.empty());
}

TEST_CASE("every flipped bit of a manifest is detected") {
  Scratch run;
  save_on(1, {}, run.path(), 0, 1);
  const auto text = io::read_file(run / "checkpoint_000000/manifest.json");
  int passed = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      passed += error_of([&] { checkpoint::manifest_from(damaged, "m"); }).empty() ? 1 : 0;
    }
  CHECK(passed == 0);
}

TEST_CASE("missing, truncated and extended files are detected, and the older checkpoint loads") {
  for (const std::string file : {"shard-00000.h5", "shard-00001.h5", "state.h5", "manifest.json"}) {
    INFO(file);
    for (const std::string how : {"missing", "truncated", "empty", "lengthened", "a directory"}) {
      INFO(how);
      if (file == "state.h5" && how == "missing") continue;  // combined_view.cpp tests a missing view
      Scratch run;
      save_two(run.path());
      const auto path = run / ("checkpoint_000001/" + file);
      if (how == "missing" || how == "a directory") fs::remove(path);
      if (how == "a directory") fs::create_directory(path);
      if (how == "truncated") fs::resize_file(path, fs::file_size(path) - 1);
      if (how == "empty") fs::resize_file(path, 0);
      if (how == "lengthened") fs::resize_file(path, fs::file_size(path) + 1);
      expect_fallback(run.path(), file);
      CHECK_FALSE(checkpoint::verify(run / "checkpoint_000001").empty());
    }
  }
}

TEST_CASE("if all checkpoints are damaged, the error names each") {
  Scratch run;
  save_two(run.path());
  for (const std::string index : {"0", "1"}) fs::remove(run / ("checkpoint_00000" + index + "/shard-00001.h5"));
  const auto text = error_of([&] { load_on(2, small, run.path(), 1, 2); });
  CHECK_THAT(text, Catch::Contains("checkpoint_000000: ") && Catch::Contains("checkpoint_000001: ") &&
                       Catch::Contains("A restart does not help"));
}

namespace {

/// Returns the errors of refuse_damaged() on all ranks, for candidates that a load found damaged.
std::vector<std::string> refusals(int ranks, const std::string& run_dir, const checkpoint::SkippedCheckpoints& skipped) {
  Findings findings;
  run_ranks(ranks, [&](Communicator& communicator) {
    try {
      checkpoint::refuse_damaged("all are damaged:", run_dir, "Restore one.",
                                 checkpoint::candidates_in(run_dir, communicator), skipped, communicator);
    } catch (const checkpoint::AllDamaged& error) {
      findings.add(std::string("64 ") + error.what());
    } catch (const checkpoint::CannotRead& error) {
      findings.add(std::string("70 ") + error.what());
    }
  });
  return findings.take();
}

}  // namespace

TEST_CASE("damage is permanent only if readings by other ranks confirm it") {
  const checkpoint::SkippedCheckpoints one{{"checkpoint_000001: bad"}, false};
  for (const int ranks : {1, 2, 3})
    for (const std::string file : {"manifest.json", "shard-00000.h5", "shard-00001.h5"}) {
      INFO(ranks << " ranks, " << file);
      Scratch run;
      save_two(run.path());
      const auto before = refusals(ranks, run.path(), one);
      REQUIRE(before.size() == static_cast<std::size_t>(ranks));
      for (const auto& text : before)
        CHECK_THAT(text, Catch::StartsWith("70 all are damaged:\n  checkpoint_000001: bad\n") &&
                             Catch::Contains("is intact when it is read again"));
      for (const std::string index : {"0", "1"}) fs::resize_file(run / ("checkpoint_00000" + index + "/" + file), 100);
      const auto after = refusals(ranks, run.path(), one);
      REQUIRE(after.size() == static_cast<std::size_t>(ranks));
      for (const auto& text : after) CHECK(text == "64 all are damaged:\n  checkpoint_000001: bad\nRestore one.");
    }
}

TEST_CASE("a load that verifies first does not change the State if all checkpoints are damaged") {
  Scratch run;
  save_two(run.path());
  for (const std::string index : {"0", "1"}) {
    const auto path = run / ("checkpoint_00000" + index + "/shard-00001.h5");
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(path) / 2));
    file << "damage";
  }
  for (const auto fill : {checkpoint::Fill::while_reading, checkpoint::Fill::when_checked}) {
    Findings findings;
    run_ranks(2, [&](Communicator& communicator) {
      Model model(small, communicator.rank(), communicator.size());
      model.fill(7);
      try {
        checkpoint::load_latest(model.state(), run.path(), {0, 1}, communicator, checkpoint::Covers::all, fill);
      } catch (const checkpoint::AllDamaged&) {
        findings.add(model.difference(7, 2));
      }
    });
    CHECK(findings.take().empty() == (fill == checkpoint::Fill::when_checked));
  }
}

TEST_CASE("temporary storage errors are not permanent damage") {
  Scratch run;
  save_two(run.path());
  const auto texts = refusals(2, run.path(), {{"checkpoint_000001: Input/output error"}, true});
  REQUIRE(texts.size() == 2);
  for (const auto& text : texts) CHECK_THAT(text, Catch::StartsWith("70 ") && Catch::Contains("reports temporary errors"));
}

TEST_CASE("a checkpoint directory with a wrong number is not loaded") {
  Scratch run;
  save_on(2, small, run.path(), 0, 1);
  fs::copy(run / "checkpoint_000000", run / "checkpoint_000001");
  expect_fallback(run.path(), "contains checkpoint number 0");
  CHECK(checkpoint::list(run.path()).size() == 1);
  CHECK(checkpoint::highest_number(run.path()) == 1);
}

TEST_CASE("files that the manifest does not list are reported and do not damage the checkpoint") {
  Scratch run;
  save_on(2, small, run.path(), 0, 1);
  const auto directory = run / "checkpoint_000000";
  fs::create_directory(directory + "/files");
  std::ofstream(directory + "/files/stray") << "x";
  CHECK(checkpoint::verify(directory) == std::vector<std::string>{});
  const auto unlisted = checkpoint::unlisted_files(directory);
  REQUIRE(unlisted.size() == 1);
  CHECK_THAT(unlisted.front(), Catch::Contains("files/stray") && Catch::Contains("not listed"));
}

namespace {

/// Saves on 2 ranks with a state that makes rank 1's shard large, and returns the result.
checkpoint::SaveResult save_large(const std::string& run_dir, std::int64_t index) {
  checkpoint::SaveResult result;
  run_ranks(2, [&](Communicator& communicator) {
    std::vector<char> large(communicator.rank() == 1 ? 8 << 20 : 1, 'x');
    State state;
    state.tensor("large", TensorView{large.data(), DType::u8, {static_cast<std::int64_t>(large.size())}})
        .sharded(0, communicator.rank(), (8 << 20) + 1);
    const auto mine = save_now(state, options_for(run_dir, index), communicator);
    if (communicator.rank() == 1) result = mine;
  });
  return result;
}

void expect_dropped(const checkpoint::SaveResult& result, const std::string& run_dir, const std::string& reason) {
  CHECK_FALSE(result.committed);
  CHECK_THAT(result.error, Catch::Contains("rank 1 on ") && Catch::Contains("shard-00001.h5") && Catch::Contains(reason));
  CHECK(io::list_directory(run_dir + "/.attempt-1").empty());
  CHECK(load_on(2, small, run_dir, 1, 2).differences == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("a full disk drops the checkpoint on all ranks, names the file, and keeps older checkpoints") {
  Scratch at;
  if (mount("tmpfs", at.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
    test::skip("a full disk: mounting a small tmpfs needs root");
    return;
  }
  const auto run_dir = at / "run";
  fs::create_directory(run_dir);
  save_on(2, small, run_dir, 0, 1);
  expect_dropped(save_large(run_dir, 1), run_dir, "No space left on device; ");
  CHECK(save_on(2, small, run_dir, 1, 1).committed);  // the next save succeeds
  umount(at.path().c_str());
}

TEST_CASE("a write that fails on one rank drops the checkpoint on all ranks") {
  Scratch run;
  save_on(2, small, run.path(), 0, 1);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{4 << 20, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tight);
  const auto result = save_large(run.path(), 1);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  expect_dropped(result, run.path(), "File too large");
}

TEST_CASE("a run directory without write permission drops the checkpoint and does not hang") {
  Scratch run;
  std::ofstream(run / ".attempt-1") << "in the way";
  const auto result = save_on(3, small, run.path(), 0, 1);
  CHECK_FALSE(result.committed);
  CHECK_THAT(result.error, Catch::Contains(".attempt-1") && Catch::Contains("rank 0 on "));
}
