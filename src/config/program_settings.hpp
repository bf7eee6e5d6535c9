#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_spec.hpp"

namespace trainrt::config {

/// The origin of settings that a program requests.
inline constexpr std::string_view origin_of_program = "the program";

/// A setting of a program that differs from the config file or the command line.
struct SettingChange {
  std::string key, from, to;
  bool is_overruled = false;  ///< `from` is used, because it was given on the command line
};

/// Returns the change as a sentence, for the log.
std::string in_words(const SettingChange& change);

/// Adds the `settings` of a program to `options`: they override the config file, and the command line overrides them.
/// Appends the settings that differ from `options` to `changes`.
void set_by_program(Options& options, const std::map<std::string, std::string>& settings,
                    std::vector<SettingChange>& changes);

/// Returns whether a key of [loop] only records an argument of a Python Trainer or Tuner: "train_loop_config.lr",
/// "train_loop_per_worker", "param_space.lr".
bool is_record_of_python(std::string_view loop_key);

/// Returns the name of the run with this number, from 1, among the runs of a process that share `name`: the second is
/// "NAME-2".
std::string numbered_name(const std::string& name, int number);

/// Returns the spec of a run that a program requests: `base` with the program's `settings`, as set_by_program() adds them.
/// `number` counts the runs that one start of the program requests, from 1; a later run without a name of its own gets a
/// numbered one. Throws UsageError for settings that must be known before the program starts (sections train and program,
/// and most keys of scaling and failure), and whenever make_run_spec() does.
RunSpec requested_spec(const RunSpec& base, const std::map<std::string, std::string>& settings, int number,
                       std::vector<SettingChange>& changes);

}  // namespace trainrt::config
