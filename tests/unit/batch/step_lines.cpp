#include <catch2/catch.hpp>

#include "batch/step_lines.hpp"

using namespace trainrt::batch;

namespace {

StepLines read(std::initializer_list<const char*> lines) {
  StepLines found;
  for (const auto* line : lines) found.take(line);
  return found;
}

}  // namespace

// The messages are those of Slurm 22.05.8, and of Slurm 24.11.5 where a test says so.

TEST_CASE("a dead task is reported with its node and its signal") {
  const auto killed = read({"srun: error: n2: task 1: Killed", "srun: error: n1: task 0: Terminated"});
  REQUIRE(killed.dead().size() == 2);
  CHECK(how_it_ended(killed, 137) == "killed: rank 1 on n2 by SIGKILL (srun exit 137)");
  CHECK(how_it_ended(read({"srun: error: n2: task 1: Segmentation fault"}), 139) ==
        "killed: rank 1 on n2 by SIGSEGV (srun exit 139)");
  CHECK(how_it_ended(read({"srun: error: n2: tasks 0-2,5: Segmentation fault (core dumped)"}), 139) ==
        "killed: rank 0-2,5 on n2 by SIGSEGV (srun exit 139)");
  CHECK(how_it_ended(
            read({"slurmstepd-n2: error: Detected 1 oom-kill event(s) in StepId=7.0. Some of your processes may have "
                  "been killed by the cgroup out-of-memory handler.",
                  "srun: error: n2: task 1: Killed"}),
            137) == "killed: rank 1 on n2 by SIGKILL, out of memory (srun exit 137)");
  CHECK(how_it_ended(read({"srun: error: n2: task 1: Out Of Memory"}), 125) ==
        "failed: rank 1 on n2: Out Of Memory (srun exit 125)");
  CHECK(how_it_ended(read({"srun: error: n2: task 1: Exited with exit code 3"}), 3) ==
        "failed: rank 1 on n2: Exited with exit code 3 (srun exit 3)");
}

TEST_CASE("a message of Slurm is found after an unfinished line of the program") {
  const auto killed = read({"epoch 1:  30%|###   | srun: error: n2: task 1: Killed"});
  CHECK(how_it_ended(killed, 137) == "killed: rank 1 on n2 by SIGKILL (srun exit 137)");
  CHECK(read({"step 12slurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-11-21T14:28:15 DUE TO PREEMPTION ***"})
            .cancel_reason() == "PREEMPTION");
}

TEST_CASE("a task that exits with a code that the ranks agree on is not dead") {
  for (const auto* code : {"0", "64", "70", "75", "76"})
    CHECK(read({("srun: error: n1: task 0: Exited with exit code " + std::string(code)).c_str()}).dead().empty());
  for (const auto* code : {"1", "2", "7", "750", "77", "x"})
    CHECK(read({("srun: error: n1: task 0: Exited with exit code " + std::string(code)).c_str()}).dead().size() == 1);
}

TEST_CASE("ranks that exited with 75 have stopped, unless a task died") {
  const auto* stopped = "srun: error: n1: tasks 0-1: Exited with exit code 75";
  CHECK(read({stopped}).ranks_stopped());
  for (const auto* died : {"srun: error: n2: task 2: Killed", "srun: error: n2: task 2: Exited with exit code 1"})
    CHECK_FALSE(read({stopped, died}).ranks_stopped());
  CHECK_FALSE(read({"srun: error: n1: tasks 0-1: Exited with exit code 70"}).ranks_stopped());
  CHECK_FALSE(read({}).ranks_stopped());
}

TEST_CASE("the reason in the message of slurmstepd is the reason for the end of a step") {
  CHECK(read({"slurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-11-21T14:28:15 DUE TO PREEMPTION ***"})
            .cancel_reason() == "PREEMPTION");
  CHECK(read({"slurmstepd: error: *** STEP 4.0 ON n1 CANCELLED AT 2026-11-21T14:28:07 DUE TO JOB REQUEUE ***"})
            .cancel_reason() == "JOB REQUEUE");
  CHECK(read({"slurmstepd-n1: error: *** STEP 14.0 ON n1 CANCELLED AT 2026-11-21T14:39:18 DUE TO TIME LIMIT ***"})
            .cancel_reason() == "TIME LIMIT");
  CHECK(
      read({"slurmstepd-n1: error: *** STEP 14.0 ON n1 CANCELLED AT 2026-11-21T14:38:05 DUE TO NODE FAILURE, SEE SLURMCTLD "
            "LOG FOR DETAILS ***"})
          .cancel_reason() == "NODE FAILURE");
  CHECK(read({"slurmstepd-n1: error: *** STEP 3.0 ON n1 CANCELLED AT 2026-11-21T14:27:59 ***"}).cancel_reason().empty());
  CHECK(
      how_it_ended(read({"slurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-11-21T14:28:15 DUE TO PREEMPTION ***",
                         "srun: error: n2: task 1: Killed"}),
                   137) == "ended by Slurm: preemption");
}

