"""A script for dmlc-submit that does not use trainrt: XGBoost on data that is split over the workers.
argv[1]: a folder to which each rank writes its environment and its model."""
import json
import os
import sys

import numpy as np
import xgboost as xgb

generator = np.random.default_rng(1)
inputs = generator.normal(size=(600, 5))
targets = inputs @ np.arange(1.0, 6.0) + np.sin(3 * inputs[:, 0])

tracker = {}
if tuple(map(int, xgb.__version__.split(".")[:2])) >= (2, 1):  # earlier versions read the environment variables themselves
    tracker = {"dmlc_tracker_uri": os.environ["DMLC_TRACKER_URI"], "dmlc_tracker_port": int(os.environ["DMLC_TRACKER_PORT"]),
               "dmlc_task_id": os.environ["DMLC_TASK_ID"]}
models = []
for turn in range(2):  # two communicators in turn
    with xgb.collective.CommunicatorContext(**tracker):
        rank, size = xgb.collective.get_rank(), xgb.collective.get_world_size()
        mine = slice(rank, None, size)
        data = xgb.DMatrix(inputs[mine], targets[mine])
        model = xgb.train({"tree_method": "hist", "max_depth": 3, "nthread": 1, "seed": turn}, data, num_boost_round=6)
        xgb.collective.communicator_print(f"rank {rank} has trained")
        models.append(model.get_dump(with_stats=True))
with open(f"{sys.argv[1]}/{os.environ['RANK']}.json", "w") as file:
    json.dump({"rank": rank, "size": size, "rows": len(inputs[mine]), "models": models,
               "error": float(np.mean((model.predict(xgb.DMatrix(inputs)) - targets) ** 2) / np.var(targets))}, file)
