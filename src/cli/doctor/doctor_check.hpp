#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/doctor_ranks.hpp"
#include "core/plugin.hpp"
#include "launch/library_versions.hpp"

namespace trainrt::cli::doctor {

enum class Grade { ok, warning, error };

/// The result of a check. All ranks have the same result.
struct Finding {
  Grade grade = Grade::ok;
  std::string text;
  std::string advice;             ///< what to do; empty exactly if the grade is ok
  Json figures = Json::object();  ///< the values in the text, for programs; run_check() sets them
};
inline Finding ok(std::string text) { return {Grade::ok, std::move(text), {}}; }
inline Finding warning(std::string text, std::string advice) {
  return {Grade::warning, std::move(text), std::move(advice)};
}
inline Finding error(std::string text, std::string advice) { return {Grade::error, std::move(text), std::move(advice)}; }
/// Returns warning(problems, advice), or ok(text) if `problems` is empty.
inline Finding warning_if(const std::string& problems, const std::string& advice, const std::string& text) {
  return problems.empty() ? ok(text) : warning(problems, advice);
}

/// A check: one line of the report.
struct Check {
  std::string_view name;
  std::string_view help;  ///< noun phrase that follows "cannot check" in messages
  /// Performs the check and assigns the values of its text to `figures`, an empty object. Collective. Each wait needs a
  /// limit.
  ///
  /// The function must throw on all ranks or on no rank. Code that may fail on a single rank must therefore run in
  /// DoctorRanks::ask(). Only errors of the Communicator may occur on single ranks, because they end the report. A
  /// process is ended if a system call blocks it for longer than check_limit_seconds plus the timeout of a collective.
  Finding (*run)(const DoctorRanks&, Json& figures);
  std::string_view advice;            ///< what to do if `run` throws ProbeFailed
  Grade failed_grade = Grade::error;  ///< grade of the check if `run` throws ProbeFailed
};

/// A plug-in: one file in cli/doctor/checks, with checks of one topic.
struct CheckGroup {
  std::string_view name;
  std::string_view help;
  int order;  ///< groups are reported in ascending order
  std::span<const Check> checks;
  bool needs_program = false;  ///< whether the checks are skipped if no program is given
};

/// Advice if only some of the ranks have a GPU.
constexpr const char* gpus_for_all_advice = "request GPUs for all ranks (srun --gpus-per-node or --gpus-per-task)";

constexpr double check_limit_seconds = 30;

PluginTable<CheckGroup> check_table();

/// Returns the checks in the order of the report. `has_program`: whether a program is given.
std::vector<const Check*> checks_in_order(bool has_program);

/// Runs a check and returns its finding. A ProbeFailed of the check is converted to a finding. Collective. Throws
/// errors of the Communicator, and AgreedError if a rank received a stop signal.
Finding run_check(const Check& check, const DoctorRanks& ranks);

/// Checks that `find` returns the same library on all ranks, if it finds one. Any version is accepted. `find` is called
/// on each rank.
Finding compare_found(const DoctorRanks& ranks, Json& figures, launch::FoundLibrary (*find)());

}  // namespace trainrt::cli::doctor
