#include "batch/signals.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include <unistd.h>

#include "core/output/standard_streams.hpp"
#include "core/process/ignored_signal.hpp"

namespace trainrt::batch {

namespace {

constexpr std::array stop_signals = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP};

std::atomic<int> first_signal{0};
std::atomic<bool> acknowledges{false};
constexpr std::string_view default_notice = "trainrt: asked to stop; saving at the next step or report\n";
std::atomic<const std::string_view*> notice{&default_notice};
/// Bit i is set if the signal stop_signals[i] was ignored before the handlers were first installed.
std::atomic<unsigned> kept_ignored{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use it");

std::atomic<pid_t> starter{0};           ///< process id of the parent when the handlers were first installed
std::atomic<bool> is_of_starter{false};  ///< whether the first signal came from `starter`

void remember(int signal, siginfo_t* info, void*) {
  if (first_signal != 0) return;
  const int before = errno;
  if (info != nullptr && info->si_code == SI_USER && info->si_pid == starter) is_of_starter = true;
  int no_signal = 0;
  if (!first_signal.compare_exchange_strong(no_signal, signal) || !acknowledges) return;
  const auto& text = *notice.load();
  if (write(standard_error(), text.data(), text.size()) < 0) errno = before;
}

}  // namespace

void install_stop_signals() {
  for (std::size_t i = 0; i < stop_signals.size(); ++i)
    if (is_signal_ignored(stop_signals[i])) kept_ignored |= 1U << i;
  pid_t unknown = 0;
  starter.compare_exchange_strong(unknown, getppid());
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    const bool is_ignored = (kept_ignored & 1U << i) != 0;
    action.sa_flags = is_ignored ? SA_RESTART : SA_RESTART | SA_SIGINFO;
    if (is_ignored)
      action.sa_handler = SIG_IGN;
    else
      action.sa_sigaction = remember;
    sigaction(stop_signals[i], &action, nullptr);
  }
  ignore_signal_here(SIGPIPE);
}

struct StopSignals::Before {
  std::array<struct sigaction, stop_signals.size()> of_stops{};
  struct sigaction of_pipe {};
};

StopSignals::StopSignals() : before_(std::make_unique<Before>()) {
  for (std::size_t i = 0; i < stop_signals.size(); ++i) sigaction(stop_signals[i], nullptr, &before_->of_stops[i]);
  sigaction(SIGPIPE, nullptr, &before_->of_pipe);
  install_stop_signals();
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < stop_signals.size(); ++i) sigaction(stop_signals[i], &before_->of_stops[i], nullptr);
  sigaction(SIGPIPE, &before_->of_pipe, nullptr);
  kept_ignored = 0;
}

void request_stop() { remember(SIGUSR1, nullptr, nullptr); }

void acknowledge_stop_signals() { acknowledges = true; }

void set_stop_notice(const std::string& text) {
  if (text.empty()) {
    notice = &default_notice;
    return;
  }
  // Texts are kept until the process exits, because a signal handler may still be writing the previous text.
  static std::mutex mutex;
  static std::map<std::string, std::string_view> texts;
  const std::lock_guard lock(mutex);
  const auto entry = texts.try_emplace("trainrt: " + text + "\n").first;
  entry->second = entry->first;
  notice = &entry->second;
}

int stop_signal() { return first_signal.load(); }

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

bool starter_has_died() {
  // When the parent dies, the kernel sends a signal that names the parent as its sender (PR_SET_PDEATHSIG). While
  // threads of the parent are still exiting, getppid() returns the parent. The handler could therefore not distinguish
  // this signal from a signal that the living parent has sent.
  return is_of_starter && getppid() != starter;
}

void forget_stop_signal() {
  first_signal = 0;
  is_of_starter = false;
}

}  // namespace trainrt::batch
