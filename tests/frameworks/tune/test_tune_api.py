#!/usr/bin/python3
"""trainrt.tune: Ray Tune's Tuner in plain scripts, errors of use, and sweeps that are killed at any point."""
import importlib
import json
import os
import random
import re
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.sweeps import *  # noqa: E402,F403
from runs.train_scripts import PYTHON, Script, result_of  # noqa: E402

PACKAGE = SOURCE / "src/python"
sys.path.insert(0, str(PACKAGE))
os.environ.pop("TRAINRT_FD", None)
from trainrt import tune as api  # noqa: E402
from trainrt.train import ScalingConfig  # noqa: E402
from trainrt.train.data_parallel_trainer import DataParallelTrainer  # noqa: E402
from trainrt.tune._param_space import ParamSpace  # noqa: E402

HEAD = """import functools, json, os, random, shutil, sys, time
from trainrt import train, tune
from trainrt.train import DataParallelTrainer, ScalingConfig
from trainrt.tune import *
from trainrt.tune.schedulers import *
from trainrt.tune.search import *

def descend(config):  # continues from its checkpoint
    place, first = 10.0, 0
    checkpoint = tune.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder, open(os.path.join(folder, "state.json")) as file:
            place, first = json.load(file)
    for step in range(first, config.get("steps", 9)):
        place -= config["lr"] * place
        folder = os.path.join(os.environ["TEST_SCRATCH"], f"report-{os.getpid()}-{step}")
        os.mkdir(folder)
        with open(os.path.join(folder, "state.json"), "w") as file:
            json.dump([place, step + 1], file)
        tune.report({"loss": place * place, "lr": config["lr"]}, checkpoint=Checkpoint(folder))
        shutil.rmtree(folder)
        time.sleep(config.get("pause", 0))

def tuner(function=descend, space=None, name="sweep", run=None, **config):
    return Tuner(function, param_space=space or {"lr": tune.uniform(0.01, 0.5)}, run_config=RunConfig(name=name, storage_path=os.environ["RUNS"], **(run or {})),
                 tune_config=TuneConfig(**{"metric": "loss", "mode": "min", "num_samples": 4, **config}))

def print_results(results):
    print("RESULT", json.dumps([{"config": result.config, "metrics": result.metrics, "path": result.path, "error": str(result.error) if result.error else None,
                                 "reports": len(result.reports)} for result in results]))

"""


