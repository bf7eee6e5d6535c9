#!/usr/bin/python3
"""On a real Slurm of two nodes: a frozen rank is named with its node, and the step ends with 70 although that rank cannot take part; a
rank that crashes ends the step with its signal's code, and its report names the node's rank."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from trouble import *  # noqa: E402,F403

CLUSTER = Cluster("trouble")
LIMIT = 5
SHAPE = ["-N2", "-n3", "-m", "arbitrary", "-w", "n1,n1,n2"]


@test
def a_rank_frozen_by_sigstop_on_another_node_is_named_and_the_step_ends_with_70():
    config = linear_config(scratch(), "run", {"epochs": 1000, "step_pause": 0.02, "report_every": 10}, checkpoint={"every": "off"}, failure={"hang_timeout": f"{LIMIT} s"})
    job = CLUSTER.srun(SHAPE, config)
    wait_for_reports(run_dir_of(config), 1, job)
    kill([job.ranks()[2]], signal.SIGSTOP)
    start = time.monotonic()
    job.code = job.wait(LIMIT + 60)
    took = time.monotonic() - start
    check_exit(job, FAILED)
    check(took < LIMIT + 15, f"it took {took:.1f} s", job)
    record = attempts(run_dir_of(config))[-1]
    for word in ("hang", "rank 2 on n2 did not answer", " in all_reduce"):
        check(word in record["why"], f"the attempt's record lacks {word!r}: {record['why']!r}", job)
    folder = run_dir_of(config) / "logs/hang-attempt-000001"
    equal(sorted(path.name for path in folder.iterdir()), ["rank-00000.txt", "rank-00001.txt", "verdict.txt"], "files of the hang", job)


@test
def a_rank_that_segfaults_ends_the_step_with_139_and_leaves_a_report():
    config = trouble_config({"trouble": "segfault", "rank": 2})
    job = CLUSTER.run_srun(SHAPE, config, timeout=60)
    equal(job.code, 128 + signal.SIGSEGV, "exit code of srun", job)
    text = (run_dir_of(config) / "error.txt").read_text()
    for word in ("rank 2 on ", "died of SIGSEGV", "at step 3 (training)", "writes_to_nowhere"):
        check(word in text, f"error.txt lacks {word!r}: {text}", job)


@test
def the_last_lines_of_a_hidden_rank_arrive_with_its_error():
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("prints")},
                                               "loop": {"end": "throw", "rank": 2}})
    job = CLUSTER.run_srun(SHAPE, config, timeout=60)
    check_exit(job, FAILED)
    for where, text in (("srun's output", job.out + job.err), ("error.txt", (run_dir_of(config) / "error.txt").read_text())):
        for word in ("no such luck", "its last lines (logs/rank-00002.log has all):\n2: line 982\n", "\n2: step 2\n"):
            check(word in text, f"{where} lacks {word!r}: {text}", job)
    for rank in range(3):
        check((run_dir_of(config) / f"logs/rank-{rank:05}.log").read_text(errors="replace").endswith(f"\n{rank}: step 2\n"), f"the log of rank {rank}", job)


main(CLUSTER.up, CLUSTER.down)
