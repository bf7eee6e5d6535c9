#!/usr/bin/python3
"""State, times and progress of a run are the same in `trainrt result`, `top`, `report` and Python's Result."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
from trainrt.train import Result  # noqa: E402

PAUSE_S = 0.4
REPORTS = f"""
def slow(config):
    for number in range(config["reports"]):
        time.sleep({PAUSE_S})
        if config.get("saves"):
            with Folder() as folder:
                open(folder + "/number", "w").write(str(number))
                train.report({{"number": number}}, checkpoint=Checkpoint(folder))
        else:
            train.report({{"number": number}})
"""


def shown_of(run_dir):
    """Returns the output of `trainrt result` as text and as JSON."""
    return run([TRAINRT, "result", run_dir]).out, json.loads(run([TRAINRT, "result", run_dir, "--json"]).out)


def states_of(run_dir):
    """Returns the state of a run in each view."""
    run_dir = Path(run_dir)
    text, found = shown_of(run_dir)
    page = scratch() / "page.html"
    check_exit(run([TRAINRT, "report", run_dir, "-o", page]), FINISHED)
    table = run([TRAINRT, "result", run_dir.parent]).out
    return {"result": re.search(r"^state +(\w+)$", text, re.M)[1], "json": found["state"], "python": Result.from_path(run_dir).state,
            "top": run([TRAINRT, "top", "--once", run_dir]).out.split("\n")[0].split("  ")[1],
            "page": re.search(r'<span class="state (\w+)">\1<', page.read_text())[1],
            "table": re.search(rf"^{run_dir.name} +(\w+)", table, re.M)[1]}


def check_states(run_dir, state):
    equal(states_of(run_dir), dict.fromkeys(("result", "json", "python", "top", "page", "table"), state), f"the state of {Path(run_dir).name}")


@test
def every_view_shows_the_same_state_of_a_run():
    folder = scratch()
    config = lambda name, **loop: linear_config(folder, name, {"epochs": 400, "batch_size": 16, "step_pause": 0.05, **loop}, {"samples": 160}, storage=folder)
    check_exit(run_ranks(1, config("done", epochs=1)), FINISHED)
    jobs = {name: start_ranks(1, config(name)) for name in ("runs", "stopped", "gone")}
    failed = run([TRAINRT, f"--run.storage_path={folder}", "--run.name=wrong", "--failure.max_failures=0", "--", PYTHON, "-c", "1 / 0"])
    check_exit(failed, FAILED)
    for name, job in jobs.items():
        wait_for_reports(folder / name, 1, job)
    check_states(folder / "runs", "running")
    kill(jobs["stopped"].ranks().values(), signal.SIGUSR1)
    kill(jobs["gone"].ranks().values(), signal.SIGKILL)
    for name in ("stopped", "gone"):
        jobs[name].wait(30)
    for name, state in (("done", "finished"), ("stopped", "stopped"), ("gone", "killed"), ("wrong", "failed")):
        check_states(folder / name, state)
    kill(jobs["runs"].ranks().values(), signal.SIGKILL)
    jobs["runs"].wait(30)
    equal(json.loads((folder / "gone/run.json").read_text())["state"], "running", "the recorded state of a killed run")
    for name in ("stopped", "gone"):
        found = shown_of(folder / name)[1]
        equal((found["attempts"][-1]["iteration"], found["metrics"]["_training_iteration"]), (found["iterations"],) * 2, f"iterations of {name}")


def check_has_no_steps(run_dir):
    text, found = shown_of(run_dir)
    top = run([TRAINRT, "top", "--once", run_dir]).out
    page = scratch() / "page.html"
    check_exit(run([TRAINRT, "report", run_dir, "-o", page]), FINISHED)
    for words in (text, top):
        for wrong in ("step 0", "0 steps", "0 to 0", "starting"):
            check(wrong not in words, f"{wrong!r} in:\n{words}")
    check("0 to 3" in text and "0 to 3" in page.read_text(), f"the iterations are missing:\n{text}")
    return text, found


@test
def the_first_iteration_of_a_function_without_steps_is_timed():
    script = Script(REPORTS + MAIN + "    result = trainer(slow, ranks=1).fit()\n    print('RESULT', json.dumps([each['time_this_iter_s'] for each in result.reports]))\n")
    job = script.run()
    check_exit(job, FINISHED)
    times, = result_of(job)
    check(all(PAUSE_S * 0.9 < each < PAUSE_S + 1 for each in times), f"the times of its iterations: {times}", job)
    check("finished: 3 iterations. Results: trainrt result" in job.err and job.err.count(str(script.runs / "run")) <= 2, "the last line", job)
    text, found = check_has_no_steps(script.runs / "run")
    check(found["time"]["productive_s"] > 2.7 * PAUSE_S, f"the first iteration counts as start-up: {found['time']}")
    check("Start-up ends when restore() returns" in text, f"the assumptions are missing:\n{text}")


@test
def checkpoints_of_a_function_without_steps_are_named_by_their_iterations():
    script = Script(REPORTS + MAIN + "    result = trainer(slow, ranks=1, config={'reports': 3, 'saves': True}).fit()\n    print('RESULT', json.dumps(result.checkpoint.path))\n")
    job = script.run()
    check_exit(job, FINISHED)
    text, found = check_has_no_steps(script.runs / "run")
    check(re.search(r"^ +1 +finished .* iteration 3 +finished$", text, re.M), f"the checkpoint of the attempt:\n{text}")
    check(re.search(r"checkpoint_000002  iteration 3  ", text), f"the checkpoints:\n{text}")


@test
def all_time_of_a_program_without_reports_is_productive():
    folder = scratch()
    job = run([TRAINRT, f"--run.storage_path={folder}", "--run.name=plain", "--", PYTHON, "-c", "import time; time.sleep(2)"])
    check_exit(job, FINISHED)
    text, found = shown_of(folder / "plain")
    check(found["time"]["productive_s"] > 1.9, f"the time counts as start-up: {found['time']}")
    top = run([TRAINRT, "top", "--once", folder / "plain"]).out
    check("does not report progress" in top and "iteration 0" not in top and "step 0" not in top, f"top: {top}")


@test
def a_result_has_the_states_checkpoints_and_the_run_state():
    script = Script("""
def counts(config):
    import trainrt
    ctx, state = trainrt.context(), trainrt.State()
    state["number"] = 0
    ctx.restore(state)
    while state["number"] < 3:
        state["number"] += 1
        ctx.step()
        train.report({"number": state["number"]})
""" + MAIN + """    result = trainer(counts, ranks=1).fit()
    print("RESULT", json.dumps([os.path.basename(result.checkpoint.path), result.checkpoint.is_native(), result.state,
                                [metrics["number"] for _, metrics in result.best_checkpoints]]))
""")
    job = script.run()
    check_exit(job, FINISHED)
    equal(result_of(job), [["checkpoint_000002", True, "finished", [1, 2, 3]]], "the result", job)


@test
def the_states_are_the_same_in_the_program_in_python_and_in_the_guide():
    header = (SOURCE / "src/rundir/records/run_state.hpp").read_text()
    words = re.findall(r'"(\w+)"', re.search(r"state_words = \{(.*?)\};", header, re.S)[1])
    from trainrt.train._results import _run_state
    equal(list(_run_state.WORDS), words, "Python's words")
    table = re.search(r"## States\n(.*?)\n## ", (SOURCE / "src/view/README.md").read_text(), re.S)[1]
    equal(re.findall(r"^\| `(\w+)` \|", table, re.M), words, "the guide's table")


main()
