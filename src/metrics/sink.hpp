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

using HostBytes = std::function<std::span<const std::byte>(const TensorEntry&)>;

/// Takes aggregated records, on rank 0 only (other ranks have no sinks). Files that a sink writes are derived from
/// result.json: a sink never holds the only copy, and whatever it finds damaged it writes anew.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Once, first: the records that the run already has, oldest first. Afterwards the sink's files hold exactly those.
  virtual void begin(const std::vector<Record>& history) = 0;
  /// How many iterations the run will have in all, if the train function says so.
  virtual void expect(std::int64_t) {}
  /// How many steps the run has made: before begin(), and before each write().
  virtual void at_step(std::int64_t) {}
  /// Whether it is to be shown the run's State at the report of this iteration.
  virtual bool wants_state(std::int64_t) const { return false; }
  /// The State as it is at that report, before its write(), if it is wanted and there is one. `bytes_of`: this rank's part
  /// of a tensor in the host's memory; they hold until the next call.
  virtual void at_state(const State&, const HostBytes&) {}
  /// If it fails the record is kept all the same, and a later call brings the file up to date.
  virtual void write(const Record& record) = 0;
  /// At commits: bring files up to date if that is cheap enough to do now.
  virtual void sync() {}
  /// Once, last: files are complete.
  virtual void end() {}
};

struct SinkContext {
  io::FencedDirectory run_dir;
  std::string run_name;
  bool every_report = false;  ///< for people: show all of them, one after the other
  Options options = {};       ///< [sink.NAME], checked, with the defaults of what is not given
  std::string name = {};      ///< the sink's
  std::string run_id = {};    ///< random, the same over restarts
  std::vector<std::pair<std::string, std::string>> config = {};  ///< the run's: "section.key" and the value
  std::function<std::string()> time_left = {};  ///< "1:02:03 left", "" if it is not known; in the thread that writes
};

/// A plug-in: one file in metrics/sinks. Its options are the keys of [sink.NAME].
struct SinkKind {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  std::unique_ptr<Sink> (*open)(const SinkContext&);
};

PluginTable<SinkKind> sink_table();

/// A sink that a run is to have.
struct ChosenSink {
  std::string name;
  const SinkKind* kind;
  Options options;
};

/// The sinks of these names, with their options checked. A name that no kind has is a program's, if its section says
/// which. `sections`: [sink.NAME] by name, also of sinks that are not chosen. UsageError for a name or a section that no
/// sink has, a name that comes twice, and an option that is not valid.
std::vector<ChosenSink> choose_sinks(std::span<const std::string> names, const std::map<std::string, Options>& sections);

}  // namespace trainrt::metrics
