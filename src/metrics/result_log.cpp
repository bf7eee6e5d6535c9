#include "metrics/result_log.hpp"

#include <trainrt/error.hpp>

#include "io/file.hpp"
#include "io/temporary.hpp"
#include "metrics/record_json.hpp"

namespace trainrt::metrics {

namespace {

std::string path_in(const std::string& run_dir) { return run_dir + "/result.json"; }

std::vector<Record> kept(std::vector<Record> records, std::int64_t keep, const std::string& path) {
  std::vector<Record> history;
  for (auto& record : records) {
    if (record.iteration > keep) continue;
    const auto expected = static_cast<std::int64_t>(history.size()) + 1;
    if (record.iteration != expected)
      throw UsageError("result log " + path + ": the record of iteration " + std::to_string(record.iteration) +
                       " stands where that of " + std::to_string(expected) +
                       " belongs; put a good copy of the file there, or remove the checkpoints after iteration " +
                       std::to_string(expected - 1));
    history.push_back(std::move(record));
  }
  const auto have = static_cast<std::int64_t>(history.size());
  if (have < keep)
    throw UsageError("result log " + path + ": the records of iterations " + std::to_string(have + 1) + " to " +
                     std::to_string(keep) +
                     " are missing, but the checkpoint to go on from includes them; put a good copy of " +
                     "the file there, or remove the checkpoints after iteration " + std::to_string(have));
  return history;
}

}  // namespace

ResultLog::Opened ResultLog::open(const std::string& run_dir, std::int64_t keep_iterations) {
  const auto path = path_in(run_dir);
  auto history = kept(read_results(run_dir), keep_iterations, path);
  std::string lines;
  for (const auto& record : history) lines += to_json(record) + "\n";
  const auto aside = io::temporary_beside(path);
  io::remove_tree(aside);
  io::write_file(aside, lines);
  AppendFile file(aside);
  file.rename_over(path);
  return {ResultLog(std::move(file)), std::move(history)};
}

void ResultLog::append(const Record& record) { file_.append(to_json(record) + "\n"); }

void ResultLog::sync() { file_.sync(); }

std::vector<Record> read_results(const std::string& run_dir) {
  const auto path = path_in(run_dir);
  if (!io::exists(path)) return {};
  const auto text = io::read_file(path);
  std::vector<Record> records;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (auto record = from_json(std::string_view(text).substr(at, end - at))) records.push_back(std::move(*record));
    at = end + 1;
  }
  return records;
}

}  // namespace trainrt::metrics
