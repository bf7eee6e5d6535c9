// Kills a process with SIGKILL while it saves checkpoints in the background, at every phase of a save and of a deletion,
// and at random times. After each kill the newest committed checkpoint must load bit for bit on another number of ranks, no
// incomplete checkpoint may be visible, and the next attempt must remove the remaining files and write missing views.
//
//   checkpoint_kill [KILLS]            the driver: prints a table, exits with 1 if a check fails (default: 200 kills)
//   checkpoint_kill save RUN ATTEMPT PHASE SAVES FD     the killed process: kills itself at PHASE (-1: never) after it has
//                                                       started SAVES saves
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/other_files.hpp"
#include "checkpoint/save/combined_view.hpp"
#include "checkpoint/save/phases.hpp"
#include "checkpoint/save/private_directory.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/retention.hpp"
#include "checkpoint/save/saver.hpp"
#include "core/host.hpp"
#include "io/files/file.hpp"
#include "support/cpp/ranks.hpp"
#include "unit/checkpoint/model.hpp"

using namespace trainrt;
using namespace trainrt::test;
using checkpoint::Phase;

namespace {

constexpr int ranks = 2;
constexpr unsigned char saved_mark = 100;    // written to the pipe when all ranks know that a save is committed
constexpr unsigned char started_mark = 101;  // written to the pipe when a save begins

std::vector<Spec> model_specs() {
  return {{"replicated", DType::f32, {20000}},
          {"split", DType::f64, {10001}, Placement::sharded, 0},
          {"own", DType::i16, {500}, Placement::per_rank},
          {"scalar", DType::f64, {}}};
}

// --- killed process -----------------------------------------------------------------------------------------------------

void send_mark(int fd, unsigned char mark) {
  if (write(fd, &mark, 1) != 1) _exit(3);
}

/// Runs training steps until the save is finished. In each step, the ranks exchange how far their parts of the save are.
checkpoint::SaveResult train_until_finished(checkpoint::Saver& saver, Communicator& communicator, std::mt19937& random) {
  for (;;) {
    const auto mine = saver.progress();
    communicator.start_maximum({0, 0, 0, 0, -mine.sealed, mine.finished});
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    const auto all = communicator.finish_maximum();
    if (auto result = saver.advance({-all[4], all[5]})) return *result;
  }
}

checkpoint::SaverOptions saver_options(const std::string& run_dir, const std::string& private_dir, int attempt) {
  auto options = options_for(run_dir, 0).saver;
  options.private_dir = private_dir;
  if (attempt % 2 == 1) options.file_of_rank.assign(ranks, 0);  // one file for all ranks
  options.retention = checkpoint::Retention{2, "", true};
  const auto earlier = checkpoint::numbers_in(run_dir);
  options.known = {earlier.begin(), earlier.end()};
  return options;
}

int save_forever(const std::string& run_dir, int attempt, int kill_phase, int kill_save, int fd) {
  std::atomic<int> saves{0};
  const auto private_dir = run_dir + "/" + checkpoint::private_directory_name();
  auto options = saver_options(run_dir, private_dir, attempt);
  options.writer.observer = [&](Phase phase) {
    send_mark(fd, static_cast<unsigned char>(phase));
    if (static_cast<int>(phase) == kill_phase && saves >= kill_save) kill(getpid(), SIGKILL);
  };
  const auto first = checkpoint::highest_number(run_dir) + 1;
  run_ranks(ranks, [&](Communicator& communicator) {
    std::mt19937 random(static_cast<unsigned>(attempt));
    Model model(model_specs(), communicator.rank(), communicator.size());
    checkpoint::Saver saver(options, communicator);
    for (auto number = first;; ++number) {
      if (communicator.rank() == 0) {
        ++saves;
        send_mark(fd, started_mark);
      }
      communicator.barrier();
      model.fill(static_cast<std::uint64_t>(number));
      auto failed = saver.start(model.state(), {options_for(run_dir, number).meta, {}});
      model.fill(99999);  // training continues
      const auto result = failed            ? *failed
                          : number % 3 == 0 ? saver.finish().value()
                                            : train_until_finished(saver, communicator, random);
      if (!result.committed) {
        std::fprintf(stderr, "a save failed: %s\n", result.error.c_str());
        _exit(4);
      }
      if (communicator.rank() == 0) send_mark(fd, saved_mark);
    }
  });
  return 0;
}

// --- driver -------------------------------------------------------------------------------------------------------------

struct Killed {
  int phase = -1;  // last phase that was reached, -1: no phase
  int saved = 0;   // number of saves known to be committed
  std::array<bool, checkpoint::phase_count> reached{};
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
    if (mark == started_mark) killed.phase = -1;
    if (mark >= checkpoint::phase_count) return;
    killed.phase = mark;
    killed.reached[mark] = true;
  };
  if (phase < 0) {  // at a random time after the first save began
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

/// Verifies all visible checkpoints, and writes missing views (state.h5). Returns the first problem, or "".
std::string damage_in(const std::string& run_dir, int& views_made) {
  for (const auto number : checkpoint::numbers_in(run_dir)) {
    const auto directory = run_dir + "/" + checkpoint::directory_name(number);
    if (!checkpoint::has_view(directory)) {
      if (const auto findings = checkpoint::verify(directory); !findings.empty())
        return "checkpoint without a view: " + findings.front();
      const auto private_dir = run_dir + "/" + checkpoint::private_directory_name();
      io::make_directory(private_dir);
      checkpoint::restore_view(directory, checkpoint::view_aside(private_dir));
      ++views_made;
      if (!checkpoint::has_view(directory)) return "the view was not written";
    }
    if (const auto findings = checkpoint::verify(directory); !findings.empty()) return findings.front();
  }
  return "";
}

/// Loads the newest checkpoint on 3 ranks, and returns problems. Its number must be at least `least`.
std::string loading_error(const std::string& run_dir, std::int64_t least) {
  std::string finding;
  std::mutex mutex;
  run_ranks(3, [&](Communicator& communicator) {
    Model model(model_specs(), communicator.rank(), communicator.size());
    const auto loaded = checkpoint::load_latest(model.state(), run_dir, communicator);
    const std::lock_guard lock(mutex);
    if (!loaded)
      finding = least < 0 ? finding : "no checkpoint was loaded";
    else if (!loaded->skipped.empty())
      finding = loaded->skipped.front();
    else if (loaded->meta.number < least)
      finding =
          "loaded number " + std::to_string(loaded->meta.number) + ", but " + std::to_string(least) + " was committed";
    else if (loaded->notes.empty() != checkpoint::has_view(loaded->directory))
      finding = "expected one note if the view is missing, and no note otherwise";
    else if (const auto what = model.difference(static_cast<std::uint64_t>(loaded->meta.number), ranks); !what.empty())
      finding = "'" + what + "' differs";
  });
  return finding;
}

/// Removes abandoned files as the next attempt does. Returns "" if only checkpoints remain.
std::string debris_in(const std::string& run_dir) {
  std::string message;
  checkpoint::remove_abandoned(run_dir, [&](const std::string& text) { message = text; });
  if (!message.empty()) return message;
  for (const auto& name : io::list_directory(run_dir))
    if (!checkpoint::number_of(name)) return "'" + name + "' was not removed";
  return "";
}

/// Checks the run directory after a kill. Returns the problems, or "" if the directory is correct.
std::string broken(const std::string& run_dir, std::int64_t least, int& views_made) {
  auto finding = loading_error(run_dir, least);
  if (finding.empty()) finding = damage_in(run_dir, views_made);
  // Removes this process's private directory, in which damage_in() wrote views. debris_in() must remove that of the killed
  // process.
  for (const auto& name : io::list_directory(run_dir))
    if (name.find("." + std::to_string(getpid()) + ".") != std::string::npos) io::remove_tree(run_dir + "/" + name);
  if (finding.empty()) finding = debris_in(run_dir);
  return finding;
}

struct Row {
  int kills = 0;
  int at_random = 0;
  int good = 0;
};

using Rows = std::array<Row, checkpoint::phase_count + 1>;

void print_table(const Rows& rows) {
  std::printf("%-18s %6s %10s %6s\n", "killed after", "kills", "at random", "intact");
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
  Rows rows{};
  int failures = 0;
  int views_made = 0;
  const auto started = monotonic_seconds();
  for (int n = 0; n < kills; ++n) {
    // First kills twice in each phase: in the first save (if possible) and in a later one. Then kills at random times.
    const bool at_random = n >= 2 * checkpoint::phase_count;
    const int phase = at_random ? -1 : n % checkpoint::phase_count;
    const int save = phase >= static_cast<int>(Phase::retired) || n >= checkpoint::phase_count ? 3 : 1;
    const auto before = checkpoint::highest_number(run_dir);
    const auto killed = run_and_kill(run_dir, n, phase, save, static_cast<int>(random() % 60000));
    auto finding = broken(run_dir, before + killed.saved, views_made);
    if (!killed.by_signal) finding = "the saving process was not killed";
    if (!at_random && !killed.reached[static_cast<std::size_t>(phase)])
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
  const bool all_hit = std::all_of(rows.begin() + 1, rows.end(), [](const Row& row) { return row.kills > 0; });
  if (!all_hit && kills >= 2 * checkpoint::phase_count) std::printf("a phase was never hit\n");
  std::printf("%d kills in %.1f s, %d failures, %d views written, newest checkpoint %lld\n", kills,
              monotonic_seconds() - started, failures, views_made,
              static_cast<long long>(checkpoint::highest_number(run_dir)));
  return failures == 0 && (all_hit || kills < 2 * checkpoint::phase_count) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 7 && std::string(argv[1]) == "save")
    return save_forever(argv[2], std::atoi(argv[3]), std::atoi(argv[4]), std::atoi(argv[5]), std::atoi(argv[6]));
  return drive(argc > 1 ? std::atoi(argv[1]) : 200);
} catch (const std::exception& error) {
  std::fprintf(stderr, "checkpoint_kill: %s\n", error.what());
  return 2;
}
