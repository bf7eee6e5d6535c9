#!/usr/bin/python3
"""trainrt.tune: the values of domains, and the decisions of searchers and schedulers, alone and in the script of a sweep."""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from runs.train_scripts import Script, result_of  # noqa: E402

sys.path.insert(0, str(SOURCE / "src/python"))
os.environ.pop("TRAINRT_FD", None)
from trainrt import tune as api  # noqa: E402
from trainrt.tune import logger, schedulers, search  # noqa: E402
from trainrt.tune._restoring import with_earlier_synch  # noqa: E402
from trainrt.tune.experiment import Trial  # noqa: E402
from trainrt.tune.schedulers._bandit import Process  # noqa: E402
from trainrt.tune.search.sample import Categorical, Float  # noqa: E402
from trainrt.tune.search.variant_generator import generate_variants  # noqa: E402


def numpy():
    try:
        import numpy
    except ImportError:
        skip("NumPy is not installed")
    return numpy


# ---- sweeps of earlier versions ----------------------------------------------------------------------------------------------


@test
def a_sweep_begun_without_synch_continues_without_it():
    folder, sections = str(scratch()), {"tune": {"scheduler": "pbt"}, "tune.pbt": {"synch": "true", "quantile_fraction": "0.25"}}
    equal(with_earlier_synch(folder, sections), sections, "a new sweep")
    record = {"tune.scheduler": "pbt", "tune.pbt.quantile_fraction": "0.25"}
    (Path(folder) / "sweep.json").write_text(json.dumps(record))
    equal(with_earlier_synch(folder, sections), {"tune": {"scheduler": "pbt"}, "tune.pbt": {"quantile_fraction": "0.25"}}, "an earlier version's sweep")
    (Path(folder) / "sweep.json").write_text(json.dumps({**record, "tune.pbt.synch": "true"}))
    equal(with_earlier_synch(folder, sections), sections, "a sweep begun with synch")


# ---- domains -----------------------------------------------------------------------------------------------------------------

# Values that Ray Tune 2.60 draws with random_state=7.
DRAWN = [(api.uniform(0, 1), 0.625095466604667), (api.quniform(0, 10, .5), 6.5), (api.loguniform(1e-4, 1), 0.03165059410215622), (api.qloguniform(.01, 1, .01), 0.18),
         (api.randint(2, 9), 8), (api.qrandint(-5, 12, 4), 12), (api.lograndint(1, 100), 17), (api.qlograndint(2, 100, 3), 27),
         (api.randn(1, 2), 1.002460306714965), (api.qrandn(1, 2, .2), 1.0), (api.choice([1, 2, "a"]), "a")]


@test
def domains_draw_the_values_of_ray_tune():
    numpy()
    for domain, value in DRAWN:
        equal(domain.sample(random_state=7), value, f"{domain!r}")
    equal([len(domain.sample(size=3, random_state=7)) for domain, _ in DRAWN], [3] * len(DRAWN), "numbers of values")


@test
def domains_know_their_values_and_samplers():
    equal((Float(0, 1).is_valid(0.5), Float(0, 1).is_valid(2), api.choice([1, 2]).is_valid(3), api.sample_from(lambda: 1).is_valid(3)), (True, False, False, True), "valid")
    equal((Float(0, 1).domain_str, api.choice([1]).domain_str, api.randint(1, 3).cast("2"), len(api.choice([1, 2]))), ("(0, 1)", "[1]", 2, 2), "descriptions")
    equal((Categorical([1]).grid().is_grid(), str(Float(1, 2).loguniform().get_sampler())), (True, "LogUniform"), "samplers")
    raises(ValueError, "has the sampler", of=lambda: Float(0, 1).uniform().uniform())
    raises(ValueError, "lower must be a finite number", of=lambda: Float(None, 1).uniform())
    equal([api.sample_from(function).sample(config={"a": 3}) for function in (lambda config: config["a"], lambda spec: spec.config.a, lambda: 3)], [3] * 3, "functions")


@test
def variants_are_in_the_order_of_ray_tune():
    numpy()
    space = {"b": api.grid_search([1, 2]), "a": {"c": api.grid_search(["x", "y"])}, "twice": api.sample_from(lambda config: config["b"] * 2), "u": api.uniform(0, 1)}
    found = [tree for _, tree in generate_variants(space, random_state=1)]
    equal([(each["b"], each["a"]["c"], each["twice"]) for each in found], [(1, "x", 2), (1, "y", 2), (2, "x", 4), (2, "y", 4)], "variants")
    equal([len({tree["u"] for _, tree in generate_variants(space, is_constant, 1)}) for is_constant in (False, True)], [4, 1], "different random values")
    given = search.BasicVariantGenerator(points_to_evaluate=[{"b": 2, "u": 0.5}, {"u": 0.25}])
    given.set_search_properties(None, None, space, num_samples=3)
    found = [given.suggest(f"trial_{number}") for number in range(given.total_samples(3, space))]
    equal([(each["b"], each["u"]) for each in found[:6]], [(2, .5)] * 2 + [(1, .25)] * 2 + [(2, .25)] * 2, "points to evaluate")
    equal((len(found), given.suggest("trial_10")), (10, search.Searcher.FINISHED), "all")


