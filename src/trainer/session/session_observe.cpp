// The part of the session that makes records of what a silent program shows of its progress.
#include <algorithm>
#include <utility>

#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "core/host.hpp"
#include "core/rank_zero.hpp"
#include "metrics/aggregate.hpp"
#include "metrics/result_log.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/session/session.hpp"

namespace trainrt {

namespace {

double number_in(const Metrics& metrics, std::string_view key) {
  const auto found = std::ranges::find(metrics, key, &Metrics::value_type::first);
  const auto* number = found == metrics.end() ? nullptr : std::get_if<Number>(&found->second.get());
  if (number == nullptr) throw UsageError("observe(): what was seen has no number '" + std::string(key) + "'");
  return number->value;
}

/// Of the first records of the run, how many come before the position; all if they do not have it.
std::int64_t count_before(const std::vector<metrics::Record>& records, std::string_view key, double position) {
  std::int64_t count = 0;
  for (const auto& record : records) {
    const auto number = record.number(key);
    if ((number && *number >= position) || record.iteration != count + 1) break;
    ++count;
  }
  return count;
}

}  // namespace

/// The same on all ranks, though rank 0 alone reads them. An empty key: all of them.
std::int64_t Session::records_before(std::string_view key, double position) {
  std::int64_t count = 0;
  const auto read = [&] { count = count_before(metrics::read_results(spec_.run_dir), key, position); };
  comm::collectively_on_first(communicator_, read, trainer::with_advice);
  communicator_.broadcast(Buffer{&count, 1, DType::i64}, 0, "records of earlier attempts");
  return count;
}

void Session::begin_observed(std::string_view position, double first) {
  progress_.iteration = records_before(position, first);
  begin_reports(progress_.iteration);
  synced_at_s_ = monotonic_seconds();
}

void Session::observe(std::string_view position, const Metrics& seen) {
  require_training("observe()");
  constexpr double between_syncs_s = 10;  // no commit makes the log durable; the program trains on meanwhile
  throw_if_stopped();
  const double place = number_in(seen, position);
  progress_.step = static_cast<std::int64_t>(place);
  if (!reports_begun_) begin_observed(position, place);
  if (std::ranges::count(seen, "total", &Metrics::value_type::first) > 0) attempt_.meter.expect(number_in(seen, "total"));
  auto record = metrics::decode(seen, metrics::encode(seen), progress_.iteration + 1);
  take_record(record);
  attempt_.meter.observed(place, progress_.iteration);
  life_.progress(progress_.step);
  communicator_.at_step(progress_.step);
  static_cast<void>(stops_.meets_rule(progress_.iteration, last_metrics_));  // which the next vote says
  const bool sync_is_due = monotonic_seconds() - synced_at_s_ > between_syncs_s;
  const auto write = [&] {
    reporter_->write(std::move(record), progress_.step, time_so_far());
    if (!sync_is_due) return;
    reporter_->sync();
    reporter_->update_derived();
  };
  comm::collectively(communicator_, write, trainer::with_advice);
  if (sync_is_due) synced_at_s_ = monotonic_seconds();
}

}  // namespace trainrt
