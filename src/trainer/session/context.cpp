#include <trainrt/context.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "trainer/session/session.hpp"

namespace trainrt {

int Context::world_rank() const { return session_.world().rank; }
int Context::world_size() const { return session_.world().size; }
int Context::local_rank() const { return session_.world().local_rank; }
int Context::local_world_size() const { return session_.world().local_size; }
int Context::node_rank() const { return session_.world().node_rank; }
int Context::node_count() const { return session_.world().node_count; }
const std::string& Context::run_name() const { return session_.spec().run.name; }
const std::string& Context::run_id() const { return session_.run_id(); }
const std::string& Context::storage_path() const { return session_.spec().run.storage_path; }
std::string Context::artifacts_dir() const { return session_.spec().run_dir + "/artifacts"; }
const std::string& Context::run_dir() const { return session_.spec().run_dir; }
int Context::attempt() const { return session_.attempt(); }
const std::string& Context::metadata() const { return session_.run_metadata(); }
std::uint64_t Context::seed() const { return session_.spec().run.seed; }

std::span<const int> Context::gpus() const { return session_.world().gpus; }
ReportOptions Context::report_options() const { return {.of_first_rank = !session_.spec().metrics.aggregate}; }

GradientOptions Context::gradient_options() const {
  const auto& scaling = session_.spec().scaling;
  return {.bucket_bytes = scaling.bucket_bytes, .bf16_on_the_wire = scaling.bf16_on_the_wire};
}

Dataset Context::dataset(std::string_view name) { return session_.dataset(std::string(name)); }
std::vector<std::string> Context::dataset_names() const {
  std::vector<std::string> names;
  for (const auto& [name, keys] : session_.spec().data) names.push_back(name);
  return names;
}
std::vector<std::string> Context::config_keys() {
  auto keys = session_.spec().loop.keys();
  for (auto& key : session_.spec().loop_defaults.keys()) keys.push_back(std::move(key));
  std::ranges::sort(keys);
  for (const auto& key : keys) session_.loop_value(key);
  return keys;
}
const std::string& Context::library(std::string_view name) const {
  const auto& spec = session_.spec();
  if (name == "xgboost") return spec.xgboost.library;
  if (name == "lightgbm") return spec.lightgbm.library;
  throw UsageError(fmt::format("the config has no library '{}'; it has: xgboost, lightgbm", name));
}
bool Context::has_dataset(std::string_view name) const { return session_.spec().data.contains(std::string(name)); }
FrameworkMeeting Context::framework(std::string_view name) { return session_.framework(*this, std::string(name)); }
Communicator& Context::communicator() { return session_.communicator(); }
bool Context::restore(State& state) { return session_.restore(state); }
void Context::step() { session_.step(); }
std::int64_t Context::step_count() const { return session_.step_count(); }
bool Context::restore() { return session_.restore_without_state(); }
void Context::report(const Metrics& metrics) { session_.report(metrics, {}, nullptr); }
void Context::report(const Metrics& metrics, const ReportOptions& options) { session_.report(metrics, options, nullptr); }
void Context::report(const Metrics& metrics, const DirectoryCheckpoint& directory, const ReportOptions& options) {
  session_.report(metrics, options, &directory);
}
void Context::load(const State& state, const std::string& checkpoint) { session_.load_from(state, checkpoint); }
std::optional<CheckpointPlace> Context::checkpoint() const { return session_.checkpoint(); }
bool Context::is_checkpoint_on_its_way() const { return session_.is_checkpoint_in_flight(); }
void Context::wait_for_checkpoint() { session_.wait_for_checkpoint(); }
bool Context::is_saved() const { return session_.is_saved(); }
void Context::advance_checkpoint() { session_.advance_checkpoint(); }
void Context::stop_point() { session_.stop_point(); }
void Context::request_stop(std::string_view reason) { session_.request_stop(reason); }

void Context::save() { session_.save_now(); }
void Context::checkpoint_metadata(std::string_view json) { session_.set_metadata(json); }
void Context::log(std::string_view text) const { trainrt::log::worker(text); }
void Context::observe(std::string_view position, const Metrics& seen) { session_.observe(position, seen); }
void Context::end_observation() { session_.end_observation(); }
void Context::expect_iterations(std::int64_t total) { session_.expect_iterations(total); }

std::uint64_t Context::step_seed() const {
  return mix_seed(seed(), static_cast<std::uint64_t>(step_count()), static_cast<std::uint64_t>(world_rank()));
}

Random Context::random(std::uint64_t stream) const { return Random(step_seed(), stream); }

namespace {

/// Parses `text` as the type of a [loop] value and assigns the result to that value. Returns false if `text` is not valid
/// for the type.
struct LoopParser {
  const std::string& text;

  bool operator()(std::string& value) const { return take(value, std::optional(text)); }
  bool operator()(bool& value) const { return take(value, parse_boolean(text)); }
  bool operator()(double& value) const { return take(value, parse_real(text)); }
  bool operator()(std::int64_t& value) const { return take(value, parse_integer(text)); }
  bool operator()(std::int32_t& value) const {
    const auto number = parse_integer(text);
    return number && std::in_range<std::int32_t>(*number) && take(value, number);
  }

 private:
  template <class T, class Parsed>
  static bool take(T& value, const std::optional<Parsed>& parsed) {
    if (parsed) value = static_cast<T>(*parsed);
    return parsed.has_value();
  }
};

/// Returns the type of a [loop] value as words for error messages, such as "a whole number".
struct LoopTypeInWords {
  std::string operator()(const std::string&) const { return "a string"; }
  std::string operator()(bool) const { return "true or false"; }
  std::string operator()(double) const { return "a number"; }
  std::string operator()(std::int64_t) const { return "a whole number"; }
  std::string operator()(std::int32_t) const {
    using Limits = std::numeric_limits<std::int32_t>;
    return fmt::format("a whole number from {} to {}", Limits::min(), Limits::max());
  }
};

}  // namespace

void Context::read(std::string_view key, LoopValue& value, bool required) const {
  const auto* given = session_.loop_value(key);
  if (given == nullptr && required) {
    const auto similar = session_.similar_loop_key(key);
    const auto hint = similar.empty() ? fmt::format("; set it in [loop], or by --loop.{}=VALUE", key) : similar;
    throw UsageError(fmt::format("the config lacks the key {} in [loop], which the train function needs ({}){}", key,
                                 std::visit(LoopTypeInWords{}, value), hint));
  }
  if (given == nullptr || std::visit(LoopParser{given->text}, value)) return;
  throw UsageError(fmt::format("{}: [loop] {} is '{}', but the train function expects {}", given->origin, key, given->text,
                               std::visit(LoopTypeInWords{}, value)));
}

}  // namespace trainrt
