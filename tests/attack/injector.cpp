// Runs a program and attacks one of the system calls by which the program, its threads or its children read or change a
// directory. ptrace also sees the calls inside the C library; a seccomp filter lets the program stop only at the watched
// calls.
//
//   attack_injector --watch DIR [--log FILE] [--at KIND PATH N ACTION] PROGRAM ARGUMENT...
//
//   --log FILE  file for a line "KIND<tab>PATH" per call below DIR (see calls.hpp), and a line "hit" before the attacked
//               call
//   --at        attacks the N-th call (from 1) of KIND on PATH, as written to FILE
//   ACTION      kill-before, kill-after   kills all processes of the job, before or after the call: those with the same
//                                         TRAINRT_JOB in their environment as this process
//               lose-before, lose-after   kills only this program
//               signal:NUMBER             sends the signal to the program, and makes the call
//               fail:ERRNO                returns this error (a number) without making the call; only close() is made
//               empty                     returns 0 without making the call
//               short                     requests half of the bytes
// Exits like the program, or with 97 and a message if tracing is not permitted or the arguments are wrong.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

#include "calls.hpp"

namespace attack {

namespace {

constexpr int cannot = 97;

struct Target {
  std::string kind, path, action;
  int times = 0;  ///< 0: no call is attacked

  bool is(std::string_view name) const { return action == name || action.starts_with(std::string(name) + ":"); }
  int number() const { return std::stoi(action.substr(action.find(':') + 1)); }
  bool after() const { return action.ends_with("-after") || (is("fail") && kind == "close"); }
};

struct Order {
  std::string directory, log;
  Target target;
  char** program = nullptr;
};

Order order_of(char** words) {
  const std::string usage = "usage: attack_injector --watch DIR [--log FILE] [--at KIND PATH N ACTION] PROGRAM ARGUMENT...";
  const auto next = [&] { return *words != nullptr ? std::string(*words++) : throw std::runtime_error(usage); };
  Order order;
  while (*words != nullptr && std::string_view(*words).starts_with("--")) {
    const auto option = next();
    if (option == "--watch") {
      order.directory = next();
    } else if (option == "--log") {
      order.log = next();
    } else if (option == "--at") {
      order.target.kind = next(), order.target.path = next(), order.target.times = std::stoi(next()),
      order.target.action = next();
    } else {
      throw std::runtime_error(usage);
    }
  }
  if (order.directory.empty() || *words == nullptr) throw std::runtime_error(usage);
  order.program = words;
  return order;
}

/// Makes this thread and its future threads and children stop at the watched calls only.
void stop_at_watched_calls() {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const auto number : watched_calls()) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::cerr << "attack_injector: cannot filter system calls: " << std::strerror(errno) << "\n";
    ::_exit(cannot);
  }
}

/// Starts the program; traces it and all its threads and children. Throws std::runtime_error if that is not permitted.
pid_t start(char** program) {
  int gate[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  const auto child = ::fork();
  if (child == 0) {
    ::close(gate[1]);
    char byte = 0;
    if (::read(gate[0], &byte, 1) != 1) ::_exit(cannot);
    stop_at_watched_calls();
    ::execvp(program[0], program);
    std::cerr << "attack_injector: cannot start " << program[0] << ": " << std::strerror(errno) << "\n";
    ::_exit(cannot);
  }
  ::close(gate[0]);
  constexpr auto options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                           PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  if (child < 0 || ::ptrace(PTRACE_SEIZE, child, 0, options) != 0)
    throw std::runtime_error(std::string("cannot trace: ") + std::strerror(errno));
  const auto written = ::write(gate[1], "g", 1);
  ::close(gate[1]);
  if (written != 1) throw std::runtime_error("the program did not wait for its tracer");
  return child;
}

[[noreturn]] void end_as_killed() {
  ::kill(::getpid(), SIGKILL);
  ::_exit(128 + SIGKILL);
}

/// Kills all other processes of this process's job.
void kill_job() {
  const char* job = std::getenv("TRAINRT_JOB");
  if (job == nullptr) return;
  const auto mark = '\0' + std::string("TRAINRT_JOB=") + job + '\0';
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == ::getpid()) continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const auto environment = '\0' + std::string(std::istreambuf_iterator<char>(file), {});
    if (environment.find(mark) != std::string::npos) ::kill(pid, SIGKILL);
  }
}

class Injector {
 public:
  explicit Injector(Order order) : order_(std::move(order)), log_(order_.log), main_(start(order_.program)) {}

