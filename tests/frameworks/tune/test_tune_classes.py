#!/usr/bin/python3
"""trainrt.tune: Trainable classes, stoppers, callbacks, and trainables by name."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import Script, result_of  # noqa: E402
from harness import *  # noqa: E402,F403

sys.path.insert(0, str(SOURCE / "src/python"))
os.environ.pop("TRAINRT_FD", None)
from trainrt import tune as api  # noqa: E402
from trainrt.tune import stopper as stoppers  # noqa: E402
from trainrt.tune.utils import deep_update, flatten_dict, merge_dicts, unflattened_lookup  # noqa: E402

HEAD = """import json, os, sys
from trainrt import tune
from trainrt.tune.schedulers import *
from trainrt.tune.stopper import *

class Halves(tune.Trainable):
    def setup(self, config, fails_at=0):
        self.value, self.fails_at, self.loads = config["x"], fails_at, 0
    def step(self):
        if self.fails_at and self.loads == 0 and self.iteration == self.fails_at:
            raise ValueError("fails once")
        self.value /= 2
        return {"loss": self.value, "loads": self.loads, "done": self.iteration == 7}
    def save_checkpoint(self, checkpoint_dir):
        return {"value": self.value}
    def load_checkpoint(self, checkpoint):
        self.value, self.loads = checkpoint["value"], self.loads + 1
    def cleanup(self):
        open(os.path.join(self.logdir, "cleaned"), "a").close()

class Files(Halves):
    def save_checkpoint(self, checkpoint_dir):
        with open(os.path.join(checkpoint_dir, "value"), "w") as file:
            file.write(str(self.value))
    def load_checkpoint(self, checkpoint_dir):
        super().load_checkpoint({"value": float(open(os.path.join(checkpoint_dir, "value")).read())})

def endless(config):
    for step in range(100):
        tune.report({"loss": config["x"] / (step + 1)})

class Log(tune.Callback):
    def __init__(self, fails=False):
        self.lines, self.fails = [], fails
    def setup(self, stop=None, num_samples=None, total_num_samples=None, **info):
        self.lines.append(f"setup {num_samples} {total_num_samples}")
    def on_trial_start(self, iteration, trials, trial, **info):
        self.lines.append(f"start {trial} {trial.config['x']}")
    def on_trial_restore(self, iteration, trials, trial, **info):
        self.lines.append(f"restore {trial}")
    def on_trial_result(self, iteration, trials, trial, result, **info):
        if self.fails and result["training_iteration"] == 2:
            raise KeyError("the callback fails")
        self.lines.append(f"result {trial} {result['training_iteration']} {result['loss']} {result['done']}")
    def on_trial_save(self, iteration, trials, trial, **info):
        self.lines.append(f"save {trial} {len(trial.checkpoint.path) > 0}")
    def on_trial_complete(self, iteration, trials, trial, **info):
        self.lines.append(f"complete {trial} {trial.status}")
    def on_trial_error(self, iteration, trials, trial, **info):
        self.lines.append(f"error {trial} {trial.status}")
    def on_experiment_end(self, trials, **info):
        self.lines.append(f"end {len(trials)}")

def grid(trainable, name, space=None, tune_config=None, **run):
    run_config = tune.RunConfig(name=name, storage_path=os.environ["RUNS"], **run)
    return tune.Tuner(trainable, param_space=space or {"x": 8.0}, tune_config=tune_config, run_config=run_config).fit()

def shown(grid):
    return [{"loss": each.metrics["loss"], "loads": each.metrics.get("loads"), "reports": len(each.reports), "state": each.state,
             "checkpoints": sorted(metrics["training_iteration"] for _, metrics in each.best_checkpoints)} for each in grid if each.reports]

"""


def tuned(main, code=0):
    """Runs the lines of `main` in a script. Returns (the printed results, the job)."""
    made = Script("\nif __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in main.strip().split("\n")), HEAD)
    job = made.run(timeout=120)
    equal(job.code, code, "exit", job)
    return (result_of(job)[0] if "RESULT" in job.out else None), job


@test
def a_class_runs_until_it_is_done_and_saves_by_the_checkpoint_config():
    found, job = tuned("""
