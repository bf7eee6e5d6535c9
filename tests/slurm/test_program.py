#!/usr/bin/python3
"""A training program in Python ([train] program) under jobs/train.sbatch on a real Slurm of three nodes. Preempted, requeued, signalled or
killed, it continues and ends with the same bits as an uninterrupted run. The tests' Slurm signals all processes of a step, including
programs (proctrack/linuxproc); if Slurm signals only the tasks (proctrack/cgroup), the runtime must forward the signal."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from runs.opened_runs import TRAIN  # noqa: E402
from runs.own_mpi import build_own_trainer, install_library  # noqa: E402
from runs.plain_scripts import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("prog")
PROGRAM = SOURCE / "tests/support/programs/program_linear.py"
LOOP = {"epochs": 24, "report_every": 7}  # 288 steps, 41 reports
ALLOCATION = ["-N2", "-n2", "-c1"]


def config_of(command, name="run", loop=None, **sections):
    folder = scratch()
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 5}, "train": {"program": command}, "loop": loop or {},
        "checkpoint": {"num_to_keep": 2, "every": "2 reports"}, **sections})


def linear_program(name="run", **loop):
    return config_of(f"/usr/bin/python3 {PROGRAM}", name, {**LOOP, **loop})


_references = []


def reference():
    """Returns the directory of an uninterrupted run of 2 ranks."""
    if not _references:
        config = linear_program("whole")
        check_exit(CLUSTER.run_srun(["-N2", "-n2"], config, timeout=120), FINISHED)
        _references.append(run_dir_of(config))
    return _references[0]


def preempt(_):
    CLUSTER.call("sbatch", "-p", "high", "--exclusive", "-N3", "--output=/dev/null", "--wrap", "sleep 2")


def one_rank(job):
    kill([job.ranks()[1]], signal.SIGTERM)


def one_program(job):
    """Kills the program on the second node. The ranks and the step continue."""
    ranks = job.ranks()
    kill([pid for pid in job.processes() if parent_of(pid) == ranks[1] and environment_of(pid).get("RANK") == "1"])
    wait_until(lambda: "restart 1 of 3 (failure.max_failures)" in job.text, 20, "a restart", job)
    equal(job.ranks(), ranks, "ranks", job)


def leaves_the_same_bits(disturb, why, restarts, loses_nothing):
    """Disturbs a run and checks that it ends with the same bits. `why` is a pattern of the end of the first attempt."""
    whole = reference()
    config = linear_program(step_pause=0.02)
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(ALLOCATION, config)
    wait_until(lambda: report_count(run_dir) >= 4, 60, "report 4", job)
    disturb(job)
    if restarts:
        job.wait_for_restart(1, timeout=90)
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", timeout=120), "COMPLETED", "end of the job", job)
    records = attempts(run_dir)
    equal((len(records), job.restarts()), (2, restarts), "attempts and requeues", job)
    check(re.search(why, records[0]["why"]), f"reason of the first attempt: {records[0]['why']!r}, expected {why!r}", job)
    steps = sum(record["last_step"] - record["first_step"] for record in records)
    check(records[1]["first_step"] > 0, "the second attempt started at step 0", job)
    if loses_nothing:
        equal(steps, attempts(whole)[0]["last_step"], "steps of both attempts", job)
    check("Traceback" not in job.text, "a program failed", job)
    check_iterations(run_dir)
    check_same_bits(run_dir, whole)
    check_verifies(run_dir)
    check_no_debris(run_dir, keep=2)
    wait_until(lambda: not job.processes(), 20, f"the processes of the job to end: {[name_of_process(pid) for pid in job.processes()]}", job)


add_test("a_preempted_program_ends_with_the_same_bits", leaves_the_same_bits, preempt, r"stopped by SIGTERM \(preemption\)", 1, True)
add_test("a_signal_to_one_task_leaves_the_same_bits", leaves_the_same_bits, one_rank, "stopped by SIGTERM", 1, True)
add_test("a_killed_rank_is_started_again_with_its_program", leaves_the_same_bits, lambda job: kill([job.ranks()[1]]), "killed|has exited|failed", 0, False)
add_test("a_killed_program_is_started_again_by_its_rank", leaves_the_same_bits, one_program, "the program of rank 1 .* was ended by SIGKILL", 0, False)


@test
def a_killed_program_is_started_again_in_the_allocation():
    config = linear_program(step_pause=0.02)
    job = CLUSTER.sbatch(ALLOCATION, config)
    wait_until(lambda: report_count(run_dir_of(config)) >= 4, 60, "report 4", job)
    ranks = job.ranks()
    kill([pid for pid in job.processes() if parent_of(pid) == ranks[1]])
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", timeout=120), "COMPLETED", "end of the job", job)
    first, second = attempts(run_dir_of(config))
    check("rank 1" in first["why"] and "SIGKILL" in first["why"] and second["first_step"] > 0, f"unexpected attempts: {first}, {second}", job)
    check_same_bits(run_dir_of(config), reference())


@test
def a_program_whose_module_is_missing_is_neither_restarted_nor_requeued():
    folder = scratch()
    (folder / "missing.py").write_text("import no_such_module\n")
    job = CLUSTER.sbatch(ALLOCATION, "/usr/bin/python3", "missing.py", script="program.sbatch", cwd=folder)
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", timeout=60), "FAILED", "end of the job", job)
    equal(job.restarts(), 0, "requeues", job)
    (run_dir,) = (folder / "runs").iterdir()
    equal(len(attempts(run_dir)), 1, "attempts", job)
    check("not restarted, since it would fail again. Fix the error above and submit the job again" in job.text, "the advice", job)
    equal(job.text.count("\nModuleNotFoundError: "), 1, "tracebacks", job)


@test
def a_cancelled_job_names_the_option_that_continues_its_run_in_another_job():
    folder = scratch()
    program = linear_program(epochs=10000, step_pause=0.02)
    (folder / "linear.ini").write_text("".join(line for line in Path(program).read_text().splitlines(True) if not line.startswith("name")))
    job = CLUSTER.sbatch(ALLOCATION, folder / "linear.ini", cwd=folder)
    runs = run_dir_of(program).parent
    wait_until(lambda: runs.exists() and any(report_count(path) > 1 for path in runs.glob("[!.]*")), 60, "a report", job)
    (run_dir,) = runs.iterdir()
    job.cancel()
    words = f"will not be requeued. Submit it again with --run.name={run_dir.name} (before --); the run continues from its last checkpoint"
    wait_until(lambda: words in job.text, 60, "the advice", job)


@test
def supervise_watches_the_run_that_a_program_has_opened():
    """A rank is killed in the second run of the program, and the job is requeued. Failures, attempts and the end belong to that run."""
    pause = "lambda ctx: time.sleep(0.4)"
    program = program_file(f'{TRAIN}train("first")\ntrain("second", {pause})')
    config = config_of(f"/usr/bin/python3 {program}")
    runs = run_dir_of(config).parent
    job = CLUSTER.sbatch(ALLOCATION, config)
    wait_until(lambda: report_count(runs / "second") >= 2, 60, "report 2 of the second run", job)
    kill([job.ranks()[1]])
    wait_until(lambda: len(attempts(runs / "second")) == 2 and report_count(runs / "second") >= 5, 60, "the second attempt", job)
    check("supervise: attempt 1: " in job.text and "restart 1 of 3" in job.text, "supervise does not report the restart", job)
    CLUSTER.call("scancel", "--signal=USR1", f"{job.id}.1")
    job.wait_for_restart(1, timeout=90)
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", timeout=120), "COMPLETED", "end of the job", job)
    equal(sorted(path.name for path in runs.iterdir()), ["first", "second"], "runs in the storage", job)
    equal([len(attempts(runs / name)) for name in ("first", "second")], [1, 3], "attempts", job)
    equal(attempts(runs / "second")[1]["exit_code"], STOPPED, "end of the second attempt", job)
    check("finished already: first" in job.text, "the first run is not reported as finished", job)
    check_same_bits(runs / "second", runs / "first")


@test
def a_program_with_its_own_trainer_is_restarted_and_requeued_like_trainrt():
    """A rank is killed, and later the job is stopped, without losing work. The program gives its run no name, and sets max_failures."""
    program, folder = build_own_trainer(install_library(), SOURCE / "tests/support/programs/fits.cpp", "fits"), scratch()
    whole = run(["srun", "--mpi=pmix", "-N2", "-n2", program, folder, "whole"], env=CLUSTER.env, trainrt=str(program))
    check_exit(whole, FINISHED)
    job = CLUSTER.sbatch(ALLOCATION, "--program.has_trainer=true", "--checkpoint.num_to_keep=2", "--", program, folder / "runs", "", "pause=800",
                         "failures=1", script="program.sbatch")
    wait_until(lambda: list(folder.glob(f"runs/fits-{job.id}-*")), 60, "the run", job)
    run_dir, = folder.glob(f"runs/fits-{job.id}-*")
    wait_until(lambda: list(run_dir.glob("checkpoint_*")), 60, "a checkpoint", job)
    kill([job.ranks(program)[1]])
    wait_until(lambda: len(attempts(run_dir)) == 2 and report_count(run_dir) >= 4, 60, "report 4 by the second attempt", job)
    check("supervise: attempt 1: " in job.text and "restart 1 of 1" in job.text, "supervise does not report the restart", job)
    CLUSTER.call("scancel", "--signal=USR1", f"{job.id}.1")
    job.wait_for_restart(1, timeout=90)
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", timeout=120), "COMPLETED", "end of the job", job)
    equal([record["exit_code"] for record in attempts(run_dir)][1:], [STOPPED, FINISHED], "ends of the later attempts", job)
    check(attempts(run_dir)[1]["first_step"] > 0, "the second attempt started at step 0", job)
    equal([path.name for path in folder.glob("runs/*")], [run_dir.name], "runs", job)
    check_same_bits(run_dir, folder / "whole")
    check_no_debris(run_dir, keep=2)
    check_iterations(run_dir, 10)


@test
def a_program_without_reports_is_requeued_more_often_than_max_no_progress():
    """The program continues from its own file, like any program without trainrt and Slurm. Its progress is unknown, so a requeue followed by a
    failure does not count as two attempts without progress."""
    folder = scratch()
    program = folder / "mute.sh"
    program.write_text(f"""#!/bin/sh
