#!/usr/bin/python3
"""trainrt.tune: sweeps whose searcher or scheduler decides in the script, which gets SIGTERM and is started again."""
import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from runs.train_scripts import PYTHON, Script, result_of  # noqa: E402

SWEEP = """
import json, os, sys, time
from trainrt import tune
from trainrt.tune.schedulers import *
from trainrt.tune.search import *

LOG = os.path.join(os.environ["TEST_FOLDER"], "calls")

def log(*words):
    with open(LOG, "a") as file:
        file.write(json.dumps(words) + "\\n")

def train(config):
    for step in range(4):
        time.sleep(config.get("pause", 0.2))
        tune.report({"loss": float(config["x"])})

class Counts(Searcher):
    def __init__(self, last=100):
        super().__init__(metric="loss", mode="min")
        self.last, self.given = last, 0
    def suggest(self, trial_id):
        if self.given == self.last:
            return Searcher.FINISHED
        self.given += 1
        log("suggest", trial_id, self.given)
        return {"x": self.given}
    def on_trial_complete(self, trial_id, result=None, error=False):
        log("complete", trial_id, result["loss"])
    def save(self, checkpoint_path):
        with open(checkpoint_path, "w") as file:
            json.dump(self.given, file)
    def restore(self, checkpoint_path):
        self.given = json.load(open(checkpoint_path))

def tuner(space=None, run=None, **config):
    return tune.Tuner(train, param_space=space or {}, tune_config=tune.TuneConfig(metric="loss", mode="min", **config),
                      run_config=tune.RunConfig(name="sweep", storage_path=os.environ["RUNS"], **(run or {})))

def show(grid):
    print("RESULT", json.dumps([[each.config, len(each.reports)] for each in grid]))
"""


