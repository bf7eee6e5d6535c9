#pragma once
#include "tune/record/claims.hpp"
#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Returns how an attempt ended, from the exit code of its process and the trial's run directory. `was_signalled`: the
/// process was asked to stop.
TrialEnd end_of(const Sweep& sweep, const History& history, const Claim& claim, int exit_code, bool was_signalled);

}  // namespace trainrt::tune
