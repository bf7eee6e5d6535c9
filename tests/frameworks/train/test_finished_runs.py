#!/usr/bin/python3
"""Finished runs that are started with other values, arguments or data are refused; the error lists the differences and the remedies. Covers
programs, fit(), and scripts that call fit() in a loop. Changed code alone is a warning."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403


def refused(job, *words):
    check_exit(job, USAGE)
    for word in (*words, "--run.name=", "rm -r "):
        check(word in job.err, f"the error lacks {word!r}", job)


@test
def changed_arguments_of_a_program_are_refused_and_changed_code_is_a_warning():
    script = Script("", head="import sys\nprint('TRAINED', sys.argv[1:])\n")
    start = lambda *words: script.run(command=[TRAINRT, f"--run.storage_path={script.runs}", "--run.name=run", "--", PYTHON, "train.py", *words])
    check_exit(start("--epochs", "3"), FINISHED)
    job = start("--epochs", "3")
    check_exit(job, FINISHED)
    check("has finished already" in job.err and "changed" not in job.err and "TRAINED" not in job.out, "the second start did not report a finished run", job)
    check("[loop]" not in job.err, "the message names a section that the run does not have", job)
    refused(start("--epochs", "5"), "train.program was '", "train.py --epochs 3', is '", "train.py --epochs 5'", "--run.name=run-2")
    script.path.write_text(script.path.read_text() + "print('more')\n")
    job = start("--epochs", "3")
    check_exit(job, FINISHED)
    check("train.py has changed since the run 'run' finished" in job.err, "changed code is not reported", job)


@test
def datasets_of_a_run_that_failed_before_fit_are_no_changes():
    script = Script(MAIN + """    if not os.path.exists("fit"):
        raise SystemExit(3)
    from trainrt import data
    trainer(ranks=1, datasets={"train": data.range(9)}).fit()
""")
    start = lambda *words: script.run(*words, command=[TRAINRT, f"--run.storage_path={script.runs}", "--run.name=run", "--", PYTHON, "train.py"])
    check(start().code != 0, "the first start did not fail")
    (script.folder / "fit").touch()
    job = start()
    check_exit(job, FINISHED)
    check(" was not set and is " not in job.err, "datasets are reported as changed", job)


PRINT_RESULT = """        print("RESULT", json.dumps([result.path, len(result.reports)]))
"""
LOOP = """
def function(config):
    for number in range(config["epochs"]):
        train.report({"number": number, "lr": config["lr"]})

""" + MAIN


@test
def fit_with_a_changed_config_is_refused_and_more_epochs_continue_the_run():
    script = Script(LOOP + "    for _ in range(1):\n        result = trainer(function, config=json.loads(sys.argv[1])).fit()\n" + PRINT_RESULT)
    run = lambda **config: script.run(json.dumps(config))
    equal(result_of(run(epochs=2, lr=0.1))[0][1], 2, "reports")
    job = run(epochs=2, lr=0.1)
    equal(result_of(job)[0][1], 2, "reports of the second start", job)
    check("has finished already" in job.err, "the function was trained again", job)
    job = run(epochs=2, lr=0.2)
    check(job.code != 0 and "ControllerError" in job.err and "loop.train_loop_config.lr was '0.1', is '0.2'" in job.err, "another lr is accepted", job)
    for remedy in ("a new run: RunConfig(name='run-2');", "train_loop_config={'epochs': N} with N > 2"):
        check(remedy in job.err and "--run.name" not in job.err, f"the error lacks {remedy}", job)
    job = run(epochs=2, lr=0.1, layers=[1, 2])
    check("loop.train_loop_config.layers was not set, is '[1, 2]'" in job.err, "another key is accepted", job)
    job = run(epochs=5, lr=0.1)
    check("loop.train_loop_config.epochs was '2' and is '5' from attempt 2 on" in job.err, "more epochs do not continue the run", job)
    check_exit(job, 0)


@test
def the_error_of_fit_for_another_State_contains_the_list_of_differences():
    script = Script("""import trainrt
def function(config):
    ctx, state = trainrt.context(), trainrt.State()
    state["number"] = 0
    state[config["name"]] = 0
    ctx.restore(state)
    while state["number"] < config["epochs"]:
        state["number"] += 1
        ctx.report({"number": state["number"]})

""" + MAIN + "    trainer(function, config=json.loads(sys.argv[1])).fit()\n")
    check_exit(script.run('{"name": "before", "epochs": 1}'), 0)
    job = script.run('{"name": "after", "epochs": 2}')
    error = job.err[job.err.rindex("ControllerError"):]
    check("'before'" in error and "'after'" in error, f"the exception has no list: {error!r}", job)


@test
def fit_with_another_function_or_dataset_is_refused():
    script = Script(LOOP.replace(MAIN, "") + """
