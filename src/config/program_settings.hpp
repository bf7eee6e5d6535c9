#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_spec.hpp"

namespace trainrt::config {

/// The origin of what a program asks for.
inline constexpr std::string_view origin_of_program = "the program";

/// A setting of a program's that differs from what the config file or the command line says.
struct SettingChange {
  std::string key, from, to;
  bool is_overruled = false;  ///< by the command line, which says `from`
};

/// For people.
std::string in_words(const SettingChange& change);

/// Sets what a program asks for, between the config file and the command line. `changes`: what differs from the former.
void set_by_program(Options& options, const std::map<std::string, std::string>& settings,
                    std::vector<SettingChange>& changes);

/// Whether a key of [loop] only records what a Python Trainer or Tuner passes to its train function:
/// "train_loop_config.lr", "train_loop_per_worker", "param_space.lr".
bool is_record_of_python(std::string_view loop_key);

/// Of the run with that number among those of a process that have no names of their own: the second is "NAME-2".
std::string numbered_name(const std::string& name, int number);

/// The run that a program asks for: its settings stand between the config file and the command line. `number`: of the run
/// among those that a start of the program asks for; a second one without a name of its own gets "-2" behind the name. Keys
/// that must be known before the program starts (sections train, program, and all of scaling and failure but what says
/// how many workers and failures) throw UsageError, as does what make_run_spec() refuses. `changes`: what differs.
RunSpec asked_by_program(const RunSpec& base, const std::map<std::string, std::string>& settings, int number,
                         std::vector<SettingChange>& changes);

}  // namespace trainrt::config
