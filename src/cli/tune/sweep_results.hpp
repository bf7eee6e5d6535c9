#pragma once
#include <trainrt/error.hpp>

#include "cli/command_line/arguments.hpp"

namespace trainrt::cli {

/// `trainrt tune status DIR`: a row a trial, as a table, JSON or CSV; --watch shows the table until all trials are over.
ExitCode show_status(const Arguments& arguments);
/// `trainrt tune best DIR`: the trial with the best report.
ExitCode show_best(const Arguments& arguments);

}  // namespace trainrt::cli
