"""Fake of mlflow: it stores nothing and records the calls of a script."""
from types import SimpleNamespace

from calls import add

from . import entities  # noqa: F401

exceptions = SimpleNamespace(MlflowException=type("MlflowException", (Exception,), {}))
_active = []


class MlflowClient:
    def __init__(self, uri=None, registry_uri=None):
        add("mlflow", "client", uri, registry_uri)

    def get_experiment_by_name(self, name):
        return None

    def create_experiment(self, name):
        return f"id of {name}"

    def search_runs(self, experiments, condition):
        add("mlflow", "search", experiments, condition)
        return []

    def create_run(self, experiment, run_name, tags):
        add("mlflow", "create_run", experiment, run_name, tags)
        return SimpleNamespace(info=SimpleNamespace(run_id="id"), data=SimpleNamespace(metrics={}, params={}))

    def log_batch(self, run, metrics=(), params=()):
        add("mlflow", "log_batch", [vars(each) for each in metrics], [vars(each) for each in params])

    def log_artifact(self, run, path):
        add("mlflow", "artifact", path)

    def log_artifacts(self, run, path, name):
        add("mlflow", "artifact", path)

    def set_terminated(self, run, status):
        add("mlflow", "end", status)


def get_experiment_by_name(name):
    return None


def create_experiment(name, artifact_location=None):
    return f"id of {name}"


def active_run():
    return _active[0] if _active else None


def start_run(**options):
    add("mlflow", "start_run", **options)
    _active.append(options)


def log_param(key, value):
    add("mlflow", "log_param", key, value)


def log_metric(key, value, step=None):
    add("mlflow", "log_metric", key, value, step)


def set_tracking_uri(uri):
    add("mlflow", "set_tracking_uri", uri)


def set_registry_uri(uri):
    pass
