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

/// Returns this rank's part of a tensor in host memory. The bytes are valid until the next call.
using HostBytes = std::function<std::span<const std::byte>(const TensorEntry&)>;

/// Receives aggregated records, on rank 0 only; other ranks have no sinks. The files of a sink are derived from
/// result.json. A sink therefore never has the only copy of a record, and rewrites its files if they are damaged.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Called once, before write(), with the earlier records of the run, oldest first. The sink's files must then contain
  /// exactly these.
  virtual void begin(const std::vector<Record>& history) = 0;
  /// Called with the total number of iterations of the run, if the train function has declared it.
  virtual void expect_iterations(std::int64_t) {}
  /// Called with the number of steps of the run so far, before begin() and before each write().
  virtual void at_step(std::int64_t) {}
  /// Returns whether the sink needs the State of the run at the report of this iteration.
  virtual bool wants_state(std::int64_t) const { return false; }
  /// Called with the State of the run before the write() of a report, if wants_state() returned true and the run has a
  /// State.
  virtual void at_state(const State&, const HostBytes&) {}
  /// Writes a record. If it throws, the sink must keep the record and write it in a later call.
  virtual void write(const Record& record) = 0;
  /// Called when a checkpoint is committed: updates the files if that is cheap.
  virtual void sync() {}
  /// Called once, after the last write(): completes the files.
  virtual void end() {}
};

/// The arguments of SinkKind::open.
struct SinkContext {
  io::FencedDirectory run_dir;
  std::string run_name;
  bool every_report = false;                                     ///< progress lines: print each report on its own line
  Options options = {};                                          ///< keys of [sink.NAME], checked, including defaults
  std::string name = {};                                         ///< name of the sink
  std::string run_id = {};                                       ///< random id of the run, kept over restarts
  std::vector<std::pair<std::string, std::string>> config = {};  ///< "section.key" and value of the run's config
  std::function<std::string()> time_left = {};  ///< "1:02:03 left", "" if unknown; called on the thread of write()
};

/// A sink plug-in: one file in metrics/sinks. Its options are the keys of [sink.NAME].
struct SinkKind {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  std::unique_ptr<Sink> (*open)(const SinkContext&);
};

PluginTable<SinkKind> sink_table();

/// A sink that the config selects, with its options.
struct ChosenSink {
  std::string name;
  const SinkKind* kind;
  Options options;
};

/// Returns the sinks with these names, with checked options. A name without a SinkKind is a program if its section has the
/// key `program`. `sections` has all sections [sink.NAME] by name, also of sinks that are not selected. Throws UsageError
/// if a name or a section matches no sink, if a name occurs twice, or if an option is invalid.
std::vector<ChosenSink> choose_sinks(std::span<const std::string> names, const std::map<std::string, Options>& sections);

}  // namespace trainrt::metrics
