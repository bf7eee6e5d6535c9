#include "cli/removal_guard.hpp"

#include <array>
#include <csignal>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainrt::cli {

namespace {

/// How the shell is started: with the pipe as its input, in a session of its own, with no handlers and no blocked signals.
struct ShellSetup {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  explicit ShellSetup(int input) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    for (const int number : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  }
  ~ShellSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  ShellSetup(const ShellSetup&) = delete;
  ShellSetup& operator=(const ShellSetup&) = delete;
};

}  // namespace

RemovalGuard::RemovalGuard(const std::vector<std::string>& paths) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  lifeline_ = ends[1];
  std::vector<std::string> words = {"sh", "-c", R"(read -r end; rm -f -- "$@")", "sh"};
  words.insert(words.end(), paths.begin(), paths.end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const ShellSetup setup(ends[0]);
  if (posix_spawn(&shell_, "/bin/sh", &setup.actions, &setup.attributes, pointers.data(), environ) != 0) shell_ = -1;
  close(ends[0]);
}

RemovalGuard::~RemovalGuard() {
  if (shell_ > 0) {
    kill(shell_, SIGKILL);
    waitpid(shell_, nullptr, 0);
  }
  if (lifeline_ >= 0) close(lifeline_);
}

}  // namespace trainrt::cli
