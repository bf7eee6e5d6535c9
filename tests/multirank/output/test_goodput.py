#!/usr/bin/python3
"""`trainrt result` reports attempts and their time correctly; checkpoint.every = auto sets its interval by the cost of a save; a start
reads few files, even of a run with a long history."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from runs.old_run import grow_old  # noqa: E402

SHIM = BUILD / "tests/fault_shim.so"
STEPS = {"epochs": 400, "batch_size": 16, "report_every": 5}
DATA = {"samples": 320}  # 10 steps per epoch with 2 ranks
PARTS = ("waiting_s", "startup_s", "productive_s", "checkpoint_s", "lost_s", "shutdown_s")


def slow(pause=0.02):
    return {**STEPS, "step_pause": pause}


def result(run_dir):
    """Returns the text and the parsed JSON that `trainrt result` prints."""
    text, data = run([TRAINRT, "result", run_dir]), run([TRAINRT, "result", run_dir, "--json"])
    check_exit(text, FINISHED)
    check_exit(data, FINISHED)
    return text.out, json.loads(data.out)


def check_time(shown):
    """Checks that the parts of each account add up to its total, and that the attempts add up to the run."""
    for account in [attempt["time"] for attempt in shown["attempts"]] + [shown["time"]]:
        check(all(account[part] >= 0 for part in PARTS), f"a negative time: {account}")
        check(abs(sum(account[part] for part in PARTS) - account["total_s"]) < 1e-6, f"the parts do not add up: {account}")
        check(0 <= account["goodput"] <= 1, f"goodput is not in 0 to 1: {account}")
    for part in PARTS:
        check(abs(sum(attempt["time"][part] for attempt in shown["attempts"]) - shown["time"][part]) < 1e-6, f"{part}: the attempts do not add up to the run")


def check_standing(run_dir, state, attempt_states):
    text, shown = result(run_dir)
    equal(shown["state"], state, "state")
    check(re.search(rf"^state +{state}$", text, re.M), f"the text does not show the state {state}:\n{text}")
    equal([attempt["state"] for attempt in shown["attempts"]], attempt_states, "states of the attempts")
    for number, how in enumerate(attempt_states, 1):
        check(re.search(rf"^ +{number} +{how} ", text, re.M), f"the text does not show that attempt {number} is {how}:\n{text}")
    check(re.search(r"^ +all( +\d+:\d\d:\d\d){7} +\d+\.\d %$", text, re.M), f"the line with the total time is missing:\n{text}")
    check_time(shown)
    return shown


def heartbeat(run_dir, number=1):
    path = Path(run_dir) / f"attempts/{number:06}.pulse"
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return {"last_step": 0, "saved_step": None}


@test
def result_of_a_finished_run_is_correct():
    config = linear_config(scratch(), "run", {"epochs": 3}, DATA)
    check_exit(run_ranks(2, config), FINISHED)
    (only,) = check_standing(run_dir_of(config), "finished", ["finished"])["attempts"]
    equal((only["first_step"], only["last_step"], only["saved_step"], only["exit_code"], only["why"]), (0, 30, 30, 0, "finished"), "the attempt")
    equal(only["time"]["lost_s"], 0, "lost time")
    check(only["time"]["startup_s"] > 0 and only["time"]["productive_s"] > 0 and only["time"]["checkpoint_s"] > 0, f"wrong time of the first attempt: {only['time']}")
    check_no_debris(run_dir_of(config))


@test
def result_of_a_stopped_run_is_correct_and_nothing_is_lost():
    config = linear_config(scratch(), "run", slow(), DATA, {"every": "1000 reports"})
    job = start_ranks(2, config)
    wait_for_reports(run_dir_of(config), 2, job)
    running = check_standing(run_dir_of(config), "running", ["running"])["attempts"][0]
    equal((running["why"], running["end"], running["exit_code"]), (None, None, None), "reason, time and exit code of a running attempt")
    check(running["last_step"] >= 1, f"a running attempt shows no progress: {running}")
    kill([job.ranks()[1]], signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    (only,) = check_standing(run_dir_of(config), "stopped", ["stopped"])["attempts"]
    equal((only["exit_code"], only["why"]), (STOPPED, "stopped by SIGUSR1"), "end of the attempt")
    check(only["saved_step"] == only["last_step"] > 0, f"not all steps are saved: {only}")
    equal(only["time"]["lost_s"], 0, "lost time")


@test
def result_of_a_killed_run_is_correct_and_shows_the_lost_time():
    config = linear_config(scratch(), "run", slow(), DATA, {"every": "10 reports"})
    run_dir = run_dir_of(config)
    job = start_ranks(2, config)
    wait_until(lambda: heartbeat(run_dir)["saved_step"] or job.ended(), 60, "a checkpoint in the heartbeat", job)
    kill(job.ranks().values())
    job.wait(30)
    numbers = heartbeat(run_dir)
    killed = check_standing(run_dir, "killed", ["killed"])["attempts"][0]
    check("killed: it wrote no end" in killed["why"], killed["why"])
    equal((killed["first_step"], killed["last_step"], killed["saved_step"]), (0, numbers["last_step"], numbers["saved_step"]), "steps of the killed attempt")
    check(killed["saved_step"] >= 50 and killed["last_step"] >= killed["saved_step"], f"wrong steps of the killed attempt: {killed}")

    job = start_ranks(2, config)
    wait_until(lambda: heartbeat(run_dir, 2)["last_step"] or job.ended(), 60, "the first step of the second attempt", job)
    kill([job.process.pid], signal.SIGTERM)
    job.wait(60)
    shown = check_standing(run_dir, "stopped", ["killed", "stopped"])
    first, second = shown["attempts"]
    equal((first["end"], first["exit_code"]), (numbers["seen"], None), "the end of the first attempt, as recorded by the second")
    equal((first["last_step"], first["saved_step"]), (numbers["last_step"], numbers["saved_step"]), "steps of the first attempt after the second")
    # A checkpoint may be committed just before the kill, too late to be recorded in the heartbeat.
    check(second["first_step"] >= numbers["saved_step"], f"the second attempt began before the saved step of the first: {second}, {numbers}")
    check(first["time"]["productive_s"] > 0, f"wrong time of the first attempt: {first['time']}")
    check((first["time"]["lost_s"] > 0) == (numbers["last_step"] > second["first_step"]), f"wrong lost time: {first['time']}, {numbers}")
    check_no_debris(run_dir)
    check_verifies(run_dir)


@test
def detailed_metrics_report_the_time_of_each_activity():
    plain = linear_config(scratch(), "run", {"epochs": 3}, DATA)
    detailed = linear_config(scratch(), "run", {"epochs": 3}, DATA, metrics={"detailed": True})
    for config in (plain, detailed):
        check_exit(run_ranks(2, config), FINISHED)
    check_same_bits(run_dir_of(detailed), run_dir_of(plain))
    check_iterations(run_dir_of(detailed), 3)
    for row in reports(run_dir_of(detailed)):
        check(row["_time_startup_s"] > 0 and row["_time_checkpoint_s"] >= 0 and 0 < row["_goodput"] < 1, f"unlikely times in a report: {row}")
        for stage in ("storage", "decode", "transform", "batch", "handover"):
            check(row[f"_time_data_{stage}_s"] >= 0, f"negative time of reading data in a report: {row}")
    check(reports(run_dir_of(detailed))[-1]["_time_checkpoint_s"] > 0, "the checkpoints have no time")


@test
def checkpoint_every_auto_depends_on_the_cost_of_a_save_and_keeps_the_same_bits():
    folder = scratch()
    whole = linear_config(folder, "whole", {**STEPS, "epochs": 50}, DATA, {"every": "7 steps"})
    check_exit(run_ranks(2, whole), FINISHED)
    # 500 steps take more than 15 s. The first checkpoint comes after the first report; if saves are cheap, the next one comes 10 s later.
    config = linear_config(folder, "auto", {**slow(0.03), "epochs": 50}, DATA, {"every": "auto", "num_to_keep": 0})
    job = start_ranks(2, config)
    job.wait_for(r"saving a checkpoint every \d+ s: a save stops the training for .* s, and one failure is expected every .*", 60)
    wait_until(lambda: any((path / "state.h5").exists() for path in checkpoints(run_dir_of(config))) or job.ended(), 60, "the first checkpoint", job)
    kill(job.ranks().values())
    job.wait(30)
    first = step_of(run_dir_of(config))
    check(5 <= first < 50, f"the first checkpoint is of step {first}, not soon after the first report", job)
    job = run_ranks(2, config, timeout=200)
    check_exit(job, FINISHED)
    check(f"step {first}" in job.out + job.err, "the run does not continue from that step", job)
    kept = [meta["step"] for meta in result(run_dir_of(config))[1]["checkpoints"]]
    equal((kept[0], kept[-1]), (first, 500), "steps of the first and the last checkpoint", job)
    check(3 <= len(kept) <= 8, f"checkpoints of the steps {kept}", job)
    check_same_bits(run_dir_of(config), run_dir_of(whole))


def calls_of_a_start(folder, checkpoint_count, attempt_count):
    """Returns how often rank 0 opens a file in the run directory when it continues a run with this history for one epoch."""
    config = linear_config(folder, f"old{checkpoint_count}", {"epochs": 1}, DATA, {"num_to_keep": 1000})
    go_on = lambda epochs: check_exit(run_ranks(1, config, f"--loop.epochs={epochs}"), FINISHED)
    go_on(1)
    grow_old(run_dir_of(config), checkpoint_count, attempt_count, lambda: go_on(2))
    calls = folder / f"calls{checkpoint_count}"
    job = run([TRAINRT, "--config", config, "--loop.epochs=3", "--checkpoint.every=auto"],
              env={"LD_PRELOAD": SHIM, "TRAINRT_COUNT_CALLS": calls, "TRAINRT_COUNT_PATH": run_dir_of(config)})
    check_exit(job, FINISHED)
    check("continuing from" in job.out + job.err, "the run does not continue", job)
    counted = {name: int(number) for name, number in (line.split() for line in calls.read_text().splitlines())}
    return sum(counted[name] for name in ("open", "openat", "openat2", "stat", "lstat", "fstatat", "access", "opendir"))


@test
def a_start_does_not_read_more_files_after_a_long_history():
    if not SHIM.exists():
        skip("the library that counts calls was not built (builds with sanitizers leave it out)")
    folder = scratch()
    few, many = calls_of_a_start(folder, 5, 40), calls_of_a_start(folder, 300, 300)
    print(f"     {few} calls with 5 checkpoints and 40 attempts, {many} with 300 and 300")
    check(few > 10 and abs(many - few) < 40, f"{few} calls with a short history, {many} with a long one")


main()