# ---- searchers and schedulers without a sweep ----------------------------------------------------------------------------------


class Counts(search.Searcher):
    def __init__(self):
        super().__init__(metric="m", mode="min")
        self.calls = []

    def suggest(self, trial_id):
        return {"x": trial_id}

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.calls.append((trial_id, result))


@test
def a_limiter_and_a_repeater_pass_on_results_as_ray_tune():
    counts = Counts()
    limited = search.ConcurrencyLimiter(counts, 2, batch=True)
    equal([limited.suggest(name) for name in "abc"], [{"x": "a"}, {"x": "b"}, None], "suggestions")
    limited.on_trial_complete("a", {"m": 1})
    equal((counts.calls, limited.suggest("c")), ([], None), "during a batch")
    limited.on_trial_complete("b", {"m": 2})
    equal((counts.calls, limited.suggest("c")), ([("a", {"m": 1}), ("b", {"m": 2})], {"x": "c"}), "after a batch")
    counts = Counts()
    repeater = search.Repeater(counts, repeat=3)
    equal([repeater.suggest(name) for name in "abcd"][2:], [{"x": "a", "__trial_index__": 2}, {"x": "d", "__trial_index__": 0}], "repeated")
    for name, value in (("a", 1.0), ("b", float("nan")), ("c", 2.0)):
        repeater.on_trial_complete(name, {"m": value})
    equal(counts.calls, [("a", {"m": 1.5})], "the mean")
    raises(RuntimeError, "must be a searcher", of=lambda: search.ConcurrencyLimiter(3, 1))


@test
def schedulers_decide_as_ray_tune():
    asha = schedulers.ASHAScheduler(metric="m", mode="max", grace_period=1, max_t=10, reduction_factor=2)
    trials = [Trial("f", trial_id=str(number)) for number in range(4)]
    for trial in trials:
        asha.on_trial_add(None, trial)
    equal([asha.on_trial_result(None, trial, {"training_iteration": 1, "m": value}) for trial, value in zip(trials, (3, 2, 4, 1))], ["CONTINUE", "STOP", "CONTINUE", "STOP"], "rung")
    equal(asha.on_trial_result(None, trials[0], {"training_iteration": 10, "m": 9}), "STOP", "max_t")
    check(asha.debug_string().startswith("Using AsyncHyperBand: num_stopped=3\nBracket: Iter 8.000: "), asha.debug_string())
    folder = scratch()
    asha.save(f"{folder}/asha.json")
    other = schedulers.ASHAScheduler(grace_period=1, max_t=10, reduction_factor=2)
    other.restore(f"{folder}/asha.json")
    equal((other.debug_string(), other.metric), (asha.debug_string(), "m"), "restored")
    median = schedulers.MedianStoppingRule("training_iteration", "m", "min", grace_period=1, min_samples_required=2, hard_stop=True)
    for trial in trials[:2]:
        median.on_trial_complete(None, trial, {"training_iteration": 2, "m": 1})
    equal([median.on_trial_result(None, trials[2], {"training_iteration": 2, "m": value}) for value in (0.5, 0.5)], ["CONTINUE"] * 2, "better than the median")
    equal((median.on_trial_result(None, trials[3], {"training_iteration": 2, "m": 7}), median.debug_string()), ("STOP", "Using MedianStoppingRule: num_stopped=1."), "worse")
    equal([schedulers.ASHAScheduler(metric="m").set_search_properties(*given) for given in (("a", None), (None, "min"))], [False, True], "own metric")
    raises(ValueError, "valid `metric`", of=lambda: schedulers.ASHAScheduler().on_trial_add(None, trials[0]))


@test
def hyperband_halves_its_brackets():
    class Controller:
        stopped = []
        stop_trial = stopped.append
    band = schedulers.HyperBandScheduler(metric="m", mode="max", max_t=9, reduction_factor=3)
    trials = [Trial("f", trial_id=str(number)) for number in range(9)]
    for trial in trials:
        band.on_trial_add(Controller, trial)
        trial.set_status("RUNNING")
    equal(band.state(), {"num_brackets": 3, "num_stopped": 0}, "brackets")
    actions = [band.on_trial_result(Controller, trial, {"training_iteration": 9, "m": number}) for number, trial in enumerate(trials[:3])]
    equal(actions, ["PAUSE", "PAUSE", "STOP"], "the first bracket, which runs to the end")


