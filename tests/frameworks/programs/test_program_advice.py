#!/usr/bin/python3
"""Messages to the user of a program when a run stops or cannot begin: the option that continues a run without a name, failures that no restart
can fix, values that differ between the ranks, and the stop of a program that has not reported yet."""
import re
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PYTHON = "/usr/bin/python3"
STEPS = """import time
import trainrt
ctx = trainrt.context()
state = trainrt.State()
state["step"] = 0
ctx.restore(state)
while state["step"] < 2000:
    time.sleep(0.02)
    state["step"] += 1
    ctx.step()
    if state["step"] % 5 == 0:
        ctx.report({"epoch": state["step"]})
ctx.save()
"""


def start(text, *words, ranks=2, folder=None, env=None):
    """Starts a program without a name of its run."""
    folder = folder or scratch()
    (folder / "train.py").write_text(text)
    return Job([TRAINRT, "-n", ranks, *words, "--", PYTHON, "train.py"], cwd=folder, env=env), folder


def run_dirs(folder):
    return sorted((folder / "runs").iterdir())


def stopped(job, text, code=STOPPED):
    """Waits for the text on standard error, stops the job and returns its last line."""
    wait_until(lambda: text in job.out + job.err, 30, text, job)
    job.process.send_signal(signal.SIGTERM)
    job.code = job.wait(30)
    check_exit(job, code)
    return job.err.splitlines()[-1]


def starts(folder, ranks=2):
    """Returns how often the program of each rank was started."""
    return len((folder / "starts").read_text().splitlines()) // ranks


COUNT = "with open('starts', 'a') as file:\n    file.write('x\\n')\n"


# ---- the option that continues a run -----------------------------------------------------------------------------------------


@test
def a_stopped_run_without_a_name_names_the_option_that_continues_it():
    job, folder = start(STEPS)
    last = stopped(job, "iteration ")
    name = run_dirs(folder)[0].name
    check(f"Run the same command again with --run.name={name} (before --) to continue" in last, f"the last line is {last!r}", job)
    job, _ = start(STEPS.replace("2000", "50"), f"--run.name={name}", folder=folder)
    job.code = job.wait(30)
    check_exit(job, FINISHED)
    equal([path.name for path in run_dirs(folder)], [name], "runs", job)
    line = r"trainrt: continuing from \S+/checkpoint_\d+ \(step \d+, iteration \d+; last reported epoch: \d+\)"
    check(re.search(line, job.err), "no line shows where the run continues", job)


@test
def a_start_of_a_run_without_a_checkpoint_says_so():
    job, folder = start("import trainrt\nctx = trainrt.context()\nctx.restore(trainrt.State())\nctx.step()\nraise SystemExit(3 if ctx.world_rank else 0)\n",
                        "--run.name=mine", "--failure.max_failures=1")
    job.code = job.wait(60)
    check_exit(job, FAILED)
    check(f"attempt 2 of the run in {folder}/runs/mine; trainrt has no saved state of it" in job.err, "the second attempt", job)
    check("starts from the beginning, since it has no checkpoint" in job.err and "last checkpoint" not in job.err, "the advice", job)


@test
def only_the_directory_of_the_run_that_the_program_opens_is_printed():
    for settings, name in (("'run.name': 'own'", "own"), ("'checkpoint.num_to_keep': '1'", None)):
        job, folder = start(f"import time\nfrom trainrt import _client\ntime.sleep(1.5)\n_client.open_run({{{settings}}})\n{STEPS}")
        stopped(job, "iteration ")
        found = run_dirs(folder)
        equal([path.name for path in found], [name or found[0].name], "runs", job)
        hint = "" if name else f"; --run.name={found[0].name} continues it"
        check(f"the program opens the run '{found[0].name}' in {found[0]}{hint}\n" in job.err, "the directory of the run", job)
        check("the run directory is " not in job.err, "the directory of another run was printed", job)


@test
def a_stopped_run_with_a_name_is_continued_by_the_same_command():
    job, _ = start(STEPS, "--run.name=mine")
    last = stopped(job, "iteration ")
    check("Run the same command again to continue" in last and "--run.name" not in last, f"the last line is {last!r}", job)


