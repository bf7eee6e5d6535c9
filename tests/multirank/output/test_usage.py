#!/usr/bin/python3
"""logs/ranks-attempt-N.jsonl and `trainrt result` show the position and the resource usage of each rank, including its program. The tests
compare them with known amounts. If the file cannot be written, the run is not affected."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

SHIM = BUILD / "tests/fault_shim.so"
BYTES = 512
PLANTED = 200 << 20
# Allocates memory, and uses CPU time in a child process.
PROGRAM = f"""
import subprocess, sys
memory = bytearray(b"x") * {PLANTED}
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 1.5: pass"], check=True)
"""


def signs_path(config, attempt=1):
    return run_dir_of(config) / f"logs/ranks-attempt-{attempt:06}.jsonl"


def signs(config, attempt=1):
    """Returns the record of each rank, None for a rank that has written no record."""
    data = signs_path(config, attempt).read_bytes() if signs_path(config, attempt).exists() else b""
    lines = [data[at:at + BYTES] for at in range(0, len(data), BYTES)]
    return [json.loads(line) if line.strip(b"\0") else None for line in lines]


def usage_shown(config):
    job = run([TRAINRT, "result", run_dir_of(config), "--json"])
    check_exit(job, FINISHED)
    return json.loads(job.out)


@test
def each_rank_records_its_usage_and_result_shows_the_sum():
    script = scratch() / "program.py"
    script.write_text(PROGRAM)
    config = program_config(f"{PYTHON} {script}")
    job = run_program(2, config)
    check_exit(job, FINISHED)
    lines = signs(config)
    equal([line["rank"] for line in lines], [0, 1], "ranks with a record", job)
    for line in lines:
        check(line["ended"] and line["host"], f"the last record of rank {line['rank']} is not final: {line}", job)
        check(line["peak"] >= PLANTED, f"peak memory is {line['peak']} bytes, but the program allocates {PLANTED}", job)
        check(1.5 <= line["cpu_s"] < 2.9, f"{line['cpu_s']} s of CPU time, but the program uses 1.5 s", job)
        check(line["cpus"] >= 1 and line["age_s"] > 0.5, f"unlikely CPUs or age: {line}", job)
    shown = usage_shown(config)
    for usage in (shown["usage"], shown["attempts"][0]["usage"]):
        equal(usage["ranks"], 2, "ranks")
        close = abs(usage["cpu_s"] - sum(line["cpu_s"] for line in lines))
        check(close < 0.01, f"the CPU time is not the sum of all ranks: {usage}")
        equal(usage["peak_memory_bytes"], max(line["peak"] for line in lines), "peak memory")
        check(0 < usage["cpu_use"] <= 1.1, f"unlikely use of the CPUs: {usage}")
    text = run([TRAINRT, "result", run_dir_of(config)]).out
    check("\nused\n" in text and "CPU hours" in text, f"the table of usage is missing: {text}")


@test
def the_record_of_a_frozen_rank_stays_while_other_ranks_write_new_ones():
    config = linear_config(scratch(), "run", {"epochs": 100000, "step_pause": 0.01, "report_every": 10}, checkpoint={"every": "off"}, failure={"hang_timeout": "60 s"})
    job = start_ranks(2, config)
    wait_until(lambda: job.ended() or all((signs(config) + [None, None])[:2]), 30, "records of both ranks", job)
    check(not job.ended(), "the run has ended", job)
    kill([job.ranks()[1]], signal.SIGSTOP)
    before = signs(config)
    equal([line["phase"] for line in before], ["training", "training"], "phases", job)
    wait_until(lambda: signs(config)[0]["time"] > before[0]["time"], 30, "the next record of rank 0", job)
    first, stopped = signs(config)
    equal(stopped["time"], before[1]["time"], "time of the record of the frozen rank", job)
    check(first["quiet_s"] > 3 and first["waits_in"], f"the record does not show that rank 0 waits: {first}", job)
    check(not first["ended"], f"the record shows rank 0 as ended: {first}", job)
    kill(job.ranks().values(), signal.SIGKILL)
    job.wait(30)
    check(signs(config)[0]["step"] > 0, "the records are lost after a kill", job)


@test
def a_run_is_not_affected_if_its_usage_cannot_be_written_or_the_write_hangs():
    if not SHIM.exists():
        skip("the library that injects faults was not built (builds with sanitizers leave it out)")
    for fault, words in (("pwrite:ENOSPC:ranks-attempt", 1), ("open:EACCES:ranks-attempt", 1), ("pwrite:slow=60000:ranks-attempt", 0)):
        config = linear_config(scratch(), "run")
        start = time.monotonic()
        job = run_ranks(2, config, timeout=60, env={"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": fault})
        check_exit(job, FINISHED)
        check(time.monotonic() - start < 20, f"{fault} delayed the run", job)
        equal(job.err.count("the status and resource usage of the ranks cannot be written"), words, f"warnings of {fault}", job)
        equal(run_state(run_dir_of(config)), "finished", "state", job)


@test
def a_link_or_pipe_at_the_path_of_the_usage_file_is_not_written():
    config = linear_config(scratch(), "run")
    check_exit(run_ranks(2, config), FINISHED)
    victim = scratch() / "victim"
    victim.write_text("mine")
    signs_path(config, 2).symlink_to(victim)
    os.mkfifo(signs_path(config, 3))
    for epochs in (4, 5):
        check_exit(run_ranks(2, config, f"--loop.epochs={epochs}"), FINISHED)
    equal(victim.read_text(), "mine", "the target of the link")
    equal(len(attempts(run_dir_of(config))), 3, "attempts")
    equal(usage_shown(config)["attempts"][1]["usage"], None, "usage of an attempt without the file")


main()
