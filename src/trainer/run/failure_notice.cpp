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

constexpr double most_wait_s = 5;
constexpr std::chrono::milliseconds between_looks_of_first(500);
constexpr std::chrono::milliseconds between_looks_of_other(50);

std::string notice_in(const std::string& private_dir) { return private_dir + "/failure.json"; }

bool is_there(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
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

/// The notice goes when all is told: who has left it waits for that.
void take_notice(const std::string& path, const Callbacks& callbacks) try {
  callbacks.fail(failure_from(io::read_file(path)));
  io::remove_tree(path);
} catch (const std::exception& error) {
  log::warning(fmt::format("that a rank has failed could not be read: {}", error.what()));
}

void listen(const std::stop_token& stop, const std::string& path, const Callbacks& callbacks) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    if (is_there(path)) take_notice(path, callbacks);
    changed.wait_for(lock, stop, between_looks_of_first, [] { return false; });
  }
}

}  // namespace

void leave_notice(const std::string& private_dir, const RunFailure& failure) noexcept try {
  const auto path = notice_in(private_dir);
  io::replace_file(path, text_of(failure));
  const double began_s = monotonic_seconds();
  while (is_there(path) && monotonic_seconds() - began_s < most_wait_s) std::this_thread::sleep_for(between_looks_of_other);
} catch (const std::exception& error) {
  log::warning(fmt::format("rank 0 could not be told of the failure: {}", error.what()));
}

FailureListener::FailureListener(const std::string& private_dir, const Callbacks& callbacks)
    : thread_([path = notice_in(private_dir), &callbacks](const std::stop_token& stop) { listen(stop, path, callbacks); }) {
}

}  // namespace trainrt::trainer