  /// Handles events until the program ends; returns its exit code, or ends by the same signal.
  int run() {
    for (;;) {
      int status = 0;
      const auto tid = ::waitpid(-1, &status, __WALL);
      if (tid < 0 && errno == EINTR) continue;
      if (tid < 0) throw std::runtime_error(std::string("cannot wait for the program: ") + std::strerror(errno));
      if (WIFSTOPPED(status)) {
        handle_stop(tid, status);
      } else if (tid == main_) {
        if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
        ::signal(WTERMSIG(status), SIG_DFL);
        ::kill(::getpid(), WTERMSIG(status));
        return 128 + WTERMSIG(status);
      }
    }
  }

  pid_t program() const { return main_; }

 private:
  void handle_stop(pid_t tid, int status) {
    const auto signal = WSTOPSIG(status);
    const auto event = status >> 16;
    if (event == PTRACE_EVENT_SECCOMP) return at_call(tid);
    if (event == PTRACE_EVENT_STOP && (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)) {
      ::ptrace(PTRACE_LISTEN, tid, 0, 0);
    } else if (event != 0) {
      ::ptrace(PTRACE_CONT, tid, 0, 0);
    } else if (signal == (SIGTRAP | 0x80)) {
      after_call(tid);
    } else {
      ::ptrace(PTRACE_CONT, tid, 0, signal);
    }
  }

  void at_call(pid_t tid) {
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0 && info.op == PTRACE_SYSCALL_INFO_SECCOMP) {
      std::array<std::uint64_t, 6> arguments{};
      std::copy(std::begin(info.seccomp.args), std::end(info.seccomp.args), arguments.begin());
      if (const auto call = call_of(tid, info.seccomp.nr, arguments, order_.directory)) {
        const auto target = is_target(*call);
        if (target) log_ << "hit\n";
        log_ << call->kind << '\t' << call->path << std::endl;
        if (target) return attack(tid);
      }
    }
    ::ptrace(PTRACE_CONT, tid, 0, 0);
  }

  bool is_target(const Call& call) {
    const auto& target = order_.target;
    return call.kind == target.kind && call.path == target.path && ++seen_ == target.times;
  }

  void attack(pid_t tid) {
    const auto& target = order_.target;
    if (target.after()) {
      ::ptrace(PTRACE_SYSCALL, tid, 0, 0);  // the thread stops again after the call
      return;
    }
    if (target.is("kill-before") || target.is("lose-before")) strike();
    if (target.is("signal")) ::kill(main_, target.number());
    if (target.is("fail")) skip(tid, -target.number());
    if (target.is("empty")) skip(tid, 0);
    if (target.is("short")) ask_for_half(tid);
    ::ptrace(PTRACE_CONT, tid, 0, 0);
  }

  void after_call(pid_t tid) {
    if (!order_.target.is("fail")) strike();
    set(tid, offsetof(user_regs_struct, rax), -order_.target.number());
    ::ptrace(PTRACE_CONT, tid, 0, 0);
  }

  [[noreturn]] void strike() {
    ::kill(main_, SIGKILL);
    if (order_.target.is("kill-before") || order_.target.is("kill-after")) kill_job();
    end_as_killed();
  }

  static void set(pid_t tid, std::size_t offset, long value) { ::ptrace(PTRACE_POKEUSER, tid, offset, value); }

  static void skip(pid_t tid, long result) {
    set(tid, offsetof(user_regs_struct, orig_rax), -1);
    set(tid, offsetof(user_regs_struct, rax), result);
  }

  static void ask_for_half(pid_t tid) {
    const auto bytes = ::ptrace(PTRACE_PEEKUSER, tid, offsetof(user_regs_struct, rdx), 0);
    if (bytes > 1) set(tid, offsetof(user_regs_struct, rdx), bytes / 2);
  }

  Order order_;
  std::ofstream log_;
  pid_t main_;
  int seen_ = 0;
};

/// The program that gets the signals sent to this process.
pid_t receiver = 0;
void pass_on(int signal) { ::kill(receiver, signal); }

}  // namespace

int main_of(char** words) {
  Injector injector(order_of(words));
  receiver = injector.program();
  for (const auto signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(signal, pass_on);
  return injector.run();
}

}  // namespace attack

int main(int, char** words) {
  try {
    return attack::main_of(words + 1);
  } catch (const std::exception& error) {
    std::cerr << "attack_injector: " << error.what() << "\n";
    return attack::cannot;
  }
}
