#include "core/process/spawn.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <catch2/catch.hpp>

using namespace trainrt;

namespace {

int exit_code_of(pid_t pid) {
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  return shell_exit_code(status);
}

/// Runs a shell script with these options, and returns its exit code.
int run_script(const std::string& script, SpawnOptions options = {}) {
  options.command = {"sh", "-c", script};
  const pid_t pid = spawn(options);
  REQUIRE(pid > 0);
  return exit_code_of(pid);
}

/// Sets the action of a signal while this object lives.
class SignalAction {
 public:
  SignalAction(int number, void (*action)(int)) : number_(number), before_(std::signal(number, action)) {}
  ~SignalAction() { std::signal(number_, before_); }
  SignalAction(const SignalAction&) = delete;

 private:
  int number_;
  void (*before_)(int);
};

}  // namespace

TEST_CASE("spawn returns -1 with errno if the program is missing or not executable") {
  CHECK(spawn({.command = {"no-such-program"}}) == -1);
  CHECK(errno == ENOENT);
  CHECK(spawn({.command = {"/etc/passwd"}}) == -1);
  CHECK(errno == EACCES);
}

TEST_CASE("a spawned program has its own process group and the given environment") {
  CHECK(run_script("test $(cut -d' ' -f5 /proc/self/stat) = $$") == 0);
  CHECK(run_script("test \"$GREETING\" = hello",
                   {.environment = Variables{{"GREETING", "hello"}, {"PATH", "/usr/bin:/bin"}}}) == 0);
}

TEST_CASE("ignored signals stay ignored in a spawned program unless they are default_signals") {
  const SignalAction ignored(SIGUSR1, SIG_IGN);
  CHECK(run_script("kill -USR1 $$; exit 3") == 3);
  CHECK(run_script("kill -USR1 $$; exit 3", {.default_signals = {SIGUSR1}}) == 128 + SIGUSR1);
  CHECK(run_script("kill -USR1 $$; exit 3", {.default_signals = all_signals()}) == 128 + SIGUSR1);
}

TEST_CASE("a signal that this process handles or blocks has its default action in a spawned program") {
  const SignalAction handled(SIGUSR1, [](int) {});
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  CHECK(run_script("kill -USR1 $$; exit 3") == 128 + SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a spawned program inherits kept_files and no other open file") {
  const Pipe kept, closed;
  const int file = dup(closed.read_end.get());  // without FD_CLOEXEC
  const auto has = [](int number) { return "test -e /proc/self/fd/" + std::to_string(number); };
  CHECK(run_script(has(kept.read_end.get()), {.kept_files = {kept.read_end.get()}}) == 0);
  CHECK(run_script(has(file)) == 1);
  CHECK(run_script(has(file), {.closes_other_files = false}) == 0);
  close(file);
}

TEST_CASE("spawn reports that no descriptor is left for a standard stream of the program") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  std::vector<Descriptor> taken;
  do taken.emplace_back(dup(STDOUT_FILENO));
  while (taken.back().get() < 64);
  // One free descriptor for each end of the pipe of spawn(), so that opening /dev/null fails.
  const rlimit two_left{taken.size() < 3 ? before.rlim_cur : 65, before.rlim_max};
  taken.erase(taken.begin(), taken.begin() + 2);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &two_left) == 0);
  const pid_t pid = spawn({.command = {"/bin/true"}});
  const int error = errno;
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(pid == -1);
  CHECK(error == EMFILE);
}

TEST_CASE("signal_at_parent_end is sent when the starting thread ends") {
  pid_t pid = -1;
  std::thread([&] { pid = spawn({.command = {"sleep", "1000"}, .signal_at_parent_end = SIGKILL}); }).join();
  REQUIRE(pid > 0);
  CHECK(exit_code_of(pid) == 128 + SIGKILL);
}
