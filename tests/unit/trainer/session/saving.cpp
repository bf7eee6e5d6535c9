// Tests of Saving: which State the checkpoints hold, and when they are saved.
#include "trainer/session/saving.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "checkpoint/format/manifest.hpp"
#include "unit/trainer/session/attempt_parts.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;
using trainer::StateKind;

namespace {

/// Runs `work` on two ranks of a new run, and returns the checkpoints that it leaves.
std::vector<checkpoint::Meta> checkpoints_of(const std::function<void(AttemptParts&)>& work) {
  const Scratch folder;
  const auto spec = spec_in(folder.path());
  with_attempt_parts(2, spec, [&](AttemptParts& parts) {
    parts.observation.begin({});
    work(parts);
    parts.saving.finish();
    parts.saving.drain();
  });
  return checkpoint::list(spec.run_dir);
}

void attach_number(AttemptParts& parts, std::int64_t& number) {
  State user;
  user.value("number", number);
  parts.saving.attach(user, StateKind::state);
}

}  // namespace

TEST_CASE("save_and_wait() saves the attached State once per point of the run") {
  const auto saved = checkpoints_of([](AttemptParts& parts) {
    std::int64_t number = 1;
    attach_number(parts, number);
    parts.progress.complete_step();
    parts.saving.save_and_wait();
    parts.saving.save_and_wait();
    parts.progress.complete_step();
    parts.saving.save_and_wait();
  });
  REQUIRE(saved.size() == 2);
  CHECK((saved[0].step == 1 && saved[1].step == 2));
}

TEST_CASE("outdate() makes the next save_and_wait() save the same point again") {
  const auto saved = checkpoints_of([](AttemptParts& parts) {
    std::int64_t number = 1;
    attach_number(parts, number);
    parts.progress.complete_step();
    parts.saving.save_and_wait();
    parts.saving.outdate();
    parts.saving.save_and_wait();
  });
  CHECK(saved.size() == 2);
}

TEST_CASE("a started checkpoint is in flight until it is waited for, and then nothing is lost") {
  std::atomic<int> right = 0;
  checkpoints_of([&](AttemptParts& parts) {
    std::int64_t number = 1;
    attach_number(parts, number);
    bool is_right = parts.saving.loses_nothing();
    parts.progress.complete_step();
    is_right = is_right && !parts.saving.loses_nothing();
    parts.saving.start(nullptr);
    is_right = is_right && parts.saving.is_in_flight() && !parts.saving.newest();
    parts.saving.wait();
    is_right =
        is_right && !parts.saving.is_in_flight() && parts.saving.newest()->index == 0 && parts.saving.loses_nothing();
    right += is_right ? 1 : 0;
  });
  CHECK(right == 2);
}

TEST_CASE("a run without an attached State saves nothing at a stop") {
  CHECK(checkpoints_of([](AttemptParts& parts) {
          parts.progress.complete_step();
          parts.saving.save_at_stop(batch::paused);
        }).empty());
}

TEST_CASE("metadata of the train function overrides keys of the run's metadata") {
  const auto saved = checkpoints_of([](AttemptParts& parts) {
    std::int64_t number = 1;
    attach_number(parts, number);
    parts.saving.add_run_metadata(R"({"data":"v7","by":"run"})");
    parts.saving.set_metadata(R"({"by":"function"})");
    parts.progress.complete_step();
    parts.saving.save_and_wait();
  });
  REQUIRE(saved.size() == 1);
  CHECK_THAT(saved[0].metadata, Contains(R"("data":"v7")") && Contains(R"("by":"function")"));
}

TEST_CASE("a second State is refused") {
  CHECK_THROWS_WITH(checkpoints_of([](AttemptParts& parts) {
                      parts.saving.attach({}, StateKind::directories);
                      parts.saving.attach({}, StateKind::state);
                    }),
                    Contains("called twice"));
}

TEST_CASE("a directory that one rank reports is saved, and no State between reports") {
  const auto saved = checkpoints_of([](AttemptParts& parts) {
    const auto folder = parts.spec.run_dir + "/given";
    const bool is_first = parts.communicator.rank() == 0;
    if (is_first) {
      std::filesystem::create_directories(folder);
      std::ofstream(folder + "/model") << "weights";
    }
    parts.progress.complete_step();
    const DirectoryCheckpoint mine{.path = folder};
    const auto reported = parts.saving.gather(is_first ? &mine : nullptr);
    parts.saving.start(&reported);
    parts.progress.complete_step();
    parts.saving.save_and_wait();
    if (parts.saving.saves_state() || parts.saving.continues_from() != "checkpoint_000000 (iteration 0)")
      throw Error("the run does not save by directories");
  });
  REQUIRE(saved.size() == 1);
  CHECK((saved[0].has_directory && saved[0].step == 1));
}

TEST_CASE("a State that is reported with a directory is refused if a State is attached") {
  CHECK_THROWS_WITH(checkpoints_of([](AttemptParts& parts) {
                      std::int64_t number = 1;
                      attach_number(parts, number);
                      State other;
                      other.value("other", number);
                      const DirectoryCheckpoint mine{.path = parts.spec.run_dir, .state = &other};
                      parts.saving.gather(&mine);
                    }),
                    Contains("Use only one of the two"));
}
