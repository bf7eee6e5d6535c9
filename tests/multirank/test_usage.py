#!/usr/bin/python3
"""What each rank is at and has used, in logs/ranks-attempt-N.jsonl and `trainrt result`: figures that can be held against what was
planted, programs included; and that it harms no run if that file cannot be written."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from runs.program_runs import *  # noqa: E402,F403

SHIM = BUILD / "tests/fault_shim.so"
BYTES = 512
PLANTED = 200 << 20
# Allocates, and lets a program of its own burn CPU time.
PROGRAM = f"""
import subprocess, sys
memory = bytearray(b"x") * {PLANTED}
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 1.5: pass"], check=True)
"""


def signs_path(config, attempt=1):
    return run_dir_of(config) / f"logs/ranks-attempt-{attempt:06}.jsonl"


def signs(config, attempt=1):
    """By rank; None: it has written nothing."""
    data = signs_path(config, attempt).read_bytes() if signs_path(config, attempt).exists() else b""
    lines = [data[at:at + BYTES] for at in range(0, len(data), BYTES)]
    return [json.loads(line) if line.strip(b"\0") else None for line in lines]


def usage_shown(config):
    job = run([TRAINRT, "result", run_dir_of(config), "--json"])
    check_exit(job, FINISHED)
    return json.loads(job.out)


@test
def each_rank_leaves_a_line_of_what_it_used_and_result_adds_them_up():
    script = scratch() / "program.py"
    script.write_text(PROGRAM)
    config = program_config(f"{PYTHON} {script}")
    job = run_program(2, config)
    check_exit(job, FINISHED)
    lines = signs(config)
    equal([line["rank"] for line in lines], [0, 1], "ranks with a line", job)
    for line in lines:
        check(line["ended"] and line["host"], f"the last line of rank {line['rank']}: {line}", job)
        check(line["peak"] >= PLANTED, f"peak memory {line['peak']}, {PLANTED} were planted", job)
        check(1.5 <= line["cpu_s"] < 2.9, f"{line['cpu_s']} s of CPU time, 1.5 s were planted", job)
        check(line["cpus"] >= 1 and line["age_s"] > 0.5, f"CPUs and time: {line}", job)
    shown = usage_shown(config)
    for usage in (shown["usage"], shown["attempts"][0]["usage"]):
        equal(usage["ranks"], 2, "ranks")
        close = abs(usage["cpu_s"] - sum(line["cpu_s"] for line in lines))
        check(close < 0.01, f"CPU time in all: {usage}")
        equal(usage["peak_memory_bytes"], max(line["peak"] for line in lines), "peak memory")
        check(0 < usage["cpu_use"] <= 1.1, f"use of the CPUs: {usage}")
    text = run([TRAINRT, "result", run_dir_of(config)]).out
    check("\nused\n" in text and "CPU hours" in text, f"no table of what was used: {text}")


@test
def the_line_of_a_stopped_rank_gets_old_and_the_others_go_on():
    config = linear_config(scratch(), "run", {"epochs": 100000, "step_pause": 0.01, "report_every": 10}, checkpoint={"every": "off"}, failure={"hang_timeout": "60 s"})
    job = start_ranks(2, config)
    wait_until(lambda: job.ended() or all((signs(config) + [None, None])[:2]), 30, "two lines", job)
    check(not job.ended(), "the run has ended", job)
    kill([job.ranks()[1]], signal.SIGSTOP)
    before = signs(config)
    equal([line["phase"] for line in before], ["training", "training"], "phases", job)
    wait_until(lambda: signs(config)[0]["time"] > before[0]["time"], 30, "rank 0's next line", job)
    first, stopped = signs(config)
    equal(stopped["time"], before[1]["time"], "the time of the stopped rank's line", job)
    check(first["quiet_s"] > 3 and first["waits_in"], f"rank 0 waits, and does not say so: {first}", job)
    check(not first["ended"], f"rank 0 has not ended: {first}", job)
    kill(job.ranks().values(), signal.SIGKILL)
    job.wait(30)
    check(signs(config)[0]["step"] > 0, "the lines are there after a kill", job)


@test
def a_file_that_cannot_be_written_or_hangs_harms_no_run():
    if not SHIM.exists():
        skip("the library that injects faults was not built (it goes without the sanitizers)")
    for fault, words in (("pwrite:ENOSPC:ranks-attempt", 1), ("open:EACCES:ranks-attempt", 1), ("pwrite:slow=60000:ranks-attempt", 0)):
        config = linear_config(scratch(), "run")
        start = time.monotonic()
        job = run_ranks(2, config, timeout=60, env={"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": fault})
        check_exit(job, FINISHED)
        check(time.monotonic() - start < 20, f"{fault} held the run up", job)
        equal(job.err.count("the status and resource usage of the ranks cannot be written"), words, f"warnings of {fault}", job)
        equal(run_state(run_dir_of(config)), "finished", "state", job)


@test
def links_and_pipes_in_its_place_are_not_written_to():
    config = linear_config(scratch(), "run")
    check_exit(run_ranks(2, config), FINISHED)
    victim = scratch() / "victim"
    victim.write_text("mine")
    signs_path(config, 2).symlink_to(victim)
    os.mkfifo(signs_path(config, 3))
    for epochs in (4, 5):
        check_exit(run_ranks(2, config, f"--loop.epochs={epochs}"), FINISHED)
    equal(victim.read_text(), "mine", "what a link led to")
    equal(len(attempts(run_dir_of(config))), 3, "attempts")
    equal(usage_shown(config)["attempts"][1]["usage"], None, "usage of an attempt without the file")


main()
