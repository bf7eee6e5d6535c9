#!/usr/bin/python3
"""A run with scaling.on_resize = same_bits on a real Slurm: `supervise` starts all its ranks on the nodes that the allocation has, and the
run ends with the bits of an undisturbed run."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("bits")
DATA = {"samples": 384, "features": 200}
LOOP = {"epochs": 25, "batch_size": 16, "dropout": 0.1, "optimizer": "adamw", "lr": 0.005}
TWO_NODES = ["-N2", "-n4", "-c1"]


def config_of(name="run", loop=None, **scaling):
    return linear_config(scratch(), name, {**LOOP, **(loop or {})}, DATA, {"every": "2 reports"}, scaling={"on_resize": "same_bits", **scaling})


_references = []


def reference():
    """Returns the directory of an uninterrupted run of 4 ranks on 2 nodes."""
    if not _references:
        config = config_of("whole")
        check_exit(CLUSTER.run_srun(["-N2", "-n4"], config, timeout=120), FINISHED)
        _references.append(run_dir_of(config))
    return _references[0]


def started(job, config):
    """Waits until the run has made some reports."""
    count = report_count(run_dir_of(config))
    wait_until(lambda: report_count(run_dir_of(config)) >= count + 3, 60, "reports", job)


def ended_with_same_bits(job, config, nodes):
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", timeout=90), "COMPLETED", "state of the job", job)
    check_same_bits(run_dir_of(config), reference())
    found = [(attempt["ranks"], attempt["nodes"]) for attempt in attempts(run_dir_of(config))]
    equal((found[0], found[-1]), ((4, ["n1", "n2"]), (4, nodes)), "ranks and nodes of the first and the last attempt", job)


@test
def a_run_that_continues_in_a_smaller_job_ends_with_the_same_bits():
    config = config_of(loop={"step_pause": 0.01})
    first = CLUSTER.sbatch(TWO_NODES, config, "--failure.max_requeues=0")
    started(first, config)
    CLUSTER.call("scancel", "--signal=USR1", f"{first.id}.0")
    equal(first.wait_for_state("COMPLETED", "FAILED", timeout=60), "FAILED", "state of the first job", first)
    smaller = CLUSTER.sbatch(["-N1", "-n1", "-c2"], config)
    smaller.wait_for("trainrt supervise: starting all 4 workers on 2 CPUs of n1")
    smaller.wait_for(r"same bits: 4 workers on \d CPUs of 1 node")
    ended_with_same_bits(smaller, config, ["n1"])
    equal(cpus_of_ranks(config, 2), ["0", "0", "1", "1"], "CPUs of the 4 ranks on one node")


@test
def a_run_that_loses_one_of_its_two_nodes_continues_with_all_ranks_on_the_other():
    config = config_of(loop={"step_pause": 0.01})
    job = CLUSTER.sbatch([*TWO_NODES, "--no-kill"], config)
    started(job, config)
    CLUSTER.kill_node("n2", with_processes=True)
    try:
        job.wait_for("continuing with all 4 workers on 2 CPUs of n1", timeout=60)
        ended_with_same_bits(job, config, ["n1"])
        equal(job.restarts(), 0, "requeues", job)
    finally:
        CLUSTER.start_node("n2")


@test
def a_run_of_which_a_node_is_drained_continues_on_the_other_node_after_a_requeue():
    """The config does not set scaling.on_resize: same_bits is the default."""
    config = linear_config(scratch(), "run", {**LOOP, "step_pause": 0.01}, DATA, {"every": "2 reports"})
    first = CLUSTER.sbatch(TWO_NODES, config, "--failure.max_requeues=0")
    started(first, config)
    CLUSTER.call("scancel", "--signal=USR1", f"{first.id}.0")
    first.wait_for_state("COMPLETED", "FAILED", timeout=60)
    job = CLUSTER.sbatch(["-N1-2", "-n2", "-c1"], config)
    started(job, config)
    drained = attempts(run_dir_of(config))[-1]["nodes"][-1]
    CLUSTER.call("scontrol", "update", f"NodeName={drained}", "State=DRAIN", "Reason=test")
    try:
        CLUSTER.call("scontrol", "requeue", job.id)
        job.wait_for_restart(1)
        ended_with_same_bits(job, config, [{"n1": "n2", "n2": "n1"}[drained]])
    finally:
        CLUSTER.call("scontrol", "update", f"NodeName={drained}", "State=RESUME")


def cpus_of_ranks(config, attempt):
    """Returns the CPUs of each rank of an attempt, as lists such as "0-1"."""
    lines = (run_dir_of(config) / f"logs/ranks-attempt-{attempt:06}.jsonl").read_text().replace("\0", "").splitlines()
    ranks = [json.loads(line) for line in lines if line.strip()]
    return [rank["cpu_list"] for rank in sorted(ranks, key=lambda rank: rank["rank"])]


@test
def ranks_that_srun_has_put_on_too_few_CPUs_divide_them_evenly():
    """With task/affinity, srun binds 2 ranks to a CPU each. It does not bind 4 ranks that share 2 CPUs."""
    config = config_of("few", {"epochs": 2})
    check_exit(CLUSTER.run_srun(["-N1", "-n2", "-c1"], config, timeout=120), FINISHED)
    equal(sorted(cpus_of_ranks(config, 1)), ["0", "1"], "CPUs of 2 ranks")
    config = config_of("many", {"epochs": 2})
    job = Job(["salloc", "--quiet", "-N1", "-n2", "srun", "-n4", "--overcommit", TRAINRT, "--config", config], env=CLUSTER.env)
    job.code = job.wait(120)
    check_exit(job, FINISHED)
    equal(cpus_of_ranks(config, 1), ["0", "0", "1", "1"], "CPUs of 4 ranks")


main(setup=lambda: CLUSTER.up(2, "--cpus", "2", "--slurm-conf", "TaskPlugin=task/affinity"), teardown=CLUSTER.down)
