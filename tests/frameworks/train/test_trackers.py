#!/usr/bin/python3
"""trainrt.air.integrations: callbacks and functions for W&B, MLflow and Comet, with fakes of the packages of the trackers.

tests/frameworks/pypi/trackers.py runs the programs of trainrt.sinks with the packages themselves."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403

FAKES = SOURCE / "tests/support/fakes/trackers"
sys.path[:0] = [str(BUILD / "python"), str(FAKES)]
from trainrt.air.integrations.comet import CometLoggerCallback  # noqa: E402
from trainrt.air.integrations.mlflow import MLflowLoggerCallback, setup_mlflow  # noqa: E402
from trainrt.air.integrations.wandb import WandbLoggerCallback, setup_wandb  # noqa: E402
from trainrt.train import RunConfig  # noqa: E402
from trainrt.train._config import _settings  # noqa: E402

IMPORTS = """
from trainrt.air.integrations.comet import CometLoggerCallback
from trainrt.air.integrations.mlflow import MLflowLoggerCallback, setup_mlflow
from trainrt.air.integrations.wandb import WandbLoggerCallback, setup_wandb

CONFIG = {"lr": 0.1, "model": {"width": 8, "secret": 1}}

def once(config):
    with Folder() as folder:
        open(os.path.join(folder, "model"), "w").close()
        train.report({"loss": 0.5, "private": 1}, checkpoint=Checkpoint.from_directory(folder) if rank() == 0 else None)
"""
CALLBACKS = IMPORTS + MAIN + """    trainer(once, config=CONFIG, run={"callbacks": [
        WandbLoggerCallback(project="It's a $HOME; #1", excludes=["private", "model/secret"], api_key="key of W&B", upload_checkpoints=True, tags=["a b"],
                            log_config=True),
        MLflowLoggerCallback("http://tracker", experiment_name="e", tags={"k": 1}, save_artifact=True),
        CometLoggerCallback(tags=["t"], save_checkpoints=True, api_key="comet", project_name="p", log_code=True)]}).fit()
"""
FUNCTIONS = IMPORTS + """
def tracked(config):
    run = setup_wandb(config, project="p", api_key="key")
    mlflow = setup_mlflow(config, "http://tracker", tracking_token="t", create_experiment_if_not_exists=True, tags={"k": 1})
    run.log({"loss": rank()})
    mlflow.log_metric("loss", rank(), step=1)
    if rank() == 1:
        with mlflow.start_run(nested=True) as nested:
            nested.data.log()

""" + MAIN + """    trainer(tracked, config=CONFIG).fit()
"""
SWEEP = """import os
from trainrt import tune
from trainrt.air.integrations.wandb import WandbLoggerCallback, setup_wandb

def trial(config):
    setup_wandb(config).log({"lr": config["lr"]})
    tune.report({"loss": config["lr"]})

if __name__ == "__main__":
    tune.Tuner(trial, param_space={"lr": tune.grid_search([1, 2])}, run_config=tune.RunConfig(name="sweep", storage_path=os.environ["RUNS"], callbacks=[
        WandbLoggerCallback(project="p")])).fit()
