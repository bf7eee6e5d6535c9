#!/usr/bin/python3
"""Tests on a real Slurm of two nodes. A frozen rank is named with its node, and the step ends with 70 although that rank does not respond. A
rank that crashes ends the step with the code of its signal, and the report names the rank. `trainrt predict` works in a step."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from runs.trouble import *  # noqa: E402,F403

CLUSTER = Cluster("trouble")
LIMIT = 5
SHAPE = ["-n3", "-m", "arbitrary", "-w", "n1,n1,n2"]


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
    check(took < LIMIT + 15, f"the step ended only after {took:.1f} s", job)
    record = attempts(run_dir_of(config))[-1]
    for word in ("hang", "rank 2 on n2 did not answer", " in all_reduce"):
        check(word in record["why"], f"the record of the attempt lacks {word!r}: {record['why']!r}", job)
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
def the_error_of_a_hidden_rank_is_printed_with_its_last_lines():
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("prints")},
                                               "loop": {"end": "throw", "rank": 2}})
    job = CLUSTER.run_srun(SHAPE, config, timeout=60)
    check_exit(job, FAILED)
    for where, text in (("the output of srun", job.out + job.err), ("error.txt", (run_dir_of(config) / "error.txt").read_text())):
        for word in ("no such luck", "its last lines (logs/rank-00002.log has all):\n2: line 982\n", "\n2: step 2\n"):
            check(word in text, f"{where} lacks {word!r}: {text}", job)
    for rank in range(3):
        check((run_dir_of(config) / f"logs/rank-{rank:05}.log").read_text(errors="replace").endswith(f"\n{rank}: step 2\n"), f"the log of rank {rank} is incomplete", job)


@test
def predict_on_two_nodes_writes_the_same_file_as_one_rank_and_ends_if_a_rank_crashes():
    config = linear_config(scratch(), "run", {"epochs": 1})
    check_exit(run([TRAINRT, "--config", config]), FINISHED)
    folder = scratch()
    command = [TRAINRT, "predict", run_dir_of(config), "--dataset", "train", "-o"]
    check_exit(run([*command, folder / "one.csv"]), FINISHED)
    job = Job(["srun", *SHAPE, *command, folder / "three.csv", "--data.train.samples=512"], env=CLUSTER.env)
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    check("3 ranks on 2 nodes" in job.err, "the number of ranks is not printed", job)
    equal((folder / "three.csv").read_text(), (folder / "one.csv").read_text(), "predictions")
    job = Job(["srun", *SHAPE, *command, folder / "long.h5", "--data.train.samples=300000000"], env=CLUSTER.env)
    wait_until(lambda: any(name.startswith(".long.h5") for name in os.listdir(folder)) or job.ended(), 30, "the first rows", job)
    kill([job.ranks()[2]], signal.SIGSEGV)
    equal(job.wait(60), 128 + signal.SIGSEGV, "exit code of srun", job)
    check("rank 2 on " in job.err and "died of SIGSEGV" in job.err, "the rank is not named", job)
    check(not (folder / "long.h5").exists(), "an incomplete file was left", job)


main(CLUSTER.up, CLUSTER.down)
