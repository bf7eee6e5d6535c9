#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/fenced_directory.hpp"
#include "rundir/records/run_state.hpp"

namespace trainrt::rundir {

/// The identity, config and state of a run, stored in the file run.json of the run directory. Rank 0 replaces the file
/// atomically.
struct RunRecord {
  /// A config value that was changed at the start of an attempt.
  struct Change {
    int attempt;
    std::string key, from, to;
  };
  /// The last checkpoint of a finished run. If this checkpoint is missing, the run no longer counts as finished.
  struct Completion {
    std::int64_t checkpoint = -1;  ///< number of the checkpoint
    std::int64_t step = 0;
    std::int64_t iteration = 0;
    bool operator==(const Completion&) const = default;
  };
  std::string name;
  std::string run_id;   ///< random identifier of the run, the same after restarts
  std::string created;  ///< time of the first start, UTC
  std::string function;
  /// last written state: running, stopped, finished or failed; may be outdated, see RunFacts
  RunState state = RunState::running;
  bool opened_by_program = false;  ///< true if a program requested this run through the API; it may also request other runs
  /// number of ranks that defined the global batch size of the last attempt; 0: unknown (records of older versions)
  int workers = 0;
  std::map<std::string, std::string> loop;
  std::map<std::string, std::string> spec;
  std::map<std::string, std::string> code = {};  ///< digests of the contents of the user's code files, by path
  std::vector<Change> changes = {};
  /// Last checkpoint of a finished run; empty if the run is not finished or has saved no checkpoint, and in records of
  /// older versions (see completion_of()).
  std::optional<Completion> completed_by = {};
};

/// Conversion of a run's record to JSON text and back. For an invalid text, run_record_from() throws a UsageError that
/// names the problem and `path`, the file from which the text was read.
std::string to_text(const RunRecord& record);
RunRecord run_record_from(const std::string& text, const std::string& path);

/// Reads a run's record from run.json; returns nothing if the file is missing. Throws UsageError if the file is invalid.
std::optional<RunRecord> read_run_record(const std::string& run_dir);
/// Reads a run's record from run.json, for callers that have seen the file before. If the file is missing, retries for some
/// time, and then throws StorageError.
RunRecord read_seen_run_record(const std::string& run_dir);
/// Replaces the file run.json by `record`, atomically and durably. Throws StorageError.
void write_run_record(const io::FencedDirectory& run_dir, const RunRecord& record);

/// The config of a run: maps of each key to its value as text.
struct ConfigTexts {
  std::map<std::string, std::string> loop;  ///< the keys of section [loop] that the config sets, without the prefix "loop."
  std::map<std::string, std::string> rest;  ///< keys of all other sections, with the section's name: "checkpoint.every"
  /// default values of keys in section [loop] that the config does not set
  std::map<std::string, std::string> loop_defaults = {};
  /// Prefixes of those keys in `rest` that affect the results of the training; changes of these keys are recorded.
  std::vector<std::string> compared = {};
};

/// Returns the record of a run that starts for the first time, with a new random identifier.
RunRecord new_run_record(const std::string& name, const std::string& function, const ConfigTexts& config);

/// Returns the differences between a run's recorded config and its present `config`. Compares the keys of section [loop]
/// ("loop.lr"), and keys that begin with a prefix in `config.compared` ("data.train.source"). A key of [loop] that is not
/// set counts as its default. `attempt` is stored in the returned changes. Pure function.
std::vector<RunRecord::Change> changes_of(const RunRecord& record, const ConfigTexts& config, int attempt = 0);

/// Updates the run's record at the start of attempt `attempt`: stores the present values of section [loop], and appends the
/// changes that changes_of() finds. Returns these changes.
std::vector<RunRecord::Change> take_changes(RunRecord& record, const ConfigTexts& config, int attempt);

/// Returns the recorded values of config section [loop] as a JSON object, the content of params.json.
std::string loop_as_json(const RunRecord& record);

}  // namespace trainrt::rundir
