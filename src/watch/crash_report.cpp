#include "watch/crash_report.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/host.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/output_targets.hpp"
#include "core/output/standard_streams.hpp"
#include "core/output/terminal.hpp"
#include "core/process/stack_trace.hpp"
#include "core/process/symbols.hpp"
#include "core/process/thread.hpp"
#include "core/text/text.hpp"
#include "watch/thrown.hpp"

namespace trainrt::watch {

/// All data that the crash handler needs, prepared before a crash, because a signal handler must not allocate memory.
struct CrashFacts {
  CrashFiles files;
  std::string who;      ///< this rank and its host: "rank 2 on n2"
  std::string details;  ///< process ID and attempt: "process 123, attempt 3"
  std::string printed;  ///< title line for the last lines that the rank has printed
  const Liveness* life;
  std::function<void(int)> end_step;
  std::atomic<int> signal_number = 0;  ///< signal that caused the crash
  sem_t crashed;                       ///< posted to wake the thread that ends the job step
};
namespace {

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr unsigned last_resort_s = 20;
constexpr time_t end_step_s = 5;
constexpr int exit_code_of_signals = 128;

std::atomic<CrashFacts*> current_facts = nullptr;
std::atomic<pid_t> crashing_thread = 0;

/// Message and throw stack of the exception that led to std::terminate; stored before abort() is called.
char terminate_reason[512];
StackFrames terminate_stack;
std::terminate_handler earlier_terminate = nullptr;

/// Builds a text of limited length without allocating memory (async-signal-safe). Text beyond the limit is truncated.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const auto length = std::min(text.size(), sizeof text_ - used_);
    std::memcpy(text_ + used_, text.data(), length);
    used_ += length;
    return *this;
  }
  Line& operator<<(std::int64_t number) { return put(number, 10); }
  Line& hex(std::uintptr_t number) {
    *this << "0x";
    return put(number, 16);
  }
  std::string_view text() const { return {text_, used_}; }

 private:
  template <class T>
  Line& put(T number, int base) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number, base);
    return *this << std::string_view(digits, static_cast<std::size_t>(end.ptr - digits));
  }

  char text_[1200];
  std::size_t used_ = 0;
};

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string_view name_of_signal(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? "?" : name;
}

void put_stack(int fd, const StackFrames& frames) {
  for (int i = 0; i < frames.count; ++i) {
    Symbol symbol;
    find_symbol(frames.code_at(i), symbol);
    Line line;
    line << "  #" << static_cast<std::int64_t>(i) << " " << (symbol.name[0] == '\0' ? "?" : symbol.name) << "+";
    line.hex(symbol.offset) << " (" << (symbol.file == nullptr ? "?" : symbol.file) << ")\n";
    put(fd, line.text());
  }
}

/// Appends a description of the crash, such as "rank 2 on n2 died of SIGSEGV at address 0x0, at step 812 (training)".
/// After SIGABRT, the reason of std::terminate() follows if it is known.
void describe_crash(Line& line, const CrashFacts& facts, int number, const siginfo_t* info) {
  const auto seen = facts.life->snapshot();
  line << facts.who << " died of SIG" << name_of_signal(number);
  const bool was_sent = info->si_code <= 0;  // sent by kill(2) or abort(3): the signal has no address
  if (was_sent && info->si_pid != getpid()) line << ", sent by process " << static_cast<std::int64_t>(info->si_pid);
  if (!was_sent && (number == SIGSEGV || number == SIGBUS))
    (line << " at address ").hex(reinterpret_cast<std::uintptr_t>(info->si_addr));
  line << ", at step " << seen.step << " (" << name_of(seen.phase) << ")";
  if (number == SIGABRT && terminate_reason[0] != '\0') line << ": " << terminate_reason;
  line << "\n";
}

void put_time(int fd) {
  using namespace std::chrono;
  const auto now = time_point_cast<seconds>(system_clock::now());
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(now - day);
  const auto two = [](Line& line, std::int64_t number) -> Line& { return (number < 10 ? line << "0" : line) << number; };
  Line line;
  line << static_cast<std::int64_t>(static_cast<int>(date.year())) << "-";
  two(line, static_cast<unsigned>(date.month())) << "-";
  two(line, static_cast<unsigned>(date.day())) << "T";
  two(line, time.hours().count()) << ":";
  two(line, time.minutes().count()) << ":";
  two(line, time.seconds().count()) << "Z ";
  put(fd, line.text());
}

void put_lines(int fd, const CrashFacts& facts, std::string_view lines) {
  if (lines.empty()) return;
  put(fd, facts.printed);
  put(fd, lines);
  put(fd, "\n");
}

