#include "io/files/temporary.hpp"

#include <chrono>
#include <filesystem>

#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/options.hpp"
#include "core/process/processes.hpp"
#include "io/files/file.hpp"

namespace trainrt::io {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark = ".tmp.";

bool is_old(const fs::path& path) {
  std::error_code error;
  const auto changed = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - changed > std::chrono::hours(24);
}

bool is_abandoned(const fs::path& path) {
  const auto name = path.filename().string();
  const auto at = name.rfind(mark);
  const auto dot = name.rfind('.');
  if (name.front() != '.' || at == std::string::npos || dot < at + mark.size()) return false;
  const auto host = name.substr(at + mark.size(), dot - at - mark.size());
  const auto pid = parse_integer(name.substr(dot + 1));
  if (!pid) return false;
  const bool gone = host == host_name() && process_start_time(static_cast<int>(*pid)) == 0;
  return gone || is_old(path);
}

void remove_quietly(const fs::path& path) try {
  remove_tree(path.string());
} catch (const Error&) {  // the error is ignored: the next call of remove_abandoned() tries again
}

}  // namespace

std::string temporary_beside(const std::string& path) {
  const fs::path p(path);
  return (p.parent_path() /
          ("." + p.filename().string() + std::string(mark) + host_name() + "." + std::to_string(getpid())))
      .string();
}

void remove_abandoned(const std::string& directory, std::string_view prefix) {
  try {
    for (const auto& name : list_if_exists(directory)) {
      const auto path = fs::path(directory) / name;
      if (name.starts_with("." + std::string(prefix)) && is_abandoned(path)) remove_quietly(path);
    }
  } catch (const StorageError&) {
  }
}

}  // namespace trainrt::io
