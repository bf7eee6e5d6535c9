#include "data/bytes/log_once.hpp"

#include <mutex>
#include <set>

#include "core/output/log.hpp"

namespace trainrt::data {

namespace {

bool is_new(const std::string& text) {
  constexpr std::size_t max_lines = 100;
  static std::mutex mutex;
  static std::set<std::string> lines;
  const std::lock_guard lock(mutex);
  return lines.size() < max_lines && lines.insert(text).second;
}

}  // namespace

void info_once(const std::string& text) {
  if (is_new(text)) log::info(text);
}

void warning_once(const std::string& text) {
  if (is_new(text)) log::run_warning(text);
}

}  // namespace trainrt::data
