#include "rundir/storage/opened_run.hpp"

#include <filesystem>

#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::rundir {

namespace fs = std::filesystem;

void tell_opened(const std::string& run_dir) {
  const auto file = Environment::of_process().text("TRAINRT_OPENED");
  if (!file) return;
  const fs::path folder = fs::path(*file).parent_path(), run(run_dir);
  const auto text = run.parent_path() == folder ? run.filename().string() : run_dir;
  io::retried([&] {
    io::make_directories(folder.string());
    io::replace_file(*file, text + "\n");
  });
}

std::string opened_file(const std::string& run_dir_of_config) {
  const fs::path run(run_dir_of_config);
  return (run.parent_path() / (".opened-" + run.filename().string())).string();
}

std::string opened_run(const std::string& run_dir_of_config) {
  const auto file = opened_file(run_dir_of_config);
  return io::retried([&] {
    if (!io::exists(file)) return run_dir_of_config;
    auto text = io::read_file(file);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.empty()) return run_dir_of_config;
    return text.find('/') == std::string::npos ? (fs::path(file).parent_path() / text).string() : text;
  });
}

void forget_opened(const std::string& run_dir_of_config) {
  std::error_code none;
  const auto file = opened_file(run_dir_of_config);
  if (!fs::remove(file, none)) return;
  fs::remove(fs::path(file).parent_path(), none);  // if it is empty: the file alone needed it
}

}  // namespace trainrt::rundir
