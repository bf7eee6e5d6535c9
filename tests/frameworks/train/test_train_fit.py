#!/usr/bin/python3
"""fit() in a plain script, which starts the ranks, and in a program of trainrt; failures, stops and restarts of both."""
import re
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))

# ---- a plain script ----------------------------------------------------------------------------------------------------------


def a_plain_script_starts_its_ranks(ranks):
    script = Script(FIT.replace("trainer()", f"trainer(ranks={ranks})"))
    job = script.run()
    equal(job.code, 0, "exit", job)
    result, = result_of(job)
    equal(result["returned"], {"rank": 0, "size": ranks}, "return value of rank 0", job)
    equal((result["metrics"]["number"], result["metrics"]["training_iteration"]), (2, 3), "metrics", job)
    equal([name for name in result["metrics"] if name.startswith("of_")], ["of_0"], "rank 0's metrics count", job)
    equal(result["path"], str(script.runs / "run"), "the run directory", job)
    equal(script.left(), [], "private folders", job)
    check(f"{ranks} rank" in job.err and "finished" in job.err, "the output does not show the status of the run", job)


for count in (1, 2):
    add_test(f"a_plain_script_starts_its_ranks_{count}", a_plain_script_starts_its_ranks, count)


@test
def a_request_of_more_CPUs_than_this_machine_has_is_reported_once():
    script = Script(FIT.replace("trainer()", "trainer(scaling={'resources_per_worker': {'CPU': 500}})"))
    job = script.run()
    equal(job.code, 0, "exit", job)
    equal((job.out + job.err).count("requests 1000 CPUs for 2 ranks, but this machine has "), 1, "notes", job)
    few = Script(FIT.replace("trainer()", "trainer(ranks=1, scaling={'resources_per_worker': {'CPU': 1}})")).run()
    check("CPUs for" not in few.out + few.err, "a note about a request that fits", few)


@test
def a_finished_run_returns_its_result_again():
    script = Script(FIT)
    first, second = script.run(), script.run()
    equal((first.code, second.code), (0, 0), "exits", second)
    equal(result_of(second)[0]["metrics"], result_of(first)[0]["metrics"], "metrics", second)
    check("has finished already" in second.err, "the second start did not report a finished run", second)


@test
def outside_of_a_job_each_fit_without_a_name_is_a_new_run_named_by_its_date():
    script = Script(MAIN + """    for _ in range(2):
        result = trainer(ranks=1, run_config=RunConfig(storage_path=os.environ["RUNS"])).fit()
        print("RESULT", json.dumps({"path": result.path}))
""")
    names = [Path(each["path"]).name for _ in range(2) for each in result_of(script.run())]
    equal(len(set(names)), 4, f"different names of {names}")
    for name in names:
        check(re.fullmatch(r"DataParallelTrainer_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-\d)?", name), f"the name {name!r} has no date")


@test
def a_default_name_gets_a_number_if_a_run_of_the_same_second_exists():
    from trainrt.train._fit import _run_names
    storage, name = scratch("names"), "Trainer_2026-01-02_03-04-05"
    (storage / name).mkdir()
    _run_names.time = type("FakeTime", (), {"strftime": staticmethod(lambda form: "2026-01-02_03-04-05")})
    try:
        equal([_run_names.default_name("Trainer", storage) for _ in range(2)], [f"{name}-2", f"{name}-3"], "names")
    finally:
        _run_names.time = time


@test
def runs_are_stored_in_TRAINRT_STORAGE_or_else_in_runs_of_the_working_directory():
    script = Script(MAIN + "    print('RESULT', json.dumps(trainer(ranks=1, run_config=RunConfig(name='x')).fit().path))\n")
    equal(result_of(script.run()), [str(script.folder / "runs/x")], "the run directory")
    storage = scratch("storage")
    equal(result_of(script.run(env={"TRAINRT_STORAGE": storage})), [str(storage / "x")], "the run directory in TRAINRT_STORAGE")
    job = script.run(env={"TRAINRT_STORAGE": storage}, command=[TRAINRT, "--run.name=program", "--", "true"])
    equal(((storage / "program/run.json").exists(), job.code), (True, 0), "a run of `trainrt -- PROGRAM` in TRAINRT_STORAGE, exit", job)


@test
def functions_of_modules_are_sent_to_ranks_by_name():
    script = Script("", head="")
    (script.folder / "mine").mkdir()
    (script.folder / "mine/functions.py").write_text(HEAD)
    (script.folder / "mine/start.py").write_text("from .functions import *\nfrom .functions import trainer\ndef here(config):\n    train.report({'number': 7})\n"
                                                 "if __name__ == '__main__':\n    trainer(name='a').fit()\n    trainer(here, name='b').fit()\n")
    job = script.run(command=[PYTHON, "-m", "mine.start"])
    equal(job.code, 0, "exit", job)
    equal([reports(script.runs / name)[-1]["number"] for name in "ab"], [2, 7], "reports", job)


@test
def ranks_have_the_import_path_folder_and_arguments_of_the_script():
    script = Script("""
sys.path.insert(0, os.environ["RUNS"] + "/../extra")
def function(config):
    import extra
    train.report({"extra": extra.value, "folder": os.getcwd(), "word": sys.argv[1]})
""" + MAIN + """    trainer(function).fit()
""")
    (script.folder / "extra").mkdir()
    (script.folder / "extra/extra.py").write_text("value = 5\n")
    job = script.run("word")
    equal(job.code, 0, "exit", job)
    found = reports(script.runs / "run")[-1]
    equal((found["extra"], found["folder"], found["word"]), (5, str(script.folder), "word"), "module, folder and argument on the ranks", job)


# ---- failures ----------------------------------------------------------------------------------------------------------------

CATCH = MAIN + """    try:
        trainer(function).fit()
    except TrainingFailedError as error:
        failures = {number: [type(each).__name__, str(each), str(each.__cause__)] for number, each in error.worker_failures.items()}
        print("RESULT", json.dumps({"text": str(error), "kind": type(error).__name__, "failures": failures, "exit_code": error.exit_code}))
"""


