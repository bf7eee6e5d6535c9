#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <trainrt/state.hpp>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "io/files/fenced_directory.hpp"
#include "metrics/record.hpp"

namespace trainrt::metrics {

/// Function that copies this rank's part of a tensor to host memory and returns its bytes. The bytes are valid until the
/// next call.
using HostBytes = std::function<std::span<const std::byte>(const TensorEntry&)>;

/// A metrics sink: receives the aggregated metric records of a run and writes them to a file or a program. Exists on rank 0
/// only. The files of a sink are derived from result.json, so a sink never has the only copy of a record, and rewrites its
/// files if they are damaged.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Called once, before the first write(), with the records that earlier attempts of the run have reported, oldest first.
  /// Must replace the content of the sink's files by exactly these records.
  virtual void begin(const std::vector<Record>& history) = 0;
  /// Called with the total number of iterations of the run if the train function has declared it.
  virtual void expect_iterations(std::int64_t) {}
  /// Called before begin() and before each write(), with the number of training steps of the run so far.
  virtual void at_step(std::int64_t) {}
  /// Returns whether the sink needs the State of the run (its tensors) for the report of this iteration. If true,
  /// at_state() is called before write(). Called only if SinkKind::reads_state returns true.
  virtual bool wants_state(std::int64_t) const { return false; }
  /// Called before the write() of a report with the State of the run, if wants_state() returned true and the run has a
  /// State.
  virtual void at_state(const State&, const HostBytes&) {}
  /// Writes a metric record to the sink's files. If this function throws, the sink must keep the record and write it in a
  /// later call.
  virtual void write(const Record& record) = 0;
  /// Called when a checkpoint is committed. Updates the sink's files if that is cheap.
  virtual void sync() {}
  /// Completes the sink's files. Called once, after the last write().
  virtual void end() {}
};

/// The arguments of the factory function of a sink (SinkKind::open).
struct SinkContext {
  io::FencedDirectory run_dir;
  std::string run_name;
  bool every_report = false;  ///< true to print a progress line for each report
  /// Options from the config section [sink.NAME], checked, including defaults.
  Options options = {};
  std::string name = {};                                         ///< name of the sink, NAME in [sink.NAME]
  std::string run_id = {};                                       ///< random id of the run; the same after restarts
  std::vector<std::pair<std::string, std::string>> config = {};  ///< keys ("section.key") and values of the run's config
  /// Function that returns the time left as text, "1:02:03 left", or "" if unknown. Called on the thread that calls
  /// Sink::write().
  std::function<std::string()> time_left = {};
};

/// A plug-in that creates metrics sinks of one kind, such as "csv". Each plug-in is one file in metrics/sinks; its options
/// are the keys of the config section [sink.NAME].
struct SinkKind {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  std::unique_ptr<Sink> (*open)(const SinkContext&);
  /// Returns whether wants_state() of a sink with these options may return true. nullptr: it never does. The sinks exist
  /// only on rank 0, but all ranks must bring the State up to date for them.
  bool (*reads_state)(const Options&) = nullptr;
};

PluginTable<SinkKind> sink_table();

/// A metrics sink that the config selects, with its options.
struct ChosenSink {
  std::string name;
  const SinkKind* kind;
  Options options;
};

/// Returns the selected metrics sinks, with checked options.
/// - `names` are the values of the config key metrics.sinks.
/// - `sections` has all config sections [sink.NAME] by NAME, also of sinks that are not selected.
/// - A name that is not the name of a SinkKind is a program of the user if its section has the key `program`.
/// - Throws UsageError if a name or a section matches no sink, if a name occurs twice, or if an option is invalid.
std::vector<ChosenSink> choose_sinks(std::span<const std::string> names, const std::map<std::string, Options>& sections);

}  // namespace trainrt::metrics
