#!/usr/bin/python3
"""Habits of centres, on a real Slurm with PrologFlags=Contain, a licence, and two seconds between SIGTERM and SIGKILL: heterogeneous jobs,
steps that share CPUs, and a job that Slurm suspends and requeues. The runs end with the same bits as undisturbed ones."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("habits")
LOOP = {"epochs": 3, "batch_size": 32}
DATA = {"samples": 384, "features": 50}
COMPONENTS = ["-N1", "-n1", ":", "-N1", "-n2"]
HANG_LIMIT_S = 6


def config_of(**loop):
    return linear_config(scratch(), "run", {**LOOP, **loop}, DATA, failure={"hang_timeout": f"{HANG_LIMIT_S} s"})


def reference_of(ranks):
    """Returns the run directory of an undisturbed run with `ranks` ranks on this machine."""
    config = config_of()
    check_exit(run_ranks(ranks, config), FINISHED)
    return run_dir_of(config)


def finishes_on(command, ranks, text):
    """Checks that `command` with a config trains on `ranks` ranks, as `text` says, to the bits of an undisturbed run."""
    config = config_of()
    job = run([*command, TRAINRT, "--config", config], timeout=90, env=CLUSTER.env)
    check_exit(job, FINISHED)
    check(f"trainrt: {text} (" in job.err, f"no line with '{text}'", job)
    check_same_bits(run_dir_of(config), reference_of(ranks))


@test
def a_step_over_all_components_of_a_heterogeneous_job_forms_one_run():
    finishes_on(["srun", *COMPONENTS], 3, "3 ranks on 2 nodes")


@test
def a_step_in_one_component_of_a_heterogeneous_job_has_the_ranks_of_the_component():
    finishes_on(["salloc", *COMPONENTS, "srun", "--het-group=1"], 2, "2 ranks on 1 node")


def beside_another_step(option):
    sleeper = f"srun {option} -n2 sleep 100 & sleep 1; srun {option} -n2 \"$@\"; code=$?; kill %1; wait; exit $code"
    finishes_on(["salloc", "-N1", "-n2" if option == "--overlap" else "-n4", "bash", "-mc", sleeper, "bash"], 2, "2 ranks on 1 node")


add_test("a_step_with_overlap_runs_beside_a_step_on_the_same_cpus", beside_another_step, "--overlap")
add_test("a_step_with_exact_runs_beside_a_step_on_other_cpus", beside_another_step, "--exact")


@test
def a_job_with_a_licence_that_is_suspended_and_requeued_continues_within_a_kill_wait_of_2_s():
    config = config_of(epochs=40, step_pause=0.03)
    job = CLUSTER.sbatch(["-N2", "-n2", "-L", "solver:1", "--requeue"], config)
    wait_for_reports(run_dir_of(config), 2, job)
    CLUSTER.call("scontrol", "suspend", job.id)
    job.wait_for_state("SUSPENDED")
    time.sleep(HANG_LIMIT_S + 2)
    CLUSTER.call("scontrol", "resume", job.id)
    job.wait_for_state("RUNNING")
    count = report_count(run_dir_of(config))
    wait_for_reports(run_dir_of(config), count + 2, job)
    equal(len(attempts(run_dir_of(config))), 1, "attempts after the suspension", job)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1)
    equal(job.wait_for_state("COMPLETED", "FAILED", timeout=120), "COMPLETED", "state of the job", job)
    equal((len(attempts(run_dir_of(config))), attempts(run_dir_of(config))[-1]["why"]), (2, "finished"), "attempts, and the end of the last", job)
    check_iterations(run_dir_of(config), 40)
    undisturbed = config_of(epochs=40)
    check_exit(run_ranks(2, undisturbed), FINISHED)
    check_same_bits(run_dir_of(config), run_dir_of(undisturbed))


@test
def a_step_with_mpi_none_is_refused_with_the_setting_that_helps():
    config = config_of()
    job = CLUSTER.run_srun(["--mpi=none", *COMPONENTS], config)
    check_exit(job, USAGE)
    check("export SLURM_MPI_TYPE=pmix" in job.err, "the setting is not named", job)


main(setup=lambda: CLUSTER.up(3, "--kill-wait", "2", "--slurm-conf", "Licenses=solver:1", "--slurm-conf", "PrologFlags=Contain"), teardown=CLUSTER.down)