class Sweep(Script):
    """A script whose lines `main` run a sweep, and append the calls of its objects to a file."""

    def __init__(self, main, head=""):
        super().__init__(head + "\nif __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in main.strip().split("\n")), SWEEP)

    def env(self, **more):
        return super().env(TEST_FOLDER=self.folder, **more)

    def calls(self, kind=None):
        path = self.folder / "calls"
        found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [call for call in found if kind in (None, call[0])]

    def finished(self):
        return [path for path in self.runs.glob("sweep/trial_*/run.json") if json.loads(path.read_text()).get("state") == "finished"]

    def stopped(self, condition, what):
        """Starts the script, and sends SIGTERM when `condition()` holds."""
        job = self.start()
        wait_until(lambda: condition() or job.ended(), 60, what, job)
        job.process.send_signal(signal.SIGTERM)
        equal(job.wait(60), 75, "exit of the stopped script", job)
        return job

    def completed(self):
        job = self.run(timeout=120)
        check_exit(job, 0)
        return result_of(job)[0], job


@test
def an_own_searcher_knows_the_trials_before_the_stop():
    sweep = Sweep("show(tuner({'pause': 0.5}, search_alg=Counts(), num_samples=4, max_concurrent_trials=2).fit())")
    job = sweep.stopped(lambda: len(sweep.calls("suggest")) >= 3, "a third suggestion")
    check("Start the same script again, with RunConfig(name='sweep'), to continue" in job.err, "the advice after the stop", job)
    check("Tuner.restore(" not in job.err, "the advice names restore()", job)
    found, job = sweep.completed()
    values = [config["x"] for config, _ in found]
    equal(sorted(values), [1, 2, 3, 4], "values", job)
    equal(sorted(sweep.calls("complete")), [["complete", f"trial_0000{number}", float(x)] for number, x in enumerate(values)], "ends, each once", job)


@test
def restore_refuses_a_sweep_that_decides_in_the_script():
    for name, arguments in (("Counts", "search_alg=Counts(), num_samples=1"), ("Second", "space={'x': 1}, scheduler=Second()")):
        sweep = Sweep(f"""
tuner({arguments}).fit()
try:
    tune.Tuner.restore(os.path.join(os.environ["RUNS"], "sweep"), train)
except ValueError as error:
    print("RESULT", json.dumps(str(error)))
""", "\nclass Second(FIFOScheduler):\n    pass\n")
        found, job = sweep.completed()
        check(f"the script of the sweep decides by {name}" in found and "start the same script again; it continues the sweep" in found, found, job)


@test
def a_repeater_passes_on_the_mean_of_trials_before_and_after_the_stop():
    sweep = Sweep("show(tuner(search_alg=Repeater(Counts(), repeat=2), num_samples=4, max_concurrent_trials=1).fit())")
    sweep.stopped(lambda: len(sweep.finished()) >= 1, "the end of a trial")
    found, job = sweep.completed()
    equal([(config["x"], config["__trial_index__"]) for config, _ in found], [(1, 0), (1, 1), (2, 0), (2, 1)], "values", job)
    equal(sweep.calls("complete"), [["complete", "trial_00000", 1.0], ["complete", "trial_00002", 2.0]], "means", job)


@test
def a_limiter_passes_on_the_results_of_trials_that_ran_at_the_stop():
    sweep = Sweep("show(tuner(search_alg=ConcurrencyLimiter(Counts(), max_concurrent=2), num_samples=4).fit())")
    sweep.stopped(lambda: len(sweep.calls("suggest")) >= 2, "two trials")
    found, job = sweep.completed()
    equal(sorted(config["x"] for config, _ in found), [1, 2, 3, 4], "values", job)
    equal(sorted(call[2] for call in sweep.calls("complete")), [1.0, 2.0, 3.0, 4.0], "results", job)


@test
def an_own_scheduler_gets_the_reports_of_earlier_starts_once_more():
    sweep = Sweep("""
scheduler = Seen()
show(tuner(space={"x": tune.grid_search([1, 2, 3])}, scheduler=scheduler, max_concurrent_trials=1).fit())
log("seen", scheduler.seen)
""", """
class Seen(FIFOScheduler):
    def __init__(self):
        super().__init__()
        self.seen = []
    def on_trial_result(self, tune_controller, trial, result):
        self.seen.append([trial.trial_id, result["training_iteration"]])
        return self.STOP if trial.trial_id == "trial_00000" and result["training_iteration"] == 2 else self.CONTINUE
    def on_trial_complete(self, tune_controller, trial, result):
        self.seen.append([trial.trial_id, "end"])
""")
    sweep.stopped(lambda: len(sweep.finished()) == 2, "the end of two trials")
    found, job = sweep.completed()
    equal([reports for _, reports in found], [2, 4, 4], "reports", job)
    expected = [["trial_00000", 1], ["trial_00000", 2]] + [[f"trial_0000{number}", step] for number in (1, 2) for step in (1, 2, 3, 4, "end")]
    equal(sweep.calls("seen")[0][1], expected, "what the scheduler has seen", job)


@test
def running_trials_end_by_themselves_when_the_searcher_has_no_more_values():
    sweep = Sweep("show(tuner({'pause': 0.6}, search_alg=Counts(last=2), num_samples=9, max_concurrent_trials=3).fit())")
    found, job = sweep.completed()
    equal(sorted((config["x"], reports) for config, reports in found), [(1, 4), (2, 4)], "trials", job)
    check("the sweep ends when the running trials have ended" in job.err, "the note is missing", job)


@test
def a_scheduler_stops_another_trial_although_a_stopper_exists():
    sweep = Sweep("""
show(tuner({"x": tune.grid_search([1, 2])}, {"stop": {"training_iteration": 4}}, scheduler=Other(), max_concurrent_trials=2).fit())
""", """
class Other(FIFOScheduler):
    def on_trial_result(self, tune_controller, trial, result):
        for other in tune_controller.get_trials() if result["training_iteration"] == 2 else ():
            tune_controller.stop_trial(other)
        return self.CONTINUE
""")
    found, job = sweep.completed()
    check(all(reports < 4 for _, reports in found), f"reports: {found}", job)


@test
def a_trial_of_two_ranks_stops_while_it_waits_for_a_suggestion():
    sweep = Sweep("""
made = tune.Tuner(DataParallelTrainer(train, scaling_config=ScalingConfig(num_workers=2)), tune_config=tune.TuneConfig(metric="loss", mode="min", search_alg=Never()),
                  run_config=tune.RunConfig(name="sweep", storage_path=os.environ["RUNS"]))
made.fit()
""", """
from trainrt.train import DataParallelTrainer, ScalingConfig
class Never(Searcher):
    def suggest(self, trial_id):
        log("suggest")
""")
    sweep.stopped(lambda: len(sweep.calls("suggest")) >= 3, "three questions")


@test
def optuna_continues_its_study():
    if run([PYTHON, "-c", "import optuna"]).code != 0:
        skip("optuna is not installed (package python3-optuna)")
    sweep = Sweep("""
import optuna
from trainrt.tune.search.optuna import OptunaSearch
search = OptunaSearch(space={"x": optuna.distributions.FloatDistribution(0, 1)}, metric="loss", mode="min", seed=3, points_to_evaluate=[{"x": 0.5}])
show(tune.Tuner(train, tune_config=tune.TuneConfig(search_alg=search, num_samples=4, max_concurrent_trials=2), run_config=tune.RunConfig(name="sweep", storage_path=os.environ["RUNS"])).fit())
log("study", [[each.params["x"], each.values] for each in search._study._study.trials])
""")
    sweep.stopped(lambda: len(sweep.finished()) >= 1, "the end of a trial")
    found, job = sweep.completed()
    drawn = [config["x"] for config, _ in found]
    equal((0.5 in drawn, len(set(drawn))), (True, 4), f"different values of {drawn}", job)
    equal(sorted(sweep.calls("study")[0][1]), [[x, [x]] for x in sorted(drawn)], "the study", job)


main()