@test
def an_error_on_one_rank_is_raised_with_rank_and_traceback():
    script = Script("""
class Mine(ValueError):
    pass

def function(config):
    train.report({"x": 1})
    if rank() == 1:
        raise Mine("the weights are gone")
    time.sleep(60)
    train.report({"x": 2})

""" + CATCH)
    job = script.run()
    found, = result_of(job)
    equal((found["kind"], found["exit_code"], list(found["failures"])), ("WorkerGroupError", FAILED, ["1"]), "the error", job)
    kind, text, trace = found["failures"]["1"]
    equal((kind, text), ("Mine", "the weights are gone"), "the exception", job)
    check('raise Mine("the weights are gone")' in trace and "on rank 1" in trace, f"the traceback is {trace}", job)
    check("trainrt/train/" not in trace, f"the traceback shows internal frames: {trace}", job)
    check("rank 1: Mine: the weights are gone" in found["text"], f"the text is {found['text']}", job)
    check("rank 1" in (script.runs / "run/error.txt").read_text(), "error.txt does not name the rank", job)
    equal(script.left(), [], "private folders", job)


@test
def an_exception_that_cannot_be_pickled_is_raised_with_its_text():
    script = Script("""
class Mine(Exception):
    def __init__(self, one, two):
        super().__init__(one)

def function(config):
    raise Mine("of two arguments", 2)

""" + CATCH)
    kind, text, trace = result_of(script.run())[0]["failures"]["0"]
    equal((kind, text), ("RemoteError", "Mine: of two arguments"), "the exception")
    check("Traceback" in trace, f"the traceback is {trace}")


@test
def an_import_error_on_one_rank_is_raised_with_rank_and_traceback():
    script = Script("""
import mine

def function(config):
    train.report({"x": mine.value})

""" + CATCH)
    (script.folder / "mine.py").write_text("import os\nvalue = 1\nif os.environ.get('RANK') == '1':\n    import not_there_at_all\n")
    found, = result_of(script.run())
    equal(list(found["failures"]), ["1"], "ranks that failed")
    equal(found["failures"]["1"][0], "ModuleNotFoundError", "the exception")
    check("not_there_at_all" in found["failures"]["1"][2], "the traceback")


@test
def a_run_that_cannot_be_opened_is_a_ControllerError():
    script = Script("def function(config):\n    pass\n" + CATCH)
    script.runs.mkdir()
    (script.runs / "run").write_text("a file where the run directory should be")
    found, = result_of(script.run())
    equal((found["kind"], found["failures"]), ("ControllerError", {}), "the error")
    check("run" in found["text"] and found["exit_code"] in (USAGE, FAILED), f"the text is {found['text']}")


# A script that calls fit() at its top level. Its function uses a global variable, a function, and a class with pickled instances.
TOP_LEVEL = """
import pickle
print("TOP LEVEL")
step = 2

class Weights:
    value = 0

def next_of(weights):
    weights.value += step
    return pickle.loads(pickle.dumps(weights))

def function(config):
    weights = Weights()
    for _ in range(3):
        weights = next_of(weights)
        train.report({"value": weights.value})
    return weights

result = trainer(function).fit()
print("RESULT", json.dumps([result.metrics["value"], type(result.return_value) is Weights, result.return_value.value]))
"""


@test
def fit_at_the_top_level_of_a_script_trains_and_ranks_do_not_run_the_top_level():
    script = Script(TOP_LEVEL)
    job = script.run()
    equal((job.code, result_of(job)), (0, [[6, True, 6]]), "exit and result", job)
    equal((job.out + job.err).count("TOP LEVEL"), 1, "executions of the top level", job)
    equal(script.left(), [], "private folders", job)


@test
def fit_in_a_child_process_of_multiprocessing_is_an_error_that_shows_the_guard():
    script = Script("import multiprocessing\nmultiprocessing.get_context('spawn').Process(target=count).start() if __name__ == '__main__' else trainer().fit()\n")
    job = script.run()
    for word in ("fit() was called while a child process of multiprocessing imports the script", "train.py", 'if __name__ == "__main__":'):
        check(word in job.err, f"the error lacks {word!r}", job)


def is_named_if_it_cannot_be_sent(text, *words):
    job = Script("import threading\n" + text).run()
    equal(job.code, 1, "exit", job)
    for word in ("ValueError: the train function and its arguments cannot be sent", "Create it inside of the function", *words):
        check(word in job.err, f"the error lacks {word!r}", job)


for _name, _text, *_words in (
        ("a_lock_that_the_function_uses", "lock = threading.Lock()\ndef function(config):\n    lock.acquire()\ntrainer(function).fit()\n",
         "the global variable 'lock', which function (train.py, line", "is a _thread.lock"),
        ("an_open_file_of_a_class_that_the_function_uses",
         "class Log:\n    def __init__(self):\n        self.file = open('/dev/null', 'w')\nlog = Log()\ndef function(config):\n    log.file.flush()\ntrainer(function).fit()\n",
         "the global variable 'log', which function (train.py, line", ".file is a _io.TextIOWrapper"),
        ("a_socket_in_the_config", "import socket\ntrainer(config={'reports': 1, 'to': [socket.socket()]}).fit()\n", "train_loop_config['to'][0] is a socket.socket")):
    add_test(f"{_name}_is_named", is_named_if_it_cannot_be_sent, _text, *_words)


@test
def a_function_with_large_data_is_sent_with_a_warning():
    script = Script("data = bytes(101_000_000)\ndef function(config):\n    train.report({'bytes': len(data)})\n"
                    "print('RESULT', json.dumps(trainer(function, ranks=1).fit().metrics['bytes']))\n")
    job = script.run()
    equal(result_of(job), [101_000_000], "metrics", job)
    check("warning: the train function and its arguments take 101 MB" in job.err, "the warning does not have the size", job)


def without_a_name(text, *words):
    script = Script(text)
    (script.folder / "cloudpickle.py").write_text("raise ImportError('not installed')\n")  # hides an installed cloudpickle
    job = script.run()
    equal(job.code, 1, "exit", job)
    for word in ("cloudpickle", "srun trainrt -- python3", *words):
        check(word in job.err, f"the error lacks {word!r}", job)
    equal(script.left(), [], "private folders", job)


add_test("a_lambda_without_cloudpickle_is_named", without_a_name, MAIN + "    trainer(lambda config: None).fit()\n", "<lambda> (train.py, line", "a lambda")
add_test("a_function_in_a_function_without_cloudpickle_is_named", without_a_name,
         "def outer():\n    def inner(config):\n        pass\n    return inner\n" + MAIN + "    trainer(outer()).fit()\n", "outer.<locals>.inner", "inside of a function")
