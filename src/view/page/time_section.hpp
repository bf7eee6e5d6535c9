#pragma once
#include <string>

#include "rundir/usage/goodput.hpp"
#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns a section that shows how the run used its wall time, in total and by attempt, as bars and as a table.
Section time_section(const RunSummary& run);

/// Returns a section with a table of the attempts and the reason for the end of each attempt.
Section attempt_section(const RunSummary& run);

/// Returns a bar with a colored segment for each use of the wall time. The bar is empty if `account` has no time.
Markup time_bar(const rundir::TimeAccount& account);

/// Returns a row with a title, a time_bar() and the goodput.
Markup bar_row(const std::string& title, const rundir::TimeAccount& account);

/// Returns the legend that explains the colors of time_bar().
Markup time_legend();

}  // namespace trainrt::view::page
