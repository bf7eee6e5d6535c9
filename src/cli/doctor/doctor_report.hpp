#pragma once
#include <array>
#include <memory>
#include <string>

#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor {

/// Where findings go: lines on standard output as they come, one JSON object at the end, or, on all ranks but one, nowhere.
class Report {
 public:
  virtual ~Report() = default;
  virtual void begin(const Examination&) {}  ///< left out if the ranks have not met
  void add(std::string_view check, const Finding& finding);
  virtual void end() {}
  /// What this rank could not add to the report that is shown: rank 0 has met the same, or is where it cannot say a word.
  virtual void fail_unseen(const Error&) {}

  /// failed if an error was found.
  ExitCode code() const { return count(Grade::error) > 0 ? ExitCode::failed : ExitCode::finished; }

 protected:
  virtual void show(std::string_view, const Finding&) {}
  int count(Grade grade) const { return counts_[static_cast<std::size_t>(grade)]; }
  Grade worst() const;

 private:
  std::array<int, 3> counts_{};
};

enum class Form { text, json };

/// Of rank 0 in that form; of the others, which show nothing.
std::unique_ptr<Report> make_report(int rank, Form form);

}  // namespace trainrt::cli::doctor