def other(config):
    function(config)

""" + MAIN + """    from trainrt import data
    items = data.from_items([{"x": float(number)} for number in range(int(sys.argv[2]))])
    result = trainer(globals()[sys.argv[1]], config={"epochs": 1, "lr": 1}, datasets={"train": items}).fit()
""" + PRINT_RESULT.replace("        ", "    "))
    check_exit(script.run("function", "4"), 0)
    check_exit(script.run("function", "4"), 0)
    job = script.run("other", "4")
    check(job.code != 0 and "loop.train_loop_per_worker was 'function', is 'other'" in job.err, "another function is accepted", job)
    job = script.run("function", "5")
    check(job.code != 0 and "data.train.source was" in job.err, "other data is accepted", job)


@test
def a_loop_of_fits_with_changed_values_is_refused_at_the_first_difference():
    script = Script(LOOP + """    for number, lr in enumerate(map(float, sys.argv[1:])):
        result = trainer(function, config={"epochs": 1, "lr": lr}, name=f"run-{number}").fit()
""" + PRINT_RESULT)
    check_exit(script.run("0.1", "0.2"), 0)
    again = script.run("0.1", "0.2")
    check_exit(again, 0)
    equal(again.err.count("has finished already"), 2, "runs reported as finished", again)
    job = script.run("0.1", "0.3")
    equal(len(result_of(job)), 1, "results before the difference", job)
    check("run-1' has finished with other values" in job.err and "lr was '0.2', is '0.3'" in job.err, "the difference is not named", job)


@test
def in_a_program_of_trainrt_every_rank_gets_the_error():
    script = Script(LOOP + "    for _ in range(1):\n        result = trainer(function, config=json.loads(sys.argv[1])).fit()\n" + PRINT_RESULT)
    run = lambda lr: script.run(command=[TRAINRT, "-n", 2, f"--run.storage_path={script.runs}", "--", PYTHON, "train.py", json.dumps({"epochs": 1, "lr": lr})])
    check_exit(run(0.1), FINISHED)
    check_exit(run(0.1), FINISHED)
    refused(run(0.2), "lr was '0.1', is '0.2'", "RunConfig(name='run-2')")


@test
def changed_code_of_fit_is_a_warning():
    script = Script(LOOP + "    for _ in range(1):\n        result = trainer(function, config={'epochs': 1, 'lr': 1}).fit()\n" + PRINT_RESULT)
    check_exit(script.run(), 0)
    script.path.write_text(script.path.read_text() + "# changed\n")
    job = script.run()
    check_exit(job, 0)
    check("train.py has changed since the run in" in job.err, "changed code is not reported", job)


@test
def a_restart_after_the_last_report_finishes_the_run_with_all_its_reports():
    script = Script("""
def function(config):
    checkpoint = train.get_checkpoint()
    for number in range(0 if checkpoint is None else 4, 4):
        with Folder() as folder:
            open(os.path.join(folder, "state"), "w").write(str(number))
            train.report({"number": number}, checkpoint=train.Checkpoint.from_directory(folder))
    if checkpoint is None:
        raise RuntimeError("after the last report")

""" + MAIN + "    trainer(function, run_config=RunConfig(name='run', storage_path=os.environ['RUNS'])).fit()\n")
    check_exit(here(script), FAILED)
    job = here(script)
    check_exit(job, FINISHED)
    check("finished: 4 iterations" in job.err, "the last line", job)
    shown = run([TRAINRT, "result", script.runs / "run"])
    check("not reported" not in shown.out and "unknown" not in shown.out, "the progress of the run is shown as unknown", shown)


@test
def a_finished_run_without_a_config_is_restored_in_the_program_that_trained_it():
    script = Script(MAIN + """    options = dict(scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name="run", storage_path=os.environ["RUNS"]))
    DataParallelTrainer(lambda: train.report({"x": 1}), **options).fit()
    print("RESULT", json.dumps(len(DataParallelTrainer.restore(os.environ["RUNS"] + "/run", lambda: None).fit().reports)))
""")
    job = here(script)
    equal((job.code, result_of(job)), (FINISHED, [1]), "exit code and reports", job)


@test
def a_script_that_imports_trainrt_late_runs_all_its_lines_after_fit():
    """The runtime opens the run when a program has sent no message for half of failure.hang_timeout."""
    script = Script(MAIN + """    results = [trainer(name="slow").fit()]
    print("RESULT", json.dumps([len(each.reports) for each in results]))
""", head="import time\ntime.sleep(6)\n" + HEAD)
    job = script.run(command=[TRAINRT, "-n", 2, "--failure.hang_timeout=10", "--run.name=slow", f"--run.storage_path={script.runs}", "--", PYTHON, script.path])
    equal((job.code, result_of(job)), (FINISHED, [[3]]), "exit code and reports", job)


main()
