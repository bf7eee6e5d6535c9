#!/usr/bin/python3
"""A tree of program.stage is unpacked on each node of a real Slurm; nodes that share a folder do not collide."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from runs.stage import *  # noqa: E402,F403

CLUSTER = Cluster("stage")


@test
def each_of_2_nodes_has_its_own_tree():
    folder, base = tree(files=200, size=50_000), scratch()
    local, out = base / "local", base / "out"
    local.mkdir()
    out.mkdir()
    job = Job(["srun", "-n3", "-N2", "-c1", TRAINRT, f"--run.storage_path={base / 'runs'}", f"--program.stage={folder}", "--", "/usr/bin/python3", "-c",
               IMPORTER, out], env={**CLUSTER.env, "SLURM_TMPDIR": local})
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    found = found_by(out, 3, job)
    equal(len({each["stage"] for each in found}), 2, "trees of 2 nodes", job)
    for each in found:
        check(each["stage"].startswith(str(local)) and each["node"] in each["stage"], f"the tree of {each['node']} is {each['stage']}", job)
    check("202 files on 2 nodes in " in job.err, "the number of staged files is not printed", job)
    equal(staged_folders(local), [], "remaining folders on the nodes", job)


main(setup=lambda: CLUSTER.up(2), teardown=CLUSTER.down)
