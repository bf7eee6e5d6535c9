#include "rundir/storage/opened_run.hpp"

#include <filesystem>

#include "core/environment.hpp"
#include "core/restart_help.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::rundir {

namespace fs = std::filesystem;

void record_opened_run(const std::string& run_dir) {
  const auto file = Environment::of_process().text(opened_variable);
  if (!file) return;
  const fs::path folder = fs::path(*file).parent_path(), run(run_dir);
  const auto text = run.parent_path() == folder ? run.filename().string() : run_dir;
  io::retried([&] {
    io::make_directories(folder.string());
    io::replace_file(*file, text + "\n");
  });
}

std::string opened_run_file(const std::string& run_dir_of_config) {
  const fs::path run(run_dir_of_config);
  return (run.parent_path() / (".opened-" + run.filename().string())).string();
}

std::string opened_run(const std::string& run_dir_of_config) {
  const auto file = opened_run_file(run_dir_of_config);
  return io::retried([&] {
    if (!io::exists(file)) return run_dir_of_config;
    auto text = io::read_file(file);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.empty()) return run_dir_of_config;
    return text.find('/') == std::string::npos ? (fs::path(file).parent_path() / text).string() : text;
  });
}

bool has_opened_run(const std::string& run_dir_of_config) {
  return io::retried([&] { return io::exists(opened_run_file(run_dir_of_config)); });
}

void forget_opened_run(const std::string& run_dir_of_config) {
  std::error_code ignored;
  const auto file = opened_run_file(run_dir_of_config);
  if (!fs::remove(file, ignored)) return;
  fs::remove(fs::path(file).parent_path(), ignored);  // removes the folder only if it is empty
}

}  // namespace trainrt::rundir