@test
def the_directory_of_a_run_without_a_name_is_printed_before_the_program_ends():
    job, folder = start("import time\ntime.sleep(1000)\n")
    wait_until(lambda: "the run directory is " in job.err, 5, "the run directory", job)
    last = stopped(job, "the run directory is ")
    check(f"the run directory is {run_dirs(folder)[0]}" in job.err, "it is another directory", job)
    check(f"--run.name={run_dirs(folder)[0].name} (before --)" in last, f"the last line is {last!r}", job)


# ---- failures before the first step ------------------------------------------------------------------------------------------


def is_not_restarted(text, error):
    job, folder = start(COUNT + text)
    job.code = job.wait(60)
    check_exit(job, FAILED)
    equal(starts(folder), 1, "starts of the program", job)
    check("not restarted" in job.err, "the message", job)
    equal(job.err.count(f"\n{error}"), 1, f"lines that begin with {error}", job)
    check(("(the interpreter is '/" in job.err) == error.startswith("ModuleNotFoundError"), "the path of the interpreter", job)
    check("continue" not in job.err.split("not restarted")[1], "it promises to continue", job)
    check(error in (run_dirs(folder)[0] / "error.txt").read_text(), "error.txt", job)


add_test("a_missing_module_is_not_restarted_and_its_traceback_is_shown_once", is_not_restarted, "import no_such_module\n",
         "ModuleNotFoundError: No module named 'no_such_module'")
add_test("a_name_that_a_module_lacks_is_not_restarted", is_not_restarted, "from os import no_such_name\n", "ImportError: cannot import name")


@test
def a_syntax_error_is_not_restarted():
    job, folder = start("def f(:\n")
    job.code = job.wait(60)
    check_exit(job, FAILED)
    equal(job.err.count("SyntaxError: "), 2, "mentions: the output of the program and the error", job)
    equal(len(attempts(run_dirs(folder)[0])), 1, "attempts", job)


@test
def a_command_that_is_not_found_is_not_restarted():
    folder = scratch()
    job = run([TRAINRT, "-n", 2, "--", "sh", "-c", "echo x >> starts; no-such-command"], cwd=folder, timeout=60)
    check_exit(job, FAILED)
    equal(starts(folder), 1, "starts of the program", job)


@test
def a_program_with_wrong_arguments_is_not_restarted():
    job, folder = start(COUNT + "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', required=True)\nparser.parse_args()\n")
    job.code = job.wait(60)
    check_exit(job, FAILED)
    equal(starts(folder), 1, "starts of the program", job)
    check("exited with 2: " in job.err and "error: the following arguments are required: --lr" in job.err, "the message", job)


@test
def a_program_that_fails_twice_in_the_same_way_before_its_first_step_is_not_restarted_again():
    job, folder = start(COUNT + "import sys\nsys.exit('no luck')\n")
    job.code = job.wait(60)
    check_exit(job, FAILED)
    equal(starts(folder), 2, "starts of the program", job)
    check("exited with 1" in job.err and "not restarted again, since it failed in the same way before the first step" in job.err, "the message", job)
    check("given up" not in job.err, "it was restarted by trainrt -n", job)


@test
def a_program_with_the_client_that_fails_twice_before_its_first_step_is_not_restarted_again():
    """This holds even if the ranks fail at different times and print different numbers in each attempt."""
    job, folder = start(COUNT + "import os, time\nimport trainrt\nctx = trainrt.context()\nctx.barrier()\nprint(os.getpid(), time.time())\n"
                        "time.sleep(0.5 * ctx.world_rank)\nopen('no-such-file')\n")
    job.code = job.wait(60)
    check_exit(job, FAILED)
    equal(starts(folder), 2, "starts of the program", job)
    check("FileNotFoundError" in job.err, "the cause", job)


@test
def a_missing_module_on_one_rank_is_restarted_while_the_others_run():
    text = ("import os, time\nif os.environ['RANK'] == '1' and os.environ['TORCHELASTIC_RESTART_COUNT'] == '0':\n    import no_such_module\n"
            "if os.environ['TORCHELASTIC_RESTART_COUNT'] == '0':\n    time.sleep(100)\n")
    job, _ = start(text)
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    check("ModuleNotFoundError" in job.err and "restart 1 of 3" in job.err, "the restart", job)


