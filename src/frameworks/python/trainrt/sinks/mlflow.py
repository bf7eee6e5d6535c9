"""MLflow: `[sink.NAME] program = python3 -m trainrt.sinks.mlflow`.

MLFLOW_TRACKING_URI names a server or a database (sqlite:///PATH); sqlite:///RUN_DIR/mlflow.db if it is not given. MLFLOW_EXPERIMENT_NAME
is trainrt if it is not given. Restarts continue the same run of MLflow, and no report is there twice."""
import os
import re

from ._serve import serve

MOST_PARAMS = 100  # of one call
LONGEST_PARAM = 6000


class MlflowTracker:
    def __init__(self, begin):
        from mlflow import MlflowClient, entities

        self.entities = entities
        self.client = MlflowClient(os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{os.path.abspath(begin.run_dir)}/mlflow.db")
        run = self._run_of(begin, os.environ.get("MLFLOW_EXPERIMENT_NAME", "trainrt"))
        self.id = run.info.run_id
        self.last = int(run.data.metrics.get("runtime/iteration", 0))
        new = [entities.Param(key, value[:LONGEST_PARAM]) for key, value in begin.config.items() if key not in run.data.params]
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
        named = {re.sub(r"[^A-Za-z0-9_\-. /]", "_", key): value for key, value in metrics.items()}
        self.client.log_batch(self.id, [self.entities.Metric(key, float(value), milliseconds, iteration)
                                        for key, value in {**named, "runtime/iteration": iteration}.items()])

    def finish(self, complete):
        self.client.set_terminated(self.id, "FINISHED" if complete else "KILLED")


if __name__ == "__main__":
    serve(MlflowTracker)
