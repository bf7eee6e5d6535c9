#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/fenced_directory.hpp"
#include "rundir/records/run_state.hpp"

namespace trainrt::rundir {

/// run.json: what a run is and how it stands. Written by rank 0, whole or not at all.
struct RunRecord {
  struct Change {
    int attempt;
    std::string key, from, to;
  };
  /// The newest checkpoint of a run that has finished: what its state describes.
  struct Completion {
    std::int64_t checkpoint = -1;  ///< number
    std::int64_t step = 0;
    std::int64_t iteration = 0;
    bool operator==(const Completion&) const = default;
  };
  std::string name;
  std::string run_id;  ///< random, given once
  std::string created;
  std::string function;
  RunState state = RunState::running;  ///< running, stopped, finished or failed; RunFacts has what else counts
  bool opened_by_program = false;      ///< which asked for it, and may ask for others
  int workers = 0;  ///< that the global batches of the last attempt were made for; 0: not known (an older record)
  std::map<std::string, std::string> loop;
  std::map<std::string, std::string> spec;
  std::map<std::string, std::string> code = {};  ///< files of the user's code, by path, and their digests
  std::vector<Change> changes;
  /// Only of a finished run; nothing if it took no checkpoint, or in an older record (completion_of()).
  std::optional<Completion> completed_by = {};
};

/// The record as JSON, and back: UsageError that names `path` and says what is wrong.
std::string to_text(const RunRecord& record);
RunRecord run_record_from(const std::string& text, const std::string& path);

std::optional<RunRecord> read_run_record(const std::string& run_dir);
/// The same if run.json has been seen: one that is missing now is waited for, and a StorageError then.
RunRecord read_seen_run_record(const std::string& run_dir);
void write_run_record(const io::FencedDirectory& run_dir, const RunRecord& record);

/// The config that a run is started with, every value as it was given or defaulted.
struct ConfigTexts {
  std::map<std::string, std::string> loop;                ///< [loop], keys without the section
  std::map<std::string, std::string> rest;                ///< all others: "checkpoint.every"
  std::map<std::string, std::string> loop_defaults = {};  ///< of [loop] keys that are not given
  /// Keys of `rest`, by their beginnings, whose changes are changes of the training.
  std::vector<std::string> compared = {};
};

/// A record for a run that starts for the first time.
RunRecord new_run_record(const std::string& name, const std::string& function, const ConfigTexts& config);

/// Returns what differs between the record and the config, in [loop] and in `config.compared`: "loop.lr",
/// "data.train.source". A [loop] value that is not given counts as its default. Pure.
std::vector<RunRecord::Change> changes_of(const RunRecord& record, const ConfigTexts& config, int attempt = 0);

/// Takes this attempt's [loop] into the record, and returns what changed as changes_of() does. What new values mean for a
/// run that goes on is the train function's business.
std::vector<RunRecord::Change> take_changes(RunRecord& record, const ConfigTexts& config, int attempt);

/// [loop] as a JSON object, for params.json.
std::string loop_as_json(const RunRecord& record);

}  // namespace trainrt::rundir
