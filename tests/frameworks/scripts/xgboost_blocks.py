"""XGBoost's own Python, as a user writes it: each worker makes a QuantileDMatrix of its rows and trains. Arguments: the folder of the tables;
a JSON object of {params, rounds, label, weight, group, base_margin, label_lower_bound, label_upper_bound, categorical, fields,
begins: {set: first row of each worker, and the end}, stop}; the path of the model. Prints the evaluations as JSON."""
import contextlib
import json
import os
import sys

import numpy as np
import xgboost as xgb

folder, plan, out = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
BLOCK = 65536


def communicator():
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        return contextlib.nullcontext()
    names = ("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID")
    values = {name: os.environ[name] for name in names}
    if int(xgb.__version__.split(".")[0]) >= 3:
        return xgb.collective.CommunicatorContext(**{name.lower(): int(value) if name.endswith("PORT") else value for name, value in values.items()})
    return xgb.collective.CommunicatorContext(xgboost_communicator="rabit", **values)


def rows_of(name, reference=None):
    rank = int(os.environ.get("RANK", 0))
    begins = plan["begins"][name]
    part = slice(begins[rank], begins[rank + 1])
    table = np.load(f"{folder}/{name}.npz")
    columns = np.column_stack([table[field] for field in plan["fields"]])[part]
    names = [f"{field}_{i}" if table[field].ndim > 1 else field for field in plan["fields"] for i in range(table[field].shape[1] if table[field].ndim > 1 else 1)]
    types = ["c" if name in plan["categorical"] else "q" for name in names] if plan["categorical"] else None
    more = {"feature_names": names, "feature_types": types, "enable_categorical": bool(types), "nthread": 1}
    label = table[plan["label"]][part] if plan["label"] else None
    more.update({key: table[plan[key]][part] for key in ("base_margin", "label_lower_bound", "label_upper_bound") if plan[key]})
    if plan["plain"]:
        return xgb.DMatrix(columns, label, **more)
    if plan["weight"]:
        more["weight"] = table[plan["weight"]][part]
    rows = xgb.QuantileDMatrix(columns, label, ref=reference, max_bin=plan["params"].get("max_bin", 256), **more)
    if plan["group"]:
        rows.set_info(group=np.unique(table[plan["group"]][part], return_counts=True)[1])
    return rows


with communicator():
    train = rows_of("train")
    valid = rows_of("valid", train)
    found = {}
    booster = xgb.train({"seed_per_iteration": True, "nthread": 1, **plan["params"]}, train, plan["rounds"], evals=[(train, "train"), (valid, "valid")],
                        evals_result=found, verbose_eval=False, early_stopping_rounds=plan["stop"] or None)
    attributes = booster.attributes()
    booster.set_attr(**{name: None for name in attributes})
    if int(os.environ.get("RANK", 0)) == 0:
        with open(out, "wb") as file:
            file.write(booster.save_raw("ubj"))
        with open(out + ".json", "w") as file:
            json.dump({"found": {f"{part}-{name}": values for part, metrics in found.items() for name, values in metrics.items()}, "attributes": attributes}, file)
