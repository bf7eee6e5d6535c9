#!/usr/bin/python3
"""Nodes that end attempts, or hold the others up, are left out: inside the allocation if fewer workers will do, else by the job's
ExcNodeList at the requeue. excluded_nodes.json keeps them, people may edit it, and no more are left out than the config allows."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403
from runs.trouble import module_of  # noqa: E402

CLUSTER = Cluster("bad")


def config_of(loop, failure, least=0, name="run"):
    """A run of tests/support/programs/bad_node.cpp."""
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


# By a name: [loop], [failure], and how many workers are enough. Their jobs run side by side.
_TROUBLES = {"kill": ({"kill": "n2"}, {"exclude_bad_nodes": 2}, 2),
             "kill one of two": ({"kill": "n2"}, {"exclude_bad_nodes": 1}, 4), "crash": ({"crash": "n2"}, {"exclude_bad_nodes": 1}, 2),
             "hang": ({"hang": "n2"}, {"exclude_bad_nodes": 1, "hang_timeout": 2}, 2),
             "capped": ({"kill": "n2,n3"}, {"exclude_bad_nodes": 1, "max_excluded_nodes": 1, "max_failures": 1}, 1),
             "scarce": ({"kill": "n2"}, {"exclude_bad_nodes": 1, "max_failures": 1}, 0), "edited": ({}, {}, 0)}
_started = {}


def job_of(trouble):
    """The job on three nodes, and its run directory."""
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
def a_node_whose_ranks_are_killed_crash_or_hang_is_left_out_inside_the_allocation():
    for trouble, ends in (("kill", 2), ("kill one of two", 1), ("crash", 1), ("hang", 1)):
        job, run_dir = job_of(trouble)
        ended(job)
        equal(nodes_and_blame(run_dir), [(ALL, "n2")] * ends + [(WITHOUT_N2, None)], f"nodes of the attempts, and whose fault it was ({trouble})", job)
        check(re.search("n2 is left out: continuing with (2 of 3|4 of 6) workers, on n1,n3", job.text), "it does not say so", job)
        equal(job.restarts(), 0, "requeues", job)
        excluded = result_of(run_dir)["excluded_nodes"]
        equal([(node["node"], node["since_attempt"]) for node in excluded], [("n2", ends)], "excluded nodes", job)
        shown = run([TRAINRT, "result", run_dir])
        check("sbatch --exclude=n2" in shown.out and excluded[0]["why"] in shown.out, "result does not show it", shown)
        check_no_debris(run_dir)


@test
def a_node_that_all_workers_need_is_left_out_at_the_requeue_and_so_it_stays():
    """n1, since Slurm gives n1 and n2 at first."""
    config = config_of({"kill": "n1"}, {"exclude_bad_nodes": 2})
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], config)
    ended(job)
    run_dir = run_dir_of(config)
    equal(nodes_and_blame(run_dir), [(["n1", "n2"], "n1")] * 2 + [(["n2", "n3"], None)], "nodes of the attempts", job)
    equal((job.restarts(), job.show()["ExcNodeList"]), (1, "n1"), "requeues and excluded nodes of the job", job)
    # Another job, which Slurm gives n1 again, goes on with the run; n3 is its user's own wish.
    record = run_dir / "excluded_nodes.json"
    kept = record.read_text()
    again = CLUSTER.sbatch(["-N1", "-n1", "-c1", "--exclude=n3"], config, "--loop.steps=40", "--scaling.on_resize=keep_batch")
    ended(again)
    equal((again.restarts(), again.show()["ExcNodeList"]), (1, "n1,n3"), "requeues and excluded nodes of the other job", again)
    equal((nodes_and_blame(run_dir)[3:], record.read_text()), ([(["n2"], None)], kept), "the attempt after that, and the record", again)


@test
def no_more_nodes_are_left_out_than_allowed_and_none_that_cannot_be_replaced():
    (capped, capped_dir), (scarce, scarce_dir), (edited, _) = (job_of(name) for name in ("capped", "scarce", "edited"))
    for job in (capped, scarce, edited):
        ended(job, "FAILED")
    equal(nodes_and_blame(capped_dir), [(ALL, "n2"), (WITHOUT_N2, "n3")], "nodes of the attempts", capped)
    check("node n3 is not excluded (1 attempt ended there (2)): 1 node excluded already (failure.max_excluded_nodes)" in capped.text, "it does not say so", capped)
    equal(nodes_and_blame(scarce_dir), [(ALL, "n2")] * 2, "nodes of the attempts", scarce)
    check("n2 should be left out, but is used: partition main has 2 other nodes of this kind, and the job needs 3" in scarce.text,
          "it does not say why", scarce)
    equal(scarce.restarts(), 0, "requeues", scarce)
    check("excluded_nodes.json: 'node' is 'n[1-3]'" in edited.text, "it does not say what is wrong", edited)
    equal(edited.show()["ExitCode"], f"{USAGE}:0", "exit code", edited)


@test
def a_node_that_holds_the_others_up_is_left_out_and_nothing_is_lost():
    config = config_of({"slow": "n2", "steps": 600}, {"exclude_slow": 1.5, "exclude_slow_after": 2}, least=2)
    job = CLUSTER.sbatch(["-N3", "-n3", "-c1"], config)
    alone = CLUSTER.run_srun(["-N2", "-n2", "-c1"], config_of({"slow": "n2", "steps": 250}, {"exclude_slow": 1.5, "exclude_slow_after": 1}))
    check_exit(alone, FINISHED)
    equal(alone.err.count("its node, which cannot be excluded (failure.exclude_slow): only `trainrt supervise`"), 1, "warnings without supervise", alone)
    ended(job)
    run_dir = run_dir_of(config)
    first, second = attempts(run_dir)
    check(re.fullmatch(r"stopped: rank 1 \(n2\) was \d+\.\d\d times as slow as the median in forward for \d+ steps", first["why"]), f"reason: {first['why']}", job)
    equal((first["exit_code"], first["blamed_node"], first["nodes"]), (75, "n2", ALL), "end of the first attempt", job)
    equal((second["why"], second["nodes"], second["first_step"]), ("finished", WITHOUT_N2, first["last_step"]), "the second attempt", job)
    equal(job.restarts(), 0, "requeues", job)
    equal([node["why"] for node in result_of(run_dir)["excluded_nodes"]], [first["why"]], "why it is left out", job)


main(setup=CLUSTER.up, teardown=CLUSTER.down)
