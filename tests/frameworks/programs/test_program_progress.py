#!/usr/bin/python3
"""`program.progress`: a regular expression finds the progress of programs without the client in their output."""
import csv
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import *  # noqa: E402,F403

NO_PROGRESS = 76
PATTERN = r"step (?<step>\d+) loss (?<loss>\S+)"
# Saves after every 5th step. At its first start, waits in step 7 to be killed.
PLAIN = """import os, sys, time
out, rank = sys.argv[1], os.environ["RANK"]
saved = f"{out}/saved-{rank}"
done = int(open(saved).read()) if os.path.exists(saved) else 0
for step in range(done + 1, 13):
    print(f"step {step} loss {1 / step:.4f}" if rank == "0" else f"step {100 * step} loss 9")
    time.sleep(0.3)
    if step % 5 == 0:
        with open(saved, "w") as file:
            file.write(str(step))
    while step == 7 and done == 0:
        open(f"{out}/paused-{rank}", "w").close()
        time.sleep(0.02)
"""


def rows_of(run_dir):
    with open(run_dir / "progress.csv", newline="") as file:
        return list(csv.DictReader(file))


def steps_of(run_dir):
    return [float(row["step"]) for row in rows_of(run_dir)]


@test
def steps_and_metrics_are_found_once_despite_a_restart():
    config, out = plain_config(f"{PYTHON} {program_file(PLAIN)} {{out}}", program={"progress": PATTERN})
    run_dir = run_dir_of(config)
    job = start_ranks(2, config)
    wait_until(lambda: job.ended() or all((out / f"paused-{rank}").exists() for rank in range(2)) and any(row["step"] == 7 for row in reports(run_dir)),
               90, "step 7", job)
    ranks = set(job.ranks().values())
    kill([pid for pid in processes_with(job.token) if parent_of(pid) in ranks and environment_of(pid).get("RANK") == "1"])
    job.code = job.wait(90)
    check_exit(job, FINISHED)
    steps = steps_of(run_dir)
    equal(steps, sorted(set(steps)), "steps, each of them once", job)
    check(steps[-1] == 12 and {6, 7} <= set(steps) and len(steps) >= 9, f"steps: {steps}", job)
    for row in rows_of(run_dir):
        equal(float(row["loss"]), round(1 / float(row["step"]), 4), "rank 0's loss", job)
    check_iterations(run_dir)
    first, second = attempts(run_dir)
    equal((first["position"], first["last_step"], second["last_step"]), (7, 7, 12), "the attempts", job)
    check(second["first_step"] in (6, 7), f"the second attempt: {second}", job)
    check("the program continues from an earlier point" in job.out + job.err, "the dropped records", job)
    for wrong in ("ctx.restore", "last checkpoint", "everything up to there is saved"):
        check(wrong not in job.out + job.err, f"the output has {wrong!r}", job)
    check("iteration" in job.out and "step 12" in job.out + job.err, "the progress line", job)
    shown = run([TRAINRT, "result", run_dir])
    for words in (r"\d to 7 \(seen\)", r"[67] to 12 \(seen\)", "loss", "unknown"):
        check(re.search(words, shown.out), f"the result lacks {words!r}", shown)
    found = json.loads(run([TRAINRT, "result", run_dir, "--json"]).out)
    equal((found["attempts"][1]["last_step"], found["attempts"][1]["saved_step"], found["time"]["lost_s"]), (12, None, 0), "as JSON", shown)


@test
def an_attempt_without_new_steps_counts_as_no_progress():
    folder = scratch()
    text = f"import os\nprint('step', 1 if os.path.exists('{folder}/again') else 3)\nopen('{folder}/again', 'w').close()\nraise SystemExit(4)\n"
    config, _ = plain_config(f"{PYTHON} {program_file(text)}", program={"progress": r"step (?<step>\d+)"}, failure={"max_failures": 0, "max_no_progress": 1})
    first = run_ranks(1, config, env={"SLURM_JOB_ID": "4711"})
    check_exit(first, FAILED)
    second = run_ranks(1, config, env={"SLURM_JOB_ID": "4711"})
    check_exit(second, FAILED)  # step 3 was progress
    third = run_ranks(1, config, env={"SLURM_JOB_ID": "4711"})
    check_exit(third, NO_PROGRESS)
    check("earlier attempts, by the program's output" in third.err, "the message", third)


@test
def a_slow_progress_expression_is_disabled_and_does_not_block_the_run():
    text = "import time\nfor i in range(8):\n    print('a' * 1000)\n    time.sleep(0.1)\n"
    config, _ = plain_config(f"{PYTHON} {program_file(text)}", program={"progress": r"(?:.*a){40}(?<step>\d+)"})
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    equal((job.out + job.err).count("program.progress is too slow"), 1, "warnings", job)
    check("position" not in attempts(run_dir_of(config))[0], "the record has a position", job)


def refused(pattern, *named):
    config, _ = plain_config("/bin/true", program={"progress": pattern})
    for job in (run_ranks(2, config), run([TRAINRT, "check", "--config", config])):
        check_exit(job, USAGE)
        for word in ("program.progress", *named):
            check(word in job.err, f"the message lacks {word!r}", job)


add_test("an_invalid_expression_is_an_error_that_names_the_reason", refused, r"step (?<step>\d+", "not a valid regular expression")
add_test("an_expression_without_a_position_is_refused", refused, r"loss (?<loss>\S+)", "step, iteration or epoch")


@test
def program_progress_is_an_error_for_a_program_with_the_client():
    text = "import trainrt\nctx = trainrt.context()\nctx.restore(trainrt.State())\nctx.step()\n"
    config, _ = plain_config(f"{PYTHON} {program_file(text)}", program={"progress": PATTERN})
    job = run_ranks(2, config)
    check_exit(job, USAGE)
    check("Remove program.progress" in job.err, "the message", job)


main()
