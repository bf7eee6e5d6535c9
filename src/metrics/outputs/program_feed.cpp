#include "metrics/outputs/program_feed.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/output/output_tail.hpp"
#include "core/process/thread.hpp"
#include "core/text/text.hpp"

namespace trainrt::metrics {

namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);
constexpr double min_pause_s = 1, max_pause_s = 600;  // minimum and maximum delay before a restart of the program
constexpr double wait_after_failure_s = 2;
constexpr double between_notes_s = 1;
constexpr double settled_s = 2;  // age at which a line that was read counts as kept by a program without confirmations
constexpr std::size_t max_unread_bytes = std::size_t{64} << 10;  // capacity of a pipe; further lines wait in the queue
constexpr std::size_t max_logged_bytes = std::size_t{1} << 20;   // maximum size of the program's log per attempt
constexpr std::size_t max_answer_bytes = 100;
constexpr int do_not_restart = 64;  // exit code by which a program requests not to be restarted

}  // namespace

ProgramFeed::ProgramFeed(Setup setup, std::vector<ReportLine> backlog)
    : setup_(std::move(setup)),
      kept_(setup_.kept),
      lines_(std::make_move_iterator(backlog.begin()), std::make_move_iterator(backlog.end())),
      of_backlog_(lines_.size()),
      log_(setup_.log),
      pause_s_(min_pause_s),
      noted_kept_(setup_.kept),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  drop_until(kept_);
  thread_ = thread_without_signals([this] { run(); });
}

ProgramFeed::~ProgramFeed() {
  finish(wait_after_failure_s);
  close(wake_);
}

void ProgramFeed::add(ReportLine line) {
  {
    const std::lock_guard lock(mutex_);
    if (line.report <= kept_) return;  // a report that the run repeats after a restart, and that the program has confirmed
    if (lines_.size() - of_backlog_ < setup_.queue) {
      lines_.push_back(std::move(line));
    } else if (dropped_++ == 0) {
      log::warning(fmt::format("{} is {} reports behind: later reports are dropped until the program catches up. {}",
                               setup_.name, setup_.queue, "result.json has all reports"));
    }
  }
  wake();
}

void ProgramFeed::end(std::string last_line) {
  {
    const std::lock_guard lock(mutex_);
    last_line_ = std::move(last_line);
  }
  finish(setup_.wait_s);
  if (is_given_up_) return;
  const auto missing = static_cast<std::int64_t>(lines_.size());
  if (missing > 0)
    log::warning(fmt::format(
        "{} has not kept the last {}{}. result.json has these reports, and the program gets them when the run is "
        "continued. To continue a finished run, increase its number of epochs",
        setup_.name, counted(missing, "report"),
        has_exited_at_end_ ? ", because its program has exited" : fmt::format(" within {:.3g} s", setup_.wait_s)));
  if (dropped_ > 0)
    log::warning(fmt::format("{} did not get {}, because its queue was full", setup_.name, counted(dropped_, "report")));
}

void ProgramFeed::finish(double limit_s) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    deadline_ = monotonic_seconds() + limit_s;
  }
  wake();
  thread_.join();
}

void ProgramFeed::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(!write(wake_, &one, sizeof one));
}

void ProgramFeed::run() {
  while (!is_over()) {
    if (!program_ && !is_given_up_ && monotonic_seconds() >= start_at_) start();
    if (program_) {
      send_lines();
      take_output(program_->exchange(poll_interval, wake_));
      confirm_read_lines(settled_s);
      if (const auto code = program_->exit_code()) take_exit(*code);
    } else {
      pollfd ready{wake_, POLLIN, 0};
      poll(&ready, 1, static_cast<int>(poll_interval.count()));
    }
    std::uint64_t wakes = 0;
    static_cast<void>(!read(wake_, &wakes, sizeof wakes));
    if (monotonic_seconds() - noted_at_ >= between_notes_s) store_position();
  }
  program_.reset();
  store_position();
}

void ProgramFeed::store_position() {
  const auto kept = kept_.load(), dropped = dropped_.load();
  if (kept == noted_kept_ && dropped == noted_dropped_) return;
  noted_at_ = monotonic_seconds();
  try {
    setup_.note(kept, dropped);
    noted_kept_ = kept;
    noted_dropped_ = dropped;
  } catch (const std::exception& error) {
    if (!std::exchange(has_warned_, true)) log::warning(fmt::format("{}: {}", setup_.name, error.what()));
  }
}

