#pragma once
#include "rundir/attempts/meter.hpp"
#include "trainer/run/attempt_setup.hpp"
#include "trainer/run/running_attempt.hpp"
#include "trainer/session/session.hpp"

namespace trainrt::trainer {

/// Calls the train function on the calling thread, after a pause of `pause_s` seconds. Returns when the function has
/// returned, or was left because the run stops. Throws AgreedError if all ranks failed together. If only this rank fails,
/// the job step is ended by fail_all_ranks().
void call_train_function(const RunArguments& run, const RunningAttempt& attempt, Session& session, rundir::Meter& meter,
                         double pause_s);

}  // namespace trainrt::trainer
