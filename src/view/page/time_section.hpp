#pragma once
#include <string>

#include "rundir/usage/goodput.hpp"
#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Where the wall time went: a bar for all attempts together and one for each, and the same as a table.
Section time_section(const RunSummary& run);

/// The attempts, and why each ended.
Section attempt_section(const RunSummary& run);

/// The parts of the time as a bar; nothing of an account without any.
Markup time_bar(const rundir::TimeAccount& account);

/// Such a bar between a title and the goodput.
Markup bar_row(const std::string& title, const rundir::TimeAccount& account);

/// What the colours of the bars mean.
Markup time_legend();

}  // namespace trainrt::view::page
