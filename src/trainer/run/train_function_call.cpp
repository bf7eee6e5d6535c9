#include "trainer/run/train_function_call.hpp"

#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "core/host.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/output_targets.hpp"
#include "core/output/start_report.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/run/failure.hpp"
#include "trainer/run/restarts.hpp"
#include "watch/exit_guard.hpp"
#include "watch/thrown.hpp"

namespace trainrt::trainer {

namespace {

/// Sets `output` to a capture that copies the output of this process to the rank's log and the terminal. Does nothing
/// unless TrainCall::prints_here is true.
void capture_output(std::optional<OutputCapture>& output, const TrainCall& function, const RunningAttempt& attempt,
                    int rank) {
  if (!function.prints_here) return;
  const auto title = fmt::format("attempt {}, rank {} on {}, process {}", attempt.number, rank, host_name(), getpid());
  output.emplace(output_targets(attempt.spec.run.shown_output, attempt.spec.run_dir, rank), title);
}

/// Waits for unfinished work of a failed attempt, so that the next attempt can start in the same processes. Sets
/// `failure.is_early` to true on all ranks if it was true on every rank, otherwise to false: the clocks of the ranks
/// may differ.
void settle_after(FailedTogether& failure, const RunningAttempt& attempt, Session& session, launch::Launch& launch) try {
  session.settle();
  failure.is_early = session.communicator().all_reduced(failure.is_early ? 1 : 0, Op::min) != 0;  // on all ranks
} catch (const comm::AgreedError& error) {
  throw comm::AgreedError(fmt::format("{}\nand then: {}", failure.what(), error.what()), error.code());
} catch (const std::exception& error) {
  const auto text = fmt::format("{}\nand then: {}", failure.what(), error.what());
  fail_all_ranks(attempt, session, launch, Error(text), text);
}

/// Maximum time in seconds from the start to an early failure. After a longer time, a program that does not report its
/// progress may have trained.
constexpr double max_early_s = 60;

RunInfo run_info(const RunningAttempt& attempt, const World& world) {
  return {attempt.spec.run.name, attempt.spec.run_dir, attempt.number, world.size, world.node_count};
}

}  // namespace

void call_train_function(const RunArguments& run, const RunningAttempt& attempt, Session& session, rundir::Meter& meter,
                         double pause_s) {
  const auto& function = run.function;
  const auto& world = run.launch.world();
  std::optional<OutputCapture> output;
  const double began_s = monotonic_seconds();
  try {
    if (!function.is_running || !function.is_running())
      session.stop_if_asked();  // a stop loses no work, since training has not begun
    wait_to_restart(pause_s, session);
    attempt.callbacks.start(run_info(attempt, world), session.communicator());
    auto& report = StartReport::of_process();
    report.end_part("run directory");
    session.prepare_datasets();
    report.end_part("datasets");
    Context context(session);
    capture_output(output, function, attempt, world.rank);
    meter.train_function_began();
    const watch::ExitGuard guard(run.launch);
    function.train(context);
    session.finish();
  } catch (FailedTogether& failure) {
    failure.is_early = !session.has_trained() && monotonic_seconds() - began_s < max_early_s;
    settle_after(failure, attempt, session, run.launch);
    throw;
  } catch (const comm::AgreedError&) {
    throw;
  } catch (const Error& error) {
    const auto text = with_advice(error);
    fail_all_ranks(attempt, session, run.launch, Error(text, error.code()), text);
  } catch (const std::exception& error) {
    const auto text = with_advice(error);
    fail_all_ranks(attempt, session, run.launch, Error(first_line(text)), text);
  } catch (const StopRun&) {  // session.ending() has the reason
  } catch (...) {
    const auto text =
        fmt::format("the train function threw an exception that is not a std::exception: {}", watch::thrown_type());
    fail_all_ranks(attempt, session, run.launch, Error(text), "");
  }
}

}  // namespace trainrt::trainer
