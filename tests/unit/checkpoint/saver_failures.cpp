#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/layout.hpp"
#include "checkpoint/save/output.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/saver.hpp"
#include "io/files/fenced_directory.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::vector<Spec> small{{"w", DType::f32, {700}}, {"own", DType::i16, {41}, Placement::per_rank}};
const std::vector<Spec> larger{{"w", DType::f32, {9000}}, {"own", DType::i16, {4}, Placement::per_rank}};

checkpoint::SaveResult save_with(checkpoint::Saver& saver, const State& state, const std::string& run_dir,
                                 std::int64_t number) {
  if (auto failed = saver.start(state, {options_for(run_dir, number).meta, {}})) return *failed;
  return saver.finish().value();
}

/// Creates a file with the name of the private directory, so that no checkpoint can start.
class Obstacle {
 public:
  Obstacle(std::string path, Communicator& communicator) : path_(std::move(path)), communicator_(communicator) {
    if (communicator.rank() == 0) {
      fs::remove_all(path_);
      io::write_file(path_, "in the way");
    }
    communicator.barrier();
  }
  ~Obstacle() {
    communicator_.barrier();
    if (communicator_.rank() == 0) {
      fs::remove(path_);
      fs::create_directory(path_);
    }
    communicator_.barrier();
  }

 private:
  std::string path_;
  Communicator& communicator_;
};

}  // namespace

TEST_CASE("a save succeeds after one that could not start, also if it was the first or shapes changed") {
  for (const bool first : {true, false}) {
    INFO("first " << first);
    Scratch run;
    Findings findings;
    run_ranks(2, [&](Communicator& communicator) {
      Model before(small, communicator.rank(), communicator.size());
      Model after(larger, communicator.rank(), communicator.size());
      before.fill(1);
      after.fill(2);
      const auto options = options_for(run.path(), 0).saver;
      checkpoint::Saver saver(options, communicator);
      if (!first) findings.add(save_with(saver, before.state(), run.path(), 0).error);
      saver.drain();
      {
        const Obstacle obstacle(options.private_dir, communicator);
        const auto failed = save_with(saver, after.state(), run.path(), 1);
        if (failed.committed || failed.error.find("rank 0 on ") != 0)
          findings.add("did not fail as it should: " + failed.error);
      }
      findings.add(save_with(saver, after.state(), run.path(), 2).error);
      saver.drain();
    });
    CHECK(findings.take() == std::vector<std::string>{});
    CHECK(load_on(3, larger, run.path(), 2, 2).differences == std::vector<std::string>{});
  }
}

TEST_CASE("read_back reads every block, also one that does not begin on a page") {
  // In the shared file, the part of rank 1 has a small tensor first. The second tensor therefore begins within a page, and
  // is larger than a block.
  const std::vector<Spec> specs{{"a", DType::u8, {1500}, Placement::per_rank},
                                {"b", DType::u8, {(9 << 20) + 100}, Placement::per_rank}};
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Model model(specs, communicator.rank(), communicator.size());
    model.fill(3);
    auto save = options_for(run.path(), 0);
    save.saver.file_of_rank = {0, 0};
    save.saver.writer.read_back = true;
    findings.add(save_now(model.state(), save, communicator).error);
  });
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK(load_on(1, specs, run.path(), 3, 2).differences == std::vector<std::string>{});
}

namespace {

/// Saves on two ranks while the writer of one sleeps in a phase for longer than the limit; returns the errors.
std::vector<std::string> saving_while_stuck(int rank, checkpoint::Phase where) {
  Scratch run;
  std::vector<std::string> said(2);
  run_ranks(2, [&](Communicator& communicator) {
    Model model(small, communicator.rank(), communicator.size());
    auto options = options_for(run.path(), 0).saver;
    options.writer.stuck_s = 0.3;
    options.writer.explain = [](const std::exception& error) {
      const bool typed = dynamic_cast<const checkpoint::SaveStalled*>(&error) != nullptr;
      return std::string(error.what()) + (typed ? "; more stuck_s" : "");
    };
    if (communicator.rank() == rank)
      options.writer.observer = [&, where](checkpoint::Phase phase) {
        if (phase == where) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      };
    checkpoint::Saver saver(options, communicator);
    said[static_cast<std::size_t>(communicator.rank())] = error_of([&] { save_with(saver, model.state(), run.path(), 0); });
  });
  return said;
}

}  // namespace

