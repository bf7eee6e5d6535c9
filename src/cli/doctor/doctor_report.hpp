#pragma once
#include <array>
#include <string_view>

#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor {

/// Prints the findings on standard output of rank 0: one line for each finding as soon as it is known, or one JSON
/// object at the end. Prints nothing on other ranks.
class Report {
 public:
  enum class Form { text, json };
  Report(int rank, Form form) : prints_(rank == 0), form_(form) {}

  /// Adds the ranks and the storage to the JSON object. Not called if the ranks cannot communicate.
  void begin(const DoctorRanks& ranks);
  void add(std::string_view check, const Finding& finding);
  void end() const;
  /// Logs an error on a rank that prints no report, but only after 5 s. In this time, rank 0 has usually reported the
  /// same error and ended all ranks.
  void log_if_silent(const Error& failure) const;

  /// Returns ExitCode::failed if a finding is an error, else ExitCode::finished.
  ExitCode code() const { return count(Grade::error) > 0 ? ExitCode::failed : ExitCode::finished; }

 private:
  int count(Grade grade) const { return counts_[static_cast<std::size_t>(grade)]; }
  Grade worst() const;
  void print_summary() const;

  bool prints_;
  Form form_;
  std::array<int, 3> counts_{};  ///< number of findings, by grade
  Json about_ = Json::object();
  Json findings_ = Json::array();
};

}  // namespace trainrt::cli::doctor
