#include "metrics/autofill.hpp"

#include <regex>

#include <unistd.h>
#include <catch2/catch.hpp>

#include "core/host.hpp"

using namespace trainrt::metrics;

namespace {

std::vector<std::string> keys(const Record& record) {
  std::vector<std::string> names;
  for (const auto& [key, value] : record.values) names.push_back(key);
  return names;
}

template <class T>
T get(const Record& record, std::string_view key) {
  REQUIRE(record.find(key) != nullptr);
  return std::get<T>(*record.find(key));
}

}  // namespace

TEST_CASE("Ray Train's keys are added after the keys of a record") {
  Autofill autofill(false, {}, {100, 5000});
  Record first{1, {{"loss", 1.0}}}, second{2, {}};
  autofill.fill(first, {102.5, 5002});
  autofill.fill(second, {103, 5003});
  CHECK(keys(first) == std::vector<std::string>{"loss", "_timestamp", "_time_this_iter_s", "_training_iteration"});
  CHECK(get<std::int64_t>(first, "_timestamp") == 5002);
  CHECK(get<double>(first, "_time_this_iter_s") == 2.5);
  CHECK(get<double>(second, "_time_this_iter_s") == 0.5);
  CHECK(get<std::int64_t>(second, "_training_iteration") == 2);
}

TEST_CASE("detailed keys are added on request, and the total time includes earlier attempts") {
  const std::vector<Record> history{{1, {{"_time_this_iter_s", 10.0}}}, {2, {{"_time_this_iter_s", 5.0}}}};
  Autofill autofill(true, history, {1000, 0});
  Record record{3, {}};
  autofill.fill(
      record, {1002, 1800000000},
      {.startup_s = 5, .checkpoint_s = 1, .data_s = 2, .data_stages = {{"storage", 1.5}}, .total_s = 10, .steps_s = 4}, 56);
  CHECK(keys(record) == std::vector<std::string>{"_timestamp", "_time_this_iter_s", "_training_iteration", "_date",
                                                 "_hostname", "_node_ip", "_pid", "_step", "_time_total_s",
                                                 "_time_startup_s", "_time_checkpoint_s", "_time_data_s",
                                                 "_time_data_storage_s", "_goodput"});
  CHECK(get<double>(record, "_time_startup_s") == 5);
  CHECK(get<double>(record, "_time_checkpoint_s") == 1);
  CHECK(get<double>(record, "_time_data_s") == 2);
  CHECK(get<double>(record, "_goodput") == 0.4);
  CHECK(get<double>(record, "_time_total_s") == 17);
  CHECK(get<std::int64_t>(record, "_step") == 56);
  CHECK(get<std::int64_t>(record, "_pid") == getpid());
  CHECK(get<std::string>(record, "_hostname") == trainrt::host_name());
  CHECK(std::regex_match(get<std::string>(record, "_node_ip"), std::regex(R"((\d+\.){3}\d+)")));
}

TEST_CASE("the date is local time in Ray Train's format") {
  setenv("TZ", "UTC-2", 1);  // two hours east
  tzset();
  Autofill autofill(true, {}, {0, 0});
  Record record{1, {}};
  autofill.fill(record, {1, 1795219323});
  unsetenv("TZ");
  tzset();
  CHECK(get<std::string>(record, "_date") == "2026-11-21_02-02-03");
}
