#pragma once
#include <string>

#include "rundir/usage/goodput.hpp"
#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns the use of the wall time, in total and by attempt, as bars and as a table.
Section time_section(const RunSummary& run);

/// Returns a table of the attempts with the reason for the end of each.
Section attempt_section(const RunSummary& run);

/// Returns a bar whose parts show the use of the wall time. It has no parts if the account has no time.
Markup time_bar(const rundir::TimeAccount& account);

/// Returns a row with a title, a time_bar() and the goodput.
Markup bar_row(const std::string& title, const rundir::TimeAccount& account);

/// Returns the legend of the colors of the bars.
Markup time_legend();

}  // namespace trainrt::view::page
