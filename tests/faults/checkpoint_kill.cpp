// Kills a process that saves checkpoints, with SIGKILL, at every phase of a save and of a deletion, and at random moments.
// After each kill the newest committed checkpoint must load, bit for bit, and nothing half-written may be visible.
//
//   checkpoint_kill [KILLS]            the driver: prints a table, exits 1 where a promise was broken (default 40 kills)
//   checkpoint_kill save RUN ATTEMPT PHASE SAVES FD     what it kills: kills itself at PHASE (-1: never) of the SAVES-th
//   save

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>

#include "checkpoint/directory.hpp"
#include "checkpoint/phases.hpp"
#include "core/host.hpp"
#include "io/file.hpp"
#include "support/ranks.hpp"
#include "unit/checkpoint/model.hpp"

using namespace trainrt;
using namespace trainrt::test;
using checkpoint::Phase;

namespace {

constexpr int ranks = 2;
constexpr unsigned char saved_mark = 100;    // in the pipe: a save returned, it is committed
constexpr unsigned char started_mark = 101;  // in the pipe: a save begins

std::vector<Spec> model_specs() {
  return {{"whole", DType::f32, {60000}},
          {"split", DType::f64, {30001}, Placement::sharded, 0},
          {"own", DType::i16, {500}, Placement::per_rank},
          {"scalar", DType::f64, {}}};
}

// --- what is killed -----------------------------------------------------------------------------------------------------

void tell(int fd, unsigned char mark) {
  if (write(fd, &mark, 1) != 1) _exit(3);
}

int save_for_ever(const std::string& run_dir, const std::string& attempt, int kill_phase, int kill_save, int fd) {
  std::atomic<int> saves{0};
  const auto observer = [&](Phase phase) {
    tell(fd, static_cast<unsigned char>(phase));
    if (static_cast<int>(phase) == kill_phase && saves >= kill_save) kill(getpid(), SIGKILL);
  };
  run_ranks(ranks, [&](Communicator& communicator) {
    Model model(model_specs(), communicator.rank(), communicator.size());
    for (auto index = checkpoint::highest_index(run_dir) + 1;; ++index) {
      communicator.barrier();
      if (communicator.rank() == 0) {
        ++saves;
        tell(fd, started_mark);
      }
      communicator.barrier();
      model.fill(static_cast<std::uint64_t>(index));
      auto options = options_for(run_dir, index);
      options.private_dir = run_dir + "/attempts-own/" + attempt;
      const auto result = checkpoint::save(model.state(), options, communicator, observer);
      if (!result.committed) {
        std::fprintf(stderr, "a save failed: %s\n", result.error.c_str());
        _exit(4);
      }
      if (communicator.rank() != 0) continue;
      tell(fd, saved_mark);
      checkpoint::retain(run_dir, options.private_dir, {2, "", true}, observer);
    }
  });
  return 0;
}

// --- the driver ---------------------------------------------------------------------------------------------------------

struct Killed {
  int phase = -1;  // the last that was reached, -1: none
  int saved = 0;   // saves that had returned
  bool by_signal = false;
};

Killed run_and_kill(const std::string& run_dir, int attempt, int phase, int save, int kill_after_us) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const auto child = fork();
  if (child == 0) {
    close(ends[0]);
    const auto number = [](int n) { return std::to_string(n); };
    execl("/proc/self/exe", "checkpoint_kill", "save", run_dir.c_str(), number(attempt).c_str(), number(phase).c_str(),
          number(save).c_str(), number(ends[1]).c_str(), nullptr);
    _exit(5);
  }
  close(ends[1]);
  Killed killed;
  unsigned char mark = 0;
  const auto take = [&] {
    if (mark == saved_mark) ++killed.saved;
    killed.phase = mark == started_mark ? -1 : mark == saved_mark ? killed.phase : mark;
  };
  if (phase < 0) {  // at random: so long after the first save began
    while (mark != started_mark && read(ends[0], &mark, 1) == 1) {
    }
    usleep(static_cast<useconds_t>(kill_after_us));
    kill(child, SIGKILL);
  }
  while (read(ends[0], &mark, 1) == 1) take();
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  killed.by_signal = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return killed;
}