every, end = tune.CheckpointConfig(checkpoint_frequency=3, checkpoint_at_end=True), tune.CheckpointConfig(checkpoint_at_end=True)
limit = tune.TuneConfig(metric="loss", mode="min", scheduler=ASHAScheduler(max_t=4))
print("RESULT", json.dumps([shown(grid(Halves, "every", checkpoint_config=every))[0], shown(grid(Files, "end", stop={"training_iteration": 5}, checkpoint_config=end))[0],
                            shown(grid(Halves, "asha", tune_config=limit, checkpoint_config=end))[0], os.path.exists(os.environ["RUNS"] + "/end/trial_00000/cleaned")]))
""")
    every, end, asha, is_cleaned = found
    equal((every["reports"], every["loss"], every["checkpoints"]), (8, 8 / 2**8, [3, 6, 8]), "a class that ends by itself", job)
    equal((end["reports"], end["checkpoints"], is_cleaned), (5, [5], True), "a class that a rule ends", job)
    equal((asha["reports"], asha["checkpoints"][-1]), (4, 4), "a class that a scheduler ends", job)


@test
def a_class_continues_from_its_checkpoint_after_a_failure():
    found, job = tuned("""
retry = {"failure_config": tune.FailureConfig(max_failures=1), "checkpoint_config": tune.CheckpointConfig(checkpoint_frequency=2)}
print("RESULT", json.dumps([shown(grid(tune.with_parameters(made, fails_at=5), made.__name__, **retry))[0] for made in (Halves, Files)]))
""")
    for each in found:
        equal((each["reports"], each["loss"], each["loads"]), (8, 8 / 2**8, 1), "a restarted class", job)


class Counter(api.Trainable):
    def setup(self, config):
        self.count = config.get("first", 0)

    def step(self):
        self.count += 1
        return self.config.get("result", {"count": self.count, "timesteps_this_iter": 10})

    def save_checkpoint(self, checkpoint_dir):
        return self.config.get("saved", {"count": self.count, "list": [1, (2.5, None)]})

    def load_checkpoint(self, checkpoint):
        self.count = checkpoint["count"]


@test
def a_class_is_trained_saved_and_restored_without_a_tuner():
    first, second = Counter(), Counter({"first": 50})
    result = [first.train() for _ in range(3)][-1]
    equal({name: result[name] for name in ("count", "training_iteration", "done", "trial_id", "timesteps_total", "config")},
          {"count": 3, "training_iteration": 3, "done": False, "trial_id": "default", "timesteps_total": 30, "config": {}}, "a result")
    saved = first.save()
    second.restore(saved)
    equal((second.training_iteration, second.train()["count"], second.train()["timesteps_total"]), (3, 4, 50), "after restore()")
    third = Counter()
    third.restore(saved.checkpoint.path)
    equal((third.iteration, third.count, third.reset({}), os.path.isdir(third.logdir)), (3, 3, False, True), "after restore() from a path")
    check(not list(Path(saved.checkpoint.path).rglob("*.pkl")), "the checkpoint has a pickle")
    raises(AssertionError, "Counter.step() returned a list", of=Counter({"result": [1]}).train)
    raises(ValueError, "returned the path '/elsewhere'", of=Counter({"saved": "/elsewhere"}).save)
    raises(TypeError, "returned an int", of=Counter({"saved": 3}).save)
    raises(NotImplementedError, "does not define step()", of=api.Trainable().train)


# ---- stoppers ----------------------------------------------------------------------------------------------------------------


def ends(stopper, *values, trial="a"):
    return [stopper(trial, {"m": value}) for value in values]


@test
def each_stopper_stops_by_its_rule():
    combined = stoppers.CombinedStopper(stoppers.MaximumIterationStopper(3), stoppers.FunctionStopper(lambda trial, result: result["m"] > 5))
    equal((ends(combined, 1, 9, 1), ends(combined, 1, trial="b")), ([False, True, True], [False]), "combined")
    equal(ends(stoppers.TrialPlateauStopper("m", std=0.1, num_results=2, grace_period=3), 1, 1, 1.05, 2, 2), [False, False, True, False, True], "plateau")
    equal(ends(stoppers.TrialPlateauStopper("m", num_results=2, grace_period=2, metric_threshold=0.5, mode="min"), 1, 1, .4, .4), [False] * 3 + [True], "threshold")
    plateau = stoppers.ExperimentPlateauStopper("m", std=0.1, top=2, mode="max", patience=2)
    equal((ends(plateau, 1, 5, 5, 0), plateau.stop_all()), ([False, False, False, True], True), "experiment")
    equal((stoppers.TimeoutStopper(0).stop_all(), stoppers.TimeoutStopper(60).stop_all()), (True, False), "timeout")
    for use in (lambda: stoppers.ExperimentPlateauStopper("m", mode="most"), lambda: stoppers.ExperimentPlateauStopper("m", top=1),
                lambda: stoppers.TrialPlateauStopper("m", metric_threshold=1), lambda: stoppers.TimeoutStopper("1 s"), lambda: stoppers.CombinedStopper(3),
                lambda: api.Tuner(print, run_config=api.RunConfig(stop=stoppers.NoopStopper)), lambda: api.Tuner(print, run_config=api.RunConfig(stop=[3]))):
        raises(ValueError, of=use)


@test
def a_stopper_ends_trials_or_the_sweep():
    found, job = tuned("""
