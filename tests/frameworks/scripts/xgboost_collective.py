"""XGBoost on several workers: each has its own rows, and the histograms are summed over all workers."""
import argparse
import json
import os
import time

import numpy
import xgboost

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--pause", type=float, default=0, help="seconds a round")
args = parser.parse_args()


class Progress(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        time.sleep(args.pause)
        print(f"step {epoch + 1}", flush=True)
        return False


tracker = {"dmlc_tracker_uri": os.environ["DMLC_TRACKER_URI"], "dmlc_tracker_port": int(os.environ["DMLC_TRACKER_PORT"]),
           "dmlc_task_id": os.environ["DMLC_TASK_ID"]}
with xgboost.collective.CommunicatorContext(**tracker):
    rank, size = xgboost.collective.get_rank(), xgboost.collective.get_world_size()
    random = numpy.random.default_rng(1000 + rank)
    inputs = random.normal(size=(400, 8))
    targets = inputs[:, 0] * inputs[:, 1] + random.normal(size=400)
    rows = xgboost.DMatrix(inputs, targets)
    model = xgboost.train({"max_depth": 3, "eta": 0.3, "nthread": 1}, rows, args.rounds, callbacks=[Progress()])
with open(f"{args.out}/{rank}.json", "w") as file:
    json.dump({"size": size, "seen": float(inputs.sum()), "weights": model.get_dump(with_stats=True)}, file)
