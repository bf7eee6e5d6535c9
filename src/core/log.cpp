#include "core/log.hpp"

#include <atomic>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "core/text.hpp"

namespace trainrt::log {

namespace {

std::atomic<int> the_rank{0};
std::atomic<int> the_size{1};

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("trainrt", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

std::string prefix() {
  if (the_size <= 1) return "trainrt: ";
  return "trainrt: rank " + std::to_string(the_rank) + ": ";
}

}  // namespace

void set_rank(int rank, int size) {
  the_rank = rank;
  the_size = size;
}

void set_quiet(bool quiet) { logger().set_level(quiet ? spdlog::level::warn : spdlog::level::info); }

void info(const std::string& text) {
  if (the_rank == 0) logger().info("trainrt: {}", text);
}

void worker(std::string_view text) {
  for (const auto& line : printable_lines(text)) logger().info("{}{}", prefix(), line);
}

void warning(const std::string& text) { logger().warn("{}warning: {}", prefix(), text); }

void run_warning(const std::string& text) {
  if (the_rank == 0) logger().warn("trainrt: warning: {}", text);
}

void error(const std::string& text) { logger().error("{}error: {}", prefix(), text); }

void run_error(const std::string& text) {
  if (the_rank == 0) error(text);
}

}  // namespace trainrt::log
