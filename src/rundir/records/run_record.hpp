#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/fenced_directory.hpp"
#include "rundir/records/run_state.hpp"

namespace trainrt::rundir {

/// The identity, config and state of a run: run.json. Rank 0 writes it atomically.
struct RunRecord {
  /// A config value that an attempt has changed.
  struct Change {
    int attempt;
    std::string key, from, to;
  };
  /// The newest checkpoint of a finished run, with which its state "finished" is valid.
  struct Completion {
    std::int64_t checkpoint = -1;  ///< number
    std::int64_t step = 0;
    std::int64_t iteration = 0;
    bool operator==(const Completion&) const = default;
  };
  std::string name;
  std::string run_id;   ///< random identifier, made when the run first started
  std::string created;  ///< UTC
  std::string function;
  RunState state = RunState::running;  ///< running, stopped, finished or failed; see RunFacts for the actual state
  bool opened_by_program = false;      ///< a program requested the run, and may request others
  int workers = 0;  ///< number of ranks that defined the global batch of the last attempt; 0: unknown (older records)
  std::map<std::string, std::string> loop;
  std::map<std::string, std::string> spec;
  std::map<std::string, std::string> code = {};  ///< digests of the user's code files, by path
  std::vector<Change> changes = {};
  /// Present only for a finished run that has saved a checkpoint; missing in older records (completion_of()).
  std::optional<Completion> completed_by = {};
};

/// Writes the record as JSON, and reads it. Reading throws UsageError, which names `path` and the problem, if it is
/// invalid.
std::string to_text(const RunRecord& record);
RunRecord run_record_from(const std::string& text, const std::string& path);

/// Reads run.json; returns nothing if it is missing. Throws UsageError if it is invalid.
std::optional<RunRecord> read_run_record(const std::string& run_dir);
/// Reads run.json after it was seen to exist. If it is missing now, retries, and then throws StorageError.
RunRecord read_seen_run_record(const std::string& run_dir);
/// Replaces run.json atomically and durably. Throws StorageError.
void write_run_record(const io::FencedDirectory& run_dir, const RunRecord& record);

/// The config of a run as texts, with given and default values.
struct ConfigTexts {
  std::map<std::string, std::string> loop;                ///< given keys of [loop], without the section
  std::map<std::string, std::string> rest;                ///< keys of all other sections: "checkpoint.every"
  std::map<std::string, std::string> loop_defaults = {};  ///< defaults of [loop] keys that are not given
  /// Prefixes of the keys in `rest` that affect the training, so that their changes are recorded.
  std::vector<std::string> compared = {};
};

/// Returns the record of a run that starts for the first time, with a new run_id.
RunRecord new_run_record(const std::string& name, const std::string& function, const ConfigTexts& config);

/// Returns the differences between the record and the config, in [loop] and in the keys of `config.compared`: "loop.lr",
/// "data.train.source". A [loop] value that is not given counts as its default. Pure function.
std::vector<RunRecord::Change> changes_of(const RunRecord& record, const ConfigTexts& config, int attempt = 0);

/// Stores this attempt's [loop] and the changes in the record, and returns the changes as changes_of() does.
std::vector<RunRecord::Change> take_changes(RunRecord& record, const ConfigTexts& config, int attempt);

/// Returns [loop] as a JSON object, for params.json.
std::string loop_as_json(const RunRecord& record);

}  // namespace trainrt::rundir
