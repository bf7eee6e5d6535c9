#pragma once
#include <string>
#include <string_view>

#include "cli/doctor/examination.hpp"
#include "core/plugin.hpp"

namespace trainrt::cli::doctor {

enum class Grade { ok, warning, error };
std::string_view name_of(Grade grade);

/// What a check found. The same on every rank.
struct Finding {
  Grade grade = Grade::ok;
  std::string text;
  std::string advice;             ///< what to do: never empty if the grade is not ok
  Json figures = Json::object();  ///< the numbers of the text, for programs
};
Finding ok(std::string text, Json figures = Json::object());
Finding warning(std::string text, std::string advice, Json figures = Json::object());
Finding error(std::string text, std::string advice, Json figures = Json::object());

/// A plug-in: one file in cli/doctor. `run` is collective: it throws on all ranks or on none, but for an Error of the
/// Communicator, which ends the visit. Work that may fail on one rank belongs into Examination::ask. It waits for nothing
/// without a limit; the command ends the step if a system call that hangs holds a check for longer than a collective's
/// limit and check_limit_seconds.
struct Check {
  std::string_view name;
  std::string_view help;
  int place;  ///< in the report
  Finding (*run)(const Examination&);
  bool of_program = false;  ///< left out unless a program is named
};

constexpr double check_limit_seconds = 30;

PluginTable<Check> check_table();

/// All of them, by their place.
std::vector<const Check*> checks_in_order();

}  // namespace trainrt::cli::doctor
