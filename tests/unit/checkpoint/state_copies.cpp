// Tests of StateCopies, the copies of a State in memory that outlive the ranks. The test program keeps the file, and each
// call of run_ranks() is an attempt.
#include "checkpoint/memory/state_copies.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "core/descriptor.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;
using checkpoint::CopyNote;
using checkpoint::StateCopies;

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

CopyNote at(int step) { return {.step = step, .iteration = 0, .iteration_s = 0, .metrics = {}}; }

/// Fails the attempt if a copy was not made. Catch2's assertions may not be used by several ranks.
void must(bool is_complete) {
  if (!is_complete) throw std::runtime_error("the State was not copied");
}

/// The State of one rank: a replicated tensor whose size no number of ranks divides, a tensor of this rank, and values.
struct Training {
  Training(int rank, int size, std::int64_t weights_count = 1001)
      : weights(static_cast<std::size_t>(weights_count)), own(static_cast<std::size_t>(3 + rank)) {
    state.tensor("model/weights", weights);
    state.tensor("table", own).sharded(0, 3 * rank + rank * (rank - 1) / 2, 3 * size + size * (size - 1) / 2);
    state.value("epoch", epoch);
    state.value("loss", loss);
    state.value("text", text);
  }
  void fill(int step) {
    std::iota(weights.begin(), weights.end(), static_cast<float>(step));
    std::iota(own.begin(), own.end(), 100.0 * step + static_cast<double>(own.size()));
    epoch = step;
    loss = 1.0 / step;
    text = "step " + std::to_string(step);
  }
  bool is_of(int step) const {
    Training other(*this);
    other.fill(step);
    return weights == other.weights && own == other.own && epoch == other.epoch && loss == other.loss && text == other.text;
  }

  std::vector<float> weights;
  std::vector<double> own;
  int epoch = 0;
  double loss = 0;
  std::string text;
  State state;
};

class CopiesOfRun {
 public:
  /// Runs an attempt of `ranks` ranks, which opens the copies. Returns the errors that the ranks found.
  std::vector<std::string> attempt(int ranks, const std::function<void(StateCopies&, Training&, Communicator&)>& work,
                                   const std::string& run = "run-1", std::int64_t weights_count = 1001) {
    Findings findings;
    run_ranks(ranks, [&](Communicator& communicator) {
      Training training(communicator.rank(), communicator.size(), weights_count);
      StateCopies copies(file_.get(), run, communicator);
      findings.add(copies.open(training.state, no_limit));
      work(copies, training, communicator);
    });
    return findings.take();
  }

  /// Loads the newest copy in an attempt of `ranks` ranks. Returns its step, or -1 if there is no copy. If `begins` is
  /// true, the attempt then begins from the copy.
  std::int64_t restored_step(int ranks, bool begins = false, const std::string& run = "run-1",
                             std::int64_t weights_count = 1001) {
    std::int64_t step = -1;
    Findings findings;
    const auto load = [&](StateCopies& copies, Training& training, Communicator& communicator) {
      const auto note = copies.newest();
      if (note) copies.load(training.state);
      if (note && !training.is_of(static_cast<int>(note->step))) findings.add("loaded other values");
      if (begins) copies.begin_from_copy(note.has_value());
      if (communicator.rank() == 0 && note) step = note->step;
    };
    CHECK(attempt(ranks, load, run, weights_count) == std::vector<std::string>{});
    CHECK(findings.take() == std::vector<std::string>{});
    return step;
  }

  /// Runs an attempt that copies the State at the steps from `first` to `last`.
  void copy_steps(int ranks, int first, int last) {
    const auto copy = [&](StateCopies& copies, Training& training, Communicator& communicator) {
      copies.newest();
      copies.begin_from_copy(false);
      for (int step = first; step <= last; ++step) {
        training.fill(step);
        must(copies.copy(training.state, at(step)));
        communicator.barrier();
      }
    };
    CHECK(attempt(ranks, copy) == std::vector<std::string>{});
  }

  int file() const { return file_.get(); }

 private:
  Descriptor file_{memfd_create("copies", MFD_CLOEXEC)};
};

/// Changes each byte of the last page of the file.
void damage_last_page(int file) {
  const auto end = lseek(file, 0, SEEK_END);
  std::vector<char> page(4096, 'x');
  REQUIRE(pwrite(file, page.data(), page.size(), end - 4096) == 4096);
}

}  // namespace

TEST_CASE("the newest copy is loaded on every rank by the next attempt") {
  const int ranks = GENERATE(1, 2, 3);
  CopiesOfRun run;
  CHECK(run.restored_step(ranks) == -1);
  run.copy_steps(ranks, 1, 1);
  CHECK(run.restored_step(ranks) == 1);
  run.copy_steps(ranks, 2, 7);
  CHECK(run.restored_step(ranks) == 7);
}

TEST_CASE("a copy that a rank has not completed is not loaded, and the one before it is") {
  CopiesOfRun run;
  const auto die_while_copying = [](StateCopies& copies, Training& training, Communicator& communicator) {
    copies.newest();
    for (const int step : {1, 2}) {
      training.fill(step);
      must(copies.copy(training.state, at(step)));
      communicator.barrier();
    }
    training.fill(3);
    if (communicator.rank() != 1) must(copies.copy(training.state, at(3)));
  };
  CHECK(run.attempt(3, die_while_copying) == std::vector<std::string>{});
  CHECK(run.restored_step(3) == 2);
}