class Tuning(Script):
    """A script with the functions of HEAD and own lines under the main guard."""

    def __init__(self, main, functions=""):
        super().__init__(f"{functions}\nif __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in main.strip().split("\n")), HEAD)
        self.scratch = scratch()

    def env(self, **more):
        return super().env(TEST_SCRATCH=self.scratch, **more)

    def config(self, name="sweep"):
        """Returns the path of a config in this folder; helpers of sweeps derive the run directory from it."""
        return self.folder / f"{name}.ini"


def tuned(main, functions="", code=0):
    """Runs a script, and checks its exit code and that no private folder remains. Returns (the printed results, the job, the script)."""
    made = Tuning(main, functions)
    job = made.run(timeout=120)
    equal(job.code, code, "exit", job)
    equal(made.left(), [], "private folders", job)
    return (result_of(job)[0] if "RESULT" in job.out else None), job, made


# ---- results and trials of a sweep ---------------------------------------------------------------------------------------------


@test
def a_function_is_tuned_and_the_grid_has_all_results():
    results, job, made = tuned("""
grid = tuner(num_samples=2, space={"lr": tune.grid_search([0.1, 0.4]), "deep": {"width": tune.randint(1, 9), "kind": tune.choice([[1, 2], ["a", None]])},
                                   "steps": 5, "tenfold": tune.sample_from(tenfold)}).fit()
print_results(grid)
best = grid.get_best_result()
print("best", best.config["lr"], best.checkpoint is not None, grid.num_errors, grid.num_terminated, os.path.basename(grid.experiment_path))
print("others", grid.get_best_result(scope="all").config["lr"], grid.get_best_result("loss", "max").config["lr"], len(grid), grid[1].config["lr"])
""", "def tenfold(spec):\n    return spec.config.lr * 10 + random.random()\n")
    equal([each["config"]["lr"] for each in results], [0.1, 0.4, 0.1, 0.4], "learning rates", job)
    for each in results:
        deep = each["config"]["deep"]
        check(deep["kind"] in ([1, 2], ["a", None]) and 1 <= deep["width"] < 9 and each["config"]["steps"] == 5, f"a config: {each['config']}", job)
        check(0 <= each["config"]["tenfold"] - 10 * each["config"]["lr"] < 1, f"a value that sample_from computes: {each['config']}", job)
        equal((each["reports"], each["metrics"]["training_iteration"], each["error"]), (5, 5, None), "reports", job)
    equal(len({each["config"]["tenfold"] for each in results}), 4, "draws of sample_from")
    check("best 0.4 True 0 4 sweep" in job.out and "others 0.4 0.1 4 0.4" in job.out, "the best", job)
    check_each_once(made.config(), 4)
    again = made.run(timeout=60)
    check("is complete" in again.err and result_of(again)[0] == results, "a second start does not give the same results", again)


@test
def a_list_in_the_param_space_is_one_value_with_a_note():
    results, job, _ = tuned("print_results(tuner(constant, space={'lr': [0.1, 0.2]}, num_samples=1).fit())", "def constant(config):\n    return {'loss': 1}\n")
    equal([each["config"] for each in results], [{"lr": [0.1, 0.2]}], "configs", job)
    check("lr=[0.1, 0.2]. For one trial per item, use tune.grid_search()" in job.err, "no note", job)


@test
def reports_and_return_values_can_end_a_trial():
    results, job, _ = tuned("""
print_results([tuner(returns, num_samples=1, name="returns").fit()[0], tuner(is_done, num_samples=1, name="done", run={"stop": {"done": True}}).fit()[0],
     tuner(endless, num_samples=1, name="function", run={"stop": enough}).fit()[0],
     tuner(endless, num_samples=1, name="number", run={"stop": {"training_iteration": 7}}).fit()[0]])
""", """
def returns(config):
    tune.report({"loss": 1.0})
    return {"loss": config["lr"]}

def is_done(config):
    for step in range(100):
        tune.report({"loss": 1.0 / (step + 1), "done": step == 3})

def endless(config):
    for step in range(100):
        tune.report(loss=1.0 / (step + 1))

def enough(trial_id, result):
    return result["training_iteration"] >= 6 and trial_id.startswith("trial_")
""")
    equal([each["reports"] for each in results], [2, 4, 6, 7], "reports", job)
    equal(results[0]["metrics"]["loss"], results[0]["config"]["lr"], "the return value of the function", job)


@test
def a_trainer_is_tuned_on_two_ranks_per_trial_and_keeps_its_config():
    results, job, made = tuned("""
trainer = DataParallelTrainer(together, train_loop_config={"deep": {"a": 1, "b": 2}, "lr": 7}, scaling_config=ScalingConfig(num_workers=2))
print_results(tuner(trainer, space={"train_loop_config": {"lr": tune.uniform(0, 1), "deep": {"b": tune.choice([3, 4])}}}, num_samples=2, max_concurrent_trials=1).fit())
""", """
def together(config):
    context = train.get_context()
    train.report({"loss": config["lr"], "a": config["deep"]["a"], "b": config["deep"]["b"], "ranks": context.get_world_size()})
""")
    for each in results:
        metrics = each["metrics"]
        check(metrics["a"] == 1 and metrics["b"] in (3, 4) and metrics["ranks"] == 2 and 0 <= metrics["loss"] <= 1, f"a report: {metrics}", job)
        equal(each["config"], {"train_loop_config": {"lr": metrics["loss"], "deep": {"a": 1, "b": metrics["b"]}}}, "the config in Ray Tune's form", job)
    check_each_once(made.config(), 2)


@test
def trials_of_a_trainer_have_their_own_ranks_and_datasets():
    results, job, made = tuned("""
rows = [trainrt.data.from_items([{"x": float(n)} for n in range(count)]) for count in (4, 6)]
trainer = DataParallelTrainer(counts, train_loop_config={"deep": {"a": 1}}, datasets={"train": rows[0], "other": rows[0]})
grid = tuner(trainer, num_samples=1, max_concurrent_trials=2, space={"scaling_config": ScalingConfig(num_workers=tune.grid_search([1, 2])),
             "datasets": {"train": tune.grid_search(rows)}, "train_loop_config": {"deep": {"b": 2}}}).fit()
print("RESULT", json.dumps([[result.config["scaling_config"], [each is result.config["datasets"]["train"] for each in rows].index(True), result.config["train_loop_config"],
                            [result.metrics[name] for name in ("loss", "others", "ranks")]] for result in grid]))
""", """
import trainrt

def counts(config):
    samples = {name: sum(len(batch["x"]) for batch in train.get_dataset_shard(name).iter_batches(batch_size=1)) for name in ("train", "other")}
    tune.report({"loss": samples["train"], "others": samples["other"], "ranks": train.get_context().get_world_size()})
""")
    equal(results, [[{"num_workers": ranks}, number, {"deep": {"a": 1, "b": 2}}, [(4, 6)[number] // ranks, 4 // ranks, ranks]] for ranks in (1, 2) for number in (0, 1)],
          "config, samples per rank and ranks of each trial", job)


@test
def with_parameters_passes_objects_to_the_function():
    results, job, _ = tuned("""
print_results(tuner(tune.with_resources(tune.with_parameters(weighs, data=list(range(1000)), offset=1), {"cpu": 1}), num_samples=2,
          search_alg=ConcurrencyLimiter(BasicVariantGenerator(random_state=3), 1)).fit())
""", "def weighs(config, data, offset):\n    tune.report({'loss': sum(data) + offset, 'threads': int(os.environ['OMP_NUM_THREADS'])})\n")
    equal([(each["metrics"]["loss"], each["metrics"]["threads"]) for each in results], [(499501, 1)] * 2, "reports", job)


@test
def a_scaling_config_as_bundles_requests_the_sum_for_a_trial():
    from trainrt.tune._resources.requests import requested_by
    scaling = ScalingConfig(num_workers=3, use_gpu=True, resources_per_worker={"CPU": 2, "licences": 1})
    factory = scaling.as_placement_group_factory()
    equal(factory, api.PlacementGroupFactory([{}, *[{"CPU": 2, "GPU": 1, "licences": 1}] * 3]), "bundles")
    check(factory != api.PlacementGroupFactory([{"CPU": 2, "GPU": 1, "licences": 1}] * 3), "an empty first bundle is ignored by ==")
    equal(len({factory, scaling.as_placement_group_factory()}), 1, "equal factories of a set")

    class Asks(api.Trainable):
        @classmethod
        def default_resource_request(cls, config):
            return factory

    expected = ScalingConfig(num_workers=1, use_gpu=True, resources_per_worker={"CPU": 6.0, "GPU": 3.0, "licences": 3.0})
    for trainable in (api.with_resources(function, factory), api.with_resources(function, lambda config: factory), Asks):
        equal(requested_by(trainable, {}), expected, f"resources of {trainable.__name__}")


# ---- failures ----------------------------------------------------------------------------------------------------------------

FAILS = """
def fails(config):
    for step in range(4):
        if config["lr"] == 0.2 and step == 2:
            raise ValueError("two tenths are not allowed")
        tune.report({"loss": config["lr"]})
        time.sleep(config.get("pause", 0))
"""


@test
def a_trial_that_fails_is_in_the_errors_of_the_grid():
    results, job, _ = tuned("""
grid = tuner(fails, space={"lr": tune.grid_search([0.1, 0.2, 0.3])}, num_samples=1, run={"failure_config": FailureConfig(max_failures=1)}).fit()
print_results(grid)
print("errors", grid.num_errors, grid.num_terminated, type(grid.errors[0]).__name__, "two tenths are not allowed" in str(grid.errors[0]))
print("best", grid.get_best_result().config, len(open(os.path.join(grid[1].path, "error.txt")).read()) > 0)
""", FAILS)
    check("all 3 trials failed" not in job.err, "a sweep with good trials is reported as failed", job)
    check("errors 1 2 TrainingFailedError True" in job.out and "best {'lr': 0.1} True" in job.out, "the errors and the best result of the grid", job)
    check("fails" in results[1]["error"], "the traceback", job)
    equal([each["error"] is None for each in results], [True, False, True], "trials that failed", job)


@test
def fail_fast_ends_the_sweep_at_the_first_failure_and_restore_continues():
    _, job, made = tuned("""
if "restore" in sys.argv:
    grid = Tuner.restore(os.environ["RUNS"] + "/sweep", fails, resume_errored=True).fit()
    print("restored", Tuner.can_restore(grid.experiment_path), Tuner.can_restore(os.environ["RUNS"]), grid.num_terminated, grid.num_errors, grid.get_best_result().config)
else:
    grid = tuner(fails, space={"lr": tune.grid_search([0.2, 0.1, 0.3]), "pause": 0.3}, num_samples=1, max_concurrent_trials=1, run={"failure_config": FailureConfig(fail_fast=True)}).fit()
    print("grid", grid.num_errors, grid.num_terminated)
""", FAILS)
    check("grid 1 0" in job.out and "fail_fast" in job.err, "the sweep continued", job)
    again = made.run("restore", timeout=60)
    equal(again.code, 0, "exit", again)
    check("grid" not in again.out, "the restored script took the wrong branch")


@test
def a_tampered_sweep_record_starts_no_program():
    _, job, made = tuned("""
path = os.environ["RUNS"] + "/sweep"
if "restore" not in sys.argv:
    print_results(tuner(num_samples=2, space={"lr": 0.1, "steps": 2}).fit())
else:
    try:
        print_results(Tuner.restore(path, descend).fit())
    except ValueError as error:
        print("refused", error)
""")
    record = made.runs / "sweep/sweep.json"
    signed = json.loads(record.read_text())
    check(len(signed["_code"]["hmac_sha256"]) == 64, "the sweep has no code", job)
    for key, text in (("train.program", "touch pwned"), ("tune.searcher_program", "touch pwned"), ("callback.command.on_finish", "touch pwned"),
                      ("tune.space.train.program", "choice('touch pwned')"), ("checkpoint.mirror", str(made.folder / "pwned")), ("train.library", "evil.so"),
                      ("sink.program.program", "touch pwned"), ("tune.metric", "loss\n[callback.command]\non_finish = touch pwned")):
        record.write_text(json.dumps({**signed, key: text}))
        again = made.run("restore", timeout=60)
        check("refused" in again.out and "its authentication code is not valid" in again.out and key in again.out, f"{key} is accepted", again)
    record.write_text(json.dumps({key: text for key, text in signed.items() if key != "_code"}))  # as in records of older versions
    older = made.run("restore", timeout=60)
    equal(json.loads(record.read_text()), signed, "the record after the restore", older)
    for again in (older, made.run("restore", timeout=60)):
        equal(result_of(again)[0], result_of(job)[0], "results", again)
    check(not (made.folder / "pwned").exists(), "the named program was started")


@test
def restore_needs_the_param_space_only_if_it_is_not_json():
    _, job, made = tuned("""
if "restore" in sys.argv:
    print_results(Tuner.restore(os.environ["RUNS"] + "/sweep", descend).fit())
    try:
        Tuner.restore(os.environ["RUNS"] + "/objects", descend)
    except ValueError as error:
        print("refused", error)
else:
    print_results(tuner(num_samples=3, space={"lr": tune.loguniform(0.01, 0.5), "n": {"a": tune.choice([1, 2.5, "x"])}, "steps": 2}).fit())
    tuner(num_samples=1, name="objects", space={"lr": 0.1, "steps": 1, "function": tune.choice([print, len])}).fit()
""")
    again = made.run("restore", timeout=60)
    equal(again.code, 0, "exit", again)
    equal(result_of(again)[0], result_of(job)[0], "results", again)
    check("refused" in again.out and "give param_space= again" in again.out, "a param_space that is not JSON is not requested", again)


@test
def a_sweep_at_the_top_level_of_a_script_runs_its_trials_without_the_top_level():
    made = Script(HEAD + "print('TOP LEVEL')\nprint('RESULT', json.dumps(len(tuner().fit().errors)))\n", "")
    job = made.run(timeout=60, env={"TEST_SCRATCH": scratch()})
    equal((job.code, result_of(job)), (0, [0]), "exit and failed trials", job)
    lines = job.out + "".join(path.read_text() for path in made.runs.glob("sweep/**/*.log"))
    equal(lines.count("TOP LEVEL"), 1, "executions of the top level", job)


@test
def killed_and_stopped_sweep_scripts_continue_without_loss():
    made = Tuning("print_results(tuner(num_samples=6, space={'lr': tune.uniform(0.01, 0.5), 'pause': 0.15}, max_concurrent_trials=2).fit())")
    draws = random.Random(4)
    kills = 0

    def attempts():
        return len(list(Path(made.runs).glob("sweep/*/attempts/*.json")))

    for stop in (None, signal.SIGTERM, None):
        before = attempts()
        job = made.start()
        wait_until(lambda: attempts() > before or job.ended(), 60, "an attempt of a trial", job)
        time.sleep(draws.uniform(0.1, 0.6))
        if job.ended():
            break
        kills += 1
        if stop is None:
            kill([job.process.pid])
            job.process.wait()
        else:
            job.wait_for("trainrt: ")  # from this line on the script handles signals
            job.process.send_signal(stop)
            equal(job.wait(60), 75, "exit", job)
    check(kills >= 2, "the sweep ended too early", job)
    job = made.run(timeout=120)
    equal(job.code, 0, "exit", job)
    equal(made.left(), [], "private folders", job)
    trials = check_each_once(made.config(), 6)
    check(sum(trial["attempts"] for trial in trials) > 6, "no trial was continued", job)
    for trial, each in zip(trials, result_of(job)[0]):
        check_iterations(trial["path"], 9)
        equal(each["metrics"]["loss"], loss_after(9, each["config"]["lr"]), "the last loss", job)


@test
def a_stop_waits_for_the_next_report_of_each_trial_and_a_second_one_kills_the_trials():
    made = Tuning("tuner(sleeps, {'lr': tune.grid_search([1, 2])}, num_samples=1, max_concurrent_trials=2).fit()", """
def sleeps(config):
    open(os.path.join(os.environ["RUNS"], f"begun-{config['lr']}"), "w").close()
    time.sleep(100)
""")
    job = made.start()
    wait_until(lambda: len(list(made.runs.glob("begun-*"))) == 2, 60, "two objectives", job)
    job.process.send_signal(signal.SIGTERM)
    job.wait_for("stopping: waiting for the next report of 2 trials", 30)
    job.process.send_signal(signal.SIGTERM)
    equal(job.wait(30), 75, "exit", job)
    check("was killed by a second signal" in job.err, "the end is not reported", job)
    wait_until(lambda: not processes_with(f"RUNS={made.runs}"), 10, "the end of the trials", job)


def loss_after(steps, lr):
    place = 10.0
    for _ in range(steps):
        place -= lr * place
    return place * place


@test
def a_sweep_stopped_by_its_time_budget_continues_later():
    made = Tuning("grid = tuner(num_samples=2, time_budget_s=2 if 'short' in sys.argv else None, space={'lr': 0.1, 'steps': 6, 'pause': 0.7}, max_concurrent_trials=1).fit()\n"
                  "print('terminated', grid.num_terminated)")
    job = made.run("short", timeout=60)
    check(job.code == 0 and "terminated 0" in job.out and "time_budget_s=...) has elapsed" in job.err, "the budget is not reported", job)
    job = made.run(timeout=60)
    check(job.code == 0 and "terminated 2" in job.out, "the second start did not finish the trials", job)


# ---- schedulers and searchers ------------------------------------------------------------------------------------------------


@test
def schedulers_stop_or_clone_trials():
    results, job, made = tuned("""
asha = tuner(num_samples=8, name="asha", scheduler=ASHAScheduler(max_t=9, reduction_factor=3), max_concurrent_trials=2).fit()
pbt = tuner(num_samples=4, name="pbt", space={"lr": tune.uniform(0.01, 0.5), "steps": 14},
            scheduler=PopulationBasedTraining(time_attr="training_iteration", perturbation_interval=4, hyperparam_mutations={"lr": lambda: random.uniform(0.01, 0.5)},
                                              custom_explore_fn=lambda config: {**config, "half": config["lr"] / 2})).fit()
band = tuner(num_samples=8, name="band", space={"lr": tune.uniform(0.01, 0.5), "steps": 99}, scheduler=HyperBandScheduler(max_t=9)).fit()
print_results([*asha, *pbt, *band])
""")
    asha, pbt, band = results[:8], results[8:12], results[12:]
    check(sum(each["reports"] for each in asha) < 60, f"asha stopped no trial: {[each['reports'] for each in asha]}", job)
    equal(sorted(each["reports"] for each in band), [3, 3, 3, 9, 9, 9, 9, 9], "reports of hyperband", job)
    equal([each["reports"] for each in pbt], [14] * 4, "reports of pbt", job)
    clones = [each for each in pbt if "-" in Path(each["path"]).name]
    check(clones, "no trial was cloned", job)
    for each in clones:  # a clone continues the donor's checkpoint
        rates = [report["lr"] for report in reports(each["path"])]
        place = 10.0
        for rate in rates:
            place -= rate * place
        equal(each["metrics"]["loss"], place * place, "the loss after the learning rates of donor and clone", job)
        equal(rates[-1], each["config"]["lr"], "the clone's learning rate", job)
        equal(each["config"]["half"], rates[-1] / 2, "the value that custom_explore_fn computes", job)
    for name in ("asha", "pbt", "band"):
        check_each_once(made.config(name), 4 if name == "pbt" else 8)


@test
def optuna_chooses_the_values_of_trials():
    if run([PYTHON, "-c", "import optuna"]).code != 0:
        skip("optuna is not installed (package python3-optuna)")
    results, job, made = tuned("""
from trainrt.tune.search.optuna import OptunaSearch
print_results(tuner(num_samples=3, space={"lr": tune.uniform(0.01, 0.5), "steps": 2}, search_alg=OptunaSearch(seed=3), max_concurrent_trials=1).fit())
""")
    equal(len({each["config"]["lr"] for each in results}), 3, "learning rates", job)
    check("params" in (next((made.runs / "sweep/journal").glob("*.jsonl"))).read_text(), "the journal has no request to the searcher", job)


@test
def a_clone_keeps_its_dataset_if_custom_explore_fn_changes_its_config():
    from trainrt import data
    from trainrt.tune._trainable import SweepTrainable
    sets = [data.from_items([{"x": number}]) for number in range(2)]
    space = {"datasets": {"train": api.grid_search(sets)}, "train_loop_config": {"lr": api.uniform(0, 1)}}
    made = SweepTrainable(DataParallelTrainer(function), space, {}, api.RunConfig(), explore=lambda config: {**config, "train_loop_config": {"lr": 3}})
    clone = made.trainer_of({"datasets/train": "value1", "train_loop_config/lr": "0.5"}, "trial_00001-2", 1)
    check(clone.datasets["train"] is sets[1] and clone.train_loop_config == {"lr": 3}, f"arguments of the clone: {clone.datasets}, {clone.train_loop_config}")


# ---- errors -----------------------------------------------------------------------------------------------------------


def function(config):
    pass


class Machine:
    pass


REFUSED = [
    ("Tuner(Machine)", "a function of a config, a Trainer, or a class that is derived from tune.Trainable"),
    ("Tuner(lambda a, b: 0)", "0 or 1 required arguments"),
    ("Tuner(function, param_space=[1])", "dict"),
    ("Tuner(function, param_space={'lr': {'grid_search': 3}})", "a list of values"),
    ("Tuner(function, tune_config={})", "TuneConfig"),
    ("Tuner(function, run_config={})", "RunConfig"),
    ("TuneConfig(mode='best')", "'min' or 'max'"),
    ("TuneConfig(num_samples=0)", "num_samples=0"),
    ("TuneConfig(scheduler='asha')", "trainrt.tune.schedulers"),
    ("TuneConfig(search_alg='random')", "trainrt.tune.search"),
    ("uniform(1, 0)", "lower must be below upper"),
    ("uniform('a', 1)", "lower='a'"),
    ("loguniform(0, 1)", "above 0"),
    ("quniform(0, 1, 2)", "q=2"),
    ("choice([])", "must not be empty"),
    ("quniform(0, 1, 0.3)", "a multiple of q"),
    ("qrandint(1, 8, 1.5)", "q=1.5", "integer"),
    ("sample_from(3)", "function"),
    ("randint(1.5, 4)", "1.5", "integer"),
    ("Tuner(function, param_space={'a': {'b': uniform(0, 1)}, 'a/b': 2})", "two values with the name 'a/b'"),
    ("Tuner(function, param_space={0: 1, '0': 2})", "two values with the name '0'"),
    ("Tuner(DataParallelTrainer(function, train_loop_config={'a': [uniform(0, 1)]}))", "a domain at 'a/0'", "param_space"),
    ("Tuner(function, param_space={'a': {uniform(0, 1)}})", "'a' is a set", "list"),
    ("Tuner(function, param_space={'a': choice([1, grid_search([2])])})", "'a' has a grid_search in"),
    ("with_parameters(3)", "function"),
    ("with_resources(function, {'gpu': 0.5})", "must be an integer"),
    ("schedulers.PopulationBasedTraining(time_attr='training_iteration')", "hyperparam_mutations"),
    ("Tuner(function, tune_config=TuneConfig(metric='a', mode='min', scheduler=schedulers.PopulationBasedTraining(hyperparam_mutations={'lr': [1]}))).fit()",
     "time_attr='training_iteration'"),
    ("Tuner(function, tune_config=TuneConfig(metric='a', mode='min', scheduler=schedulers.ASHAScheduler(metric='a', mode='min'))).fit()", "the metric 'a'"),
    ("Tuner(function, tune_config=TuneConfig(scheduler=schedulers.ASHAScheduler())).fit()", "valid `metric` (None)"),
    ("Tuner(function, tune_config=TuneConfig(max_concurrent_trials=2, search_alg=search.ConcurrencyLimiter(search.HaltonSearch(), 3))).fit()",
     "max_concurrent=3"),
    ("Tuner()", "needs a trainable"),
    ("Experiment('x', function, no_such=1)", "no argument 'no_such'"),
    ("schedulers.ASHAScheduler(max_t=1, grace_period=2)", "grace_period must be at most max_t"),
    ("importlib.import_module('trainrt.tune.schedulers.pb2').PB2(hyperparam_bounds={'lr': [1]})", "[low, high]"),
    ("schedulers.PopulationBasedTraining('training_iteration', hyperparam_mutations={'lr': 1})", "a function that draws one"),
    ("schedulers.PopulationBasedTraining('training_iteration', hyperparam_mutations={'lr': lambda config: 1})", "a function with parameters"),
    ("schedulers.PopulationBasedTraining('training_iteration', hyperparam_mutations={'lr': [1]}, custom_explore_fn=3)", "custom_explore_fn=3"),
    ("create_scheduler('best')", "median_stopping_rule"),
    ("create_searcher('best')", "optuna"),
    ("search.ConcurrencyLimiter(3, 1)", "searcher"),
    ("search.BasicVariantGenerator(random_state=-1)", "-1"),
    ("Tuner.restore('/no/such', function, storage_filesystem=Machine())", "Tuner.restore(): ", "Machine", "is not supported"),
    ("Tuner.restore('/no/such', function)", "not the directory of a sweep"),
    ("Tuner(DataParallelTrainer(function), param_space={'run_config': {}})", "trials cannot change run_config", "Tuner(run_config=...)"),
    ("Tuner(DataParallelTrainer(function), param_space={'params': {'lr': 1}})", "trials cannot change params", "train_loop_config, datasets"),
    ("Tuner(DataParallelTrainer(function), param_space={'scaling_config': ScalingConfig(use_gpu=choice([True]))})", "only num_workers"),
    ("Tuner(DataParallelTrainer(function), param_space={'scaling_config': ScalingConfig(num_workers=choice([0, 1]))})", "1 or more"),
    ("Tuner(DataParallelTrainer(function), param_space={'scaling_config': choice([ScalingConfig()])})", "ScalingConfig(num_workers=tune.grid_search([1, 2]))"),
    ("Tuner(DataParallelTrainer(function), param_space={'datasets': {'train': choice([3])}})", "datasets of trainrt.data, not an int"),
    ("DataParallelTrainer(function, scaling_config=ScalingConfig(num_workers=grid_search([1])))", "num_workers=...", "param_space={'scaling_config'"),
    ("run(function, resume='ERRORED_ONLY')", "Tuner.restore(path, trainable, resume_errored=True)"),
    ("run(function, no_such=1)", "no argument 'no_such'"),
]


CHANGING = """
def other(config):
    descend(config)

def with_data(config, data):
    descend(config)

OPTIMIZERS = [{"name": "sgd", "betas": (0.9, 0.99)}, {"name": "adam", "betas": None}]
GIVEN = {"function": descend, "space": {"lr": tune.grid_search([0.1, 0.2]), "scale": 1, "steps": 1, "model": {"depth": 2}, "optimizer": tune.choice(OPTIMIZERS)}}
CHANGES = {
    "nothing": {},
    "scale": {"space": {**GIVEN["space"], "scale": 100}},
    "depth": {"space": {**GIVEN["space"], "model": {"depth": 3}}},
    "choice": {"space": {**GIVEN["space"], "optimizer": tune.choice([OPTIMIZERS[0], {"name": "adam", "betas": (0.8, 0.9)}])}},
    "function": {"function": other},
    "metric": {"metric": "other"},
}
"""


@test
def changed_values_choices_and_objectives_are_refused_with_the_differences():
    made = Tuning("""
values = {**GIVEN, **CHANGES[sys.argv[1]]}
print_results(tuner(**values, num_samples=1).fit())
""", CHANGING)
    job = made.run("nothing", timeout=120)
    check_exit(job, 0)
    configs = [each["config"] for each in result_of(job)[0]]
    equal([(config["scale"], config["model"], config["optimizer"]["name"] in ("sgd", "adam")) for config in configs], [(1, {"depth": 2}, True)] * 2, "configs", job)
    loop = json.loads((made.runs / "sweep/trial_00000/run.json").read_text())["loop"]
    equal((loop["param_space.scale"], loop["param_space.model.depth"], "adam" in loop["param_space.optimizer"]), ("1", "2", True), "the trial's recorded config", job)
    check_exit(made.run("nothing", timeout=120), 0)
    for word, words in (("scale", "loop.param_space.scale was '1', now '100'"), ("depth", "loop.param_space.model.depth was '2', now '3'"),
                        ("choice", "loop.param_space.optimizer was"), ("function", "loop.train_loop_per_worker was 'descend', now 'other'"),
                        ("metric", "tune.metric was 'loss', now 'other'")):
        job = made.run(word, timeout=120)
        check(job.code == 1 and "ControllerError" in job.err and words in job.err and "RunConfig(name=...)" in job.err, f"{word}: the error lacks {words!r}", job)
    equal(len(list((made.runs / "sweep").glob("trial_*[0-9]"))), 2, "trials")


@test
def a_restored_sweep_requires_the_same_trainable_and_param_space():
    made = Tuning("""
if sys.argv[1] == "first":
    print_results(tuner(**GIVEN, num_samples=1).fit())
else:
    values = {**GIVEN, **CHANGES[sys.argv[1]]}
    print_results(Tuner.restore(os.path.join(os.environ["RUNS"], "sweep"), values["function"], param_space=values["space"] if sys.argv[2:] else None).fit())
""", CHANGING)
    check_exit(made.run("first", timeout=120), 0)
    check_exit(made.run("nothing", timeout=120), 0)
    check_exit(made.run("nothing", "space", timeout=120), 0)
    for word, words in (("scale", "loop.param_space.scale was 1, is 100"), ("function", "loop.train_loop_per_worker was descend, is other")):
        job = made.run(word, "space", timeout=120)
        check(job.code == 1 and "ValueError: Tuner.restore(" in job.err and words in job.err, f"{word}: the error lacks {words!r}", job)


@test
def tune_run_keeps_the_options_of_a_trainers_run_config_that_it_does_not_set():
    from trainrt.train import CheckpointConfig, RunConfig
    from trainrt.tune._run import _merged
    own = RunConfig(name="own", stop={"loss": 1}, checkpoint_config=CheckpointConfig(num_to_keep=2), worker_runtime_env={"env_vars": {"A": "1"}})
    merged = _merged(own, RunConfig(name="sweep", stop={"loss": 2}))
    equal((merged.name, merged.stop, merged.checkpoint_config, merged.worker_runtime_env),
          ("sweep", {"loss": 2}, own.checkpoint_config, own.worker_runtime_env), "options")
    equal(own.name, "own", "the name in the Trainer's RunConfig")


@test
def invalid_arguments_are_errors_that_name_valid_ones():
    names = {**vars(api), "importlib": importlib, "function": function, "Machine": Machine, "DataParallelTrainer": DataParallelTrainer, "ScalingConfig": ScalingConfig}
    for text, *said in REFUSED:
        try:
            eval(text, names)
        except (TypeError, ValueError, RuntimeError, AssertionError, api.TuneError) as error:
            for word in said:
                check(word in str(error), f"the error of {text} lacks {word!r}: {error}")
        else:
            check(False, f"{text} is accepted")


@test
def modules_of_ray_tune_exist_under_their_names():
    for names in ("tune_config TuneConfig", "tuner Tuner", "result_grid ResultGrid", "analysis ExperimentAnalysis", "analysis.experiment_analysis ExperimentAnalysis",
                  "error TuneError", "search.basic_variant BasicVariantGenerator", "search.searcher Searcher", "search.concurrency_limiter ConcurrencyLimiter",
                  "search.sample uniform", "schedulers.pbt PopulationBasedTraining", "schedulers.async_hyperband ASHAScheduler",
                  "schedulers.hyperband HyperBandScheduler", "schedulers.median_stopping_rule MedianStoppingRule", "schedulers.trial_scheduler TrialScheduler"):
        module, name = names.split()
        own = next(getattr(each, name) for each in (api, api.search, api.schedulers) if hasattr(each, name))
        check(getattr(importlib.import_module(f"trainrt.tune.{module}"), name) is own, f"{module} has another {name}")
    try:
        importlib.import_module("trainrt.train.examples.pytorch.torch_regression_example")
    except ImportError as error:
        check("copy the file of the example" in str(error), str(error))


@test
def a_mutation_without_a_first_value_is_drawn():
    space = ParamSpace({"lr": 0.1}, {("momentum",): api.uniform(0, 1)})
    equal((space.section(), space.mutations()), ({"momentum": "uniform(0, 1)"}, {"momentum": "uniform(0, 1)"}), "sections")


@test
def functions_of_mutations_draw_the_same_values_at_each_start():
    made = [api.schedulers.PopulationBasedTraining("training_iteration", hyperparam_mutations={"a": {"lr": lambda: random.uniform(0, 1)}, "n": lambda: random.choice("xyz")})
            for _ in range(2)]
    lr, kind = made[0].mutations().values()
    equal([each.text() for each in made[1].mutations().values()], [lr.text(), kind.text()], "domains of two starts")
    check(lr.text().startswith("sample(0.0") and len(lr.values) == 64 and lr.value("0.125") == 0.125, f"the numbers: {lr.text()[:80]}")
    equal(sorted(kind.values), ["x", "y", "z"], "values that are not numbers")


@test
def a_space_is_the_same_after_json():
    space = ParamSpace({"lr": api.loguniform(1e-4, 1), "n": {"q": api.quniform(0, 1, 0.25), "k": api.grid_search([[1], None, "a,b"])}, "fixed": [1, {"x": 2}], "first": 0.5},
                       {("first",): api.uniform(0, 1)})
    again = ParamSpace.from_json(json.loads(json.dumps(space.json())))
    equal((again.section(), again.mutations()), (space.section(), space.mutations()), "sections")
    texts = {"lr": "0.25", "n/q": "0.5", "n/k": space.section()["n/k"].split('"')[3], "first": "0.75"}
    equal(again.config(texts, 3), space.config(texts, 3), "configs")
    equal(space.config(texts, 3), {"fixed": [1, {"x": 2}], "lr": 0.25, "n": {"q": 0.5, "k": None}, "first": 0.75}, "the config")
    equal(ParamSpace({"f": api.choice([print])}).json(), None, "the JSON of a function")


@test
def moved_sweeps_and_runs_continue_in_the_new_place():
    made = Tuning("""
here, there = os.environ["RUNS"] + "/here", os.environ["RUNS"] + "/there"
run = lambda name: RunConfig(name=name, storage_path=here)
first = Tuner(descend_once, param_space={"lr": tune.choice([0.5])}, run_config=run("sweep"), tune_config=TuneConfig(metric="loss", mode="min")).fit()
try:
    DataParallelTrainer(descend_once, train_loop_config={"lr": 0.5}, scaling_config=ScalingConfig(num_workers=1), run_config=run("run")).fit()
except train.TrainingFailedError:
    print("failed", first.num_errors)
os.rename(here, there)
results = [Tuner.restore(there + "/sweep", descend_once, resume_errored=True).fit()[0], DataParallelTrainer.restore(there + "/run", descend_once).fit()]
print_results(results)
print("there", os.listdir(os.environ["RUNS"]))
""", """def descend_once(config):
    if os.path.exists(os.environ["RUNS"] + "/here"):
        config = {**config, "steps": 2}
        descend(config)
        raise RuntimeError("once")
    descend(config)
""")
    job = made.run(timeout=120)
    found, = result_of(job)
    check("failed 1" in job.out, "the first starts did not fail", job)
    equal([(result["path"], result["reports"], result["error"]) for result in found],
          [(f"{made.runs}/there/sweep/trial_00000", 9, None), (f"{made.runs}/there/run", 9, None)], "results", job)
    check("there ['there']" in job.out, "the old directory exists again", job)


def last_texts(space):
    """Returns the string form of each domain's last value."""
    return {name: domain.texts[-1] if hasattr(domain, "texts") else str(domain.upper) for name, (_, domain, _) in space._domains.items()}


SPACES = [  # (space, config with the last value of each domain)
    ({"layers": [api.choice([16, 32])]}, {"layers": [32]}),
    ({"layers": ([api.choice([16, 32]), 5], {"q": api.uniform(0, 1)}), "n": (1, 2)}, {"layers": ([32, 5], {"q": 1.0}), "n": (1, 2)}),
    ({"o": api.choice([{"n": "sgd"}, {"n": "adam", "lr": api.uniform(0, 1), "b": [api.grid_search([1])["grid_search"]]}])},
     {"o": {"n": "adam", "lr": 1.0, "b": [[1]]}}),
    ({"o": api.choice([1, api.choice([2, api.randint(4, 9)])])}, {"o": 9}),
    ({"b": api.sample_from(lambda spec: spec.config["a"]), "a": api.choice([1, 7])}, {"a": 7, "b": 7}),
    ({"b": api.sample_from(lambda spec: spec.config.d.x), "d": {"x": 5, "y": api.sample_from(lambda config: config["d"]["x"] + config["b"])}},
     {"d": {"x": 5, "y": 10}, "b": 5}),
    ({"o": [api.choice([1, api.sample_from(lambda spec: spec["config"]["y"])])], "y": 9}, {"o": [9], "y": 9}),
]


@test
def domains_are_resolved_at_any_depth():
    for given, expected in SPACES:
        space = ParamSpace(given)
        equal(space.config(last_texts(space), 3), expected, f"config of {given}")
        if space.json() is not None:
            again = ParamSpace.from_json(json.loads(json.dumps(space.json())))
            equal((again.section(), again.config(last_texts(again), 3)), (space.section(), expected), f"the same after its JSON: {given}")
    old = {"fixed": [[["x"], [1, 2]]], "functions": [], "domains": [["lr", ["lr"], None, {"tune": "choice", "args": [[1, [2]]]}, None]]}
    equal(ParamSpace.from_json(old).config({"lr": "[2]"}, 0), {"x": [1, 2], "lr": [2]}, "a space of an older version")


@test
def numpy_numbers_are_accepted():
    try:
        import numpy
    except ImportError:
        skip("numpy is not installed")
    space = ParamSpace({"lr": api.uniform(numpy.float32(0.5), numpy.int64(2)), "n": api.randint(numpy.int8(1), numpy.int64(5)),
                        "q": api.quniform(0, numpy.float32(1), numpy.float16(0.25)), "c": api.choice(numpy.array([1, 2]))})
    equal(space.section(), {"lr": "uniform(0.5, 2)", "n": "randint(1, 5)", "q": "quniform(0, 1.0, 0.25)", "c": 'choice("1", "2")'}, "section")
    equal(api.TuneConfig(num_samples=numpy.int64(3)).num_samples, 3, "num_samples")


@test
def get_best_result_of_failed_trials_names_their_error():
    _, job, made = tuned("""
grid = tuner(broken, num_samples=2).fit()
try:
    grid.get_best_result()
except RuntimeError as error:
    print("best:", error)
""", "def broken(config):\n    {}['unit']\n")
    for words in ("error: all 2 trials failed: KeyError: 'unit'. See", f"Tuner.restore('{made.runs}/sweep', trainable, resume_errored=True).fit() retries them"):
        check(words in job.err, f"the script does not print {words!r}", job)
    check(re.search(r"best: get_best_result\(metric='loss'\): all 2 trials failed: KeyError: 'unit'\. See .*/sweep/trial_00000/error.txt", job.out), "the error of the trials", job)


@test
def a_script_that_cannot_be_tuned_is_an_error():
    for text, *said in (("tuner(fails, metric='los', scheduler=ASHAScheduler()).fit()", "the Tuner in train.py: TuneConfig(metric='los'): the trials do not report it; they report:", "loss",
                         "Set TuneConfig(metric=...) to a metric"),
                        ("tuner(metric=None, mode=None, scheduler=ASHAScheduler()).fit()", "without a valid `metric` (None)")):
        made = Tuning(f"grid = {text}\nprint('errors', grid.num_errors, len(grid))", FAILS)
        job = made.run(timeout=60)
        for word in said:
            check(word in job.err, f"the error lacks {word!r}", job)
        check("sweep.ini" not in job.err, "the error names a file of the Tuner", job)
        equal(job.code, 1, "exit code", job)
    made = Tuning("tuner().fit()")
    job = made.run(command=[TRAINRT, "-n", 1, f"--run.storage_path={made.runs}", "--", PYTHON, made.path], timeout=60)
    check(job.code != 0 and "Tuner.fit() starts its trials itself" in job.err, "a tuner on a rank is not refused", job)


main()
