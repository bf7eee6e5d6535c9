#!/usr/bin/python3
"""Unchanged scripts without trainrt train together on the nodes of a real Slurm: with the same or different numbers of ranks per node, and in
two job steps at the same time."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from runs.plain_scripts import *  # noqa: E402,F403

CLUSTER = Cluster("plain")


def nodes_train_together(ranks, *layout):
    require_torch()
    config, out = ddp_config()
    job = CLUSTER.run_srun([f"-n{ranks}", *layout], config, timeout=240)
    check_exit(job, FINISHED)
    found = check_trained_together(out, ranks, job)
    equal([each["env"]["GROUP_WORLD_SIZE"] for each in found], ["2"] * ranks, "nodes", job)
    equal(found[-1]["env"]["GROUP_RANK"], "1", "node of the last rank", job)
    addresses = {each["env"]["MASTER_ADDR"] for each in found}
    if CLUSTER.shared_network:
        check(len(addresses) == 1 and "127.0.1.1" not in addresses, f"unexpected MASTER_ADDR: {addresses}", job)
    else:
        equal(addresses, {CLUSTER.address("n1")}, "MASTER_ADDR", job)


add_test("an_unchanged_DDP_script_trains_together_on_2_nodes", nodes_train_together, 2, "-N2", "--ntasks-per-node=1", "-c1")
add_test("an_unchanged_DDP_script_trains_with_2_ranks_on_one_node_and_1_on_another", nodes_train_together, 3, "-N2", "-m", "plane=2", "-c1")


@test
def an_unchanged_XGBoost_script_trains_together_on_2_nodes():
    config, out = xgboost_config()
    job = CLUSTER.run_srun(["-n3", "-N2", "-m", "plane=2", "-c1"], config, timeout=120)
    check_exit(job, FINISHED)
    check_same_trees(out, 3, job)


@test
def each_program_of_48_ranks_on_one_node_gets_its_rank():
    ranks, storage, out = 48, scratch(), scratch("out")
    job = Job(["srun", f"-n{ranks}", "-N1", "--overcommit", TRAINRT, f"--run.storage_path={storage}", "--", "/bin/sh", "-c",
               "echo $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $WORLD_SIZE > $0/$RANK", out], env=CLUSTER.env)
    job.code = job.wait(120)
    check_exit(job, FINISHED)
    found = {path.name: path.read_text() for path in out.iterdir()}
    equal(found, {str(rank): f"{rank} {rank} {ranks} {ranks}\n" for rank in range(ranks)}, "rank, local rank and sizes of the programs", job)


@test
def two_steps_at_the_same_time_do_not_collide():
    require_torch()
    started = [ddp_config() for _ in range(2)]
    jobs = [CLUSTER.srun(["-N2", "-n2", "-c1"], config) for config, _ in started]
    for (_, out), job in zip(started, jobs):
        job.code = job.wait(300)
        check_exit(job, FINISHED)
        check_trained_together(out, 2, job)


main(setup=lambda: CLUSTER.up(2, own_networks=True), teardown=CLUSTER.down)
