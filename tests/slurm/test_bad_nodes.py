#!/usr/bin/python3
"""Nodes that end attempts or slow down the others are excluded: inside the allocation if fewer workers suffice, else by the job's
ExcNodeList at the requeue. excluded_nodes.json stores them, and users may edit it. No more nodes are excluded than the config allows."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403
from runs.trouble import module_of  # noqa: E402

CLUSTER = Cluster("bad")


def config_of(loop, failure, least=0, name="run"):
    """Returns the config of a run of tests/support/programs/bad_node.cpp."""
    folder = scratch()
    return write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"}, "train": {"library": module_of("bad_node")},
                                                 "loop": loop, "scaling": {"min_workers": least}, "failure": failure})


def ended(job, state="COMPLETED", timeout=90):
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", timeout=timeout), state, "state of the job", job)


def result_of(run_dir):
    shown = run([TRAINRT, "result", run_dir, "--json"])
    check_exit(shown, FINISHED)
    return json.loads(shown.out)


def nodes_and_blame(run_dir):
    return [(attempt["nodes"], attempt["blamed_node"]) for attempt in result_of(run_dir)["attempts"]]


# {name: ([loop], [failure], min_workers)}. All jobs run at the same time.
_TROUBLES = {"kill": ({"kill": "n2"}, {"exclude_bad_nodes": 2}, 2),
             "kill one of two": ({"kill": "n2"}, {"exclude_bad_nodes": 1}, 4), "crash": ({"crash": "n2"}, {"exclude_bad_nodes": 1}, 2),
             "hang": ({"hang": "n2"}, {"exclude_bad_nodes": 1, "hang_timeout": 2}, 2),
             "capped": ({"kill": "n2,n3"}, {"exclude_bad_nodes": 1, "max_excluded_nodes": 1, "max_failures": 1}, 1),
             "scarce": ({"kill": "n2"}, {"exclude_bad_nodes": 1, "max_failures": 1}, 0), "edited": ({}, {}, 0)}
_started = {}


def job_of(trouble):
    """Returns the job on three nodes, and its run directory. Submits all jobs at the first call."""
    if not _started:
        for name, settings in _TROUBLES.items():
            config = config_of(*settings)
            if name == "edited":
                run_dir_of(config).mkdir(parents=True)
                (run_dir_of(config) / "excluded_nodes.json").write_text('{"format": "trainrt excluded nodes 1", "nodes": [{"node": "n[1-3]"}]}')
            of_node = 2 if name == "kill one of two" else 1
            _started[name] = CLUSTER.sbatch(["-N3", f"-n{3 * of_node}", f"--ntasks-per-node={of_node}", "-c1"], config), run_dir_of(config)
    return _started[trouble]


ALL, WITHOUT_N2 = ["n1", "n2", "n3"], ["n1", "n3"]


@test
def a_node_whose_ranks_are_killed_crash_or_hang_is_excluded_inside_the_allocation():
    for trouble, ends in (("kill", 2), ("kill one of two", 1), ("crash", 1), ("hang", 1)):
        job, run_dir = job_of(trouble)
        ended(job)
        equal(nodes_and_blame(run_dir), [(ALL, "n2")] * ends + [(WITHOUT_N2, None)], f"nodes and blamed node of the attempts ({trouble})", job)
        check(re.search("n2 is left out: continuing with (2 of 3|4 of 6) workers, on n1,n3", job.text), "the exclusion is not reported", job)
        equal(job.restarts(), 0, "requeues", job)
        excluded = result_of(run_dir)["excluded_nodes"]
        equal([(node["node"], node["since_attempt"]) for node in excluded], [("n2", ends)], "excluded nodes", job)
        shown = run([TRAINRT, "result", run_dir])
        check("sbatch --exclude=n2" in shown.out and excluded[0]["why"] in shown.out, "result does not show the excluded node", shown)
        check_no_debris(run_dir)


@test
def a_bad_node_is_excluded_by_a_requeue_if_all_workers_are_needed():
    """The bad node is n1, because Slurm first allocates n1 and n2."""
    config = config_of({"kill": "n1"}, {"exclude_bad_nodes": 2})
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], config)
    ended(job)
    run_dir = run_dir_of(config)
    equal(nodes_and_blame(run_dir), [(["n1", "n2"], "n1")] * 2 + [(["n2", "n3"], None)], "nodes of the attempts", job)
    equal((job.restarts(), job.show()["ExcNodeList"]), (1, "n1"), "requeues and excluded nodes of the job", job)
    # Another job continues the run. Slurm allocates n1 to it again; its user has excluded n3.
    record = run_dir / "excluded_nodes.json"
    kept = record.read_text()
    again = CLUSTER.sbatch(["-N1", "-n1", "-c1", "--exclude=n3"], config, "--loop.steps=40", "--scaling.on_resize=keep_batch")
    ended(again)
    equal((again.restarts(), again.show()["ExcNodeList"]), (1, "n1,n3"), "requeues and excluded nodes of the other job", again)
    equal((nodes_and_blame(run_dir)[3:], record.read_text()), ([(["n2"], None)], kept), "the next attempt and excluded_nodes.json", again)


@test
def at_most_the_allowed_number_of_nodes_and_only_replaceable_ones_are_excluded():
    (capped, capped_dir), (scarce, scarce_dir), (edited, _) = (job_of(name) for name in ("capped", "scarce", "edited"))
    for job in (capped, edited):
        ended(job, "FAILED")
    ended(scarce)
    equal(nodes_and_blame(capped_dir), [(ALL, "n2"), (WITHOUT_N2, "n3")], "nodes of the attempts", capped)
    check("node n3 is not excluded (1 attempt ended on this node (2)): 1 node excluded already, the maximum (failure.max_excluded_nodes)" in capped.text, "the reason is not printed", capped)
    equal(nodes_and_blame(scarce_dir), [(ALL, "n2"), (WITHOUT_N2, None)], "nodes of the attempts", scarce)
    check(re.search(r"n2 is left out: continuing with all 3 workers on \d+ CPUs of n1,n3", scarce.text), "the exclusion is not reported", scarce)
    equal(scarce.restarts(), 0, "requeues", scarce)
    check("excluded_nodes.json: 'node' is 'n[1-3]'" in edited.text, "the error is not printed", edited)
    equal(edited.show()["ExitCode"], f"{USAGE}:0", "exit code", edited)


@test
def a_slow_node_is_excluded_without_losing_work():
    config = config_of({"slow": "n2", "steps": 600}, {"exclude_slow": 1.5, "exclude_slow_after": 2}, least=2)
    job = CLUSTER.sbatch(["-N3", "-n3", "-c1"], config)
    alone = CLUSTER.run_srun(["-N2", "-n2", "-c1"], config_of({"slow": "n2", "steps": 250}, {"exclude_slow": 1.5, "exclude_slow_after": 1}))
    check_exit(alone, FINISHED)
    equal(alone.err.count("that node, which cannot be excluded (failure.exclude_slow): only `trainrt supervise`"), 1, "warnings without supervise", alone)
    ended(job)
    run_dir = run_dir_of(config)
    first, second = attempts(run_dir)
    check(re.fullmatch(r"stopped: rank 1 \(n2\) was \d+\.\d\d times as slow as the median in forward for \d+ steps", first["why"]), f"another reason: {first['why']}", job)
    equal((first["exit_code"], first["blamed_node"], first["nodes"]), (75, "n2", ALL), "end of the first attempt", job)
    equal((second["why"], second["nodes"], second["first_step"]), ("finished", WITHOUT_N2, first["last_step"]), "the second attempt", job)
    equal(job.restarts(), 0, "requeues", job)
    equal([node["why"] for node in result_of(run_dir)["excluded_nodes"]], [first["why"]], "reason of the exclusion", job)


main(setup=CLUSTER.up, teardown=CLUSTER.down)
