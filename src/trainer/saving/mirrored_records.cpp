#include "trainer/saving/mirrored_records.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"
#include "metrics/result_log.hpp"

namespace trainrt::trainer {

namespace {

[[noreturn]] void refuse_file(const std::string& reason, const std::string& url) {
  throw UsageError(
      fmt::format("{}. Nothing was restored. Put an intact copy of the file into the mirror, or remove {} to start the run "
                  "again at step 0",
                  reason, url));
}

/// Returns whether `name` is a file name of an attempt's record, such as "000003.json".
bool is_attempt_record(const std::string& name) {
  const auto digits = name.substr(0, name.find('.'));
  return !digits.empty() && digits.size() <= 9 && name == digits + ".json" &&
         std::ranges::all_of(digits, [](char letter) { return letter >= '0' && letter <= '9'; });
}

std::vector<std::string> attempt_records_in(const checkpoint::MirroredRun& mirror) {
  auto names = mirror.files_in("attempts");
  std::erase_if(names, [](const auto& name) { return !is_attempt_record(name); });
  return names;
}

/// Calls `find` repeatedly until `find` returns true. Throws StorageError with ESTALE after the storage timeout.
void wait_for(const std::string& url, const std::function<bool()>& find) {
  io::retried([&] {
    if (!find()) throw io::StorageError(url + " does not exist", ESTALE, url);
  });
}

}  // namespace

std::optional<rundir::RunRecord> mirrored_record(const checkpoint::MirroredRun& mirror) try {
  const auto url = mirror.url() + "run.json";
  auto text = mirror.text_of("run.json");
  if (text.empty() && attempt_records_in(mirror).empty()) return std::nullopt;
  wait_for(url, [&] { return !text.empty() || !(text = mirror.text_of("run.json")).empty(); });
  return rundir::run_record_from(text, url);
} catch (const UsageError& error) {
  refuse_file(error.what(), mirror.url());
} catch (const io::StorageError& error) {
  if (error.error_number() != ESTALE) throw;
  refuse_file(error.what(), mirror.url());
}

void fetch_records(const checkpoint::MirroredRun& mirror, const std::string& directory) {
  wait_for(mirror.url() + "run.json", [&] { return mirror.bring_file("run.json", directory); });
  for (const auto* name : {"params.json", "trainer.json", "result.json"}) mirror.bring_file(name, directory);
}

void fetch_attempts(const checkpoint::MirroredRun& mirror, const std::string& directory) {
  std::vector<std::string> names;
  try {
    wait_for(mirror.url() + "attempts", [&] { return !(names = attempt_records_in(mirror)).empty(); });
  } catch (const io::StorageError& error) {
    if (error.error_number() != ESTALE) throw;
    log::warning(fmt::format("{}; the run continues without the records of its earlier attempts", error.what()));
  }
  for (const auto& name : names)
    wait_for(mirror.url() + "attempts/" + name, [&] { return mirror.bring_file("attempts/" + name, directory); });
}

void require_reports(const checkpoint::MirroredRun& mirror, const std::string& directory,
                     const std::string& checkpoint) try {
  wait_for(mirror.url() + metrics::result_log_name, [&] { return mirror.bring_file(metrics::result_log_name, directory); });
} catch (const io::StorageError& error) {
  refuse_file(fmt::format("{}, and {} cannot be used without its reports", error.what(), checkpoint), mirror.url());
}

void refuse_incomplete_reports(const std::string& url, const std::string& newest) {
  refuse_file(fmt::format("{}{} does not hold the reports of any intact checkpoint (the newest is {})", url,
                          metrics::result_log_name, newest),
              url);
}

}  // namespace trainrt::trainer