TEST_CASE("a step that Slurm 24.11 cancels because a task failed is blamed on the task") {
  const auto failed =
      read({"slurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-11-21T14:28:15 DUE TO TASK FAILURE ***",
            "srun: error: n2: task 1: Killed"});
  CHECK(failed.cancel_reason().empty());
  CHECK(how_it_ended(failed, 137) == "killed: rank 1 on n2 by SIGKILL (srun exit 137)");
}

TEST_CASE("failed nodes and failed launches are recognized") {
  const auto lost =
      read({"srun: error: Node failure on n2", "srun: error: n3: task 2: Killed", "srun: Force Terminated StepId=11.0"});
  CHECK(lost.failed_nodes() == std::vector<std::string>{"n2"});
  CHECK_FALSE(lost.launch_failed());
  CHECK(how_it_ended(lost, 137) == "lost node n2 (srun exit 137)");
  const auto failed =
      read({"srun: error: Task launch for StepId=15.2 failed on node n2: Communication connection failure",
            "srun: error: Application launch failed: Communication connection failure", "srun: Job step aborted"});
  CHECK(failed.failed_nodes() == std::vector<std::string>{"n2"});
  CHECK(failed.launch_failed());
  CHECK(how_it_ended(failed, 233) == "srun could not start the step on n2 (exit 233)");
  CHECK(how_it_ended(read({"srun: error: Only allocated 2 nodes asked for 3"}), 99) ==
        "srun could not start the step (exit 99)");
}

TEST_CASE("an allocation that has lost a node is recognized by the message of srun") {
  const auto* line = "srun: error: SLURM_JOB_NUM_NODES environment variable conflicts with allocated node count (3 != 2).";
  CHECK(read({line}).allocation_shrank());
  CHECK_FALSE(read({"srun: error: Only allocated 2 nodes asked for 3"}).allocation_shrank());
}

TEST_CASE("a task that a stop signal killed is recognized") {
  CHECK(read({"srun: error: n2: task 1: User defined signal 1"}).stop_signal_killed());
  CHECK_FALSE(read({"srun: error: n2: task 1: Killed"}).stop_signal_killed());
}

TEST_CASE("output of the program and incomplete messages are ignored") {
  const auto found =
      read({"", "srun: ", "srun: error: ", "srun: error: n1", "srun: error: n1: task", "srun: error: n1: task 0",
            "srun: error: n1: task 0:", "my program: task 1: Killed", "error: Node failure on n1",
            "Killed DUE TO PREEMPTION ***", "slurmstepd: DUE TO ", "srun: interrupt (one more within 1 sec to abort)",
            "srun: StepId=2.3 tasks 0-1: running", "\xff\xfe", "slurmstepd: error: *** CANCELLED AT  DUE TO "});
  CHECK(found.dead().empty());
  CHECK(found.failed_nodes().empty());
  CHECK(found.cancel_reason().empty());
  CHECK(how_it_ended(found, 137) == "killed by SIGKILL (srun exit 137)");
  CHECK(how_it_ended(found, 5) == "ended with exit 5");
}

TEST_CASE("a rank that MPI aborts because its peer was killed is not the first to die") {
  const auto aborted = read({"srun: error: n2: task 1: Killed", "srun: error: n1: task 0: Exited with exit code 134"});
  CHECK(how_it_ended(aborted, 134) == "killed: rank 1 on n2 by SIGKILL (srun exit 134)");
  CHECK(node_to_blame(aborted, false) == "n2");
  const auto first = read({"srun: error: n1: task 0: Aborted", "srun: error: n2: task 1: Killed"});
  CHECK(how_it_ended(first, 134) == "killed: rank 0 on n1 by SIGABRT (srun exit 134)");
  CHECK(node_to_blame(first, false) == "n1");
}

TEST_CASE("a node is blamed if it failed, or if a task died there of a signal that no other rank sent") {
  const auto killed = read({"srun: error: n2: task 1: Killed", "srun: error: n1: task 0: Killed"});
  CHECK(node_to_blame(killed, false) == "n2");
  CHECK(node_to_blame(killed, true).empty());  // one rank may have killed the others
  const auto crashed = read({"srun: error: n1: task 0: Killed", "srun: error: n2: task 1: Segmentation fault"});
  for (const bool ranks_ended_it : {false, true}) {
    CHECK(node_to_blame(crashed, ranks_ended_it) == "n2");
    CHECK(node_to_blame(read({"srun: error: n1: task 0: Killed", "srun: error: n2: task 1: Exited with exit code 139"}),
                        ranks_ended_it) == "n2");
    CHECK(node_to_blame(read({"srun: error: Node failure on n3"}), ranks_ended_it) == "n3");
    CHECK(node_to_blame(read({"srun: error: Node failure on n3", "srun: error: Node failure on n2"}), ranks_ended_it)
              .empty());
    CHECK(node_to_blame(read({"srun: error: n2: task 1: Exited with exit code 3"}), ranks_ended_it).empty());
    CHECK(node_to_blame(read({"srun: error: n2: task 1: User defined signal 1"}), ranks_ended_it).empty());
    CHECK(node_to_blame(read({"slurmstepd-n2: error: Detected 1 oom-kill event(s) in StepId=7.0.",
                              "srun: error: n2: task 1: Killed"}),
                        ranks_ended_it)
              .empty());
    CHECK(node_to_blame(read({}), ranks_ended_it).empty());
  }
}
