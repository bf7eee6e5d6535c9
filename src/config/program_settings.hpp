#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_spec.hpp"

namespace trainrt::config {

/// OptionValue::origin of a setting that the program requested at run time. Error messages name the origin.
inline constexpr std::string_view origin_of_program = "the program";

/// Prefix of OptionValue::origin for a value that a Tuner in a Python script has set: error messages then name "the Tuner
/// in tune.py". The Tuner passes this text in the environment variable `variable_of_tuner`.
inline constexpr std::string_view origin_of_tuner = "the Tuner in ";
inline constexpr auto variable_of_tuner = "TRAINRT_TUNER_TITLE";
/// Environment variable that a Tuner sets if its stopper or callbacks observe the sweep. Tuner.restore() does not restore
/// the stopper and the callbacks.
inline constexpr auto variable_of_observer = "TRAINRT_TUNER_OBSERVES";

/// A setting that a program requests and that differs from the config file or the command line.
struct SettingChange {
  std::string key, from, to;
  bool is_overruled = false;  ///< true if the request is ignored, because `from` was given on the command line
};

/// Returns the change of a setting as a sentence, for the log.
std::string in_words(const SettingChange& change);

/// Adds the `settings` that a program requests to `options`: they override the config file, and the command line overrides
/// them. Appends the requested settings that differ from `options` to `changes`.
void set_by_program(Options& options, const std::map<std::string, std::string>& settings,
                    std::vector<SettingChange>& changes);

/// Returns whether a key of [loop] only records an argument of a Python Trainer or Tuner, such as "train_loop_config.lr",
/// "train_loop_per_worker" or "param_space.lr".
bool is_record_of_python(std::string_view loop_key);

/// Returns the name of run `number` (from 1) among the runs of one process that share `name`: the first is "NAME", the
/// second "NAME-2".
std::string numbered_name(const std::string& name, int number);

/// Returns the checked config of a run that a program requests. `base` is the config with which trainrt started the
/// program.
/// - `settings` of the program override the config file, and the command line overrides them (set_by_program()).
/// - `defaults` of the program are used for keys that neither the config file nor the command line sets.
/// - `number` is 1 for the first run that the program requests, 2 for the second, and so on. If the program sets no name
///   for the second or a later run, that run gets a numbered name.
/// - `changes` receives the settings that have other values than in `base`.
///
/// Throws UsageError as make_run_spec() does. Also throws UsageError if the program sets a key that must be known before
/// the program starts: keys of sections train and program, and most keys of scaling and failure.
RunSpec requested_spec(const RunSpec& base, const std::map<std::string, std::string>& settings, int number,
                       std::vector<SettingChange>& changes, const std::map<std::string, std::string>& defaults = {});

}  // namespace trainrt::config
