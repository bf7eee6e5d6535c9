#!/usr/bin/python3
"""The public names of the packages below have examples in their docstrings, and the examples work."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403

# Runs the examples of the public names that the module itself defines, and prints the names without an example. Names that a module only
# imports from trainrt.train are documented there.
RUNNER = """
import doctest, importlib, inspect, sys

module = importlib.import_module(sys.argv[1])
finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
for name in module.__all__:
    thing = getattr(module, name)
    origin = getattr(thing, "__module__", "")
    if not (inspect.isclass(thing) or inspect.isfunction(thing)) or (origin.startswith("trainrt.train") and not origin.startswith(sys.argv[1])):
        continue
    tests = [test for test in finder.find(thing, name, module=False, globs={"trainrt": importlib.import_module("trainrt")}) if test.examples]
    if not tests and "Not supported" not in (thing.__doc__ or ""):
        print(f"no example: {name}")
    for test in tests:
        runner.run(test)
results = runner.summarize()
print(f"examples: {results.attempted}, failed: {results.failed}")
if results.failed:
    sys.exit(1)
"""


def examples_work(module, least, command=()):
    job = run([*command, PYTHON, program_file(RUNNER), module], env={**ONE_THREAD, "PYTHONPATH": BUILD / "python", "CUDA_VISIBLE_DEVICES": ""}, timeout=120)
    check_exit(job, 0)
    found = re.search(r"examples: (\d+), failed: 0", job.out)
    check(found and int(found[1]) >= least, f"fewer than {least} examples", job)
    equal(re.findall("no example: (.*)", job.out), [], "names without an example", job)


@test
def examples_of_trainrt_work_in_a_run():
    storage = scratch()
    examples_work("trainrt", 20, [TRAINRT, "-n", 1, f"--run.storage_path={storage}", "--run.name=examples", "--failure.max_failures=0", "--"])


@test
def examples_of_trainrt_data_work():
    examples_work("trainrt.data", 35)
    examples_work("trainrt.data.aggregate", 30)
    examples_work("trainrt.data.preprocessors", 80)


@test
def examples_of_trainrt_tune_work():
    examples_work("trainrt.tune", 30)
    examples_work("trainrt.tune.schedulers", 10)
    examples_work("trainrt.tune.search", 5)
    for module, least in (("stopper", 15), ("logger", 8), ("utils", 8), ("search.sample", 24), ("trainable", 5), ("experiment", 5)):
        examples_work(f"trainrt.tune.{module}", least)


@test
def examples_of_trainrt_train_work():
    examples_work("trainrt.train", 100)


@test
def examples_of_trainrt_air_and_sinks_work():
    examples_work("trainrt.air", 4)
    examples_work("trainrt.sinks", 4)


@test
def examples_of_trainrt_train_xgboost_work():
    if run([PYTHON, "-c", "import xgboost"]).code != 0:
        skip("xgboost is not installed (python3-xgboost)")
    examples_work("trainrt.train.xgboost", 15)
    examples_work("trainrt.tune.integration.xgboost", 6)


@test
def examples_of_trainrt_train_torch_work():
    require_torch()
    examples_work("trainrt.train.torch", 40)


main()
