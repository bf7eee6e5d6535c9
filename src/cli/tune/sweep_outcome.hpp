#pragma once
#include <string>

#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::cli {

/// Returns the last message of `trainrt tune`: how the sweep ended, and how it continues. If a Tuner in a Python script
/// has started the sweep, the message names the call in Python.
std::string sweep_outcome(const tune::Sweep& sweep, ExitCode code, const Environment& environment);

}  // namespace trainrt::cli