/// What is broken after a kill, "" where nothing is. `least` is the newest index that must be there.
std::string broken(const std::string& run_dir, std::int64_t least) {
  for (const auto index : checkpoint::indices_in(run_dir))
    if (const auto findings = checkpoint::verify(run_dir + "/" + checkpoint::directory_name(index)); !findings.empty())
      return findings.front();
  std::string finding;
  std::mutex mutex;
  run_ranks(3, [&](Communicator& communicator) {
    Model model(model_specs(), communicator.rank(), communicator.size());
    const auto loaded = checkpoint::load_latest(model.state(), run_dir, communicator);
    const std::lock_guard lock(mutex);
    if (!loaded)
      finding = least < 0 ? finding : "nothing is left";
    else if (!loaded->skipped.empty())
      finding = loaded->skipped.front();
    else if (loaded->meta.index < least)
      finding = "the newest is " + std::to_string(loaded->meta.index) + ", " + std::to_string(least) + " was committed";
    else if (const auto what = model.difference(static_cast<std::uint64_t>(loaded->meta.index), ranks); !what.empty())
      finding = "'" + what + "' differs";
  });
  return finding;
}

struct Row {
  int kills = 0;
  int at_random = 0;
  int good = 0;
};

void print_table(const std::array<Row, checkpoint::phase_count + 1>& rows) {
  std::printf("%-18s %6s %10s %6s\n", "killed after", "kills", "at random", "whole");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto phase = i == 0 ? "(the beginning)" : std::string(name_of(static_cast<Phase>(i - 1)));
    std::printf("%-18s %6d %10d %6d\n", phase.c_str(), rows[i].kills, rows[i].at_random, rows[i].good);
  }
}

int drive(int kills) {
  const Scratch scratch;
  const auto run_dir = scratch / "run";
  io::make_directories(run_dir);
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  std::array<Row, checkpoint::phase_count + 1> rows{};
  int failures = 0;
  const auto started = monotonic_seconds();
  for (int n = 0; n < kills; ++n) {
    const bool at_random = n >= 2 * checkpoint::phase_count;
    const int phase = at_random ? -1 : n % checkpoint::phase_count;
    const int save = phase >= static_cast<int>(Phase::retired) || n >= checkpoint::phase_count ? 3 : 1;
    const auto before = checkpoint::highest_index(run_dir);
    const auto killed = run_and_kill(run_dir, n, phase, save, static_cast<int>(random() % 120000));
    auto finding = broken(run_dir, before + killed.saved);
    if (!killed.by_signal) finding = "the saver ended by itself";
    if (!at_random && killed.phase < 0)
      finding = "phase " + std::string(name_of(static_cast<Phase>(phase))) + " was never reached";
    auto& row = rows[static_cast<std::size_t>((at_random ? killed.phase : phase) + 1)];
    ++row.kills;
    row.at_random += at_random ? 1 : 0;
    row.good += finding.empty() ? 1 : 0;
    if (finding.empty()) continue;
    ++failures;
    std::printf("kill %d (seed %u): %s\n", n, static_cast<unsigned>(seed), finding.c_str());
  }
  print_table(rows);
  std::printf("%d kills in %.1f s, %d failures, newest checkpoint %lld\n", kills, monotonic_seconds() - started, failures,
              static_cast<long long>(checkpoint::highest_index(run_dir)));
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 7 && std::string(argv[1]) == "save")
    return save_for_ever(argv[2], argv[3], std::atoi(argv[4]), std::atoi(argv[5]), std::atoi(argv[6]));
  return drive(argc > 1 ? std::atoi(argv[1]) : 40);
} catch (const std::exception& error) {
  std::fprintf(stderr, "checkpoint_kill: %s\n", error.what());
  return 2;
}
