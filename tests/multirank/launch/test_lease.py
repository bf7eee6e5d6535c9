#!/usr/bin/python3
"""A run stops in time before the end of its job, and signals stop it in every phase. These tests use a fake squeue, because the real one
has a resolution of one minute; tests/slurm uses the real one."""
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

LONG = {"epochs": 100000, "step_pause": 0.002}


def fake_squeue(answer):
    """Creates a squeue that logs each call and runs `answer`; returns the environment that uses it and the path of the log."""
    folder = scratch("bin")
    asked = folder / "asked"
    squeue = folder / "squeue"
    squeue.write_text(f"#!/bin/sh\necho \"$@\" >> {asked}\n{answer}\n")
    squeue.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_JOB_ID": "17"}, asked


def start(config, env, *words):
    return Job([MPIEXEC, "-n", 2, TRAINRT, "--config", config, *words], env=env)


def setup():
    if MPIEXEC is None:
        skip("mpiexec.mpich is not installed (package mpich)")


def stops_for_the_end_of_its_time(answer, env_more, *words):
    config = linear_config(scratch(), "run", LONG)
    env, asked = fake_squeue(answer)
    job = start(config, {**env, **env_more}, *words)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    equal(attempts(run_dir_of(config))[-1]["why"], "stopped by the end of the job's time", "reason of the end", job)
    check("s left in the job; saving and stopping may take" in job.err, "the remaining time is not printed", job)
    check(len(asked.read_text().splitlines()) == 1, f"squeue was called more than once per minute: {asked.read_text()}")
    check_verifies(run_dir_of(config))


add_test("a_run_stops_15_s_and_two_saves_before_the_end_of_the_job", stops_for_the_end_of_its_time, "echo 0:17", {})
add_test("a_run_stops_at_the_time_that_stop_before_end_sets", stops_for_the_end_of_its_time, "echo 10:00:02", {}, "--failure.stop_before_end=36000 s")
add_test("a_task_of_a_job_array_uses_its_own_time_limit", stops_for_the_end_of_its_time,
         'echo 0:17; case "$*" in *--job=17_3*) ;; *) echo 0:17;; esac', {"SLURM_ARRAY_JOB_ID": "17", "SLURM_ARRAY_TASK_ID": "3"})


@test
def without_squeue_the_end_time_comes_from_the_environment():
    stops_for_the_end_of_its_time("exit 1", {"SLURM_JOB_END_TIME": str(int(time.time()) + 10)})


@test
def a_run_continues_without_a_time_limit_without_an_answer_and_with_off():
    for answer, words in (("echo UNLIMITED", ()), ("echo 'slurm_load_jobs error: Socket timed out' >&2; exit 1", ()), ("echo 0:01", ["--failure.stop_before_end=off"]),
                          ("sleep 1000", ())):
        config = linear_config(scratch(), "run", {"epochs": 20, "step_pause": 0.002})
        env, _ = fake_squeue(answer)
        job = start(config, env, *words)
        job.code = job.wait(60)
        check_exit(job, FINISHED)


@test
def a_stale_end_time_in_the_environment_is_ignored():
    soon, past = str(int(time.time()) + 10), str(int(time.time()) - 10)
    for answer, end, word in (("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", soon, "belongs to job 17, which Slurm does not know"),
                              ("exit 0", soon, "belongs to job 17, which Slurm does not know"), ("exit 1", past, "it is in the past")):
        config = linear_config(scratch(), "run", {"epochs": 20, "step_pause": 0.002})
        env, _ = fake_squeue(answer)
        job = start(config, {**env, "SLURM_JOB_END_TIME": end})
        job.code = job.wait(60)
        check_exit(job, FINISHED)
        check("SLURM_JOB_END_TIME is ignored" in job.err and word in job.err, "the warning is missing", job)


@test
def a_job_shorter_than_stop_before_end_runs_for_half_its_time():
    config = linear_config(scratch(), "run", LONG)
    env, _ = fake_squeue("echo '0:05 0:06'")
    job = start(config, env, "--failure.stop_before_end=3600 s")
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    check("failure.stop_before_end = 3600 s requires 3600 s, but the job has only 6 s. The run stops 3 s before the end" in job.err, "the warning is missing", job)
    check(report_count(run_dir_of(config)) > 10, "it stopped at once", job)


