"""MLflow: `[sink.NAME] program = python3 -m trainrt.sinks.mlflow`.

MLflow's names have letters and digits of any script, and _ - . / and spaces. Another character becomes its code: `acc@1` is
`acc_u0040_1`. original_name() reverses this. A name of more than 250 characters is cut, and ends with a digest.

MLFLOW_TRACKING_URI names a server or a database (sqlite:///PATH); sqlite:///RUN_DIR/mlflow.db if it is not given. MLFLOW_EXPERIMENT_NAME
is trainrt if it is not given. Restarts continue the same run of MLflow, and no report is there twice."""
import hashlib
import os
import re

from ._serve import serve

MOST_PARAMS = 100  # of one call
MOST_METRICS = 1000  # of one call
LONGEST_PARAM = 6000
LONGEST_NAME = 250
_ESCAPED = re.compile(r"_u([0-9a-f]{4,6})_")
_NOT_PLAIN = re.compile(r"[^\w\-. /]|_(?=u[0-9a-f]{4})|^$")  # an underscore that would look like the begin of a code
_FOLDERS = re.compile(r"(?<![^/])\.{1,2}(?![^/])|^\.(?=\.)|^/|/$|(?<=/)/|/(?=/)")  # names that a path would not keep


def name_of(key):
    """The name in MLflow of a metric: another one for each key."""
    coded = _NOT_PLAIN.sub(_code, key)
    coded = _FOLDERS.sub(_code, coded)
    if len(coded) <= LONGEST_NAME:
        return coded
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{coded[:LONGEST_NAME - 33]}_{digest}"


def original_name(name):
    """The key of which name_of() made `name`, unless that was cut."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] != "0000" else "", name)


def _code(found):
    return "".join(f"_u{ord(each):04x}_" for each in found[0]) or "_u0000_"


class MlflowTracker:
    def __init__(self, begin):
        from mlflow import MlflowClient, entities

        self.entities = entities
        self.client = MlflowClient(os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{os.path.abspath(begin.run_dir)}/mlflow.db")
        run = self._run_of(begin, os.environ.get("MLFLOW_EXPERIMENT_NAME", "trainrt"))
        self.id = run.info.run_id
        self.last = int(run.data.metrics.get("runtime/iteration", 0))
        new = [entities.Param(name_of(key), value[:LONGEST_PARAM]) for key, value in begin.config.items() if name_of(key) not in run.data.params]
        for start in range(0, len(new), MOST_PARAMS):
            self.client.log_batch(self.id, params=new[start:start + MOST_PARAMS])

    def _run_of(self, begin, name):
        experiment = self.client.get_experiment_by_name(name)
        folder = experiment.experiment_id if experiment else self.client.create_experiment(name)
        found = self.client.search_runs([folder], f"tags.`trainrt.run_id` = '{begin.run_id}'")
        if found:
            self.client.update_run(found[0].info.run_id, status="RUNNING")
            return found[0]
        return self.client.create_run(folder, run_name=begin.run, tags={"trainrt.run_id": begin.run_id, "trainrt.run_dir": begin.run_dir})

    def log(self, iteration, metrics, time):
        milliseconds = int((time or 0) * 1000)
        named = {**{name_of(key): value for key, value in metrics.items()}, "runtime/iteration": iteration}  # which says that all are there
        entries = [self.entities.Metric(key, float(value), milliseconds, iteration) for key, value in named.items()]
        for start in range(0, len(entries), MOST_METRICS):
            self.client.log_batch(self.id, entries[start:start + MOST_METRICS])

    def finish(self, complete):
        self.client.set_terminated(self.id, "FINISHED" if complete else "KILLED")


if __name__ == "__main__":
    serve(MlflowTracker)