@test
def pb2_finds_the_values_that_improve_most():
    numpy_ = numpy()
    numpy_.random.seed(0)
    points = [[time, 0.0, x] for time in (1, 2) for x in (0.0, 0.2, 0.4, 0.8, 1.0)]
    chosen = Process(numpy_.array(points), numpy_.array([1 - (x - 0.6) ** 2 for _, _, x in points]), [(0.0, 1.0)]).best([2, 0.0], [])
    check(0.4 <= chosen[0] <= 0.8, f"chosen: {chosen}")


@test
def loggers_write_the_files_of_a_trial_without_a_pickle():
    folder = scratch()
    trial = Trial("f", config={"a": {"b": 1}}, trial_id="t")
    trial.result.path = str(folder)
    for callback in (logger.CSVLoggerCallback(), logger.JsonLoggerCallback()):
        for value in (1, 2):
            callback.on_trial_result(0, [], trial, {"n": {"m": value}, "config": trial.config})
        callback.on_trial_complete(0, [], trial)
    equal((folder / "progress.csv").read_text().split(), ["n/m", "1", "2"], "progress.csv")
    equal([json.loads(line)["n"] for line in (folder / "result.json").read_text().splitlines()], [{"m": 1}, {"m": 2}], "result.json")
    equal(sorted(path.name for path in folder.iterdir()), ["params.json", "progress.csv", "result.json"], "files")


# ---- in a sweep ---------------------------------------------------------------------------------------------------------------

SWEEPS = """
import json, os, sys
from trainrt import tune
from trainrt.tune.schedulers import *
from trainrt.tune.search import *

def train(config):
    for step in range(4):
        tune.report({"loss": abs(config["x"] - 3)})

def number(config):
    if config["x"] == 1:
        raise ValueError("no number")
    yield config["x"]
    yield config["x"] + 1

class Climb(Searcher):
    def __init__(self):
        super().__init__(metric="loss", mode="min")
        self.lines = []
    def suggest(self, trial_id):
        number = len([line for line in self.lines if line[0] == "suggest"])
        if number == 3:
            return Searcher.FINISHED
        self.lines.append(("suggest", trial_id))
        return {"x": number + 1}
    def on_trial_result(self, trial_id, result):
        self.lines.append(("result", trial_id))
    def on_trial_complete(self, trial_id, result=None, error=False):
        self.lines.append(("complete", trial_id, result["loss"], error))

class Second(FIFOScheduler):
    def on_trial_result(self, tune_controller, trial, result):
        return self.STOP if result["training_iteration"] == 2 else self.CONTINUE

class Times(tune.Callback):
    lines = []
    def on_trial_error(self, iteration, trials, trial, **info):
        self.lines.append(("error", trial.trial_id, len(trials)))
    def on_experiment_end(self, trials, **info):
        self.lines.append(("end", len(trials)))

def grid(name, trainable, space, run={}, **config):
    return tune.Tuner(trainable, param_space=space, tune_config=tune.TuneConfig(**config), run_config=tune.RunConfig(name=name, storage_path=os.environ["RUNS"], **run)).fit()

def shown(grid):
    return [[each.config, len(each.reports), each.metrics.get("_metric")] for each in grid]
"""


def sweeps(main):
    """Runs the lines of `main` in a script. Returns (the printed results, the job)."""
    made = Script("\nif __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in main.strip().split("\n")), SWEEPS)
    job = made.run(timeout=120)
    check_exit(job, 0)
    return result_of(job)[0], job


@test
def an_own_searcher_and_an_own_scheduler_decide_in_the_script():
    (first, calls, stopped), job = sweeps("""
climb = Climb()
results = [shown(grid("climb", train, {"y": 7}, search_alg=climb, num_samples=5, max_concurrent_trials=1)), climb.lines]
print("RESULT", json.dumps(results + [shown(grid("second", train, {"x": tune.grid_search([1, 2])}, scheduler=Second()))]))
""")
    equal(first, [[{"y": 7, "x": number}, 4, None] for number in (1, 2, 3)], "the suggested trials", job)
    equal([line for line in calls if line[0] != "result"],
          [step for number in range(3) for step in (["suggest", f"trial_0000{number}"], ["complete", f"trial_0000{number}", 2 - number, False])], "calls", job)
    equal(stopped, [[{"x": 1}, 2, None], [{"x": 2}, 2, None]], "stopped by the scheduler", job)


@test
def numbers_of_a_function_are_reports_and_an_error_is_passed_on_at_once():
    (found, lines), job = sweeps("""
results = shown(grid("numbers", number, {"x": tune.grid_search([1, 5])}, run={"callbacks": [Times()]}, max_concurrent_trials=1))
print("RESULT", json.dumps([results, Times.lines]))
""")
    equal(found[1], [{"x": 5}, 2, 6], "yielded numbers", job)
    equal(lines[0][:2] + [lines[-1]], ["error", "trial_00000", ["end", 2]], "calls", job)


main()