space, one = {"x": tune.grid_search([2.0, 4.0, 8.0])}, tune.TuneConfig(max_concurrent_trials=1)
print("RESULT", json.dumps([shown(grid(endless, "each", space, stop=CombinedStopper(MaximumIterationStopper(6), FunctionStopper(lambda trial, result: result["loss"] < 1)))),
                            shown(grid(endless, "all", space, one, stop=ExperimentPlateauStopper("loss", std=0.01, top=3, patience=2)))]))
""")
    equal([(each["reports"], each["state"]) for each in found[0]], [(3, "finished"), (5, "finished"), (6, "finished")], "trials", job)
    check(found[1][0]["reports"] < 100 and len(found[1]) < 3, f"the sweep continued: {found[1]}", job)
    check("stop_all() of ExperimentPlateauStopper" in job.err, "the stop is not reported", job)


@test
def stop_all_pauses_the_trial_that_reported_and_the_next_start_continues_it():
    found, job = tuned("""
import time
def paced(config):
    for step in range(60):
        time.sleep(0.05)
        tune.report({"loss": config["x"] / (step + 1)})

class Enough(Stopper):
    count = 0
    def __call__(self, trial_id, result):
        self.count += 1
        return False
    def stop_all(self):
        return self.count >= 3

space = {"x": tune.grid_search([2.0])}
print("RESULT", json.dumps([shown(grid(paced, "all", space, stop=Enough())), shown(grid(paced, "all", space))]))
""")
    check(found[0][0]["state"] != "finished" and found[0][0]["reports"] < 60, f"the trial has ended: {found[0]}", job)
    equal([(each["reports"], each["state"]) for each in found[1]], [(60, "finished")], "the continued trial", job)


# ---- callbacks ---------------------------------------------------------------------------------------------------------------


@test
def callbacks_get_each_result_once_and_the_ends_of_trials():
    found, job = tuned("""
log = Log()
grid(Halves, "log", {"x": tune.grid_search([8.0, "text"])}, tune.TuneConfig(num_samples=1), stop={"training_iteration": 2}, callbacks=[log],
     checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=True))
print("RESULT", json.dumps(log.lines))
""")
    equal([found[0], found[-1]], ["setup 1 2", "end 2"], "the first and the last call", job)
    equal([line for line in found if "trial_00000" in line],
          ["start trial_00000 8.0", "result trial_00000 1 4.0 False", "result trial_00000 2 2.0 False", "save trial_00000 True",
           "complete trial_00000 TERMINATED"], "calls of the first trial", job)
    equal([line for line in found if "trial_00001" in line], ["start trial_00001 text", "error trial_00001 ERROR"], "calls of the failed trial", job)


@test
def an_exception_of_a_callback_ends_the_sweep_and_the_next_start_continues():
    found, job = tuned("""
