"""Ray Tune's own examples, from its wheel, with `trainrt` for `ray`: each runs, and continues after a kill. Its schedulers make the same
decisions as trainrt's for the same reports."""
import re
import sys
import time

import environments
from cases import LIMIT_S
from frameworks import Framework
from harness import BUILD, SOURCE, Job, check, check_exit, equal, kill, run, scratch, wait_until
from runs.sweeps import check_each_once, trials_of

TUNE = Framework("Ray_Tune", "", "ray_tune", ("ray_tune",), "ray")
# Script, name of its sweep, number of trials, and reports per trial.
EXAMPLES = {"tune_basic": ("tune_basic_example", "Tuner_tune_basic_example", 10, 5), "async_hyperband": ("async_hyperband_example", "asynchyperband_test", 20, 1),
            "hyperband": ("hyperband_function_example", "hyperband_test", 20, 10), "pbt": ("pbt_function", "pbt_function_api_example", 8, 10)}


class Place:
    """A folder with the example. Its sweep is in `runs`."""

    def __init__(self, script, sweep):
        environment = environments.ready(TUNE)
        [source] = environment.glob(f"lib/python3*/site-packages/ray/tune/examples/{script}.py")
        self.folder, self.script = scratch(script), f"{script}.py"
        (self.folder / self.script).write_text(re.sub(r"\bray\b", "trainrt", source.read_text()))
        self.variables = {**environments.activated(TUNE, environment), "HOME": self.folder, "OMP_NUM_THREADS": 1, "PYTHONPATH": BUILD / "python"}
        self.config = self.folder / f"{sweep}.ini"  # the path that helpers of sweeps expect

    def start(self):
        return Job(["python3", self.script, "--smoke-test"], cwd=self.folder, env=self.variables)


def check_ended(place, job, trials, reports):
    job.code = job.wait(LIMIT_S)
    check_exit(job, 0)
    check("Best hyperparameters found" in job.out, "the best hyperparameters are not printed", job)
    found = check_each_once(place.config, trials)
    equal({trial["training_iteration"] for trial in found}, {reports}, "reports", job)


def undisturbed(script, sweep, trials, reports):
    place = Place(script, sweep)
    check_ended(place, place.start(), trials, reports)


def killed(script, sweep, trials, reports):
    place = Place(script, sweep)
    job = place.start()
    wait_until(lambda: job.ended() or (place.folder / "runs" / sweep / "trial_00003").exists(), LIMIT_S, "some trials", job)
    check(not job.ended(), "the sweep ended before it could be killed", job)
    time.sleep(0.2)
    kill([job.process.pid])
    job.process.wait()
    check(any(trial["state"] != "finished" for trial in trials_of(place.config)), "the sweep had ended before the kill", job)
    check_ended(place, place.start(), trials, reports)


def decisions(scheduler):
    python = environments.ready(TUNE) / "bin/python"
    job = run([python, SOURCE / "tests/frameworks/scripts/ray_tune_decisions.py", BUILD / "tests/tune_decisions", scheduler], timeout=LIMIT_S)
    check_exit(job, 0)
    count = int(re.search(r"decisions (\d+)", job.out)[1])
    check(count > 1000, f"only {count} decisions", job)
    print(f"# {scheduler}: {count} decisions", file=sys.stderr)


def cases_of_tune():
    """Returns (framework, name, function) for each case."""
    for name, words in EXAMPLES.items():
        yield TUNE, name, lambda _, words=words: undisturbed(*words)
        yield TUNE, f"{name}_killed", lambda _, words=words: killed(*words)
    for scheduler in ("asha", "hyperband", "pbt"):
        yield TUNE, f"decisions_of_{scheduler}", lambda _, scheduler=scheduler: decisions(scheduler)