void put_report(int fd, const CrashFacts& facts, std::string_view what, const StackFrames& frames, std::string_view lines) {
  put_time(fd);
  put(fd, what);
  put(fd, facts.details);
  put_lines(fd, facts, lines);
  put(fd, "stack (c++filt shows the names in full)\n");
  put_stack(fd, frames);
  if (terminate_stack.count > 0) {
    put(fd, "the exception was thrown at\n");
    put_stack(fd, terminate_stack);
  }
}

void write_reports(const CrashFacts& facts, std::string_view what, const StackFrames& frames) {
  static char room[8 << 10];
  const auto last = OutputCapture::last_in_handler(room);
  put(standard_error(), "trainrt: error: ");
  put(standard_error(), what);
  if (!last.is_shown) put_lines(standard_error(), facts, last.lines);
  for (const auto* path : {&facts.files.report, &facts.files.error_aside}) {
    const int fd = open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) continue;
    put_report(fd, facts, what, frames, last.lines);
    fsync(fd);
    close(fd);
  }
  // Publishes error.txt atomically, by a hard link from the attempt's private directory (io/files/fenced_directory.hpp).
  // The link fails if another rank has created error.txt, or if a newer attempt has taken over the run.
  if (link(facts.files.error_aside.c_str(), facts.files.error.c_str()) == 0) unlink(facts.files.error_aside.c_str());
}

void end_step_of(CrashFacts& facts, int number) {
  if (!facts.end_step) return;
  facts.signal_number = number;
  sem_post(&facts.crashed);
  timespec limit{end_step_s, 0};
  while (nanosleep(&limit, &limit) != 0) {
  }
}

/// Signal handler: reports a crash and lets the process die of the signal. If the report itself crashes, the default action
/// of the signal ends the process; if the report blocks, SIGALRM ends the process.
void on_crash(int number, siginfo_t* info, void*) {
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  pid_t nobody = 0;
  if (!crashing_thread.compare_exchange_strong(nobody, thread) && nobody != thread) {
    for (;;) pause();  // the thread that crashed first reports its crash and ends the process
  }
  for (const int each : crash_signals) signal(each, SIG_DFL);
  signal(SIGALRM, SIG_DFL);
  alarm(last_resort_s);
  OutputCapture::restore_at_exit();
  last_row::restore_at_exit();
  if (auto* facts = current_facts.load(); facts != nullptr) {
    Line what;
    describe_crash(what, *facts, number, info);
    write_reports(*facts, what.text(), interrupted_stack());
    end_step_of(*facts, number);
  }
  alarm(0);
  raise(number);  // the signal is delivered when the handler returns
}

/// Terminate handler: stores the type, message and throw stack of the exception for the crash report that follows abort().
[[noreturn]] void on_terminate() {
  if (const auto exception = std::current_exception()) {
    terminate_stack = thrown_at();
    std::string reason = "std::terminate of a " + thrown_type();
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      reason += std::string(": ") + error.what();
    } catch (...) {  // not a std::exception: only its type is known
    }
    first_line(reason).copy(terminate_reason, sizeof terminate_reason - 1);
  }
  earlier_terminate();
  __builtin_trap();
}

}  // namespace

void install_crash_reports() {
  static std::byte memory[256 << 10];  // fixed size, because SIGSTKSZ is not a constant in newer C libraries
  const stack_t stack{.ss_sp = memory, .ss_flags = 0, .ss_size = sizeof memory};
  sigaltstack(&stack, nullptr);
  stack_here();  // loads the stack unwinder now, because loading it in the handler is not safe
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : crash_signals) sigaction(number, &action, nullptr);
  if (const auto earlier = std::set_terminate(on_terminate); earlier != on_terminate) earlier_terminate = earlier;
}

CrashScope::CrashScope(CrashFiles files, int attempt, int rank, const Liveness& life, std::function<void(int)> end_step)
    : facts_(std::make_unique<CrashFacts>()) {
  facts_->files = std::move(files);
  facts_->who = fmt::format("rank {} on {}", rank, host_name());
  facts_->details = fmt::format("process {}, attempt {}\n", getpid(), attempt);
  facts_->printed = fmt::format("its last lines ({} has all):\n", rank_log_name(rank));
  facts_->life = &life;
  facts_->end_step = std::move(end_step);
  sem_init(&facts_->crashed, 0, 0);
  if (facts_->end_step)
    helper_ = thread_without_signals([facts = facts_.get()] {
      while (sem_wait(&facts->crashed) != 0) {
      }
      if (const int number = facts->signal_number; number != 0) facts->end_step(exit_code_of_signals + number);
    });
  current_facts = facts_.get();
}

CrashScope::~CrashScope() {
  auto* mine = facts_.get();
  current_facts.compare_exchange_strong(mine, nullptr);
  sem_post(&facts_->crashed);
  if (helper_.joinable()) helper_.join();
  sem_destroy(&facts_->crashed);
}

}  // namespace trainrt::watch