found = []
for fails in (True, False):
    log = Log(fails)
    try:
        results = grid(Halves, "again", stop=MaximumIterationStopper(5), callbacks=[log], checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=1))
    except KeyError as error:
        found.append(str(error))
print("RESULT", json.dumps([found, log.lines, shown(results)]))
""")
    errors, lines, (trial,) = found
    equal((errors, trial["reports"], trial["loss"]), (["'the callback fails'"], 5, 8 / 2**5), "the error, and the trial of the second start", job)
    results = [line.split()[2] for line in lines if line.startswith("result")]
    equal((results, lines[1:3]), ([str(number) for number in range(int(results[0]), 6)], ["start trial_00000 8.0", "restore trial_00000"]), "results", job)


# ---- names, and functions of utils -------------------------------------------------------------------------------------------


@test
def trainables_are_found_by_name_and_experiments_run_in_turn():
    found, job = tuned("""
tune.register_trainable("halves", Halves)
storage = {"storage_path": os.environ["RUNS"]}
named = tune.run("halves", config={"x": 16.0}, name="named", stop={"training_iteration": 3}, checkpoint_freq=2, **storage)
trials = tune.run_experiments({"one": {"run": "halves", "config": {"x": 4.0}, **storage}, "two": tune.Experiment("two", endless, config={"x": 3.0}, stop={"loss": 3}, **storage)})
single = tune.Tuner("halves", param_space={"x": 2.0}, run_config=tune.RunConfig(name="one", storage_path=os.environ["RUNS"] + "/single")).fit().get_best_result()
print("RESULT", json.dumps([named.trials[0].last_result["loss"], named.trials[0].checkpoint is not None, [trial.last_result["loss"] for trial in trials], single.config]))
""")
    equal(found, [2.0, True, [4 / 2**8, 3.0], {"x": 2.0}], "results", job)


@test
def invalid_trainables_are_errors():
    raises(api.TuneError, "unknown trainable 'nothing'", of=lambda: api.Tuner("nothing"))
    raises(TypeError, "dict", "derived from tune.Trainable", of=lambda: api.Tuner(dict))
    raises(TypeError, "derived from tune.Trainable", of=lambda: api.register_trainable("x", 3))
    raises(api.TuneError, "has no trainable", of=lambda: api.Experiment.from_json("x", {}))
    raises(api.TuneError, "must be an Experiment", of=lambda: api.run_experiments(3))
    frequent = api.RunConfig(checkpoint_config=api.CheckpointConfig(checkpoint_frequency=2))
    raises(ValueError, "checkpoint_frequency=2", "has no effect on a function", of=lambda: api.Tuner(print, run_config=frequent))


@test
def functions_of_utils_work_on_nested_dicts():
    nested = {"a": {"b": 1, "c": {"d": 2}}, "e": [{"f": 3}]}
    equal(flatten_dict(nested), {"a/b": 1, "a/c/d": 2, "e": [{"f": 3}]}, "flat")
    equal(flatten_dict(nested, flatten_list=True)["e/0/f"], 3, "a list")
    raises(ValueError, "contains '/'", of=lambda: flatten_dict({"a/b": {"c": 1}}, prevent_delimiter=True))
    equal((unflattened_lookup("e/0/f", nested), unflattened_lookup("a/x", nested, default=7)), (3, 7), "values")
    equal((merge_dicts(nested, {"a": {"b": 5}})["a"], nested["a"]["b"]), ({"b": 5, "c": {"d": 2}}, 1), "merged")
    raises(ValueError, "unknown key 'x'", of=lambda: deep_update({"a": 1}, {"x": 2}))
    equal(deep_update({"a": {"b": 1}}, {"a": {"c": 2}}, override_all_key_list=["a"]), {"a": {"c": 2}}, "replaced")


main()
