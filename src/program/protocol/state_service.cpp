#include "program/protocol/state_service.hpp"

#include <limits>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/protocol/fields.hpp"
#include "program/protocol/run_service.hpp"

namespace trainrt::program {

namespace {

Number number_from(const Json& value, const std::string& what) {
  if (value.is_boolean()) return whole_number(value.get<bool>());
  if (value.is_number_unsigned()) return whole_number(value.get<std::uint64_t>());
  if (value.is_number_integer()) return whole_number(value.get<std::int64_t>());
  return {.value = real_from(value, what)};
}

MetricValue metric_from(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  const auto what = fmt::format("the metric '{}'", name);
  if (!value.is_object() || !value.contains("value")) return number_from(value, what);
  auto number = number_from(value["value"], what);
  if (value.contains("reduce"))
    number.reduce = choice_field<Reduce>(
        value, "reduce", {{"mean", Reduce::mean}, {"sum", Reduce::sum}, {"min", Reduce::min}, {"max", Reduce::max}});
  if (value.contains("weight")) number.weight = real_from(value["weight"], what);
  return number;
}

/// Returns the metrics in the field "metrics" of a message 'report'. Throws a UsageError that names an invalid metric.
Metrics metrics_from(const Json& body) {
  Metrics metrics;
  for (const auto& [name, value] : field(body, "metrics", Json::value_t::object).items())
    metrics.emplace_back(name, metric_from(name, value));
  return metrics;
}

/// Returns the directory that a message 'report' names, or an empty path if the message names no directory. Throws
/// UsageError for a relative path, since the working directory of the program is unknown.
DirectoryCheckpoint directory_from(const Json& body) {
  DirectoryCheckpoint directory;
  if (const auto given = body.find("directory"); given != body.end() && !given->is_null()) {
    directory.path = text_field(body, "directory");
    if (!directory.path.starts_with('/') || directory.path.find('\0') != std::string::npos)
      throw UsageError(fmt::format("train.program: the directory of a report must be an absolute path, not '{}'",
                                   directory.path.substr(0, directory.path.find('\0'))));
  }
  if (body.contains("directory_metadata"))
    directory.metadata = field(body, "directory_metadata", Json::value_t::object).dump();
  if (body.contains("same_files"))
    directory.same_files =
        choice_field<SameFiles>(body, "same_files", {{"error", SameFiles::error}, {"rank0", SameFiles::rank0}});
  if (body.contains("validation")) directory.validation = field(body, "validation", Json::value_t::object).dump();
  return directory;
}

}  // namespace

Json StateService::restore(const Message& message) {
  if (state_) throw UsageError("train.program: the program sent 'restore' twice; a run has one State");
  const bool by_directory = flag_field(message.body, "by_directory");
  if (!by_directory) {
    state_.emplace(message);
    state_->state().before_save([this] {
      if (!is_final_) state_->take_values(request_values_());
    });
  }
  Json fields{{"restored", by_directory ? ctx_.restore() : ctx_.restore(state_->state())}};
  fields.update(step_fields(ctx_));
  fields["values"] = by_directory ? Json::object() : state_->values();
  return fields;
}

void StateService::take_values(const Message& message) {
  if (state_ && message.body.contains("values")) state_->take_values(field(message.body, "values", Json::value_t::object));
}

Json StateService::unsaved() {
  const bool is_unsaved = has_state() && !ctx_.is_saved();
  return {{"unsaved", is_unsaved}, {"on_its_way", ctx_.is_checkpoint_on_its_way()}};
}

void StateService::take_final(const Message& done) {
  take_values(done);
  is_final_ = state_ && done.body.contains("values");
}

Json StateService::report(const Message& message) {
  auto directory = directory_from(message.body);
  std::optional<MirroredState> of_this_report;
  if (message.body.contains("tensors")) directory.state = &of_this_report.emplace(message, call_memory_).state();
  ctx_.report(metrics_from(message.body), directory, {.of_first_rank = flag_field(message.body, "of_first_rank")});
  return Json::object();
}

Json StateService::load(const Message& message) {
  MirroredState wanted(message, call_memory_);
  ctx_.load(wanted.state(), text_field(message.body, "path"));
  return {{"values", wanted.values()}};
}

Json StateService::checkpoint() const {
  Json newest;
  if (const auto at = ctx_.checkpoint()) newest = {{"index", at->index}, {"path", at->path}, {"files", at->has_files}};
  return {{"checkpoint", std::move(newest)}, {"on_its_way", ctx_.is_checkpoint_on_its_way()}};
}

}  // namespace trainrt::program
