#!/usr/bin/python3
"""Boosted trees on two nodes give the same model, byte for byte, as the same number of ranks on one node, also if the only rank of a node is
killed."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from tools.wheels import *  # noqa: E402,F403
from runs.xgboost_runs import *  # noqa: E402,F403

CLUSTER = Cluster("trees")
RANKS = 3
ROUNDS_OF_RUN, EVERY = 300, 20
LAYOUT = [f"-n{RANKS}", "-N2", "-m", "plane=2", "-c1"]
LIGHTGBM = {"objective": "binary", "metric": "binary_logloss,auc", "num_threads": 1, "num_leaves": 7, "verbosity": -1}
_runs = None


def setup():
    global _runs
    if not (BUILD / "modules/trees.so").exists():
        skip("the module of trees is not built")
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        skip(f"{error} (package python3-numpy)")
    _runs = XgboostRuns()
    CLUSTER.up(2, own_networks=True)


def xgboost_config(name):
    return _runs.config(name, rounds=ROUNDS_OF_RUN, every=EVERY, sections={"failure": {"max_failures": 3}}), "files/model.ubj"


def lightgbm_config(name):
    folder = scratch()
    sections = {"run": {"name": name, "storage_path": folder / "runs", "seed": 7}, "train": {"function": "lightgbm"},
                "loop": {**LIGHTGBM, "num_boost_round": ROUNDS_OF_RUN, "features": "x", "label": "y"},
                "lightgbm": {"library": wheel("lightgbm", "4.6.0")}, "checkpoint": {"every": f"{EVERY} reports", "num_to_keep": 2},
                **{f"data.{part}": {"source": _runs.data / f"{part}.npz"} for part in ("train", "valid")}}
    return write_config(folder / f"{name}.ini", sections), "files/model.txt"


def bytes_of_model(config, name):
    return (checkpoints(run_dir_of(config))[-1] / name).read_bytes()


def two_nodes_give_the_same_model_as_one(config_with):
    here, name = config_with("here")
    finish(RANKS, here)
    there, _ = config_with("there")
    job = CLUSTER.sbatch(LAYOUT, there)
    alone = []
    wait_until(lambda: alone.extend(pid for rank, pid in job.ranks().items() if rank == RANKS - 1) or alone, 60, "the last rank to start", job)
    on_second_node = CLUSTER.processes_on("n2")
    wait_for_reports(run_dir_of(there), 4, job, 60)
    kill(alone)
    check(alone[0] in on_second_node, "the last rank was not on the second node", job)
    wait_until(lambda: job.state() in ("COMPLETED", "FAILED"), 90, "the job to end", job)
    equal(run_state(run_dir_of(there)), "finished", "state", job)
    equal(len(attempts(run_dir_of(there))), 2, "attempts", job)
    check(re.search(f"{RANKS} ranks on 2 nodes", job.text), "the ranks did not run on two nodes", job)
    check(bytes_of_model(there, name) == bytes_of_model(here, name), "the model differs from that of one node", job)
    equal(reported_metrics(run_dir_of(there)), reported_metrics(run_dir_of(here)), "metrics")


add_test("xgboost_on_two_nodes_with_a_kill_gives_the_same_bytes_as_on_one_node", two_nodes_give_the_same_model_as_one, xgboost_config)
add_test("lightgbm_on_two_nodes_with_a_kill_gives_the_same_bytes_as_on_one_node", two_nodes_give_the_same_model_as_one, lightgbm_config)


main(setup=setup, teardown=CLUSTER.down)
