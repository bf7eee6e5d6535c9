#pragma once
#include <trainrt/error.hpp>

#include "cli/command_line/arguments.hpp"

namespace trainrt::cli {

/// `trainrt tune status DIR`: prints a row per trial, as a table, JSON or CSV. With --watch, prints the table repeatedly
/// until all trials are done.
ExitCode show_status(const Arguments& arguments);
/// `trainrt tune best DIR`: prints the trial with the best report.
ExitCode show_best(const Arguments& arguments);

}  // namespace trainrt::cli