TEST_CASE("stalled storage on one rank is an error on all ranks within the limit") {
  for (const auto& said : saving_while_stuck(1, checkpoint::Phase::shard_written))
    CHECK_THAT(said, Contains("makes no progress") && Contains("; more stuck_s"));
  for (const auto& said : saving_while_stuck(0, checkpoint::Phase::manifest_written))
    CHECK_THAT(said, Contains("makes no progress") && Contains("; more stuck_s"));
}

TEST_CASE("a common file of the State cannot have the path of a per-rank file") {
  State state;
  CHECK_THAT(error_of([&] { state.file("rank-00000/log", "all"); }), Contains("rank-00000/log"));
  state.file("rank-and-file.txt", "all");
  state.file("ranks/00000", "all");
}

TEST_CASE("after its private directory was removed, an attempt starts no save and reports why on all ranks") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Model model(small, communicator.rank(), communicator.size());
    const auto options = options_for(run.path(), 0).saver;
    checkpoint::Saver saver(options, communicator);
    findings.add(save_with(saver, model.state(), run.path(), 0).error);
    saver.drain();
    communicator.barrier();
    if (communicator.rank() == 0) io::fence_off(options.private_dir, run / ".fenced");
    communicator.barrier();
    const auto said = error_of([&] { save_with(saver, model.state(), run.path(), 1); });
    if (said.find("another attempt owns this run now") == std::string::npos) findings.add("it said: " + said);
  });
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK(io::list_directory(run.path()) == std::vector<std::string>{"checkpoint_000000"});
}

TEST_CASE("an attempt that is fenced off during a save commits nothing and reports why on all ranks") {
  for (const auto phase :
       {checkpoint::Phase::shard_written, checkpoint::Phase::manifest_written, checkpoint::Phase::directory_synced}) {
    Scratch run;
    Findings findings;
    run_ranks(2, [&](Communicator& communicator) {
      Model model(small, communicator.rank(), communicator.size());
      auto options = options_for(run.path(), 0).saver;
      options.writer.visible_s = 1;  // the other rank may check for the directory after it was removed
      if (communicator.rank() == 0)
        options.writer.observer = [&, phase](checkpoint::Phase reached) {
          if (reached == phase) io::fence_off(options.private_dir, run / ".fenced");
        };
      checkpoint::Saver saver(options, communicator);
      const auto said = error_of([&] { save_with(saver, model.state(), run.path(), 0); });
      if (said.find("another attempt owns this run now") == std::string::npos) findings.add("it said: " + said);
    });
    CHECK(findings.take() == std::vector<std::string>{});
    CHECK(io::list_directory(run.path()) == std::vector<std::string>{});
  }
}

TEST_CASE("a save waits for a directory that was never visible, but not for one that was removed") {
  Scratch run;
  const auto parent = run / ".attempt_000001";
  const auto path = parent + "/checkpoint_000001";
  const auto wait = [&](bool parent_was_seen) {
    checkpoint::await_directory(path, parent_was_seen, 1.5, [](const auto&) {});
  };
  CHECK_THROWS_WITH(wait(true), Contains(parent) && Contains("another attempt owns this run now"));
  CHECK_THROWS_AS(wait(false), checkpoint::DirectoryNotSeen);
  fs::create_directory(parent);
  CHECK_THROWS_AS(wait(true), checkpoint::DirectoryNotSeen);
  fs::create_directory(path);
  CHECK_NOTHROW(wait(true));
}
