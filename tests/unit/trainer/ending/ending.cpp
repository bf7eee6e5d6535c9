#include "trainer/ending/ending.hpp"

#include <catch2/catch.hpp>

#include "config/run_name.hpp"

using namespace trainrt;
using namespace trainrt::trainer;
using Kind = Ending::Kind;

namespace {

struct Row {
  const char* story;
  Ending ending;
  ExitCode code;
  const char* state;
  const char* why;
  const char* message;
};

const Row table[] = {
    {"the train function returned",
     {Kind::finished, "", true, 20, 2},
     ExitCode::finished,
     "finished",
     "finished",
     "finished: 2 iterations, 20 steps. Results: trainrt result /runs/a"},
    {"the train function returned without saving its last steps",
     {Kind::finished, "", false, 1, 1},
     ExitCode::finished,
     "finished",
     "finished",
     "finished: 1 iteration, 1 step. Results: trainrt result /runs/a"},
    {"the train function counted no steps",
     {Kind::finished, "", true, 0, 3},
     ExitCode::finished,
     "finished",
     "finished",
     "finished: 3 iterations. Results: trainrt result /runs/a"},
    {"the train function made no report",
     {Kind::finished, "", true, 7, 0},
     ExitCode::finished,
     "finished",
     "finished",
     "finished: 7 steps. Results: trainrt result /runs/a"},
    {"the train function made no step and no report",
     {Kind::finished, "", true, 0, 0},
     ExitCode::finished,
     "finished",
     "finished",
     "finished: no report and no step. Results: trainrt result /runs/a"},
    {"a node was too slow",
     {Kind::stopped, "rank 3 (n2) was 1.62 times as slow as the median", true, 20, 2, false, "", "n2"},
     ExitCode::stopped,
     "stopped",
     "stopped: rank 3 (n2) was 1.62 times as slow as the median",
     "stopped: rank 3 (n2) was 1.62 times as slow as the median at step 20; everything up to there is saved. Run the same "
     "command again to continue (exit 75)"},
    {"a stop rule was met",
     {Kind::finished_early, "loss <= 0.1", true, 20, 2},
     ExitCode::finished,
     "finished",
     "finished early: loss <= 0.1",
     "finished early (loss <= 0.1): 2 iterations, 20 steps. Results: trainrt result /runs/a"},
    {"a stop rule was met, and the last checkpoint failed",
     {Kind::finished_early, "loss <= 0.1", false, 20, 2},
     ExitCode::failed,
     "stopped",
     "finished early: loss <= 0.1, not saved",
     "finished early: loss <= 0.1 at step 20, but the state could not be saved. Run the same command again to repeat the "
     "work since the last checkpoint. Details: trainrt result /runs/a (exit 70)"},
    {"a signal",
     {Kind::stopped, "SIGTERM", true, 20, 2},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGTERM",
     "stopped by SIGTERM at step 20; everything up to there is saved. Run the same command again to continue (exit 75)"},
    {"a signal, and the checkpoint could not be written",
     {Kind::stopped, "SIGTERM", false, 20, 2},
     ExitCode::failed,
     "stopped",
     "stopped by SIGTERM, not saved",
     "stopped by SIGTERM at step 20, but the state could not be saved. Run the same command again to repeat the work since "
     "the "
     "last checkpoint. Details: trainrt result /runs/a (exit 70)"},
    {"a signal after the last directory that the train function reported",
     {Kind::stopped, "SIGTERM", false, 0, 7, false, "checkpoint_000001 (iteration 6)"},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGTERM",
     "stopped by SIGTERM at iteration 7. The train function saves only the directories that it reports: the run "
     "resumes from checkpoint_000001 (iteration 6), and later work is repeated. Run the same command again to continue "
     "(exit 75)"},
    {"a signal at the report of a directory",
     {Kind::stopped, "SIGTERM", true, 0, 7, false, "checkpoint_000001 (iteration 7)"},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGTERM",
     "stopped by SIGTERM at iteration 7; everything up to there is saved. Run the same command again to continue (exit "
     "75)"},
    {"a signal before the first step",
     {Kind::stopped, "SIGTERM", true, 0, 0},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGTERM",
     "stopped by SIGTERM before the first step or report; the next start begins at step 0. Run the same command again to "
     "continue (exit 75)"},
    {"a signal under trainrt supervise",
     {.kind = Kind::stopped, .reason = "SIGTERM", .step = 20, .iteration = 2, .supervised = true},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGTERM",
     "stopped by SIGTERM at step 20; everything up to there is saved (exit 75)"},
    {"a signal under trainrt supervise, and the checkpoint could not be written",
     {.kind = Kind::stopped, .reason = "SIGTERM", .saved = false, .step = 20, .iteration = 2, .supervised = true},
     ExitCode::failed,
     "stopped",
     "stopped by SIGTERM, not saved",
     "stopped by SIGTERM at step 20, but the state could not be saved. The next start repeats the work since the last "
     "checkpoint. Details: trainrt result /runs/a (exit 70)"},
    {"a silent program exited with 0",
     {Kind::finished, "", true, 0, 0, true},
     ExitCode::finished,
     "finished",
     "finished",
     "finished: the program exited with 0; it does not report progress. Results: trainrt result /runs/a"},
    {"a silent program was stopped",
     {Kind::stopped, "SIGTERM", true, 0, 0, true},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGTERM",
     "stopped by SIGTERM; the program has not called trainrt, so that trainrt saved nothing. The program starts again from "
     "files that it saved itself, or from the beginning. Run the same command again to continue (exit 75)"},
    {"a program with the client was stopped before its first report",
     {.kind = Kind::stopped, .reason = "SIGTERM", .silent = true, .connected = true},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGTERM",
     "stopped by SIGTERM before the program's first step or report; the next start begins at step 0. Run the same command "
     "again to continue (exit 75)"},
    {"a program with the client was stopped before it restored",
     {.kind = Kind::stopped, .reason = "SIGTERM", .silent = true, .connected = true, .has_checkpoint = true},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGTERM",
     "stopped by SIGTERM before the program's first step or report; the next start begins where this one began, at the "
     "last checkpoint. Run the same command again to continue (exit 75)"},
    {"a signal during the start",
     {Kind::not_begun, "SIGUSR1", true, 0, 0},
     ExitCode::stopped,
     "stopped",
     "stopped by SIGUSR1",
     "stopped by SIGUSR1 before the training began; nothing has changed. Run the same command again to continue (exit 75)"},
};

}  // namespace

TEST_CASE("the ending of a session determines exit code, state, reason and message") {
  for (const auto& row : table) {
    INFO(row.story);
    config::RunSpec spec;
    spec.run_dir = "/runs/a";
    const auto conclusion = conclude(row.ending, spec);
    CHECK(conclusion.code == row.code);
    CHECK(rundir::word_of(conclusion.state) == row.state);
    CHECK(conclusion.why == row.why);
    CHECK(conclusion.message == row.message);
  }
}

TEST_CASE("a stopped run with a generated name names the option that continues it") {
  config::RunSpec spec;
  spec.run_dir = "/runs/a";
  spec.run.continue_with = config::name_option("a b");
  CHECK(conclude({Kind::stopped, "SIGTERM", true, 20, 2}, spec).message ==
        "stopped by SIGTERM at step 20; everything up to there is saved. Run the same command again with --run.name='a b' "
        "(before --) to continue (exit 75)");
  CHECK(conclude({Kind::stopped, "SIGTERM", false, 20, 2}, spec).message ==
        "stopped by SIGTERM at step 20, but the state could not be saved. Run the same command again with --run.name='a b' "
        "(before --) to repeat the work since the last checkpoint. Details: trainrt result /runs/a (exit 70)");
}