add_test("arguments_that_cannot_be_pickled_are_named", without_a_name,
         "import threading\n" + MAIN + "    trainer(config={'reports': 1, 'lock': threading.Lock()}).fit()\n", "lock")
add_test("a_function_of_the_script_without_cloudpickle_is_named", without_a_name, "trainer().fit()\n", "count (train.py, line", "pip install cloudpickle")


@test
def lambdas_and_functions_of_an_interpreter_are_sent_by_value():
    script = Script(MAIN + "    print('RESULT', json.dumps(trainer(lambda config: train.report({'x': 3}), name='lambda').fit().metrics['x']))\n")
    equal(result_of(script.run()), [3], "metrics")
    text = HEAD + "def function(config):\n    train.report({'x': 4})\n\nprint('RESULT', json.dumps(trainer(function, name='interpreter').fit().metrics['x']))\n"
    equal(result_of(script.run(command=[PYTHON, "-c", text])), [4], "metrics")


@test
def a_second_script_with_the_name_of_a_running_one_fails():
    script = Script(SLOW)
    first = script.start()
    wait_for_reports(script.runs / "run", 3, first)
    second = script.run()
    equal(second.code, 1, "exit", second)
    check("ControllerError" in second.err and "run" in second.err, "the error names no cause", second)
    equal(first.wait(60), 0, "exit of the first", first)
    check_iterations(script.runs / "run", 40)


@test
def output_of_ranks_appears_in_the_notebook_cell():
    """Uses a fake standard output without a file descriptor, as in a notebook."""
    script = Script("""
import io

class Cell(io.StringIO):
    def fileno(self):
        raise io.UnsupportedOperation("fileno")

def function(config):
    print("from the function", flush=True)
    train.report({"x": 1})

""" + MAIN + """    shown, sys.stdout, sys.stderr = sys.stdout, Cell(), Cell()
    trainer(function).fit()
    cells, sys.stdout = [sys.stdout.getvalue(), sys.stderr.getvalue()], shown
    print("RESULT", json.dumps(cells))
""")
    out, err = result_of(script.run())[0]
    check("from the function" in out and "run: iteration 1" in out, f"standard output: {out}")
    check("trainrt: finished" in err, f"standard error: {err}")


@test
def a_broken_standard_output_does_not_block_the_ranks():
    """Uses a fake standard output that breaks at the function's first line; the rest of the output holds multibyte characters."""
    script = Script("""
import io

class Breaks(io.StringIO):
    def write(self, text):
        if "letter" in text:
            raise BrokenPipeError("nobody reads")
        return super().write(text)

def function(config):
    print("a letter\\n" + 10 * (1 << 17) * "ü", flush=True)
    train.report({"x": 1})

""" + MAIN + """    shown, sys.stdout = sys.stdout, Breaks()
    result = trainer(function).fit()
    sys.stdout = shown
    print("RESULT", json.dumps(result.metrics["x"]))
""")
    equal(result_of(script.run()), [1], "metrics")


@test
def characters_that_arrive_in_parts_are_shown_complete():
    import io
    import os
    from trainrt.train._fit._command import _Forwarder
    to_read, to_write = os.pipe()
    shown = io.StringIO()
    forwarder = _Forwarder(os.fdopen(to_read, "rb"), shown)
    for part in "aü€".encode():
        os.write(to_write, bytes([part]))
        time.sleep(0.02)
    os.close(to_write)
    equal((forwarder.finish(), shown.getvalue()), (["aü€"], "aü€"), "last lines, and the shown text")


# ---- stops and restarts ------------------------------------------------------------------------------------------------------

SLOW = FIT.replace("trainer()", 'trainer(config={"reports": 40, "pause": 0.05})')


def stopped_script(script, number, after=3):
    job = script.start()
    wait_for_reports(script.runs / "run", after, job)
    kill([job.process.pid], number)
    job.code = job.wait(60)
    return job


@test
def ctrl_c_stops_the_ranks_and_is_raised_in_the_script():
    script = Script(SLOW)
    job = stopped_script(script, signal.SIGINT)
    check(job.code in (-signal.SIGINT, 130) and "KeyboardInterrupt" in job.err, f"exit {job.code}", job)
    equal(run_state(script.runs / "run"), "stopped", "state of the run", job)
    check(not job.ranks() and script.left() == [], "a rank or a private folder remains", job)


@test
def a_script_that_ignores_a_signal_continues_with_its_ranks():
    script = Script(SLOW)
    job = script.start(command=["sh", "-c", f'trap "" HUP INT; exec {PYTHON} {script.path}'])
    wait_for_reports(script.runs / "run", 3, job)
    for number in (signal.SIGHUP, signal.SIGINT):
        kill([job.process.pid, *job.ranks().values()], number)
    job.code = job.wait(60)
    check_exit(job, FINISHED)


@test
def ctrl_c_before_the_ranks_start_leaves_no_process():
    for pause in (0.25, 0.3, 0.4, 0.6):
        script = Script(SLOW)
        job = script.start()
        time.sleep(pause)
        kill([job.process.pid], signal.SIGINT)
        code = job.process.wait(60)
        check(code not in (0, 75), f"exit {code}", job)
        wait_until(lambda job=job: not job.ranks(), 10, "the ranks to end", job)
        equal(script.left(), [], "private folders", job)
        job.end()


@test
def a_stop_by_the_batch_system_ends_the_script_with_75_and_the_next_start_continues():
    script = Script(SLOW)
    job = stopped_script(script, signal.SIGTERM)
    equal(job.code, STOPPED, "exit", job)
    check("Traceback" not in job.err, "a traceback is printed", job)
    equal(script.left(), [], "private folders", job)
    again = script.run()
    equal(again.code, 0, "exit", again)
    equal(len(attempts(script.runs / "run")), 2, "attempts of the run", again)
    check_iterations(script.runs / "run")