@test
def a_missing_module_after_steps_is_restarted():
    text = STEPS.replace("    ctx.step()\n", "    ctx.step()\n    if state['step'] == 7 and os.environ['TORCHELASTIC_RESTART_COUNT'] < '2':\n"
                         "        import no_such_module\n").replace("2000", "12").replace("import time\n", "import os, time\n")
    job, _ = start(text)
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    check("restart 2 of 3" in job.err, "the restarts", job)


# ---- values that differ between the ranks ------------------------------------------------------------------------------------

SUMS = STEPS.replace("ctx.restore(state)", "{declaration}\nctx.restore(state)").replace("    ctx.step()\n", "    {sum}\n    ctx.step()\n", 1)


def sums(declaration, sum):
    return SUMS.replace("{declaration}", declaration).replace("{sum}", sum)


@test
def a_running_sum_of_each_rank_in_a_value_is_reported_in_the_first_steps():
    job, _ = start(sums('state["loss_sum"] = 0.0', 'state["loss_sum"] += ctx.world_rank'), "--run.name=mine")
    wait_until(lambda: "State differs" in job.err or "iteration " in job.out, 30, "a warning", job)
    check("iteration " not in job.out, "a report came first", job)
    job.process.kill()
    job.wait(30)
    for word in ("State differs between the ranks at step 1", "'loss_sum': value 0 ", "part_of_sum=True", ".part_of_sum()", "per_rank=True"):
        check(word in job.err, f"the warning lacks {word!r}", job)
    equal(job.err.count("State differs"), 1, "warnings", job)


@test
def the_remedies_that_the_message_names_work():
    declaration = ('import array\nown = array.array("d", [0.0])\nstate.value("loss_sum", 0.0, part_of_sum=True)\n'
                   'state.tensor("own", own, per_rank=True)')
    job, _ = start(sums(declaration, 'state["loss_sum"] += ctx.world_rank\n    own[0] += ctx.world_rank'), "--run.name=mine")
    last = stopped(job, "iteration 1 ")
    check("everything up to there is saved" in last and "State differs" not in job.err, f"the last line is {last!r}", job)


# ---- the first lines that a start prints -------------------------------------------------------------------------------------


@test
def fit_names_the_train_function_and_its_script():
    folder = scratch()
    (folder / "rt.py").write_text("from trainrt.train import ScalingConfig\nfrom trainrt.train.data_parallel_trainer import DataParallelTrainer\n\n\n"
                                  "def train_func():\n    pass\n\n\nif __name__ == '__main__':\n"
                                  "    DataParallelTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()\n")
    job = run([PYTHON, "rt.py"], cwd=folder, env={"PYTHONPATH": BUILD / "python"}, timeout=60)
    check_exit(job, FINISHED)
    check("train function train_func of rt.py" in job.err.splitlines()[0], "the first line", job)


# ---- stops before the first report -------------------------------------------------------------------------------------------


@test
def a_program_with_the_client_that_is_stopped_before_its_first_report_starts_again():
    job, _ = start("import time\nimport trainrt\nctx = trainrt.context()\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.05)\n    ctx.stop_point()\n", "--run.name=mine")
    last = stopped(job, "ready")
    check("before the program's first step or report; the next start begins at step 0" in last, f"the last line is {last!r}", job)
    check("asked to stop; saving at the next step" in job.err, "the answer to the signal", job)


@test
def the_answer_to_a_stop_signal_says_that_a_program_without_the_client_must_save_itself():
    text = "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\nprint('ready', flush=True)\ntime.sleep(1000)\n"
    folder = scratch()
    (folder / "train.py").write_text(text)
    job = Job([TRAINRT, "-n", 2, "--train.stop_timeout=7", "--", PYTHON, "train.py"], cwd=folder)
    wait_until(lambda: "ready" in job.out, 30, "the program", job)
    job.process.send_signal(signal.SIGTERM)
    job.code = job.wait(30)
    check("asked to stop; the program gets SIGTERM and must save its state itself within 7 s (train.stop_timeout)" in job.err, "the answer", job)
    check("saving at the next step" not in job.err, "it promises a save", job)


main()