TEST_CASE("a copy whose bytes have changed is not loaded") {
  CopiesOfRun run;
  run.copy_steps(2, 1, 1);  // the first copy is in the second slot, which for the last rank is at the end of the file
  damage_last_page(run.file());
  CHECK(run.restored_step(2) == -1);
}

TEST_CASE("three attempts at most begin from the same copy") {
  CopiesOfRun run;
  run.copy_steps(2, 1, 4);
  for (int attempt = 0; attempt < 3; ++attempt) CHECK(run.restored_step(2, true) == 4);
  CHECK(run.restored_step(2, true) == -1);
}

TEST_CASE("an attempt that makes a copy is followed by one that begins from that copy") {
  CopiesOfRun run;
  run.copy_steps(2, 1, 4);
  const auto continue_to_5 = [](StateCopies& copies, Training& training, Communicator&) {
    copies.newest();
    copies.load(training.state);
    copies.begin_from_copy(true);
    training.fill(5);
    must(copies.copy(training.state, at(5)));
  };
  CHECK(run.attempt(2, continue_to_5) == std::vector<std::string>{});
  CHECK(run.restored_step(2, true) == 5);
}

TEST_CASE("copies of another run, another State or another number of ranks are not loaded") {
  CopiesOfRun run;
  run.copy_steps(2, 1, 4);
  SECTION("another run") { CHECK(run.restored_step(2, false, "run-2") == -1); }
  SECTION("another shape") { CHECK(run.restored_step(2, false, "run-1", 1002) == -1); }
  SECTION("more ranks") { CHECK(run.restored_step(3) == -1); }
  SECTION("fewer ranks") { CHECK(run.restored_step(1) == -1); }
  CHECK(run.restored_step(2) == -1);  // the copies were replaced
}

TEST_CASE("a note keeps its numbers, including NaN") {
  CopiesOfRun run;
  const CopyNote note{
      .step = 12, .iteration = 3, .iteration_s = 0.25, .metrics = {{"loss", std::nan("")}, {"accuracy", 0.5}}};
  const auto copy = [&](StateCopies& copies, Training& training, Communicator&) {
    copies.newest();
    must(copies.copy(training.state, note));
  };
  CHECK(run.attempt(1, copy) == std::vector<std::string>{});
  const auto read = [&](StateCopies& copies, Training&, Communicator&) {
    const auto found = copies.newest().value();
    CHECK((found.step == 12 && found.iteration == 3 && found.iteration_s == 0.25));
    CHECK((found.metrics.size() == 2 && std::isnan(found.metrics.at("loss")) && found.metrics.at("accuracy") == 0.5));
  };
  CHECK(run.attempt(1, read) == std::vector<std::string>{});
}

TEST_CASE("a State whose text has outgrown its room is copied after the file was opened again") {
  CopiesOfRun run;
  const auto grow = [](StateCopies& copies, Training& training, Communicator& communicator) {
    copies.newest();
    training.fill(1);
    must(copies.copy(training.state, at(1)));
    communicator.barrier();
    training.text.assign(100'000, 'x');
    must(!copies.copy(training.state, at(2)));
    must(copies.open(training.state, no_limit).empty() && !copies.newest());
    must(copies.copy(training.state, at(2)));
  };
  CHECK(run.attempt(2, grow) == std::vector<std::string>{});
  const auto find = [](StateCopies& copies, Training&, Communicator&) {  // the values are small again at the start
    must(copies.newest().value().step == 2);
  };
  CHECK(run.attempt(2, find) == std::vector<std::string>{});
}

TEST_CASE("the starting process sees whether its ranks have made a copy") {
  CopiesOfRun run;
  CHECK_FALSE(checkpoint::CopyFile::is_in_use(run.file()));
  run.copy_steps(2, 1, 1);
  CHECK(checkpoint::CopyFile::is_in_use(run.file()));
  checkpoint::CopyFile::forget_use(run.file());
  CHECK_FALSE(checkpoint::CopyFile::is_in_use(run.file()));
  CHECK(run.restored_step(2) == 1);  // the copy itself remains
}

TEST_CASE("a reason of one rank against copies is that of all ranks") {
  const Descriptor file(memfd_create("copies", MFD_CLOEXEC));
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Training training(communicator.rank(), communicator.size());
    if (communicator.rank() == 1) training.state.file("vocabulary", "vocabulary.txt");
    findings.add(StateCopies(file.get(), "run", communicator).open(training.state, no_limit));
  });
  CHECK(findings.take() ==
        std::vector<std::string>{"files of the State cannot be copied", "files of the State cannot be copied"});
}

TEST_CASE("a State that cannot be copied is refused with the reason") {
  const Descriptor file(memfd_create("copies", MFD_CLOEXEC));
  run_ranks(1, [&](Communicator& communicator) {
    Training training(0, 1);
    CHECK_THAT(StateCopies(file.get(), "run", communicator).open(training.state, 100), Contains("more than the 100 B"));
    State with_file;
    with_file.file("vocabulary", "vocabulary.txt");
    CHECK_THAT(StateCopies(file.get(), "run", communicator).open(with_file, no_limit), Contains("files of the State"));
  });
}
