#include "config/run_spec.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/run_options.hpp"
#include "config/stop_rules.hpp"
#include "core/text.hpp"

namespace trainrt::config {

namespace {

/// One plain path component: it must not leave its directory.
void check_component(const OptionValue& value, const std::string& what) {
  const auto& text = value.text;
  const bool plain = !text.empty() && text.size() <= 200 && text.front() != '.' && text.find('/') == std::string::npos &&
                     std::ranges::all_of(text, [](unsigned char c) { return c >= ' '; });
  if (!plain)
    throw UsageError(
        fmt::format("{}: {} is '{}'; it must be one plain name: no '/', no control characters, at most 200 bytes, not "
                    "starting with '.'",
                    value.origin, what, text));
}

void take_failure_keys(const Options& options, RunSpec& spec) {
  spec.max_failures = static_cast<int>(options.integer("failure.max_failures"));
  spec.max_requeues = static_cast<int>(options.integer("failure.max_requeues"));
  spec.max_no_progress = static_cast<int>(options.integer("failure.max_no_progress"));
  spec.stop_before_end = parse_limit(options, "failure.stop_before_end");
  spec.hang_timeout = parse_limit(options, "failure.hang_timeout");
  spec.launch_timeout_s = options.real("failure.launch_timeout");
  spec.collective_timeout_s = options.real("failure.collective_timeout");
  spec.storage_timeout_s = options.real("failure.storage_timeout");
}

OnResize on_resize_of(const Options& options, int min_workers) {
  const auto* value = options.find("scaling.on_resize");
  if (value == nullptr) return min_workers > 0 ? OnResize::keep_global_batch : OnResize::refuse;
  if (value->text == "keep_global_batch") return OnResize::keep_global_batch;
  if (value->text == "keep_batch") return OnResize::keep_batch;
  if (min_workers > 0)
    throw UsageError(value->origin +
                     ": scaling.on_resize = refuse, and scaling.min_workers lets the run go on with fewer ranks: leave one "
                     "of them out");
  return OnResize::refuse;
}

void take_scaling_keys(const Options& options, RunSpec& spec) {
  spec.num_workers = static_cast<int>(options.integer("scaling.num_workers"));
  spec.min_workers = static_cast<int>(options.integer("scaling.min_workers"));
  if (spec.num_workers > 0 && spec.min_workers > spec.num_workers)
    throw UsageError(fmt::format("{}: scaling.min_workers is {}, more than scaling.num_workers = {}",
                                 options.find("scaling.min_workers")->origin, spec.min_workers, spec.num_workers));
  spec.on_resize = on_resize_of(options, spec.min_workers);
  spec.backend = options.text("scaling.backend");
  spec.check_calls = options.boolean("scaling.check");
  spec.deterministic = options.boolean("scaling.deterministic");
  spec.gradients.bucket_bytes = options.bytes("scaling.bucket_size");
  if (spec.gradients.bucket_bytes == 0)
    throw UsageError(options.find("scaling.bucket_size")->origin + ": scaling.bucket_size must be more than 0");
  spec.gradients.bf16_on_the_wire = options.text("scaling.gradient_wire") == "bf16";
  const auto* gpus = options.find("scaling.gpus_per_worker");
  spec.gpus_per_worker = gpus->text;
  if (const auto number = parse_real(gpus->text);
      gpus->text != "auto" && (!number || !(*number == 0 || Range{1e-3, 1e6}.holds(*number))))
    throw UsageError(
        fmt::format("{}: scaling.gpus_per_worker is '{}'; it must be auto, 0, or a number from 0.001 to 1000000",
                    gpus->origin, gpus->text));
}

RunSpec::Replicas replicas_from(const std::string& text) {
  if (text == "error") return RunSpec::Replicas::error;
  return text == "warn" ? RunSpec::Replicas::warn : RunSpec::Replicas::off;
}

FileLayout file_layout_from(const std::string& text) {
  if (text == "rank") return FileLayout::rank;
  return text == "node" ? FileLayout::node : FileLayout::single;
}

/// The keys of [checkpoint] and those of [run] that say where a run starts.
void take_checkpoint_keys(const Options& options, RunSpec& spec) {
  spec.checkpoint_every = parse_checkpoint_interval(*options.find("checkpoint.every"));
  spec.checkpoint_num_to_keep = options.integer("checkpoint.num_to_keep");
  spec.score_attribute = options.text("checkpoint.score_attribute");
  spec.score_is_maximized = options.text("checkpoint.score_order") == "max";
  spec.checkpoint_layout = file_layout_from(options.text("checkpoint.layout"));
  spec.checkpoint_async = options.boolean("checkpoint.async");
  spec.checkpoint_staging_bytes = options.bytes("checkpoint.staging_limit");
  spec.checkpoint_max_failed = options.integer("checkpoint.max_failed");
  spec.checkpoint_io_threads = static_cast<int>(options.integer("checkpoint.io_threads"));
  spec.checkpoint_read_back = options.boolean("checkpoint.read_back");
  spec.replicas = replicas_from(options.text("checkpoint.replicas"));
  spec.replicas_every = parse_steps(*options.find("checkpoint.replicas_every"), "checkpoint.replicas_every");
  if (const auto from = options.text("run.resume_from_checkpoint"); !from.empty())
    spec.resume_from = std::filesystem::absolute(from).lexically_normal().string();
  spec.accepts_missing_checkpoints = options.text("run.missing_checkpoints") == "accept";
  spec.resume_tensors = words_in(options.text("run.resume_tensors"));
  if (!spec.resume_tensors.empty() && spec.resume_from.empty())
    throw UsageError(options.find("run.resume_tensors")->origin +
                     ": run.resume_tensors says what to take of run.resume_from_checkpoint, which is missing");
}

/// Splits off the sections with free keys, and leaves the declared ones.
Options take_free_sections(const Options& given, RunSpec& spec) {
  Options declared;
  for (const auto& key : given.keys()) {
    const auto& value = *given.find(key);
    if (key.starts_with("loop.")) {
      if (key.size() == 5) throw UsageError(value.origin + ": a key of [loop] has no name");
      spec.loop.set(key.substr(5), value);
    } else if (key.starts_with("stop.")) {
      if (key.size() == 5) throw UsageError(value.origin + ": a key of [stop] has no name");
      spec.stop.set(key.substr(5), value);
    } else if (key.starts_with("data.")) {
      const auto dot = key.find('.', 5);
      if (dot == std::string::npos || dot == 5)
        throw UsageError(fmt::format("{}: '{}' is not of the form data.NAME.key", value.origin, key));
      const auto name = key.substr(5, dot - 5);
      check_component({name, value.origin}, "the NAME of [data.NAME]");
      spec.data[name].set(key.substr(dot + 1), value);
    } else {
      declared.set(key, value);
    }
  }
  return declared;
}

void take_train_keys(const Options& options, RunSpec& spec) {
  spec.function = options.text("train.function");
  spec.library = options.text("train.library");
  spec.program = options.text("train.program");
  spec.stop_signal = options.text("train.stop_signal");
  spec.stop_timeout_s = options.real("train.stop_timeout");
  const bool has_function = !spec.function.empty() || !spec.library.empty();
  if (!has_function && spec.program.empty())
    throw UsageError("the key train.function (or train.library, or train.program) is missing: what to run");
  if (has_function && !spec.program.empty())
    throw UsageError(options.find("train.program")->origin +
                     ": train.program stands in the place of train.function and train.library: give one of them");
}

/// Every key, for run.json.
void note_texts(const Options& options, RunSpec& spec) {
  spec.texts = options.texts();
  for (const auto& [section, keys] : spec.data)
    for (const auto& [key, value] : keys.texts()) spec.texts.emplace("data." + section + "." + key, value);
  for (const auto& [key, value] : spec.stop.texts()) spec.texts.emplace("stop." + key, value);
}

}  // namespace

const OptionValue* RunSpec::loop_value(std::string_view key) const {
  const auto* given = loop.find(key);
  return given != nullptr ? given : loop_defaults.find(key);
}

RunSpec make_run_spec(const Options& given) {
  RunSpec spec;
  const auto options = checked(take_free_sections(given, spec), run_options(), "");
  check_component(*options.find("run.name"), "run.name");

  if (options.text("run.storage_path").starts_with('~'))
    throw UsageError(options.find("run.storage_path")->origin +
                     ": run.storage_path starts with '~', which no shell expands here: write the path out");

  spec.name = options.text("run.name");
  spec.storage_path = std::filesystem::absolute(options.text("run.storage_path")).lexically_normal().string();
  spec.run_dir = (std::filesystem::path(spec.storage_path) / spec.name).string();
  spec.seed = static_cast<std::uint64_t>(options.integer("run.seed"));
  take_train_keys(options, spec);
  take_scaling_keys(options, spec);
  take_checkpoint_keys(options, spec);
  spec.detailed_metrics = options.boolean("metrics.detailed");
  spec.every_report = options.text("metrics.progress") == "all";
  take_failure_keys(options, spec);
  static_cast<void>(StopRules(spec.stop));  // checks them
  note_texts(options, spec);
  return spec;
}

}  // namespace trainrt::config
