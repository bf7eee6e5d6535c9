#include <trainrt/context.hpp>

#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "trainer/session.hpp"

namespace trainrt {

int Context::world_rank() const { return session_.world().rank; }
int Context::world_size() const { return session_.world().size; }
int Context::local_rank() const { return session_.world().local_rank; }
int Context::local_world_size() const { return session_.world().local_size; }
int Context::node_rank() const { return session_.world().node_rank; }
const std::string& Context::run_name() const { return session_.spec().name; }
const std::string& Context::run_dir() const { return session_.spec().run_dir; }
std::uint64_t Context::seed() const { return session_.spec().seed; }

std::span<const int> Context::gpus() const { return session_.world().gpus; }
GradientOptions Context::gradient_options() const { return session_.spec().gradients; }

Dataset Context::dataset(std::string_view name) { return session_.dataset(std::string(name)); }
bool Context::has_dataset(std::string_view name) const { return session_.spec().data.contains(std::string(name)); }
Communicator& Context::communicator() { return session_.communicator(); }
bool Context::restore(State& state) { return session_.restore(state); }
void Context::step() { session_.step(); }
std::int64_t Context::step_count() const { return session_.step_count(); }
void Context::report(const Metrics& metrics) { session_.report(metrics); }
void Context::stop_point() { session_.stop_point(); }
void Context::request_stop(std::string_view reason) { session_.request_stop(reason); }

void Context::save() { session_.save_now(); }
void Context::checkpoint_metadata(std::string_view json) { session_.set_metadata(json); }
void Context::expect_iterations(std::int64_t total) { session_.expect_iterations(total); }

std::uint64_t Context::step_seed() const {
  return mix_seed(seed(), static_cast<std::uint64_t>(step_count()), static_cast<std::uint64_t>(world_rank()));
}

Random Context::random(std::uint64_t stream) const { return Random(step_seed(), stream); }

namespace {

template <class T>
std::optional<T> parse(const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) return text;
  if constexpr (std::is_same_v<T, bool>) return parse_boolean(text);
  if constexpr (std::is_same_v<T, double>) return parse_real(text);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const auto number = parse_integer(text);
    if (number && std::in_range<T>(*number)) return static_cast<T>(*number);
    return std::nullopt;
  }
}

template <class T>
const char* type_name() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_integral_v<T>) return "a whole number";
  if constexpr (std::is_floating_point_v<T>) return "a number";
  return "a text";
}

template <class T>
std::optional<T> look_up(Session& session, std::string_view key) {
  const auto* value = session.loop_value(key);
  if (value == nullptr) return std::nullopt;
  if (auto parsed = parse<T>(value->text)) return parsed;
  throw UsageError(
      fmt::format("{}: [loop] {} is '{}'; the train function expects {}", value->origin, key, value->text, type_name<T>()));
}

template <class T>
T required(Session& session, std::string_view key) {
  if (auto value = look_up<T>(session, key)) return *value;
  throw UsageError(
      fmt::format("the config lacks the key {} in [loop], which the train function needs ({})", key, type_name<T>()));
}

}  // namespace

std::optional<std::string> Context::loop_value(std::string_view key) const { return look_up<std::string>(session_, key); }

template <>
std::int32_t Context::config(std::string_view key) const {
  return required<std::int32_t>(session_, key);
}
template <>
std::int64_t Context::config(std::string_view key) const {
  return required<std::int64_t>(session_, key);
}
template <>
double Context::config(std::string_view key) const {
  return required<double>(session_, key);
}
template <>
bool Context::config(std::string_view key) const {
  return required<bool>(session_, key);
}
template <>
std::string Context::config(std::string_view key) const {
  return required<std::string>(session_, key);
}
template <>
std::int32_t Context::config(std::string_view key, std::int32_t fallback) const {
  return look_up<std::int32_t>(session_, key).value_or(fallback);
}
template <>
std::int64_t Context::config(std::string_view key, std::int64_t fallback) const {
  return look_up<std::int64_t>(session_, key).value_or(fallback);
}
template <>
double Context::config(std::string_view key, double fallback) const {
  return look_up<double>(session_, key).value_or(fallback);
}
template <>
bool Context::config(std::string_view key, bool fallback) const {
  return look_up<bool>(session_, key).value_or(fallback);
}
template <>
std::string Context::config(std::string_view key, std::string fallback) const {
  return look_up<std::string>(session_, key).value_or(std::move(fallback));
}

}  // namespace trainrt