bool ProgramFeed::is_over() {
  const std::lock_guard lock(mutex_);
  return ends_ && (is_given_up_ || monotonic_seconds() > deadline_ || (has_last_line_ && !program_));
}

void ProgramFeed::start() {
  try {
    program_ = std::make_unique<PipedProgram>(setup_.command, setup_.environment);
  } catch (const Error& error) {
    log::warning(fmt::format("{}: {}", setup_.name, error.what()));
    start_at_ = monotonic_seconds() + std::exchange(pause_s_, std::min(2 * pause_s_, max_pause_s));
    return;
  }
  log_.begin_with_output(setup_.command);
  sent_.clear();
  answer_.clear();
  last_error_.clear();
  has_last_line_ = false;
  kept_at_start_ = kept_;
  const auto greeting = setup_.greeting(kept_);
  program_->send(greeting);
  sent_bytes_ = greeting.size();
}

void ProgramFeed::send_lines() {
  const std::lock_guard lock(mutex_);
  while (sent_.size() < lines_.size() && program_->unread() < max_unread_bytes) {
    const auto& line = lines_[sent_.size()];
    program_->send(line.text);
    sent_.push_back({line.report, sent_bytes_ += line.text.size()});
  }
  if (!ends_ || has_last_line_ || sent_.size() < lines_.size()) return;
  program_->send(last_line_);
  sent_bytes_ += last_line_.size();
  program_->end_input();
  has_last_line_ = true;
}

void ProgramFeed::take_output(const PipedProgram::Received& heard) {
  for (const char each : heard.output) {
    if (each != '\n') {
      if (answer_.size() < max_answer_bytes) answer_ += each;
      continue;
    }
    take_confirmation(std::exchange(answer_, {}));
  }
  if (!heard.errors.empty()) log_errors(heard.errors);
}

void ProgramFeed::take_confirmation(const std::string& line) {
  const auto number = parse_integer(trim(line));
  if (!number || *number < 0) return;
  answers_ = true;
  drop_until(*number);
}

void ProgramFeed::log_errors(const std::string& text) {
  constexpr std::size_t max_bytes = 4096;
  last_error_ += text;
  if (last_error_.size() > max_bytes) last_error_.erase(0, last_error_.size() - max_bytes);
  if (logged_bytes_ >= max_logged_bytes) return;
  logged_bytes_ += text.size();
  log_.add(text);
  if (logged_bytes_ >= max_logged_bytes)
    log_.add("\n(trainrt: the program has written 1 MiB; the rest of this attempt is not logged)\n");
}

void ProgramFeed::confirm_read_lines(double age_s) {
  if (answers_) return;
  const auto read_bytes = sent_bytes_ - program_->unread();
  const auto now = monotonic_seconds();
  std::int64_t report = 0;
  for (auto& sent : sent_) {
    if (sent.end > read_bytes) break;
    if (sent.read_at == 0) sent.read_at = now;
    if (now - sent.read_at >= age_s) report = sent.report;
  }
  drop_until(report);
}

void ProgramFeed::drop_until(std::int64_t report) {
  const std::lock_guard lock(mutex_);
  kept_ = std::max(kept_.load(), report);
  while (!lines_.empty() && lines_.front().report <= report) {
    lines_.pop_front();
    if (!sent_.empty()) sent_.pop_front();
    if (of_backlog_ > 0) --of_backlog_;
  }
}

void ProgramFeed::take_exit(int exit_code) {
  while (true) {
    const auto heard = program_->exchange(std::chrono::milliseconds(0), -1);
    if (heard.output.empty() && heard.errors.empty()) break;
    take_output(heard);
  }
  confirm_read_lines(exit_code == 0 ? 0 : settled_s);
  program_.reset();
  has_exited_at_end_ = has_last_line_;
  if (has_last_line_ && exit_code == 0) return;
  is_given_up_ = exit_code == do_not_restart;
  if (kept_ > kept_at_start_) pause_s_ = min_pause_s;
  const auto consequence = is_given_up_     ? std::string("it will be restarted at the next start of the run")
                           : has_last_line_ ? "it will not be restarted"
                                            : fmt::format("it will be restarted in {:.0f} s", pause_s_);
  log::warning(fmt::format("{} exited with {}; {}{}{}", setup_.name, exit_code, consequence,
                           last_error_.empty() ? "" : ": ", trim(last_lines(last_error_, 3, 500))));
  start_at_ = monotonic_seconds() + std::exchange(pause_s_, std::min(2 * pause_s_, max_pause_s));
}

}  // namespace trainrt::metrics
