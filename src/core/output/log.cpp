#include "core/output/log.hpp"

#include <atomic>

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "core/output/output_capture.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"

namespace trainrt::log {

namespace {

std::atomic<int> the_rank{0};
std::atomic<int> the_size{1};

/// Without a lock of its own: say() has one, which it does not hold while it waits.
class Sink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    auto line = printable_text({message.payload.data(), message.payload.size()});
    OwnOutput::say(OwnOutput::Stream::error, line += '\n');
  }
  void flush_() override {}
};

spdlog::logger& logger() {
  static const auto instance = std::make_shared<spdlog::logger>("trainrt", std::make_shared<Sink>());
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
