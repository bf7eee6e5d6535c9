#include "trainer/run/failure_notice.hpp"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stop_token>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"

namespace trainrt::trainer {

using Json = nlohmann::json;

namespace {

constexpr double max_wait_s = 5;
constexpr std::chrono::milliseconds listen_interval(500), wait_interval(50);

std::string notice_path(const std::string& private_dir) { return private_dir + "/failure.json"; }

bool notice_exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string text_of(const RunFailure& failure) {
  const Json json = {{"rank", failure.rank},
                     {"node", failure.node},
                     {"error", failure.error},
                     {"attempt", failure.attempt},
                     {"step", failure.step}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RunFailure failure_from(const std::string& text) {
  const auto json = Json::parse(text);
  RunFailure failure;
  json.at("rank").get_to(failure.rank);
  json.at("node").get_to(failure.node);
  json.at("error").get_to(failure.error);
  json.at("attempt").get_to(failure.attempt);
  json.at("step").get_to(failure.step);
  return failure;
}

/// Passes the failure in the failure notice `path` to the callbacks, then removes this file. The failed rank waits for the
/// removal.
void handle_notice(const std::string& path, const Callbacks& callbacks) try {
  callbacks.fail(failure_from(io::read_file(path)));
  io::remove_tree(path);
} catch (const std::exception& error) {
  log::warning(fmt::format("the notice of a failed rank could not be read: {}", error.what()));
}

void listen(const std::stop_token& stop, const std::string& path, const Callbacks& callbacks) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    if (notice_exists(path)) handle_notice(path, callbacks);
    changed.wait_for(lock, stop, listen_interval, [] { return false; });
  }
}

}  // namespace

void notify_rank_zero(const std::string& private_dir, const RunFailure& failure) noexcept try {
  const auto path = notice_path(private_dir);
  io::replace_file(path, text_of(failure));
  const double began_s = monotonic_seconds();
  while (notice_exists(path) && monotonic_seconds() - began_s < max_wait_s) std::this_thread::sleep_for(wait_interval);
} catch (const std::exception& error) {
  log::warning(fmt::format("rank 0 could not be notified of the failure: {}", error.what()));
}

FailureListener::FailureListener(const std::string& private_dir, const Callbacks& callbacks)
    : thread_(
          [path = notice_path(private_dir), &callbacks](const std::stop_token& stop) { listen(stop, path, callbacks); }) {}

}  // namespace trainrt::trainer
