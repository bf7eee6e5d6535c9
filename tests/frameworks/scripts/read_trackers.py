"""Reads a run from a tracker, by the tracker's own reader if it has one: `read_trackers.py TRACKER RUN_DIR` prints
{key: [[step, value], ...]} as JSON, with the strings "nan", "inf" and "-inf" for values that JSON lacks."""
import glob
import json
import math
import re
import struct
import sys
import zipfile


def of_tensorboard(run_dir):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    events = EventAccumulator(run_dir, size_guidance={"scalars": 0, "histograms": 0})
    events.Reload()
    assert b"run.name" in events.Tensors("config/text_summary")[0].tensor_proto.string_val[0]
    shown = events.Histograms("weights")
    assert [each.step for each in shown] == list(range(100, 801, 100)), shown
    assert all((each.histogram_value.num, each.histogram_value.min, each.histogram_value.max) == (1000, -each.step, each.step) for each in shown), shown
    assert all(sum(each.histogram_value.bucket) == 1000 for each in shown), shown
    return {tag: [(each.step, each.value) for each in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def of_prometheus(run_dir):
    from prometheus_client.parser import text_string_to_metric_families
    samples = [sample for family in text_string_to_metric_families(open(f"{run_dir}/metrics.prom").read()) for sample in family.samples]
    [iteration] = [sample.value for sample in samples if sample.name == "trainrt_iteration"]
    return {sample.labels["key"]: [(int(iteration), sample.value)] for sample in samples if sample.name == "trainrt_metric"}


def of_mlflow(run_dir):
    from mlflow import MlflowClient
    client = MlflowClient(f"sqlite:///{run_dir}/mlflow.db")
    [run] = client.search_runs([each.experiment_id for each in client.search_experiments()])
    assert run.info.status == "FINISHED" and run.data.params["run.seed"] == "7", run
    largest = sys.float_info.max  # its databases store infinity as this value
    value = lambda each: math.copysign(math.inf, each.value) if abs(each.value) == largest else each.value
    return {key: [(each.step, value(each)) for each in client.get_metric_history(run.info.run_id, key)] for key in run.data.metrics}


def records_of(path):
    """Yields the records of a W&B file, which has the format of LevelDB's log after a header of 7 bytes."""
    data, position, part = open(path, "rb").read(), 7, b""
    while position + 7 <= len(data):
        left = 32768 - position % 32768
        if left < 7:
            position += left
            continue
        _, count, kind = struct.unpack_from("<IHB", data, position)
        position += 7
        part = (part if kind in (3, 4) else b"") + data[position:position + count]
        position += count
        if kind in (1, 4):
            yield part


def of_wandb(run_dir):
    from wandb.proto import wandb_internal_pb2
    found, ids = {}, set()
    for path in sorted(glob.glob(f"{run_dir}/wandb/offline-run-*/*.wandb")):
        ids.add(re.search(r"run-(\w+)\.wandb", path)[1])
        for record in map(wandb_internal_pb2.Record.FromString, records_of(path)):
            for item in record.history.item:
                found.setdefault(item.key or "/".join(item.nested_key), []).append((record.history.step.num, json.loads(item.value_json)))
    assert ids == {json.load(open(f"{run_dir}/run.json"))["run_id"]}, ids
    return found


def of_comet(run_dir):
    found, keys = {}, set()
    for path in sorted(glob.glob(f"{run_dir}/comet/*.zip")):
        keys.add(re.search(r"comet/(\w+)", path)[1])
        for line in zipfile.ZipFile(path).read("messages.json").decode().splitlines():
            message = json.loads(line)
            if message["type"] == "metric_msg":
                metric = message["payload"]["metric"]
                found.setdefault(metric["metricName"], []).append((metric["step"], metric["metricValue"]))
    assert len(keys) == 1, keys
    return found


def plain(value):
    value = float(value)
    return value if math.isfinite(value) else str(value)


if __name__ == "__main__":
    found = globals()[f"of_{sys.argv[1]}"](sys.argv[2])
    print(json.dumps({key: [(step, plain(value)) for step, value in points] for key, points in found.items()}))