file={folder}/$RANK
count=$(cat $file 2>/dev/null || echo 0)
if [ $RANK = 1 ] && [ $count != 0 ] && [ ! -e $file.failed ]; then touch $file.failed; exit 3; fi
trap 'echo $count > $file; exit 0' TERM
echo "rank $RANK of $WORLD_SIZE from $count"
while [ $count -lt 300 ]; do sleep 0.05; count=$((count + 1)); done
echo $count > $file
""")
    program.chmod(0o755)
    config = config_of(program, failure={"max_no_progress": 1})
    job = CLUSTER.sbatch(ALLOCATION, config, "--run.output=all")
    job.wait_for("rank 1 of 2 from 0")
    time.sleep(3)
    CLUSTER.call("scancel", "--signal=USR1", f"{job.id}.0")
    job.wait_for_restart(1, timeout=90)
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", timeout=120), "COMPLETED", "end of the job", job)
    for rank in range(2):
        again = re.findall(rf"rank {rank} of 2 from (\d+)", job.text)
        check(len(again) in (2, 3) and again[0] == "0" and all(0 < int(count) < 300 for count in again[1:]), f"unexpected starting counts of rank {rank}: {again}", job)
        equal((folder / str(rank)).read_text(), "300\n", f"file of rank {rank}", job)
    records = attempts(run_dir_of(config))
    equal([(record["exit_code"], record.get("silent")) for record in records], [(75, True), (70, True), (0, True)], "the attempts", job)
    check("does not report progress" in job.text and "last checkpoint" not in job.text, "supervise does not report that progress is unknown", job)


@test
def a_program_without_a_config_is_requeued_into_its_own_run():
    """With jobs/program.sbatch, the requeued job continues the run, whose name contains the script, the job and a hash of the arguments."""
    folder = scratch()
    (folder / "linear.py").symlink_to(PROGRAM)
    loop = [f"--loop.{key}={value}" for key, value in {**LOOP, "step_pause": 0.02}.items()]
    keys = ["--run.seed=5", "--checkpoint.num_to_keep=2", "--checkpoint.every=2 reports", *loop]
    job = CLUSTER.sbatch(ALLOCATION, *keys, "--", "/usr/bin/python3", "linear.py", script="program.sbatch", cwd=folder)
    wait_until(lambda: list((folder / "runs").glob("*/result.json")), 60, "the first report", job)
    run_dir = next((folder / "runs").iterdir())
    check(re.fullmatch(rf"linear-{job.id}-[0-9a-f]{{8}}", run_dir.name), f"unexpected name of the run: {run_dir.name}", job)
    wait_until(lambda: report_count(run_dir) >= 4, 60, "report 4", job)
    one_rank(job)
    job.wait_for_restart(1, timeout=90)
    equal(job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", timeout=120), "COMPLETED", "end of the job", job)
    equal([path.name for path in (folder / "runs").iterdir()], [run_dir.name], "runs", job)
    equal(len(attempts(run_dir)), 2, "attempts", job)
    check_same_bits(run_dir, reference())


@test
def an_MPI_program_in_C_has_one_world_on_2_nodes():
    """The nodes use shared memory, because MPICH before 4.2 may hang in MPI_Finalize over UCX's TCP, which nodes with their own network use."""
    program = build_plain_mpi()
    config, out = plain_config(f"{program} {{out}}")
    job = CLUSTER.run_srun(["-n3", "-N2", "-m", "plane=2", "-c1"], config, timeout=120)
    check_exit(job, FINISHED)
    check_one_world(out, 3, [2, 2, 1], job)


main(setup=CLUSTER.up, teardown=CLUSTER.down)
