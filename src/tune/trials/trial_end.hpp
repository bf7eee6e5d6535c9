#pragma once
#include "tune/record/claims.hpp"
#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// How an attempt has ended, by the exit code of its process and what lies in the trial's run directory. `was_signalled`:
/// it was asked to stop.
TrialEnd end_of(const Sweep& sweep, const History& history, const Claim& claim, int exit_code, bool was_signalled);

}  // namespace trainrt::tune