@test
def a_signal_that_the_script_ignores_is_no_stop():
    script = Script("import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + SLOW)
    job = stopped_script(script, signal.SIGHUP)
    equal(job.code, 0, "exit", job)
    equal(run_state(script.runs / "run"), "finished", "state of the run", job)


@test
def a_second_stop_kills_ranks_that_do_not_exit():
    script = Script("""
def function(config):
    train.report({"x": 1})
    time.sleep(60)

""" + MAIN + "    trainer(function).fit()\n")
    job = script.start()
    wait_for_reports(script.runs / "run", 1, job)
    kill([job.process.pid], signal.SIGTERM)
    time.sleep(1.5)
    kill([job.process.pid], signal.SIGTERM)
    check(job.wait(10) not in (0, 75), "the exit code reports success", job)
    wait_until(lambda: not job.ranks(), 10, "the ranks to end")


@test
def a_killed_script_ends_its_ranks_and_the_next_start_continues():
    script = Script(SLOW)
    job = script.start()
    wait_for_reports(script.runs / "run", 3, job)
    pids = list(job.wait_for_ranks(2).values())
    kill([job.process.pid], signal.SIGKILL)
    job.process.wait(20)
    wait_until(lambda: not any(map(parent_of, pids)), 20, "the ranks to end")
    equal(script.left(), [], "private folders")
    again = script.run()
    equal(again.code, 0, "exit", again)
    check_iterations(script.runs / "run")


@test
def killed_ranks_end_the_script_with_an_error_and_the_next_start_continues():
    script = Script(SLOW)
    job = script.start()
    wait_for_reports(script.runs / "run", 3, job)
    kill([job.wait_for_ranks(2)[1]])
    code = job.wait(60)
    check(code == 1 and "ControllerError" in job.err, f"exit {code}", job)
    equal(script.run().code, 0, "exit of the next start")
    check_iterations(script.runs / "run")


def killed_before_fit(ranks):
    """A restart opens only the run that the program requests."""
    script = Script("""
import signal
mark = os.environ["TEST_SCRATCH"] + f"/killed-{os.environ['TRAINRT_JOB']}"
if os.environ["RANK"] == os.environ["VICTIM"] and not os.path.exists(mark):
    open(mark, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
""" + MAIN + f"    print('returned', trainer(ranks={ranks}).fit().metrics['number'])\n")
    job = script.run(command=[TRAINRT, *(["-n", ranks] if ranks > 1 else []), f"--run.storage_path={script.runs}", "--", PYTHON, script.path],
                     env={"VICTIM": ranks - 1})
    check_exit(job, FINISHED)
    check("was ended by SIGKILL" in job.err and "restart 1 of 3 (failure.max_failures)" in job.err, "the restart", job)
    check_iterations(script.runs / "run", 3)


for count in (1, 2):
    add_test(f"a_program_killed_before_fit_is_restarted_{count}", killed_before_fit, count)


@test
def a_program_killed_before_every_fit_fails():
    script = Script("import signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    job = script.run(command=[TRAINRT, f"--run.storage_path={script.runs}", "--failure.max_failures=1", "--", PYTHON, script.path])
    check_exit(job, FAILED)
    check("given up after 2 failures (failure.max_failures = 1)" in job.err, "the end", job)
    equal([len(attempts(run)) for run in script.runs.iterdir()], [2], "attempts of the run that records the failures", job)


@test
def a_failure_is_retried_max_failures_times():
    script = Script("""
def function(config):
    if not os.path.exists(config["mark"]):
        if rank() == 0:
            open(config["mark"], "w").close()
            raise ValueError("once")
        time.sleep(60)
    train.report({"x": 1})

""" + MAIN + """    result = trainer(function, config={"mark": sys.argv[1]}, run={"failure_config": FailureConfig(max_failures=1)}).fit()
    print("RESULT", json.dumps(result.metrics["x"]))
""")
    equal(result_of(script.run(script.folder / "mark")), [1], "metrics")


@test
def the_error_names_the_last_failure_only():
    script = Script("""
def function(config):
    train.report({"x": 1})
    if rank() == 1 and not os.path.exists(config["mark"]):
        open(config["mark"], "w").close()
        raise ValueError("of the first start")
    while not os.path.exists(config["mark"]):
        time.sleep(0.1)
    train.collective.barrier()
    if rank() == 0:
        raise KeyError("of the second start")
    time.sleep(60)

""" + CATCH.replace("trainer(function)", "trainer(function, config={'mark': sys.argv[1]}, run={'failure_config': FailureConfig(max_failures=1)})"))
    job = script.run(script.folder / "mark")
    equal(list(result_of(job)[0]["failures"]), ["0"], "ranks that failed", job)


@test
def a_finished_run_continues_with_a_later_stop_rule():
    script = Script(MAIN + """    stop = {"training_iteration": int(sys.argv[1])} if sys.argv[1] != "restore" else None
    given = trainer(config={"reports": 20}, run={"stop": stop})
    if stop is None:
        given = DataParallelTrainer.restore(os.path.join(os.environ["RUNS"], "run"), count)
    print("RESULT", len(given.fit().reports))
""")
    found = [(result_of(job)[0], "finished already" in job.err) for job in (script.run(word) for word in ("3", "3", "6", "restore"))]
    equal(found, [(3, False), (3, True), (6, False), (6, True)], "number of reports, and whether the run was already finished")


# ---- callbacks and hooks -------------------------------------------------------------------------------------------


@test
def callbacks_receive_reports_of_all_ranks_and_failures():
    script = Script("""
class Hears(UserCallback):
    def after_report(self, run_context, metrics, checkpoint):
        print("HEARD", json.dumps([run_context.run_name, metrics, checkpoint]))

    def after_exception(self, run_context, worker_exceptions):
        with open(os.path.join(run_context.run_dir, "heard"), "w") as file:
            file.write(str(worker_exceptions))

def function(config):
    train.report({"x": rank()})
    if rank() == 1:
        raise ValueError("boom")
    time.sleep(60)

""" + MAIN + "    trainer(function, run={'callbacks': [Hears()]}).fit()\n")
    job = script.run()
    heard = [json.loads(line[6:]) for line in job.out.splitlines() if line.startswith("HEARD ")]
    equal(heard, [["run", [{"x": 0}, {"x": 1}], None]], "reports", job)
    equal((script.runs / "run/heard").read_text(), "{1: ValueError('boom')}", "exceptions", job)


@test
def hooks_of_a_backend_run_on_all_ranks_together():
    script = Script("""
class Hooks(Backend):
    def on_start(self, worker_group, backend_config):
        os.environ["MEET"] = worker_group.execute_single(1, lambda: f"rank {rank()}")
        os.environ["ALL"] = str(worker_group.execute(rank))

    def on_shutdown(self, worker_group, backend_config):
        worker_group.execute(print, "SHUTDOWN")

class Config(BackendConfig):
    backend_cls = Hooks

def function(config):
    return [os.environ["MEET"], os.environ["ALL"], train.collective.broadcast_from_rank_zero({"of": rank()})]

""" + MAIN + "    print('RESULT', json.dumps(trainer(function, backend_config=Config()).fit().return_value))\n")
    job = script.run()
    equal(result_of(job), [["rank 1", "[0, 1]", {"of": 0}]], "effects of the hooks", job)
    check("SHUTDOWN" in job.out, "on_shutdown was not called", job)


@test
def selected_metrics_are_averaged_over_the_ranks():
    script = Script("""
import trainrt
def function(config):
    train.report({"x": rank()}, aggregate=True)
    train.report({"x": trainrt.Number(rank() + 1, "sum")})
    train.report({"x": rank() + 5})

""" + MAIN + "    trainer(function).fit()\n")
    job = script.run()
    equal([report["x"] for report in reports(script.runs / "run")], [0.5, 3, 5], "metrics", job)


@test
def trainer_and_run_of_ray_train_1_return_the_results_of_each_rank():
    script = Script("""
class Prints(TrainingCallback):
    def handle_result(self, results, **info):
        print("HEARD", json.dumps([each["epoch"] for each in results]))

def function(config):
    for epoch in range(config["epochs"]):
        train.report(epoch=epoch + 10 * train.world_rank())
    return [train.world_rank(), train.world_size()]

""" + MAIN + """    trainer = Trainer(backend=BackendConfig(), num_workers=2, logdir=os.environ["RUNS"], max_retries=0)
    trainer.start()
    print("RESULT", json.dumps(trainer.run(function, config={"epochs": 2}, callbacks=[Prints(), JsonLoggerCallback()])))
    iterator = trainer.run_iterator(function, config={"epochs": 1})
    print("RESULT", json.dumps([[each["epoch"] for each in results] for results in iterator]))
    print("RESULT", json.dumps([iterator.get_final_results(), trainer.latest_run_dir.name]))
    trainer.shutdown()
    again = Trainer(backend=BackendConfig(), num_workers=2, logdir=os.environ["RUNS"], max_retries=0)
    print("AGAIN", again.run(function, config={"epochs": 2}))
""")
    job = script.run()
    check("AGAIN [None, None]" in job.out and "run_001 has finished already" in job.err, "the finished run is not reported", job)
    equal(job.code, 0, "exit", job)
    equal(result_of(job), [[[0, 2], [1, 2]], [[0, 10]], [[[0, 2], [1, 2]], "run_002"]], "results", job)
    equal([line for line in job.out.splitlines() if line.startswith("HEARD")], ["HEARD [0, 10]", "HEARD [1, 11]"], "reports that the callbacks receive", job)
    equal(len((script.runs / "run_001/results.json").read_text().splitlines()), 2, "lines of the JSON logger", job)


# ---- in a program of trainrt -------------------------------------------------------------------------------------------------


@test
def in_a_program_of_trainrt_every_rank_gets_the_result():
    script = Script(FIT)
    job = here(script, "--run.name=run", "--run.output=all")
    equal(job.code, FINISHED, "exit", job)
    found = [json.loads(line.split("RESULT ")[1]) for line in job.out.splitlines() if "RESULT" in line]
    equal([each["returned"] for each in found], 2 * [{"rank": 0, "size": 2}], "results", job)


@test
def in_a_program_of_trainrt_another_number_of_ranks_is_an_error_that_names_both():
    job = here(Script(FIT.replace("trainer()", "trainer(ranks=3)")), "--run.name=run")
    equal(job.code, USAGE, "exit", job)
    check("num_workers = 3" in job.err and "2 ranks were launched" in job.err, "the error lacks one of the numbers", job)


@test
def in_a_program_of_trainrt_each_fit_opens_another_run():
    script = Script(MAIN + """    for arguments in {"name": "named"}, {"run_config": RunConfig(checkpoint_config=CheckpointConfig(num_to_keep=2))}, {"name": "named"}:
        result = trainer(**arguments).fit()
        if rank() == 0:
            print("RESULT", json.dumps([os.path.basename(result.path), result.metrics["number"], result.return_value]), flush=True)
""")
    job = here(script)
    equal(job.code, FINISHED, "exit", job)
    both = {"rank": 0, "size": 2}
    found = result_of(job)
    equal([each[1:] for each in found], [[2, both], [2, both], [2, None]], "results; the last run has finished already", job)
    check(found[0][0] == found[2][0] == "named" and found[1][0].endswith("-2"), f"names: {found}", job)
    equal(json.loads((script.runs / found[1][0] / "run.json").read_text())["config"]["checkpoint.num_to_keep"], "2", "a setting of the script", job)


@test
def in_a_program_of_trainrt_the_command_line_takes_precedence():
    script = Script(FIT.replace("trainer()", "trainer(run={'checkpoint_config': CheckpointConfig(num_to_keep=2)})"))
    job = here(script, "--run.name=launched", "--checkpoint.num_to_keep=5")
    equal(job.code, FINISHED, "exit", job)
    equal(Path(result_of(job)[0]["path"]).name, "launched", "the name", job)
    equal(json.loads((script.runs / "launched/run.json").read_text())["config"]["checkpoint.num_to_keep"], "5", "the effective value", job)
    check("checkpoint.num_to_keep is '5'" in job.err and "requests '2'" in job.err, "the difference is not printed", job)


TRAINER_OF_RAY_1 = MAIN + """    trainer = Trainer(BackendConfig(), num_workers={ranks}, max_retries=0{more})
    for number in range(2):
        values = trainer.run(lambda: number + 10 * train.world_rank())
        print("RESULT", json.dumps([values, str(trainer.latest_run_dir)]), flush=True)
"""


def on_two_ranks(text, *words):
    """Returns the script with this text, and its job on 2 ranks."""
    script = Script(text)
    command = [TRAINRT, "-n", 2, "--run.output=all", *words, "--", PYTHON, script.path]
    return script, script.run(command=command, env={"TRAINRT_STORAGE": script.runs})


@test
def the_trainer_of_ray_train_1_runs_on_the_ranks_of_the_launch():
    script, job = on_two_ranks(TRAINER_OF_RAY_1.format(ranks=2, more=""))
    equal(job.code, FINISHED, "exit", job)
    found = [json.loads(line.split("RESULT ")[1]) for line in job.out.splitlines() if "RESULT" in line]
    equal(sorted(values for values, _ in found), 2 * [[0, 10]] + 2 * [[1, 11]], "values on both ranks", job)
    names = {Path(path).name for _, path in found}
    equal({name.removesuffix("-2") for name in names}, {min(names)}, "names of the runs", job)
    equal(names, {path.parent.name for path in script.runs.glob("*/run.json")}, "directories of the runs", job)


@test
def the_command_line_names_the_runs_of_the_trainer_of_ray_train_1_without_a_logdir():
    script, job = on_two_ranks(TRAINER_OF_RAY_1.format(ranks=2, more=""), "--run.name=mine")
    equal(job.code, FINISHED, "exit", job)
    equal({path.parent.name for path in script.runs.glob("*/run.json")}, {"mine", "mine-2"}, "runs", job)


@test
def the_trainer_of_ray_train_1_repeats_no_finished_run_of_its_logdir():
    text = TRAINER_OF_RAY_1.format(ranks=2, more=", logdir='named'")
    script, job = on_two_ranks(text + text.removeprefix(MAIN))
    equal({path.parent.name for path in script.runs.glob("named/*/run.json")}, {"run_001", "run_002"}, "runs", job)
    equal(job.code, FINISHED, "exit", job)
    equal((job.out.count("RESULT [[0, 10]"), job.out.count("RESULT [[null, null]")), (2, 4), "values of the first and the finished runs", job)
    check("nothing is trained" in job.err, "the finished runs are not reported", job)


@test
def the_trainer_of_ray_train_1_needs_as_many_ranks_as_the_launch_has():
    _, job = on_two_ranks(TRAINER_OF_RAY_1.format(ranks=3, more=""))
    equal(job.code, USAGE, "exit", job)
    check("num_workers = 3, but 2 ranks were launched: start 3 ranks" in job.err, "the error lacks one of the numbers", job)


@test
def max_retries_of_the_trainer_of_ray_train_1_limits_the_restarts():
    _, job = on_two_ranks(TRAINER_OF_RAY_1.format(ranks=2, more="").replace("lambda: number", "lambda: 1 // train.world_rank()"))
    equal(job.code, FAILED, "exit", job)
    check("given up after 1 failure (failure.max_failures = 0)" in job.err, "the run was restarted", job)


@test
def a_run_opened_before_fit_must_have_the_name_of_the_script():
    script = Script("import trainrt\ntrainrt.context()\n" + FIT)
    equal(here(script, "--run.name=run").code, FINISHED, "exit")
    job = here(script, "--run.name=other")
    equal(job.code, FAILED, "exit", job)
    check("'run'" in job.err and "'other' is open already" in job.err, "the error does not name both runs", job)


@test
def fit_reports_settings_that_do_not_apply_to_an_open_run():
    script = Script("import trainrt\ntrainrt.context()\n" + FIT.replace("trainer()", "trainer(run={'checkpoint_config': CheckpointConfig(num_to_keep=7)})"))
    job = here(script, "--run.name=run")
    equal(job.code, FINISHED, "exit", job)
    lines = [line for line in job.err.splitlines() if "does not apply" in line]
    check(len(lines) == 1 and "checkpoint.num_to_keep = 7" in lines[0], f"lines: {lines}", job)
    job = here(Script("import trainrt\ntrainrt.context()\n" + FIT.replace("trainer()", "trainer(ranks=3)")), "--run.name=run")
    equal(job.code, FAILED, "exit", job)
    check("num_workers=3" in job.err and "2 ranks were launched" in job.err, "the error lacks one of the numbers", job)


@test
def in_a_program_of_trainrt_fit_in_a_thread_is_an_error():
    script = Script("import threading\n" + MAIN + """    def work():
        try:
            trainer().fit()
        except RuntimeError as error:
            print("RESULT", json.dumps(str(error)), flush=True)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
""")
    job = here(script, "--run.name=run", ranks=1)
    check("main thread" in result_of(job)[0], "the error does not name the main thread", job)


@test
def in_a_program_of_trainrt_missing_gpus_are_an_error():
    job = here(Script(FIT.replace("trainer()", "trainer(scaling={'use_gpu': True})")), "--run.name=run", "--scaling.gpus_per_worker=0")
    equal(job.code, FAILED, "exit", job)
    check("use_gpu=True" in job.err and "has no GPU" in job.err, "the error lacks one of the numbers", job)


@test
def in_a_program_of_trainrt_a_failure_is_printed_once():
    job = here(Script("def function(config):\n    if rank() == 1:\n        raise ValueError('boom')\n    train.report({'x': 1})\n\n"
                      + MAIN + "    trainer(function).fit()\n"), "--run.name=run")
    equal(job.code, FAILED, "exit", job)
    equal(job.err.count("Traceback"), 1, "tracebacks", job)
    check("rank 1" in job.err and "ValueError: boom" in job.err, "the error lacks the rank", job)


@test
def a_task_of_srun_without_trainrt_is_an_error_that_shows_the_command():
    script = Script(FIT)
    job = script.run(env={"SLURM_JOB_ID": 7, "SLURM_STEP_NUM_TASKS": 2, "SLURM_STEP_ID": 0})
    equal(job.code, 1, "exit", job)
    check("2 tasks" in job.err and "srun trainrt -- python3" in job.err, "the error does not name the command", job)


@test
def inside_an_allocation_srun_starts_the_ranks():
    """Uses a fake srun that starts the ranks as `trainrt -n` does."""
    script = Script(FIT.replace("trainer()", "trainer(scaling={'resources_per_worker': {'CPU': 2}}, run_config=RunConfig(storage_path=os.environ['RUNS']))"))
    (script.folder / "bin").mkdir()
    fake = script.folder / "bin/srun"
    fake.write_text('#!/bin/sh\necho "$@" >&2\nenv | grep -E "^(SLURM_MPI_TYPE|OMP_NUM)" >&2\nwhile [ "$1" != -- ] && case $1 in -*) true;; *) false;; esac; do shift; done\n'
                    'program=$1; shift\nunset SLURM_JOB_ID SLURM_NTASKS\nexec "$program" -n 2 "$@"\n')
    fake.chmod(0o755)
    job = script.run(env={"SLURM_JOB_ID": 7, "SLURM_NTASKS": 4, "PATH": f"{fake.parent}:{os.environ['PATH']}"})
    equal(job.code, 0, "exit", job)
    for word in ("--ntasks=2", "--cpus-per-task=2", "SLURM_MPI_TYPE=pmix", "--kill-on-bad-exit=0"):
        check(word in job.err, f"srun lacks {word}", job)
    equal(Path(result_of(job)[0]["path"]).name, "DataParallelTrainer_train-7", "name with the number of the job", job)


@test
def a_missing_trainrt_executable_is_named():
    script = Script(FIT)
    shutil.copytree(SOURCE / "src/python/trainrt", script.folder / "site/trainrt")
    env = {"PYTHONPATH": script.folder / "site", "PATH": "/usr/bin:/bin"}
    job = script.run(env=env)
    equal(job.code, 1, "exit", job)
    check("TRAINRT_EXECUTABLE" in job.err and "not in PATH" in job.err, "the error names no remedy", job)
    equal(script.run(env={**env, "TRAINRT_EXECUTABLE": TRAINRT}).code, 0, "exit with TRAINRT_EXECUTABLE")


@test
def a_run_is_restored_from_its_directory():
    script = Script(MAIN + """    if sys.argv[1] == "first":
        trainer(config={"reports": 40, "pause": 0.05}, metadata={"m": 1}).fit()
    path = os.path.join(os.environ["RUNS"], "run")
    print("RESULT", json.dumps([DataParallelTrainer.can_restore(path), DataParallelTrainer.can_restore(path + "x")]))
    restored = DataParallelTrainer.restore(path, train_loop_per_worker=count)
    print("RESULT", json.dumps([restored.train_loop_config, restored.metadata, restored.scaling_config.num_workers]))
    print("RESULT", json.dumps(restored.fit().path))
""")
    job = script.start("first")
    wait_for_reports(script.runs / "run", 3, job)
    kill([job.process.pid], signal.SIGTERM)
    equal(job.wait(60), STOPPED, "exit", job)
    again = script.run("second")
    equal(result_of(again), [[True, False], [{"reports": 40, "pause": 0.05}, {"m": 1}, 2], str(script.runs / "run")], "restored state, arguments and path", again)
    equal(len(attempts(script.runs / "run")), 2, "attempts of the run", again)


CONFIGS = """
checkpoints = CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="number", checkpoint_score_order="min")
options = {"checkpoint_config": checkpoints, "failure_config": FailureConfig(max_failures=2), "verbose": 2,
           "worker_runtime_env": {"env_vars": {"TOKEN": "do-not-write-this"}}}
"""


@test
def restore_takes_the_configs_that_are_not_given_from_the_record():
    script = Script(CONFIGS + MAIN + """    path = os.path.join(os.environ["RUNS"], "run")
    if sys.argv[1] == "first":
        trainer(run=options, ranks=1, config={"reports": 2}, dataset_config=DataConfig(["train"])).fit()
    found = DataParallelTrainer.restore(path, count)
    print("RESULT", json.dumps([found.run_config == RunConfig("run", os.environ["RUNS"], checkpoint_config=checkpoints, failure_config=FailureConfig(2),
                                                              verbose=2), found.dataset_config.datasets_to_split]))
    changed = DataParallelTrainer.restore(path, count, run_config=RunConfig(failure_config=FailureConfig(max_failures=5)), train_loop_config={"reports": 3, "epochs": 1})
    print("RESULT", json.dumps([changed.run_config.failure_config.max_failures, changed.run_config.checkpoint_config == checkpoints]))
    if sys.argv[1] == "change":
        changed.fit()
""")
    job = script.run("first")
    equal(result_of(job), [[True, ["train"]], [5, True]], "restored configs, and those with a new FailureConfig", job)
    check("RunConfig(worker_runtime_env=...), which its record cannot hold" in job.err, "no note names the environment", job)
    check("do-not-write-this" not in (script.runs / "run/trainer.json").read_text(), "the record has the value of an environment variable")
    job = script.run("change")
    equal(job.code, 0, "exit", job)
    run = json.loads((script.runs / "run/run.json").read_text())
    equal([(each["key"], each["from"], each["to"]) for each in run["changes"] if not each["key"].startswith("loop.")], [("failure.max_failures", "2", "5")], "changes", job)
    check("failure.max_failures was '2' and is '5' from attempt 2 on" in job.err, "the change is not printed", job)
    equal([run["config"][f"checkpoint.{key}"] for key in ("num_to_keep", "score_attribute", "score_order")], ["2", "number", "min"], "keys of the second start")
    changed_record(script, run_config=None)
    job = script.run("old")
    equal(result_of(job), [[False, ["train"]], [5, True]], "configs by a record without them: those of run.json", job)


@test
def a_run_of_fit_continues_under_trainrt_and_stays_finished():
    script = Script(MAIN + """    reports = int(sys.argv[1])
    print("RESULT", len(trainer(ranks=1, config={"reports": 9, "pause": 0.1}, run={"stop": {"training_iteration": reports}}).fit().reports))
""")
    equal(script.run("2").code, 0, "exit of the script")
    under = [TRAINRT, "--", PYTHON, script.path]
    named = [TRAINRT, "--run.name=run", f"--run.storage_path={script.runs}", "--", PYTHON, script.path]
    for command, words in ((under, "finished already"), (named, "finished already"), (under, "finished early"), (None, "finished already")):
        job = script.run("2" if words == "finished already" and command else "4", command=command)
        check(job.code == 0 and words in job.out + job.err, f"no {words!r} with {command}", job)
        check("train.program was" not in job.err, "the program of fit() counts as a changed value", job)


RESTORES = MAIN + """    if sys.argv[1] == "first":
        trainer(globals().get("function", count)).fit()
    else:
        restored = DataParallelTrainer.restore(os.path.join(os.environ["RUNS"], "run"))
        print("RESULT", json.dumps([restored.train_loop_per_worker.__module__, restored.train_loop_config]))
"""


def restored(script, **env):
    """Starts the script again without a function. Returns its RESULT, or the error output."""
    job = script.run("again", env=env)
    return result_of(job)[0] if job.code == 0 else job.err


def changed_record(script, **fields):
    path = script.runs / "run/trainer.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@test
def restore_finds_functions_of_the_script_and_its_imported_modules():
    script = Script(RESTORES)
    equal(script.run("first").code, 0, "exit")
    equal(restored(script), ["__main__", {"reports": 3}], "module and config of the restored function")
    script = Script("from mine import function\n" + RESTORES)
    (script.folder / "mine.py").write_text("from trainrt import train\ndef function(config):\n    train.report({'x': 1})\n")
    equal(script.run("first").code, 0, "exit")
    equal(restored(script), ["mine", {"reports": 3}], "module and config of the restored function")
    script.path.write_text(script.path.read_text().replace("from mine import function", "if sys.argv[1] == 'first': from mine import function"))
    check("imported from its own folder" in restored(script), "a module that the script has not imported was found")


@test
def restore_finds_the_function_of_the_script_in_a_script_that_imports_it_or_has_one_of_its_name():
    script = Script(RESTORES)
    equal(script.run("first").code, 0, "exit")
    first, text = script.path, script.path.read_text()
    script.path = script.folder / "other.py"
    for head, module in (("import train as first\nfrom train import *\nfrom train import DataParallelTrainer, json, os, sys\n" + RESTORES, "train"), (text, "__main__")):
        script.path.write_text(head)
        equal(restored(script), [module, {"reports": 3}], "module and config of the restored function")
    check(f"count of {script.path}; it was started with that of {first}" in script.run("again").err, "no note names the other file")
    script.path.write_text(text.replace("def count(", "def other(").replace("function=count", "function=other").replace("count))", "other))"))
    check(f"the train function __main__.count of the run ({first}) is not in {script.path}" in restored(script), "the error does not name the function and the script")


@test
def restore_of_a_lambda_or_a_local_function_is_an_error_that_names_it():
    for text, name in (("function = lambda config: train.report({'x': 1})\n", "__main__.<lambda>"),
                       ("def made():\n    def inner(config):\n        train.report({'x': 1})\n    return inner\nfunction = made()\n", "__main__.made.<locals>.inner")):
        script = Script(text + RESTORES)
        equal(script.run("first").code, 0, "exit")
        found = restored(script)
        check(f"the train function {name} " in found and "a lambda or is defined in a function" in found and "train_loop_per_worker=" in found, f"the error is {found}")


@test
def restore_runs_no_code_that_the_directory_names():
    script = Script(RESTORES)
    equal(script.run("first").code, 0, "exit")
    (script.folder / "evil.py").write_text("open('pwned', 'w').close()\ndef function(config):\n    pass\n")
    for module, name in (("os", "system"), ("evil", "function"), ("__main__", "os.system"), ("__main__", "count"), ("json", "dumps")):
        changed_record(script, function={"module": module, "qualname": name}, program=str(script.path), train_loop_config="touch pwned")
        check("Give the train function again" in restored(script) and "its authentication code is not valid" in restored(script), f"{module}.{name} was accepted")
    check(not (script.folder / "pwned").exists(), "the module was imported, or the command ran")
    given = Script(MAIN + f"    print('RESULT', json.dumps(DataParallelTrainer.restore({str(script.runs / 'run')!r}, count).train_loop_per_worker.__name__))\n")
    equal(result_of(given.run()), ["count"], "the function that was passed")


@test
def a_run_of_another_user_is_restored_only_with_trust_owner():
    if os.geteuid() != 0:
        skip("needs root, to give a run to another user")
    script = Script(MAIN + """    path = os.path.join(os.environ["RUNS"], "run")
    if sys.argv[1] == "first":
        trainer(config={"reports": 2}, run={"stop": {"training_iteration": 1}}).fit()
    elif sys.argv[1] == "name":
        trainer(config={"reports": 2}, run={"stop": {"training_iteration": 4}}).fit()
    else:
        given = DataParallelTrainer.restore(path, count, run_config=RunConfig(stop={"training_iteration": 4}), trust_owner=sys.argv[1] or None)
        print("RESULT", len(given.fit().reports))
""")
    equal(script.run("first").code, 0, "exit")
    os.chown(script.runs / "run", 65534, -1)
    for word in ("", "daemon", "name"):
        job = script.run(word)
        check(job.code != 0 and "belongs to nobody" in job.err and "trust_owner='nobody'" in job.err, "the run was continued", job)
    equal(result_of(script.run("nobody")), [2], "reports")
    job = script.run(command=[TRAINRT, "-n", 2, f"--run.storage_path={script.runs}", "--failure.max_failures=0", "--", PYTHON, script.path, "nobody"])
    check(job.code != 0 and "trainrt --trust-owner=nobody" in job.err, "the error does not name the option", job)


@test
def an_unsigned_record_or_unsafe_key_requires_the_function_again():
    script = Script(RESTORES)
    nowhere = script.folder / "file/state"
    (script.folder / "file").write_text("")
    equal(script.run("first", env={"XDG_STATE_HOME": nowhere}).code, 0, "exit without a state folder")
    for text in (restored(script), restored(script, XDG_STATE_HOME=nowhere)):
        check("it is not signed" in text and "train_loop_per_worker=" in text, f"the error is {text}")
    state = script.folder / "state"
    shutil.rmtree(script.runs)
    equal(script.run("first", env={"XDG_STATE_HOME": state}).code, 0, "exit")
    key = state / "trainrt/record.key"
    equal((key.stat().st_mode & 0o777, key.stat().st_size, key.parent.stat().st_mode & 0o777), (0o600, 32, 0o700), "the key")
    equal(restored(script, XDG_STATE_HOME=state)[0], "__main__", "with the key")
    key.chmod(0o640)
    check("other users have access to it" in restored(script, XDG_STATE_HOME=state), "a key that the group can read is used")
    check(script.run("first", env={"XDG_STATE_HOME": state, "RUNS": script.folder / "others"}).code == 0, "a key that is refused ends the run")
    if os.geteuid() == 0:
        key.chmod(0o600)
        os.chown(key, 65534, 65534)
        check("owner 65534" in restored(script, XDG_STATE_HOME=state), "the key of another user is used")
    key.unlink()
    check("has no key to verify" in restored(script, XDG_STATE_HOME=state), "a signature is accepted without a key")
    equal(script.run("first", env={"XDG_STATE_HOME": state, "RUNS": script.folder / "new-key"}).code, 0, "exit with a new key")
    check("its authentication code is not valid" in restored(script, XDG_STATE_HOME=state), "a signature of an older key is accepted")


if __name__ == "__main__":
    main()