@test
def an_unchanged_script_stops_in_time_in_a_job_of_one_minute():
    folder = scratch()
    script = folder / "train.py"
    script.write_text("import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\ntime.sleep(60)\n")
    env, _ = fake_squeue("echo '0:47 1:00'")
    job = run([TRAINRT, f"--run.storage_path={folder}", "--run.name=plain", "--", "/usr/bin/python3", script], env=env, timeout=30)
    check_exit(job, STOPPED)
    equal(attempts(folder / "plain")[-1]["why"], "stopped by the end of the job's time", "reason of the end", job)
    check("failure.stop_before_end = auto requires 45 s (of which train.stop_timeout = 30 s) of the job's 60 s, so that only 15 s are left for training "
          "in each job. Ask for a longer job" in job.err, "the warning is missing", job)


@test
def a_program_that_has_not_opened_its_run_stops_in_time():
    folder = scratch()
    env, _ = fake_squeue("sleep 1; echo '0:40 10:00'")
    job = run([TRAINRT, f"--run.storage_path={folder}", "--run.name=late", "--", "/usr/bin/python3", "-c", "import trainrt, time; time.sleep(60)"], env=env, timeout=30)
    check_exit(job, STOPPED)
    check("stopped by the end of the job's time while the program had no open run" in job.err, "the reason", job)
    check(not (folder / "late").exists(), "a run exists", job)


@test
def a_save_longer_than_the_notice_of_a_preemption_gives_one_warning():
    folder = scratch("bin")
    for name, answer in (("squeue", "echo 10:00:00"), ("scontrol", '[ "$2" = config ] && echo "KillWait = 0 sec" || echo " GraceTime=0 Hidden=NO"')):
        (folder / name).write_text(f"#!/bin/sh\n{answer}\n")
        (folder / name).chmod(0o755)
    config = linear_config(scratch(), "run", {"epochs": 100, "step_pause": 0.005}, {"samples": 64})
    job = start(config, {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_JOB_ID": "17", "SLURM_JOB_PARTITION": "main"})
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    equal(job.err.count("Slurm kills a preempted job 0 s after its SIGTERM"), 1, "number of warnings", job)


def takes(pid, number):
    """Returns whether the process blocks or handles the signal. In its first milliseconds, while the loader runs, it does not."""
    try:
        masks = re.findall(r"Sig(?:Blk|Cgt):\s*([0-9a-f]+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return False
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


@test
def a_signal_in_any_phase_stops_the_run():
    """Signals go to one rank or both, once or twice, at random moments after the program can receive them."""
    config = linear_config(scratch(), "run", {"epochs": 12, "step_pause": 0.002}, {"samples": 512, "features": 2000}, {"every": "1 reports"})
    whole = linear_config(scratch(), "run", {"epochs": 12}, {"samples": 512, "features": 2000}, {"every": "1 reports"})
    check_exit(run_ranks(2, whole), FINISHED)
    chance = random.Random(5)
    for number in range(14):
        job = start(config, {})
        wait_until(lambda: len(job.ranks()) == 2 or job.ended(), 20, "the ranks to start", job)
        pause_s = chance.uniform(0, 0.5)
        name = chance.choice((signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
        victims = list(job.ranks().values())
        wait_until(lambda: all(takes(pid, name) for pid in victims) or job.ended(), 20, f"the ranks to handle {name.name}", job)
        time.sleep(pause_s)
        for _ in range(chance.choice((1, 2))):
            kill(victims if chance.random() < 0.5 else victims[:1], name)
        job.code = job.wait(40)
        if job.code == FINISHED and run_state(run_dir_of(config)) == "finished":
            break
        check_exit(job, STOPPED)
    else:
        check_exit(run_ranks(2, config), FINISHED)
    check_same_bits(run_dir_of(config), run_dir_of(whole))
    check_iterations(run_dir_of(config), 12)


@test
def a_signal_is_acknowledged_before_the_step_ends():
    config = linear_config(scratch(), "run", {"epochs": 3, "step_pause": 2})
    job = Job([TRAINRT, "--config", config])
    wait_until(lambda: "train function" in job.err, 20, "the start of the run", job)
    time.sleep(0.3)
    kill([job.process.pid], signal.SIGINT)
    wait_until(lambda: "asked to stop; saving at the next step" in job.err, 1.5, "an answer to Ctrl-C", job)
    job.code = job.wait(20)
    check_exit(job, STOPPED)


main(setup=setup)
