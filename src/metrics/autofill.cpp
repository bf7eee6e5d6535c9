#include "metrics/autofill.hpp"

#include <array>
#include <ctime>

#include <unistd.h>

#include "core/host.hpp"
#include "metrics/record_json.hpp"

namespace trainrt::metrics {

namespace {

std::string local_date(std::int64_t unix_s) {
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  localtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d_%H-%M-%S", &parts);
  return text.data();
}

}  // namespace

Moment Moment::now() { return {monotonic_seconds(), static_cast<std::int64_t>(std::time(nullptr))}; }

Autofill::Autofill(bool detailed, const std::vector<Record>& history, Moment start)
    : detailed_(detailed), last_s_(start.monotonic_s) {
  for (const auto& record : history) total_s_ += record.number("_time_this_iter_s").value_or(0);
  if (!detailed) return;
  host_ = host_name();
  address_ = host_address();
}

void Autofill::fill(Record& record, Moment now, const TimeSpent& time, std::int64_t step) {
  const auto iteration_s = now.monotonic_s - last_s_;
  last_s_ = now.monotonic_s;
  total_s_ += iteration_s;
  record.values.emplace_back("_timestamp", now.unix_s);
  record.values.emplace_back("_time_this_iter_s", iteration_s);
  record.values.emplace_back(iteration_key, record.iteration);
  if (detailed_) fill_details(record, now, time, step);
}

void Autofill::fill_details(Record& record, Moment now, const TimeSpent& time, std::int64_t step) const {
  record.values.emplace_back("_date", local_date(now.unix_s));
  record.values.emplace_back("_hostname", host_);
  record.values.emplace_back("_node_ip", address_);
  record.values.emplace_back("_pid", static_cast<std::int64_t>(getpid()));
  record.values.emplace_back("_step", step);
  record.values.emplace_back("_time_total_s", total_s_);
  record.values.emplace_back("_time_startup_s", time.startup_s);
  record.values.emplace_back("_time_checkpoint_s", time.checkpoint_s);
  record.values.emplace_back("_time_data_s", time.data_s);
  for (const auto& [stage, seconds] : time.data_stages) record.values.emplace_back("_time_data_" + stage + "_s", seconds);
  record.values.emplace_back("_goodput", time.total_s > 0 ? time.steps_s / time.total_s : 0.0);
}

}  // namespace trainrt::metrics
