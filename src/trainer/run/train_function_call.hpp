#pragma once
#include "rundir/attempts/meter.hpp"
#include "trainer/run/attempt_setup.hpp"
#include "trainer/run/running_attempt.hpp"
#include "trainer/session/session.hpp"

namespace trainrt::trainer {

/// Calls the train function on the calling thread, after a pause of `pause_s` seconds. Returns after the train function has
/// returned, or has thrown StopRun because the run stops. Throws AgreedError if all ranks failed together. If only this
/// rank fails, fail_all_ranks() ends the job step.
void call_train_function(const RunArguments& run, const RunningAttempt& attempt, Session& session, rundir::Meter& meter,
                         double pause_s);

}  // namespace trainrt::trainer
