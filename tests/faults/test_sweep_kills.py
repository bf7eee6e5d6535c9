#!/usr/bin/python3
"""Runs a few plans of tests/chaos/break_sweeps.py, which disturbs sweeps (`make chaos-sweeps` runs more plans). Whichever process is killed or
stopped, every trial must end exactly once, with the same bits as a single run of its config."""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("chaos", "support")]
from break_sweeps import carry_out_all  # noqa: E402
from runs.sweeps import *  # noqa: E402,F403
from sweep_places import Here  # noqa: E402
from harness import *  # noqa: E402,F403

SEED = 2
PLANS = (0, 5, 6)  # schedulers: median (two processes at once), pbt (two ranks per trial), hyperband (in slices)


def setup():
    if MPIEXEC is None:
        skip("mpiexec.mpich is missing (package mpich)")


@test
def kills_and_stops_do_not_change_the_results_of_a_sweep():
    tally, missed = carry_out_all(SEED, PLANS, Here())
    equal(missed, [], f"failed plans; repeat with: make chaos-sweeps SEED={SEED} PLAN=N")
    check(tally.total() > tally["too late"], f"nothing was disturbed: {dict(tally)}")


@test
def a_trial_that_is_killed_after_the_decision_to_end_it_completes_its_files():
    for moment in ("reported:9", "close"):  # the rank stops before or after it has saved the checkpoint that follows the decision
        config = sweep_config(scratch(), tune={"num_samples": 1, "scheduler": "hyperband", "workers": 1}, **{"tune.hyperband": {"max_t": 9}})
        job = Job([TRAINRT, "tune", "--config", config], env={"TRAINRT_STOP_AT": moment})
        wait_until(lambda job=job: [pid for pid in processes_with(job.token) if state_of_process(pid) == "T"], 60, f"rank at {moment}", job)
        kill(processes_with(job.token))
        job.wait(30)
        check_exit(tune(config), FINISHED)
        trial, = check_each_once(config, 1)
        equal((trial["attempts"], run_state(trial["path"])), (2, "finished"), "attempts of the trial, state of its run")
        check_iterations(trial["path"], 9)


def state_of_process(pid):
    """Returns the letter of the process's state, such as "T" for stopped; "" if it does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


main(setup)