"""


def calls_of(text, head=None):
    """Runs the script. Returns {(tracker, call): [(arguments, options)]} and the job."""
    script = Script(text, *(() if head is None else (head,)))
    calls = script.folder / "calls"
    job = script.run(env={"CALLS": calls, "PYTHONPATH": f"{BUILD / 'python'}:{FAKES}", "WANDB_API_KEY": "", "WANDB_MODE": "", "COMET_API_KEY": ""})
    check_exit(job, 0)
    found = {}
    for tracker, call, arguments, options in map(json.loads, calls.read_text().splitlines()):
        found.setdefault((tracker, call), []).append((arguments, options))
    return found, job, script


@test
def callbacks_send_reports_config_and_checkpoints_to_the_trackers():
    found, job, script = calls_of(CALLBACKS)
    run_id = json.loads((script.runs / "run/run.json").read_text())["run_id"]
    equal([options for _, options in found["wandb", "init"]],
          [{"id": run_id, "name": "run", "config": {}, "resume": "allow", "project": "It's a $HOME; #1", "group": "run", "dir": str(script.runs / "run"),
            "tags": ["a b"], "key": "key of W&B"}], "wandb.init()", job)
    equal(found["wandb", "config"], [([{"lr": 0.1, "model": {"width": 8}}], {})], "config", job)
    metrics, step = found["wandb", "log"][0][0]
    equal((metrics["loss"], "private" in metrics, step), (0.5, False, 1), "report in W&B", job)
    equal({name: value for name, value in metrics.items() if name.startswith("config/")}, {"config/lr": 0.1, "config/model/width": 8}, "log_config", job)
    equal(found["wandb", "artifact"], [(["checkpoint_run", ["model"], {"training_iteration": 1}], {})], "checkpoint in W&B", job)
    equal(found["mlflow", "client"], [(["http://tracker", None], {})], "server of MLflow", job)
    (experiment, name, tags), _ = found["mlflow", "create_run"][0]
    equal((experiment, name, tags["k"], tags["trainrt.run_id"]), ("id of e", "run", "1", run_id), "run of MLflow", job)
    params = {each["key"]: each["value"] for (_, params), _ in found["mlflow", "log_batch"] for each in params}
    equal(params, {"lr": "0.1", "model/width": "8", "model/secret": "1"}, "config in MLflow", job)
    check(any("progress.csv" in path for (path,), _ in found["mlflow", "artifact"]), "the run directory is not in MLflow", job)
    options = found["comet", "start"][0][1]
    equal((options["key"], options["project_name"], options["online"], options["experiment_config"]["log_code"]), ("comet", "p", True, True), "comet", job)
    equal(found["comet", "artifact"], [(["checkpoint_run", ["model"]], {})], "checkpoint in Comet", job)
    check("key of W&B" not in (script.runs / "run/run.json").read_text(), "the record of the run has the key", job)


@test
def setup_functions_log_on_rank_zero_only():
    found, job, script = calls_of(FUNCTIONS)
    run_id = json.loads((script.runs / "run/run.json").read_text())["run_id"]
    of_ranks = sorted((options for _, options in found["wandb", "init"]), key=len)
    equal(of_ranks[0], {"mode": "disabled", "key": ""}, "rank 1 of W&B", job)
    expected = {"id": run_id, "name": "run", "group": "run", "project": "p", "resume": "allow", "key": "key", "dir": str(script.runs / "run")}
    equal({name: of_ranks[1][name] for name in expected}, expected, "rank 0 of W&B", job)
    equal(found["wandb", "log"], [([{"loss": 0}, None], {})], "logged to W&B", job)
    equal(found["mlflow", "start_run"],
          [([], {"run_name": "run", "experiment_id": "id of run", "tags": {"k": 1, "trainrt.run_id": run_id}})], "run of MLflow", job)
    equal(found["mlflow", "log_param"], [([name, value], {}) for name, value in (("lr", 0.1), ("model/width", 8), ("model/secret", 1))], "params", job)
    equal(found["mlflow", "log_metric"], [(["loss", 0, 1], {})], "logged to MLflow", job)


@test
def trials_of_a_sweep_are_runs_of_a_group():
    found, job, _ = calls_of(SWEEP, head="")
    groups = {(options["group"], options["name"].partition("_")[0]) for _, options in found["wandb", "init"]}
    equal(groups, {("sweep", "trial")}, "groups", job)
    equal(len({options["id"] for _, options in found["wandb", "init"]}), 2, "runs of W&B", job)
    equal(sorted(arguments[0]["lr"] for arguments, _ in found["wandb", "config"]), [1, 2], "configs", job)


@test
def the_config_is_logged_once_at_the_end_of_the_run_if_the_callback_asks_for_it():
    from trainrt.sinks import Begin, mlflow
    os.environ["CALLS"] = str(scratch() / "calls")
    folder = scratch("run")
    (folder / "params.json").write_text(json.dumps({"train_loop_config": {"a": 1}}))
    tracker = mlflow.MlflowTracker(Begin("run", "id", str(folder), 0, {"section.key": "x"}), {"log_params_on_trial_end": True})
    tracker.log(1, {"loss": 1.0}, None)
    tracker.finish(True)
    tracker.finish(True)
    lines = [json.loads(line) for line in Path(os.environ["CALLS"]).read_text().splitlines()]
    equal([params for _, call, (*_, params), _ in lines if call == "log_batch" and params], [[{"key": "a", "value": "1"}]], "params, at the end, once")


@test
def arguments_that_a_tracker_cannot_get_are_errors():
    raises(ValueError, "Both WandB `api_key_file` and `api_key` set", of=lambda: WandbLoggerCallback(api_key="a", api_key_file="b"))
    raises(ValueError, "Both WandB `api_key_file` and `api_key` set", of=lambda: setup_wandb(api_key="a", api_key_file="b"))
    for callback in (WandbLoggerCallback(settings={"api_key": "hidden"}), MLflowLoggerCallback("https://me:hidden@host/")):
        error = raises(ValueError, callback.key_variable, "would be recorded", of=callback.settings)
        check("hidden" not in str(error), str(error))
    raises(TypeError, "CometLoggerCallback", "object", of=lambda: _settings.settings(run=RunConfig(callbacks=[CometLoggerCallback(tags=object())])))
    raises(ValueError, "two MLflowLoggerCallback", of=lambda: _settings.settings(run=RunConfig(callbacks=[MLflowLoggerCallback(), MLflowLoggerCallback()])))
    os.environ["CALLS"] = str(scratch() / "calls")
    raises(ValueError, "Experiment with the provided experiment_id", "experiment_name: e does not exist", of=lambda: setup_mlflow(experiment_name="e"))


@test
def a_missing_package_is_an_error_with_the_command_that_installs_it():
    names = "wandb", "mlflow", "comet_ml"
    before = {name: sys.modules.pop(name, None) for name in names}
    sys.path.remove(str(FAKES))
    try:
        for call, package in ((WandbLoggerCallback, "wandb"), (MLflowLoggerCallback, "mlflow"), (CometLoggerCallback, "comet-ml"), (setup_wandb, "wandb"),
                              (setup_mlflow, "mlflow")):
            raises(RuntimeError, f"pip install {package}", of=call)
    finally:
        sys.path.insert(0, str(FAKES))
        sys.modules.update({name: module for name, module in before.items() if module is not None})


main()
