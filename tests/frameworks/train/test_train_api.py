#!/usr/bin/python3
"""trainrt.train without ranks: configs and their errors, checkpoints, results, metrics, local mode, and the package itself."""
import ast
import dataclasses
import functools
import json
import math
import os
import resource
import shutil
import socket
import stat
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

PACKAGE = SOURCE / "src/python"
sys.path.insert(0, str(PACKAGE))
os.environ.pop("TRAINRT_FD", None)
import trainrt  # noqa: E402
from trainrt._client.metrics import metrics_for_message  # noqa: E402
from trainrt import train  # noqa: E402
from trainrt.train import *  # noqa: E402,F403
from trainrt._support import _exchange, _exchange_client, _notes, _own_addresses, _plain_tree, _private_folder, _store_url, _user_key  # noqa: E402
from trainrt._support._exchange import Exchange  # noqa: E402
from trainrt._support._exchange_client import ExchangeClient, ScriptUnreachable  # noqa: E402
from trainrt.train._config import _filesystem, _settings  # noqa: E402
from trainrt.train._fit import _allocation  # noqa: E402
from trainrt.train._results import _run_directory, _trainer_record, _validation_file  # noqa: E402
from trainrt.train._sessions import _newest_intact, _store_copies  # noqa: E402


def scratch_file(name, text):
    path = scratch() / name
    path.write_text(text)
    return path


# ---- configs -----------------------------------------------------------------------------------------------------------------

REFUSED = [
    ("ScalingConfig(num_workers=-1)", "Invalid ScalingConfig(num_workers=-1)", "0 to run in this process"),
    ("ScalingConfig(num_workers='2')", "ScalingConfig(num_workers) must be an int or a tuple of two ints", "'2'"),
    ("ScalingConfig(num_workers=True)", "must be an int", "True"),
    ("ScalingConfig(num_workers=(4, 2))", "(4, 2)", "<= max_workers=2"),
    ("ScalingConfig(num_workers=(0, 2))", "(0, 2)"),
    ("ScalingConfig(num_workers=(1, 2, 3))", "(1, 2, 3)"),
    ("ScalingConfig(use_gpu=True, resources_per_worker={'GPU': 0})", "`use_gpu` is True but `GPU` is set to 0 in `resources_per_worker`"),
    ("ScalingConfig(resources_per_worker={'GPU': 2})", "`use_gpu` is False but `GPU` was found in `resources_per_worker`", "2"),
    ("ScalingConfig(resources_per_worker={'CPU': -1})", "'CPU'", "-1"),
    ("ScalingConfig(resources_per_worker=4)", "dict"),
    ("ScalingConfig(use_tpu=True)", "TPU"),
    ("CheckpointConfig(num_to_keep=0)", "Received invalid num_to_keep: 0. Must be None or an integer >= 1.", "keeps all checkpoints"),
    ("CheckpointConfig(num_to_keep=-2)", "Received invalid num_to_keep: -2"),
    ("CheckpointConfig(checkpoint_score_order='best')", "Received invalid checkpoint_score_order: best. Must be 'max' or 'min'."),
    ("CheckpointConfig(checkpoint_frequency=-1)", "checkpoint_frequency=-1"),
    ("FailureConfig(max_failures=-2)", "max_failures=-2", "-1 for no limit"),
    ("FailureConfig(fail_fast='now')", "fail_fast must be one of {bool, 'raise'}. Got now."),
    ("FailureConfig(max_failures=1, fail_fast=True)", "max_failures must be 0 if fail_fast=True", "max_failures=1"),
    ("RunConfig(name='a/b')", "'a/b'", "must be a file name"),
    ("RunConfig(name='.a')", "'.a'"),
    ("RunConfig(name='')", "must be a file name"),
    ("RunConfig(storage_path='hdfs://host/x')", "hdfs://host/x", "must be a directory that all nodes see"),
    ("RunConfig(storage_filesystem=object())", "storage_filesystem", "without protocol and type_name"),
    ("RunConfig(storage_filesystem=type('AzureBlobFileSystem', (), {'protocol': ('abfs', 'az')})(), storage_path='b/x')", "AzureBlobFileSystem", "'abfs' or 'az'",
     "FSSpecHandler(filesystem)"),
    ("RunConfig(storage_filesystem=type('LocalFileSystem', (), {'type_name': 'local'})(), storage_path='s3://b/x')", "local files"),
    ("RunConfig(storage_path='s3://b/x?acl=public')", "'acl'", "endpoint_override"),
    ("RunConfig(storage_path='s3://b/x?scheme=http')", "endpoint_override=HOST"),
    ("RunConfig(storage_path='s3://A:B@b/x')", "AWS_ACCESS_KEY_ID", "s3://...@b"),
    ("RunConfig(storage_filesystem=StandInForS3fs(), storage_path='s3://b/x?region=eu')", "the filesystem object sets them"),
    ("RunConfig(storage_filesystem=type('S3FileSystem', (), {'type_name': 's3'})())", "storage_path is missing"),
    ("RunConfig(local_dir='x')", "storage_path='x'"),
    ("RunConfig(callbacks=[object()])", "All callbacks must be instances of `trainrt.train.UserCallback`, or for a Tuner of `trainrt.tune.Callback`"),
    ("ScalingConfig(num_workers='x')", "ScalingConfig(num_workers) must be an int or a tuple of two ints.", "(min, max)"),
    ("ScalingConfig(num_workers=(3, 1))", "Invalid ScalingConfig(num_workers=(3, 1)): min_workers=3 must be <= max_workers=1"),
    ("ScalingConfig(num_workers=2, label_selector=[{}])", "If `label_selector` is a list, it must be the same length"),
    ("ScalingConfig(elastic_resize_monitor_interval_s=-1)", "ScalingConfig(elastic_resize_monitor_interval_s) must be non-negative."),
    ("Result().get_best_checkpoint('a', 'up')", "Unsupported mode: up. Please choose from [min, max]!"),
    ("DataParallelTrainer(print, dataset_config=3)", "`dataset_config`"),
    ("Checkpoint('hdfs://host/x')", "hdfs://host/x", "s3://"),
    ("RunConfig(failure_config={})", "Invalid `FailureConfig` type: <class 'dict'>", "failure_config"),
    ("RunConfig(checkpoint_config=2)", "Invalid `CheckpointConfig` type: <class 'int'>", "checkpoint_config"),
    ("LoggingConfig('loud')", "Invalid log_level: 'loud'", "WARNING"),
    ("DataParallelTrainer(print, scaling_config={'num_workers': 2})", "`scaling_config` should be an instance of `ScalingConfig`", "dict"),
    ("DataParallelTrainer(print, run_config='x')", "`run_config` should be an instance of `trainrt.train.RunConfig`"),
    ("DataParallelTrainer(print, resume_from_checkpoint='x')", "`resume_from_checkpoint` should be an instance of `Checkpoint`"),
    ("DataParallelTrainer(lambda a, b: None)", "train_loop_per_worker should take in 0 or 1 required arguments, but it accepts 2", "a, b"),
    ("DataParallelTrainer(print, datasets=['x'])", "`datasets` should be a dict mapping from a string to", "list"),
    ("DataParallelTrainer(print, datasets={'train': [1]})", "The Dataset under 'train' key is not", "list"),
    ("train.report({}, validation=True)", "Validation requires a checkpoint to be provided"),
]


@test
def values_that_ray_train_refuses_are_errors_that_name_them():
    for text, *words in REFUSED:
        raises(ValueError, *words, of=lambda text=text: eval(text))  # noqa: S307


@test
def restore_keeps_the_mirror_of_a_record_that_this_user_wrote():
    from trainrt.train._results import _trainer_record
    run_dir = scratch("run")
    (run_dir / "run.json").write_text(json.dumps({"format": "trainrt run 1", "config": {"checkpoint.mirror": "s3://b/x"}}))
    _trainer_record.write(run_dir, DataParallelTrainer(len, run_config=RunConfig(storage_path="s3://b/x")))
    found = DataParallelTrainer.restore(run_dir, len).settings()
    equal((found["checkpoint.mirror"], found["run.storage_path"]), ("s3://b/x", str(run_dir.parent)), "mirror and storage path")
    record = json.loads((run_dir / "trainer.json").read_text())
    (run_dir / "trainer.json").write_text(json.dumps({**record, "mirror": {"checkpoint.mirror": "s3://other/x"}}))
    check("checkpoint.mirror" not in DataParallelTrainer.restore(run_dir, len).settings(), "the mirror of a changed record is used")


@test
def an_object_store_as_storage_path_sets_the_mirror():
    def keys(**given):
        return _settings.settings(run=RunConfig(**given))
    equal(keys(storage_path="s3://bucket/x"), {"checkpoint.mirror": "s3://bucket/x"}, "a URL")
    for attribute, name, expected in (("type_name", "s3", "s3://b/x"), ("protocol", ("s3", "s3a"), "s3://b/x"), ("protocol", "gs", "gs://b/x"), ("type_name", "gcs", "gs://b/x")):
        filesystem = type("FileSystem", (), {attribute: name})()
        equal(keys(storage_filesystem=filesystem, storage_path="b/x"), {"checkpoint.mirror": expected}, f"{attribute} = {name!r}")
    local = type("LocalFileSystem", (), {"protocol": ("file", "local")})()
    equal(keys(storage_filesystem=local, storage_path="/b/x"), {"run.storage_path": "/b/x"}, "local files")
    equal(keys(storage_filesystem=local, storage_path="file:///b/x"), {"run.storage_path": "/b/x"}, "a URL of a local path")


class StandInForS3fs:
    """Has the attributes in which s3fs.S3FileSystem stores its arguments."""
    protocol = ("s3", "s3a")

    def __init__(self, anon=False, endpoint_url=None, key=None, secret=None, client_kwargs=None):
        self.anon, self.endpoint_url, self.key, self.secret, self.client_kwargs = anon, endpoint_url, key, secret, client_kwargs or {}


class StandInForPyarrowS3:
    """Like pyarrow.fs.S3FileSystem, exposes its endpoint only by __reduce__()."""
    type_name = "s3"

    def __init__(self, **given):
        self.given, self.region = given, given.get("region") or "us-east-1"

    def __reduce__(self):
        return StandInForPyarrowS3, ({"scheme": "https", "anonymous": False, **self.given},)


@test
def results_and_checkpoints_have_the_local_filesystem_of_pyarrow():
    """A module takes the place of pyarrow, which may be missing."""
    text = """
import sys, types
LocalFileSystem, S3FileSystem = type("LocalFileSystem", (), {"type_name": "local"}), type("S3FileSystem", (), {"type_name": "s3"})
sys.modules["pyarrow"] = types.ModuleType("pyarrow")
if sys.argv[1] == "found":
    sys.modules["pyarrow"].fs = types.SimpleNamespace(LocalFileSystem=LocalFileSystem)
from trainrt.train import Checkpoint, Result
print(type(Checkpoint("/tmp", filesystem=LocalFileSystem()).filesystem).__name__, type(Result(path="/tmp").filesystem).__name__)
for make in (Checkpoint, Result.from_path):
    try:
        make("/tmp", S3FileSystem())
    except ValueError as error:
        print("filesystem=" in str(error))
"""
    for state, name in (("found", "LocalFileSystem"), ("missing", "NoneType")):
        job = run([PYTHON, "-c", text, state], env={"PYTHONPATH": BUILD / "python"})
        equal(job.out.split(), [name, name, "True", "True"], f"file systems if pyarrow is {state}", job)


@test
def a_filesystem_sets_endpoint_region_and_anonymity_but_no_secrets():
    def mirror(filesystem, path="b/x"):
        found = _settings.settings(run=RunConfig(storage_filesystem=filesystem, storage_path=path))
        equal(list(found), ["checkpoint.mirror"], "keys of the config")
        return found["checkpoint.mirror"]
    where = "b/x?endpoint_override=http://h:9000&region=eu-1"
    equal(mirror(StandInForS3fs(endpoint_url="http://h:9000", client_kwargs={"region_name": "eu-1"})), f"s3://{where}", "s3fs")
    equal(mirror(StandInForS3fs(anon=True, client_kwargs={"endpoint_url": "http://h:9000", "region_name": "eu-1"})), f"s3://anonymous@{where}", "s3fs")
    equal(mirror(StandInForS3fs()), "s3://b/x", "s3fs without arguments")
    equal(mirror(StandInForPyarrowS3(endpoint_override="h:9000", scheme="http", region="eu-1", anonymous=True)), f"s3://anonymous@{where}", "pyarrow")
    keyed = StandInForS3fs(key="A", secret="never-kept", endpoint_url="http://h:9000")
    equal(mirror(keyed), "s3://b/x?endpoint_override=http://h:9000", "a filesystem with access keys")
    wrapped = type("PyFileSystem", (), {"type_name": "py::fsspec+s3", "handler": type("FSSpecHandler", (), {"fs": keyed})()})()
    equal((mirror(wrapped), _filesystem.keys_of(wrapped)), (mirror(keyed), {"key": "A", "secret": "never-kept", "token": ""}), "FSSpecHandler")
    subtree = type("SubTreeFileSystem", (), {"type_name": "subtree", "base_path": "b/y/", "base_fs": keyed})()
    equal(mirror(subtree, "x"), "s3://b/y/x?endpoint_override=http://h:9000", "a subtree")
    raises(ValueError, "role_arn='r'", "AWS_PROFILE", of=lambda: mirror(StandInForPyarrowS3(role_arn="r")))
    python = BUILD / "arrow-python/bin/python"
    if python.exists():
        code = ("import pyarrow.fs as fs; from trainrt.train import RunConfig; from trainrt.train._config import _filesystem, _settings; "
                "s3 = fs.S3FileSystem(endpoint_override='http://h:9000', region='eu-1', access_key='A', secret_key='B', session_token='C'); "
                "local = fs.LocalFileSystem(); print(_filesystem.keys_of(s3), *(_settings.settings(run=RunConfig(storage_filesystem=each, storage_path=path)) "
                "for each, path in ((s3, 'b/x'), (fs.SubTreeFileSystem('b', s3), 'x'), (local, '/b/x'), (fs.SubTreeFileSystem('/b', local), 'x'))), sep='\\n')")
        found = subprocess.run([python, "-c", code], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True)
        expected = [{"key": "A", "secret": "B", "token": "C"}, *2 * [{"checkpoint.mirror": f"s3://{where}"}], *2 * [{"run.storage_path": "/b/x"}]]
        equal(found.stdout.splitlines(), list(map(str, expected)), f"pyarrow's own: {found.stderr}")


class FolderFilesystem:
    """Has the methods of a pyarrow.fs.FileSystem that StoreCopies calls."""

    def __init__(self, root):
        self.root, self.written = root, []

    def create_dir(self, path, recursive):
        (self.root / path).mkdir(parents=recursive, exist_ok=True)

    def open_output_stream(self, path):
        self.written.append(path)
        return (self.root / path).open("wb")

    def open_input_stream(self, path):
        return (self.root / path).open("rb")

    def delete_file(self, path):
        (self.root / path).unlink()

    def delete_dir(self, path):
        shutil.rmtree(self.root / path)


@test
def checkpoints_are_copied_with_the_manifest_last_and_removed_as_in_the_run():
    run_dir, filesystem = scratch("run"), FolderFilesystem(scratch("store"))
    for number in range(2):
        folder = run_dir / f"checkpoint_00000{number}"
        (folder / "files").mkdir(parents=True)
        for name, text in (("manifest.json", json.dumps({"format": "trainrt checkpoint", "number": number})), ("files/manifest.json", "x"), ("state.h5", "")):
            (folder / name).write_text(text)
    stale = filesystem.root / "top/run/checkpoint_000001"
    stale.mkdir(parents=True)
    for name in ("manifest.json", "stale"):
        (stale / name).write_text("{}")
    copies = _store_copies.StoreCopies(str(run_dir), filesystem, "top/run")
    check(copies.wait(10), "the copies are not complete")
    equal(filesystem.written, [f"top/run/checkpoint_00000{number}/{name}" for number in range(2) for name in ("files/manifest.json", "manifest.json")], "files")
    check(not (stale / "stale").exists(), "a file of an older checkpoint is still there")
    shutil.rmtree(run_dir / "checkpoint_000000")
    check(copies._copy_new(), "the second copy failed")
    equal((len(filesystem.written), sorted(path.name for path in (filesystem.root / "top/run").iterdir())), (4, ["checkpoint_000001"]), "files, and checkpoints")


@test
def options_of_a_url_are_checked_and_kept():
    for text in ("s3://b/x?endpoint_override=http://localhost:9000", "s3://anonymous@b/x", "gs://b?scheme=http&endpoint_override=h:1"):
        equal(_settings.settings(run=RunConfig(storage_path=text)), {"checkpoint.mirror": text}, "keys of the config")
    found = _store_url.parsed("s3://anonymous@b/x?endpoint_override=localhost:9000&scheme=http&region=eu&allow_bucket_creation=true")
    equal(str(found), "s3://anonymous@b/x?endpoint_override=http://localhost:9000&region=eu", "the URL")
    equal((found.bucket, found.key, found.endpoint, found.is_anonymous), ("b", "x", "http://localhost:9000", True), "components of the URL")
    equal((str(found.below("run")), _store_url.parsed("s3://b/part-?.csv").key), (str(found).replace("/x", "/x/run", 1), "part-?.csv"), "other keys")
    encoded = _store_url.parsed("s3://endpoint_override=http%3A%2F%2Fh%3A1@b/x")
    equal((encoded.bucket, encoded.endpoint), ("b", "http://h:1"), "options before the bucket")


@test
def arguments_of_the_wrong_type_are_named():
    raises(TypeError, "`datasets_to_split` should be", "str with value 'train'", of=lambda: DataConfig("train"))
    raises(TypeError, "train_loop_per_worker", of=lambda: DataParallelTrainer("train"))
    raises(TypeError, "`metadata` should be an instance of `dict`", of=lambda: DataParallelTrainer(print, metadata=[1]))


@test
def a_train_function_whose_config_is_bound_is_called_without_arguments():
    def function(config, **more):
        return config, more
    bound = functools.partial(function, config={"lr": 1}, data=2)
    equal(DataParallelTrainer(bound, train_loop_config={"lr": 3}, scaling_config=ScalingConfig(num_workers=0)).fit().return_value, ({"lr": 1}, {"data": 2}), "call")


@test
def metrics_of_a_result_equal_the_reported_ones():
    result = DataParallelTrainer(lambda: train.report({"loss": 0.5, "done": "no"}), scaling_config=ScalingConfig(num_workers=0)).fit()
    check(result.metrics == {"loss": 0.5, "done": "no"} and {"loss": 0.5, "done": "no"} == result.metrics, f"metrics: {result.metrics}")
    for other in ({"loss": 0.5}, {"loss": 0.25, "done": "no"}, {"loss": 0.5, "done": "no", "more": 1}, {**result.metrics, "training_iteration": 2}):
        check(result.metrics != other, f"equal to {other}")
    equal(result.metrics["training_iteration"], 1, "a metric that trainrt added")


@test
def a_result_can_be_made_and_compared_as_in_ray_train():
    folder, more = Checkpoint(scratch()), {"loss": 0.25}
    made = Result(metrics={"loss": 0.5, "config": {"lr": 1}}, checkpoint=folder, path="/runs/x", error=None, metrics_dataframe="frame",
                  best_checkpoints=[(folder, more)], _storage_filesystem="files", return_value=3)
    equal((made.metrics["loss"], made.checkpoint, made.path, made.error, made.metrics_dataframe, made.best_checkpoints, made.filesystem, made.return_value),
          (0.5, folder, "/runs/x", None, "frame", [(folder, more)], "files", 3), "attributes")
    equal((made.config, made.get_best_checkpoint("loss", "min")), ({"lr": 1}, folder), "config and best checkpoint")
    check(Result({"a": 1}, None, None, "/x") == Result({"a": 1}, None, None, "/x"), "equal results differ")
    check(Result({"a": 1}, folder, ValueError("x"), "/x") == Result({"a": 1}, folder, ValueError("x"), "/x"), "equal results with errors differ")
    for other in (Result({"a": 2}, None, None, "/x"), Result({"a": 1}, folder, None, "/x"), Result({"a": 1}, None, ValueError("x"), "/x"), None):
        check(Result({"a": 1}, None, None, "/x") != other, f"equal to {other}")


@test
def a_run_in_this_process_keeps_its_newest_checkpoint_with_its_metrics():
    def function():
        for number in range(3):
            (folder / "number").write_text(str(number))
            train.report({"number": number}, checkpoint=Checkpoint(folder) if number < 2 else None)
        return [(Path(each.checkpoint.path, "number").read_text(), each.metrics, each.status.value) for each in train.get_all_reported_checkpoints()]

    folder = scratch()
    result = DataParallelTrainer(function, scaling_config=ScalingConfig(num_workers=0)).fit()
    equal(result.return_value, [("1", {"number": 1}, "COMMITTED")], "reported checkpoints")
    equal([(Path(checkpoint.path, "number").read_text(), metrics) for checkpoint, metrics in result.best_checkpoints], [("1", {"number": 1})], "best checkpoints")


@test
def the_defaults_are_ray_trains():
    defaults = {ScalingConfig: {"num_workers": 1, "use_gpu": False, "resources_per_worker": None, "placement_strategy": "PACK", "accelerator_type": None},
                CheckpointConfig: {"num_to_keep": None, "checkpoint_score_attribute": None, "checkpoint_score_order": "max", "checkpoint_frequency": 0},
                FailureConfig: {"max_failures": 0, "fail_fast": False}, RunConfig: {"name": None, "storage_path": None, "callbacks": [], "worker_runtime_env": {}, "failure_config": FailureConfig(),
                            "checkpoint_config": CheckpointConfig(), "logging_config": LoggingConfig()},
                SyncConfig: {"sync_period": 300, "sync_timeout": 1800, "sync_artifacts": False}}
    for kind, expected in defaults.items():
        found = {field.name: getattr(kind(), field.name) for field in dataclasses.fields(kind)}
        equal({name: found[name] for name in expected}, expected, kind.__name__)
    equal(DataConfig().datasets_to_split, "all", "datasets to split")


@test
def resources_of_a_worker_are_counted_as_in_ray_train():
    equal(ScalingConfig(use_gpu=True).num_gpus_per_worker, 1, "GPUs")
    equal(ScalingConfig(use_gpu=True, resources_per_worker={"GPU": 0.5}).num_gpus_per_worker, 0.5, "shared GPUs")
    equal(ScalingConfig(resources_per_worker={"CPU": 4, "memory": 10, "x": 0}).additional_resources_per_worker, {"memory": 10}, "others")
    equal(ScalingConfig(num_workers=(2, 8)).total_resources, {"CPU": 8}, "total")
    equal(ScalingConfig(num_workers=2, use_gpu=True, accelerator_type="H").total_resources, {"GPU": 2, "accelerator_type:H": 0.002}, "total of GPUs")
    equal((ScalingConfig().num_cpus_per_worker, ScalingConfig(use_gpu=True).num_cpus_per_worker, ScalingConfig().requested_cpus), (1, 0, None), "CPUs")
    bundles = ScalingConfig(num_workers=2, resources_per_worker={"CPU": 3}).as_placement_group_factory()
    equal((bundles.bundles, bundles.head_bundle_is_empty, bundles.strategy), ([{"CPU": 3.0}] * 2, True, "PACK"), "bundles")
    again = ScalingConfig.from_placement_group_factory(bundles)
    equal((again.num_workers, again.resources_per_worker), (2, {"CPU": 3.0}), "from bundles")


@test
def configs_of_ray_air_have_its_repr_resources_and_comparison():
    from trainrt import air
    equal(repr([air.ScalingConfig(num_workers=2), air.FailureConfig(), air.CheckpointConfig(num_to_keep=1)]),
          "[ScalingConfig(num_workers=2), FailureConfig(), CheckpointConfig(num_to_keep=1)]", "repr() without defaults")
    equal(air.ScalingConfig(num_workers=2).total_resources, {"CPU": 3}, "resources with those of the trainer")
    equal(air.ScalingConfig(num_workers=2, trainer_resources={"CPU": 0}).as_placement_group_factory().bundles, [{"CPU": 1.0}] * 2, "bundles without a trainer")
    equal((air.ScalingConfig() == air.ScalingConfig(resources_per_worker={"CPU": 1}), air.ScalingConfig() == air.ScalingConfig(num_workers=2)), (True, False), "==")
    check(isinstance(air.RunConfig(), RunConfig) and isinstance(air.ScalingConfig(), ScalingConfig), "the configs of ray.air are no configs of trainrt.train")
    raises(DeprecationWarning, "_checkpoint_keep_all_ranks", of=lambda: air.CheckpointConfig(_checkpoint_keep_all_ranks=True))
    raises(ValueError, "Cannot initialize a ResourceRequest with zero bundles", of=lambda: air.ResourceRequest([]))


@test
def an_option_that_was_not_given_has_rays_default_and_leaves_the_key_to_the_launch():
    import copy
    run_config = copy.copy(RunConfig())
    equal((_settings.settings(run=run_config), run_config.failure_config.max_failures), ({}, 0), "settings of a default RunConfig")
    run_config.failure_config.max_failures = 2
    run_config.checkpoint_config.num_to_keep = 3
    equal(_settings.settings(run=run_config), {"failure.max_failures": "2", "checkpoint.num_to_keep": "3"}, "changed defaults")
    equal(_settings.settings(run=RunConfig(failure_config=FailureConfig())), {"failure.max_failures": "0"}, "a given FailureConfig")


@test
def a_logging_config_above_info_hides_notes_and_progress_but_no_warnings_and_errors():
    sinks = _settings.settings(run=RunConfig(logging_config=LoggingConfig("warning")))["metrics.sinks"]
    equal(sinks, "csv, hdf5, tensorboard", "sinks")
    equal(_settings.settings(run=RunConfig(logging_config=LoggingConfig("ERROR"), verbose=2)), {"metrics.progress": "all"}, "sinks with verbose")
    text = """
import sys
from trainrt.train import DataParallelTrainer, LoggingConfig, RunConfig, ScalingConfig
from trainrt._support import _notes
def prints():
    _notes.say("a note")
    for _ in range(2):
        _notes.warn("is often")
        _notes.error("is bad")
DataParallelTrainer(prints, scaling_config=ScalingConfig(num_workers=0), run_config=RunConfig(logging_config=LoggingConfig(sys.argv[1]))).fit()
"""
    for level, expected in (("INFO", True), ("WARNING", False), ("CRITICAL", False)):
        job = run([PYTHON, "-c", text, level], env={"PYTHONPATH": BUILD / "python"})
        equal("a note" in job.err, expected, f"note with {level}", job)
        equal(re.findall("trainrt: (?:warning|error): is .*", job.err), ["trainrt: warning: is often", "trainrt: error: is bad"], f"warnings with {level}", job)


@test
def failures_have_rays_words_and_survive_pickle():
    import pickle
    from trainrt.train import ControllerError, WorkerGroupError
    group, controller = WorkerGroupError("rank 0 failed", {0: ValueError("x")}), ControllerError(ValueError("no nodes"), exit_code=64)
    equal((str(group), str(controller)), ("Training failed due to worker errors:\nrank 0 failed", "Training failed due to controller error:\nno nodes"), "texts")
    again = pickle.loads(pickle.dumps(group)), pickle.loads(pickle.dumps(controller))
    equal((str(again[0]), repr(again[0].worker_failures), str(again[1]), again[1].exit_code), (str(group), "{0: ValueError('x')}", str(controller), 64), "copies")
    equal(repr(controller.controller_failure), "ValueError('no nodes')", "failure")
    equal((ScalingConfig(num_workers=[2, 8]).min_workers, ScalingConfig(num_workers=3).max_workers), (2, 3), "workers")


@test
def configs_become_keys_of_trainrts_config():
    scaling = ScalingConfig(num_workers=(2, 4), use_gpu=True, resources_per_worker={"GPU": 2})
    run_config = RunConfig(name="x", storage_path="/data/../runs", verbose=2, stop={"training_iteration": 5, "accuracy": 0.9},
                           checkpoint_config=CheckpointConfig(num_to_keep=3, checkpoint_score_attribute="loss", checkpoint_score_order="min"),
                           failure_config=FailureConfig(max_failures=-1))
    equal(_settings.settings(scaling, run_config), {
        "scaling.num_workers": "4", "scaling.min_workers": "2", "scaling.gpus_per_worker": "2", "run.name": "x", "run.storage_path": "/runs",
        "checkpoint.num_to_keep": "3", "checkpoint.score_attribute": "loss", "checkpoint.score_order": "min", "failure.max_failures": "1000000000",
        "metrics.progress": "all", "stop.training_iteration": ">= 5", "stop.accuracy": ">= 0.9"}, "settings")
    equal(_settings.settings(), {}, "settings without a config")
    equal(_settings.arguments({"run.name": "a b"}), ["--run.name=a b"], "arguments")
    raises(ValueError, "stop", "dict", of=lambda: _settings.settings(None, RunConfig(stop=lambda trial, result: True)))
    raises(ValueError, "'loss'", of=lambda: _settings.settings(None, RunConfig(stop={"loss": "low"})))


@test
def every_key_of_the_settings_exists_in_trainrt():
    keys = run([TRAINRT, "help", "config"]).out
    scaling = ScalingConfig(num_workers=(1, 2))
    run_config = RunConfig(name="x", storage_path="/runs", verbose=2, failure_config=FailureConfig(),
                           checkpoint_config=CheckpointConfig(num_to_keep=1, checkpoint_score_attribute="x"))
    for key in _settings.settings(scaling, run_config):
        section, name = key.split(".")
        text = keys.split(f"\n[{section}]")[1].split("\n[")[0]
        check(re.search(rf"^#?{name} =", text, re.M), f"trainrt has no key {key}")


@test
def a_setting_without_effect_is_reported_with_the_reason():
    scaling = ScalingConfig(trainer_resources={"CPU": 0}, placement_strategy="SPREAD", accelerator_type="A100", resources_per_worker={"memory": 1})
    run_config = RunConfig(sync_config=SyncConfig(), log_to_file=True, progress_reporter=object(), checkpoint_config=CheckpointConfig(checkpoint_frequency=1),
                           failure_config=FailureConfig(fail_fast=True), worker_runtime_env={"pip": ["x"]})
    lines = _settings.notes(scaling, run_config)
    for name in ("trainer_resources", "placement_strategy", "accelerator_type", "memory", "sync_config", "log_to_file", "progress_reporter",
                 "checkpoint_frequency", "fail_fast", "worker_runtime_env"):
        equal(len([line for line in lines if name in line and "change" in line]), 1, f"lines of {name}")
    equal(_settings.notes(ScalingConfig(num_workers=2, use_gpu=True, resources_per_worker={"CPU": 1, "GPU": 1}), RunConfig(name="x")), [], "notes for effective settings")


# ---- checkpoints -------------------------------------------------------------------------------------------------------------


def folder_with(**files):
    folder = scratch()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def own_checkpoint(**metadata):
    """Returns a handmade folder in the layout that a run commits."""
    folder = scratch() / "checkpoint_000012"
    (folder / "files").mkdir(parents=True)
    (folder / "files/model").write_text("weights")
    (folder / "manifest.json").write_text(json.dumps({"format": "trainrt checkpoint", "index": 12, "metadata": metadata, "directory": True}))
    return folder


@test
def a_checkpoint_refers_to_its_directory_without_a_copy():
    folder = folder_with(model="weights")
    checkpoint = Checkpoint.from_directory(folder)
    with checkpoint.as_directory() as path:
        equal(path, str(folder), "path of the directory")
    target = Path(checkpoint.to_directory(scratch() / "copy"))
    equal((target / "model").read_text(), "weights", "the copy")
    equal((Path(checkpoint.to_directory()) / "model").read_text(), "weights", "the copy in a new folder")
    raises(TypeError, "You cannot use `Checkpoint` objects directly as paths", of=lambda: open(checkpoint))
    raises(FileNotFoundError, str(folder / "gone"), of=lambda: Checkpoint(folder / "gone").to_directory())


@test
def a_checkpoint_of_a_run_refers_to_its_files():
    folder = own_checkpoint(epoch=3)
    for path in (folder, folder / "files"):
        checkpoint = Checkpoint(path)
        equal(checkpoint.path, str(folder / "files"), "path of the files")
        equal(checkpoint.get_metadata(), {"epoch": 3}, "metadata")
    equal(Checkpoint(folder), Checkpoint(folder / "files"), "the same checkpoint")
    before = sorted(os.listdir(folder / "files"))
    checkpoint.update_metadata({"best": True})
    equal(Checkpoint(folder).get_metadata(), {"epoch": 3, "best": True}, "updated metadata")
    equal(sorted(os.listdir(folder / "files")), before, "files of the checkpoint")


@test
def a_folder_with_a_foreign_manifest_is_no_checkpoint_of_a_run():
    for manifest in ('{"format": "of mine"}', "[1]", "no JSON"):
        folder = folder_with(**{"manifest.json": manifest})
        (folder / "files").mkdir()
        for path in (folder, folder / "files"):
            equal(Checkpoint(path).path, str(path), f"the directory, with {manifest}")
        check(not Checkpoint(folder).is_native(), "the folder counts as a run's checkpoint")


@test
def metadata_of_a_checkpoint_is_json_in_one_file():
    checkpoint = Checkpoint(folder_with(model=""))
    equal(checkpoint.get_metadata(), {}, "metadata at first")
    checkpoint.set_metadata({"a": 1, "b": [1, 2]})
    checkpoint.update_metadata({"a": 2})
    equal(json.loads((Path(checkpoint.path) / ".metadata.json").read_text()), {"a": 2, "b": [1, 2]}, "the file")
    raises(TypeError, "JSON", of=lambda: checkpoint.set_metadata({"a": object()}))
    raises(TypeError, "dict", of=lambda: checkpoint.set_metadata([1]))
    equal(checkpoint.get_metadata(), {"a": 2, "b": [1, 2]}, "metadata after two errors")
    equal(sorted(os.listdir(checkpoint.path)), [".metadata.json", "model"], "files")


@test
def values_of_save_checkpoint_are_restored_without_pickle():
    import numpy
    import torch
    values = {"epoch": 3, "name": "ü", "nothing": None, "rate": math.inf, "raw": b"\0\xff", "nested": {"a": [1, (2, 3.5)], 7: True},
              "array": numpy.arange(6, dtype="f4").reshape(2, 3), "model": {"w": torch.arange(4.0).reshape(2, 2).bfloat16(), "empty": torch.empty(0)}}
    folder = scratch()
    _plain_tree.save(folder, values)
    found = _plain_tree.load(folder)
    check((found.pop("array") == values.pop("array")).all(), "the array differs")
    model, expected = found.pop("model"), values.pop("model")
    check(all(torch.equal(model[name], expected[name]) and model[name].dtype == expected[name].dtype for name in expected), "the tensors differ")
    equal(found, values, "values")
    raises(TypeError, "model['f']", "function", of=lambda: _plain_tree.save(scratch(), {"model": {"f": print if False else (lambda: 0)}}))


@test
def a_checkpoint_that_cannot_be_read_in_time_is_named():
    folder = own_checkpoint().parent
    stuck = scratch() / "trainrt"
    stuck.write_text("#!/bin/sh\nexec sleep 600\n")
    stuck.chmod(0o755)
    os.environ["TRAINRT_EXECUTABLE"], _newest_intact._BASE_LIMIT_S = str(stuck), 0.2
    try:
        raises(TimeoutError, str(folder / "checkpoint_000012"), "storage", "trainrt verify", of=lambda: _newest_intact.newest(folder))
    finally:
        del os.environ["TRAINRT_EXECUTABLE"]
        _newest_intact._BASE_LIMIT_S = 600


@test
def reports_with_unusual_line_separators_are_read():
    folder = scratch()
    (folder / "result.json").write_text(json.dumps({"text": "a\u2028b\x85c"}, ensure_ascii=False) + '\n{"x": 2}\n{"x"', encoding="utf-8")
    equal(_run_directory.reports(folder), [{"text": "a\u2028b\x85c"}, {"x": 2}], "reports without the torn last line")
    (folder / "result.json").write_text('{"x"\n{"x": 2}\n')
    raises(ValueError, "result.json", "damaged", of=lambda: _run_directory.reports(folder))


@test
def the_metrics_of_a_report_keep_their_types():
    folder = scratch()
    (folder / "result.json").write_text('{"_training_iteration":1,"epoch":2,"loss":2.0,"none":null,"_timestamp":5}\n')
    found = _run_directory.own_metrics(folder)
    check(math.isnan(found[1].pop("none")), "null is not read as NaN")
    equal(repr(found), repr({1: {"epoch": 2, "loss": 2.0}}), "metrics")


@test
def infinities_nan_and_strings_of_their_names_are_restored_from_strict_json():
    given = {"up": math.inf, "down": -math.inf, "text": "-Infinity", "escaped": "\\Infinity", "nan": math.nan, "flag": True, "n": 2**60}
    folder = scratch()
    check(_validation_file.write(folder, given), "the file was not written")
    text = (folder / "validation.json").read_text()
    json.loads(text, parse_constant=lambda word: check(False, f"{word} is no JSON: {text}"))
    equal(repr(_validation_file.read(folder)), repr(given), "metrics of a validation")
    logger = JsonLoggerCallback()
    logger.start_training(str(folder), {})
    logger.handle_result([given])
    json.loads((folder / "results.json").read_text(), parse_constant=lambda word: check(False, f"{word} is no JSON"))
    old = {"loss": "Infinity", "low": "-Infinity", "none": None, "text": "x"}
    (folder / "result.json").write_text(json.dumps({"_training_iteration": 1, **old}) + "\n")
    equal(repr(_run_directory.own_metrics(folder)), repr({1: {"loss": math.inf, "low": -math.inf, "none": math.nan, "text": "x"}}), "metrics of older versions")


# ---- results -----------------------------------------------------------------------------------------------------------------

REPORTS = """state = trainrt.State()
state["epoch"] = 0
ctx.restore(state)
while state["epoch"] < 4:
    state["epoch"] += 1
    ctx.report({"loss": abs(state["epoch"] - 2.5), "name": "x", "nan": float("nan")})
"""


def finished_run(text=REPORTS, code=FINISHED, **checkpoint):
    config = program_config(python(text), checkpoint={"num_to_keep": 0, **checkpoint})
    check_exit(run_program(1, config), code)
    return run_dir_of(config)


def with_files(run_dir):
    """Adds files to the checkpoints by hand, as if each report had passed a directory."""
    for path in checkpoints(run_dir):
        (path / "files").mkdir()
        (path / "files/model").write_text(path.name)
        manifest = {**json.loads((path / "manifest.json").read_text()), "directory": True}
        (path / "manifest.json").write_text(json.dumps(manifest))
    return run_dir


@test
def a_result_is_read_from_a_run_directory():
    run_dir = with_files(finished_run())
    result = Result.from_path(run_dir)
    equal((result.path, result.log_dir, result.error), (str(run_dir), run_dir, None), "result")
    equal([report["loss"] for report in result.reports], [1.5, 0.5, 0.5, 1.5], "reports")
    equal((result.metrics["loss"], result.metrics["name"], result.metrics["training_iteration"]), (1.5, "x", 4), "the last metrics")
    check(math.isnan(result.metrics["nan"]), "null is not read as NaN")
    equal(Path(result.checkpoint.path), run_dir / "checkpoint_000003/files", "the newest checkpoint")
    equal([metrics["loss"] for _, metrics in result.best_checkpoints], [1.5, 0.5, 0.5, 1.5], "checkpoints, oldest first without a score")
    equal((Path(result.get_best_checkpoint("loss", "min").path) / "model").read_text(), "checkpoint_000001", "the best")
    raises(RuntimeError, "'accuracy'", "loss", of=lambda: result.get_best_checkpoint("accuracy", "max"))
    raises(ValueError, "Unsupported mode: most", of=lambda: result.get_best_checkpoint("loss", "most"))


@test
def checkpoints_of_a_result_are_ranked_by_the_runs_score():
    result = Result.from_path(with_files(finished_run(score_attribute="loss", score_order="min")))
    equal([metrics["loss"] for _, metrics in result.best_checkpoints], [1.5, 1.5, 0.5, 0.5], "the best last")


@test
def a_run_without_directories_has_the_checkpoints_of_its_state():
    run_dir = finished_run()
    names = sorted(path.name for path in Path(run_dir).glob("checkpoint_*"))
    result = Result.from_path(run_dir)
    equal(Path(result.checkpoint.path).name, names[-1], "the newest")
    equal([Path(checkpoint.path).name for checkpoint, _ in result.best_checkpoints], names, "all")


@test
def the_result_of_a_failed_run_has_its_error():
    result = Result.from_path(finished_run(REPORTS + "raise ValueError('at the end')", code=FAILED))
    check(isinstance(result.error, TrainingFailedError), f"error {result.error!r}")
    for word in ("rank 0", "ValueError: at the end", "Traceback"):
        check(word in str(result.error), f"the error lacks {word!r}: {result.error}")
    equal((result.error.exit_code, result.metrics["loss"]), (FAILED, 1.5), "exit code and last metrics")


@test
def a_directory_without_a_run_is_an_error():
    folder = scratch()
    raises(RuntimeError, str(folder), "run.json", of=lambda: Result.from_path(folder))
    equal(DataParallelTrainer.can_restore(folder), False, "can_restore")
    raises(ValueError, str(folder), "no run", of=lambda: DataParallelTrainer.restore(folder))
    run_dir = finished_run()
    wrong = run_dir.parent / f"{run_dir.name}x"
    raises(RuntimeError, f"did you mean '{run_dir}'?", of=lambda: Result.from_path(wrong))
    raises(ValueError, f"did you mean '{run_dir}'?", of=lambda: DataParallelTrainer.restore(wrong))


@test
def a_table_of_the_reports_requires_pandas():
    result = Result.from_path(finished_run())
    try:
        import pandas  # noqa: F401
    except ImportError:
        raises(ImportError, "pandas", "Result.reports", of=lambda: result.metrics_dataframe)
    else:
        equal(list(result.metrics_dataframe["loss"]), [1.5, 0.5, 0.5, 1.5], "the table")


@dataclasses.dataclass
class LimitConfig(BackendConfig):
    limit: int = 1


class LimitTrainer(DataParallelTrainer):
    def __init__(self, function, limit_config=None, **arguments):
        super().__init__(function, backend_config=limit_config or LimitConfig(), **arguments)


def recorded_run(trainer):
    """Returns a directory with the records of a run of `trainer` that was signed with a new key, and whose last start had max_failures 3."""
    os.environ["XDG_STATE_HOME"] = str(scratch())
    folder = scratch()
    (folder / "run.json").write_text(json.dumps({"format": "trainrt run 1", "config": {"failure.max_failures": "3"}}))
    _trainer_record.write(str(folder), trainer)
    return folder


def changed_record(folder, is_signed, **options):
    """Adds options of the RunConfig to trainer.json."""
    record = json.loads((folder / "trainer.json").read_text())
    record["run_config"].update(options)
    if is_signed:
        record["code"] = _user_key.code_of(_trainer_record._signed_bytes(record))
    (folder / "trainer.json").write_text(json.dumps(record))


@test
def restore_uses_options_of_a_record_only_with_a_valid_code_and_never_its_environment():
    notes, say = [], _notes.say
    folder = recorded_run(LimitTrainer(print, LimitConfig(7), train_loop_config={"x": 1}, run_config=RunConfig(failure_config=FailureConfig(max_failures=9), verbose=2)))
    _notes.say = notes.append
    try:
        for is_signed, expected in ((True, ({}, 9, 2, 7)), (False, ({}, 3, None, 1))):
            changed_record(folder, is_signed, worker_runtime_env={"env_vars": {"LD_PRELOAD": f"/evil-{is_signed}.so"}})
            found = LimitTrainer.restore(folder, print)
            run_config = found.run_config
            equal((run_config.worker_runtime_env, run_config.failure_config.max_failures, run_config.verbose, found.backend_config.limit), expected, f"{is_signed}")
            equal("run_config=RunConfig(...), backend_config=..." in "".join(notes), not is_signed, f"whether a note names the options: {notes}")
    finally:
        _notes.say = say


@test
def restore_with_a_validation_config_keeps_the_recorded_backend():
    folder = recorded_run(LimitTrainer(print, LimitConfig(7), train_loop_config={"x": 1}))
    equal(LimitTrainer.restore(folder, print, validation_config=ValidationConfig(print)).backend_config.limit, 7, "with validation_config")
    equal(LimitTrainer.restore(folder, print, limit_config=LimitConfig(8)).backend_config.limit, 8, "with another config of the backend")


# ---- local mode, without ranks -----------------------------------------------------------------------------------------------


def local_fit(function, **arguments):
    return DataParallelTrainer(function, scaling_config=ScalingConfig(num_workers=0), **arguments).fit()


@test
def local_mode_runs_in_this_process_and_stores_nothing():
    seen = []

    def function(config):
        context = train.get_context()
        seen.append((context.get_world_rank(), context.get_world_size(), context.get_local_rank(), context.get_metadata(), train.get_checkpoint()))
        folder = folder_with(model=str(config["x"]))
        train.report({"loss": 2.0, "val": {"loss": 3, "deep": {"er": True}}}, checkpoint=Checkpoint(folder))
        (folder / "model").unlink()
        with train.get_checkpoint().as_directory() as path:
            seen.append((Path(path) / "model").read_text())
        train.report({"loss": 1.0})
        equal(train.collective.broadcast_from_rank_zero({"a": 1}), {"a": 1}, "broadcast")
        train.collective.barrier()
        return config["x"] * 2

    result = local_fit(function, train_loop_config={"x": 4}, metadata={"m": 1})
    equal(seen, [(0, 1, 0, {"m": 1}, None), "4"], "context and checkpoint of the function")
    equal((result.return_value, result.metrics["loss"], result.metrics["training_iteration"], result.path), (8, 1.0, 2, None), "result")
    equal(result.checkpoint.get_metadata(), {"m": 1}, "metadata of the checkpoint")


@test
def a_failure_in_local_mode_is_raised_with_its_cause():
    def function():
        raise KeyError("missing")

    error = raises(TrainingFailedError, "KeyError", "missing", of=lambda: local_fit(function))
    check(isinstance(error.worker_failures[0], KeyError) and error.__cause__ is error.worker_failures[0], "the error lacks the exception")


@test
def a_train_function_that_calls_fit_is_an_error():
    error = raises(TrainingFailedError, "inside of a train function", of=lambda: local_fit(lambda: local_fit(print)))
    check(isinstance(error.worker_failures[0], RuntimeError), "the error lacks the exception")


@test
def invalid_metrics_are_errors_that_name_them():
    import numpy
    import torch
    raises(ValueError, "'loss'", "loss.item()", of=lambda: train.report({"loss": torch.tensor(1.0)}))
    raises(ValueError, "'val/loss'", "loss.item()", of=lambda: train.report({"val": {"loss": torch.tensor(1.0)}}))
    raises(TypeError, "'losses'", "list", of=lambda: train.report({"losses": [1, 2]}))
    raises(TypeError, "'x'", of=lambda: train.report({"x": numpy.arange(3)}))
    raises(TypeError, "3", "str", of=lambda: train.report({3: 1}))
    raises(TypeError, "dict", of=lambda: train.report([1]))
    raises(ValueError, "'a/b'", of=lambda: train.report({"a": {"b": 1}, "a/b": 2}))
    train.report({"loss": numpy.float32(1.5), "flag": numpy.bool_(True), "none": None, "text": "x", "count": numpy.int64(3)})
    train.report(loss=1, epoch=2)  # the form of Ray Train 1.x


@test
def integers_beyond_64_bits_become_floats():
    sent = metrics_for_message({"most": 2**63 - 1, "more": 2**63, "less": -2**63 - 1, "sum": trainrt.Number(2**64, "sum")})
    equal(repr(sent), repr({"most": 2**63 - 1, "more": 2.0**63, "less": -2.0**63, "sum": {"value": 2.0**64, "reduce": "sum", "weight": 1}}), "metrics")
    raises(OverflowError, "'x'", "1329 bits", of=lambda: metrics_for_message({"x": 10**400}))


@test
def contradictory_arguments_of_report_are_refused():
    folder = folder_with(model="")
    raises(TypeError, "Checkpoint.from_directory", of=lambda: train.report({}, checkpoint=str(folder)))
    raises(TypeError, "checkpoint_upload_fn", "must be a function", of=lambda: train.report({}, Checkpoint(folder), checkpoint_upload_fn="s3"))
    raises(ValueError, "checkpoint_upload_fn must return a `trainrt.train.Checkpoint`", of=lambda: train.report({}, Checkpoint(folder), checkpoint_upload_fn=lambda *given: folder))
    raises(ValueError, "validation", of=lambda: train.report({}, Checkpoint(folder), validation=True))
    for value in (None, Checkpoint(folder)):
        raises(TypeError, "report(chekpoint=", "did you mean checkpoint=?", of=lambda: train.report({}, chekpoint=value))
    train.report(metric=0.5)  # similar to an argument, and a number
    check(folder.is_dir(), "a directory that was not reported was removed")
    train.report({}, Checkpoint(folder))
    train.report({}, Checkpoint(folder), checkpoint_upload_mode=CheckpointUploadMode.NO_UPLOAD, delete_local_checkpoint_after_upload=True)
    check(folder.is_dir(), "a directory was removed without a request")
    train.report({}, Checkpoint(folder), checkpoint_upload_mode=CheckpointUploadMode.ASYNC)
    check(not folder.exists(), "ASYNC did not remove the directory")


@test
def the_checkpoint_that_an_upload_function_returns_is_reported():
    folder, converted = folder_with(model=""), folder_with(converted="")
    train.report({}, Checkpoint(folder), checkpoint_dir_name="best", checkpoint_upload_fn=lambda checkpoint, name: Checkpoint(converted) if name == "best" else None)
    with train.get_checkpoint().as_directory() as path:
        equal(os.listdir(path), ["converted"], "reported files")


@test
def a_torch_checkpoint_holds_the_weights_of_a_model():
    import torch
    from trainrt.train.torch import TorchCheckpoint
    model = torch.nn.Linear(2, 1)
    wrapped = {f"module.{name}": value for name, value in model.state_dict().items()}
    checkpoint = TorchCheckpoint.from_state_dict(wrapped)
    check(torch.equal(checkpoint.get_model(torch.nn.Linear(2, 1)).weight, model.weight), "weights")
    equal(checkpoint.get_preprocessor(), None, "preprocessor")
    raises(RuntimeError, "Pass a model", of=checkpoint.get_model)
    raises(FileNotFoundError, "model.pt", of=lambda: TorchCheckpoint(folder_with(other="")).get_model(model))
    harmful = folder_with()
    torch.save(os.system, harmful / "model.pt")
    raises(ValueError, "cannot be loaded", of=lambda: TorchCheckpoint(harmful).get_model(model))


@test
def hooks_of_a_backend_run_in_ray_trains_order():
    called = []

    class Hooks(Backend):
        def on_start(self, worker_group, backend_config):
            called.append(("on_start", len(worker_group), worker_group.execute(lambda x: x + 1, 2), worker_group.execute_single(0, str, 5), backend_config.x))

        def on_training_start(self, worker_group, backend_config):
            called.append("on_training_start")

        def on_shutdown(self, worker_group, backend_config):
            called.append("on_shutdown")

    @dataclasses.dataclass
    class Config(BackendConfig):
        x: int = 1
        backend_cls = Hooks

    local_fit(lambda: called.append("function"), backend_config=Config(7))
    equal(called, [("on_start", 1, [3], "5", 7), "on_training_start", "function", "on_shutdown"], "hooks")


@test
def init_limits_local_resources_and_reports_arguments_without_effect():
    text = """
import trainrt
print(trainrt.is_initialized(), trainrt.init(num_cpus=1, address="auto", dashboard_port=8265, ignore_reinit_error=True), trainrt.is_initialized())
from trainrt.train import DataParallelTrainer, ScalingConfig
try:
    DataParallelTrainer(print, scaling_config=ScalingConfig(num_workers=2)).fit()
except ValueError as error:
    print(error)
trainrt.shutdown()
print(trainrt.is_initialized(), trainrt.available_resources() == trainrt.cluster_resources())
"""
    job = run([PYTHON, "-c", text], env={"PYTHONPATH": BUILD / "python", "CUDA_VISIBLE_DEVICES": "", "TRAINRT_EXECUTABLE": TRAINRT}, cwd=scratch())
    equal(job.code, 0, "exit", job)
    lines = job.out.splitlines()
    equal(lines[0], "False {'CPU': 1.0} True", "the first line", job)
    check("2 CPUs" in lines[1] and "num_cpus=1" in lines[1], "the limit is not named", job)
    equal(lines[2], "False True", "the last line", job)
    equal(sorted(re.findall(r"init\((\w+)=", job.err)), ["address", "dashboard_port"], "arguments without effect", job)


@test
def env_vars_of_init_are_set_only_for_the_function():
    text = """
import os, trainrt
from trainrt.train import DataParallelTrainer, RunConfig, ScalingConfig
def key(**arguments):
    return DataParallelTrainer(lambda: os.environ.get("KEY"), scaling_config=ScalingConfig(num_workers=0), **arguments).fit().return_value
trainrt.init(runtime_env={"env_vars": {"KEY": 7}, "pip": ["x"]})
print("KEY" in os.environ, key(), key(run_config=RunConfig(worker_runtime_env={"env_vars": {"KEY": "mine"}})))
trainrt.shutdown()
del os.environ["KEY"]
print(key())
"""
    job = run([PYTHON, "-c", text], env={"PYTHONPATH": BUILD / "python"}, cwd=scratch())
    equal((job.code, job.out), (0, "False 7 mine\nNone\n"), "variables that the function reads", job)
    equal(job.err.count("init(runtime_env=...) changes nothing: except for env_vars"), 1, "warnings about pip", job)
    for wrong in ("x", {"env_vars": ["KEY"]}):
        raises(TypeError, "runtime_env", repr(wrong), of=lambda wrong=wrong: trainrt.init(runtime_env=wrong))


@test
def folders_of_scripts_are_private():
    folder = Path(_private_folder.make(str(scratch())))
    equal(stat.S_IMODE(folder.stat().st_mode), 0o700, "mode of the folder")


@test
def only_folders_of_killed_scripts_of_the_same_pid_namespace_are_removed():
    storage = scratch()
    made, no_process = Path(_private_folder.make(str(storage))).name, 2**22 + 1
    killed = made.replace(f"-{os.getpid()}-", f"-{no_process}-")
    namespace = os.readlink("/proc/self/ns/pid")[5:-1]
    check(f"-{namespace}-" in made, f"{made} does not name the PID namespace {namespace}")
    elsewhere = killed.replace(f"-{namespace}-", "-1-")
    for name in (killed, elsewhere):
        (storage / name).mkdir()
    last = Path(_private_folder.make(str(storage))).name
    equal(sorted(path.name for path in storage.iterdir()), sorted([made, elsewhere, last]), "folders that are left")


# ---- values that a script and its ranks exchange -----------------------------------------------------------------------------------


def client_of(exchange, kind, key=None):
    """Returns a client that connects only by the addresses of `kind`."""
    variables = exchange.variables()
    addresses = [each for each in variables["TRAINRT_FIT"].split(",") if each.startswith(kind)]
    return ExchangeClient(addresses, key or bytes.fromhex(variables["TRAINRT_FIT_KEY"]))


def values_are_exchanged(kind):
    with Exchange(["127.0.0.1"] if kind == "tcp" else []) as exchange:
        equal("tcp" in exchange.variables()["TRAINRT_FIT"], kind == "tcp", "whether a port is open")
        client, large = client_of(exchange, kind), os.urandom(3_000_000)
        exchange.put("function", large)
        check(client.get("function") == large, "the value that arrives differs")
        equal(client.get("missing"), None, "a missing value")
        client.put("empty", b"")
        client.put("failed-1", b"x")
        equal((exchange.get("empty"), exchange.get("failed-1"), client.get("empty")), (b"", b"x", b""), "values of a rank")
        equal(client.names(), ["empty", "failed-1", "function"], "names")
        client.remove("failed-1")
        equal(exchange.get("failed-1"), None, "a removed value")
    raises(ScriptUnreachable, "cannot be reached", of=lambda: client.get("function"))


for _kind in ("unix", "tcp"):
    add_test(f"values_are_exchanged_{_kind}", values_are_exchanged, _kind)


@test
def the_port_is_open_only_at_the_address_that_other_nodes_reach():
    """scontrol reports two nodes: this one, and one to which the route begins at 127.0.0.1."""
    shown = "NodeName=n1 Arch=x86_64 NodeAddr=192.0.2.1 NodeHostName=n1\nNodeName=n2 Arch=x86_64 NodeAddr=127.0.0.2 NodeHostName=n2\n"
    folder = scratch("bin")
    (folder / "scontrol").write_text(f"#!/bin/sh\n[ \"$*\" = 'show node --oneliner n[1-2]' ] && cat <<'END'\n{shown}END\n")
    (folder / "scontrol").chmod(0o755)
    job = {"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODELIST": "n[1-2]", "SLURMD_NODENAME": "n1", "PATH": f"{folder}:{os.environ['PATH']}"}
    before = dict(os.environ)
    try:
        os.environ.update(job)
        hosts = _allocation.hosts_of_exchange(1)
        os.environ["SLURM_JOB_NUM_NODES"] = "1"
        equal(_allocation.hosts_of_exchange(1), [], "addresses in a job of one node")
    finally:
        os.environ.clear()
        os.environ.update(before)
    equal(hosts, ["127.0.0.1"], "addresses for the other node")
    with Exchange(hosts) as exchange:
        listening = [line.split()[1] for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:] if line.split()[1].endswith(f":{port_of(exchange):04X}")]
        check(set(listening) == {f"0100007F:{port_of(exchange):04X}"}, f"addresses of the port: {listening}")


@test
def a_node_with_an_unknown_name_has_no_address():
    equal(_own_addresses.addresses_towards(["no-such-node.invalid", "127.0.0.1"]), ["127.0.0.1"], "addresses")


@test
def values_are_not_exchanged_without_the_key():
    with Exchange(["127.0.0.1"]) as exchange:
        exchange.put("function", b"data")
        other = client_of(exchange, "tcp", key=bytes(32))
        raises(ScriptUnreachable, "cannot be reached", of=lambda: other.put("function", b"changed"))
        equal(exchange.get("function"), b"data", "the value")


def port_of(exchange):
    return int(exchange.variables()["TRAINRT_FIT"].split("tcp:")[1].split(":")[0])


@test
def values_are_exchanged_again_after_too_many_open_files_and_threads():
    start, (soft, hard) = threading.Thread.start, resource.getrlimit(resource.RLIMIT_NOFILE)

    def no_thread(thread):
        threading.Thread.start = start
        raise RuntimeError("can't start new thread")

    with Exchange(["127.0.0.1"]) as exchange:
        exchange.put("function", b"data")
        threading.Thread.start = no_thread
        equal(client_of(exchange, "tcp").get("function"), b"data", "the value after a thread could not start")
        others = [socket.socket() for _ in range(2)]
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
            for other in others:  # accept() reserves a descriptor before it waits, so that only its next call fails
                other.connect(("127.0.0.1", port_of(exchange)))
            time.sleep(0.3)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        equal(client_of(exchange, "tcp").get("function"), b"data", "the value after accept() failed")
        for other in others:
            other.close()


@test
def a_connection_that_sends_nothing_is_closed_and_blocks_no_rank():
    limits = _exchange._MAX_UNPROVEN, _exchange._FIRST_REQUEST_S
    _exchange._MAX_UNPROVEN, _exchange._FIRST_REQUEST_S = 2, 0.3
    try:
        with Exchange(["127.0.0.1"]) as exchange:
            exchange.put("function", b"data")
            silent = [socket.create_connection(("127.0.0.1", port_of(exchange)), 5) for _ in range(3)]
            silent[2].settimeout(0.1)
            raises(TimeoutError, of=lambda: silent[2].recv(32))  # the greeting comes when one of the others is closed
            equal(client_of(exchange, "tcp").get("function"), b"data", "the value")
            equal([len(silent[0].recv(32)), silent[0].recv(1)], [32, b""], "the greeting, and the end of the connection")
            for each in silent:
                each.close()
    finally:
        _exchange._MAX_UNPROVEN, _exchange._FIRST_REQUEST_S = limits


@test
def a_rank_does_not_wait_forever_for_a_full_queue_of_connections():
    timeout_s, _exchange_client._CONNECT_TIMEOUT_S = _exchange_client._CONNECT_TIMEOUT_S, 0.3
    found, name = [], f"trainrt-test-{os.getpid()}"

    def put():
        try:
            ExchangeClient([f"unix:{name}"], bytes(32))._request({"op": "names"}, tries_s=0)
        except ScriptUnreachable as error:
            found.append(str(error))

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as first:
        listener.bind("\0" + name)
        listener.listen(0)
        first.connect("\0" + name)
        thread = threading.Thread(target=put, daemon=True)
        thread.start()
        thread.join(5)
    _exchange_client._CONNECT_TIMEOUT_S = timeout_s
    check(found and "this machine: " in found[0], f"errors {found}")


class Recorder(threading.Thread):
    """Listens on a socket, and records what a client sends there."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener, self.data = socket.create_server(("127.0.0.1", 0)), b""
        self.address = f"tcp:{self.listener.getsockname()[1]}:127.0.0.1"

    def run(self):
        connected, _ = self.listener.accept()
        with connected:
            connected.settimeout(1)
            connected.sendall(bytes(32))
            try:
                while data := connected.recv(4096):
                    self.data += data
            except OSError:
                pass


@test
def a_recorded_message_of_a_rank_is_not_valid_in_another_connection():
    with Exchange(["127.0.0.1"]) as exchange:
        recorder = Recorder()
        recorder.start()
        key = bytes.fromhex(exchange.variables()["TRAINRT_FIT_KEY"])
        sending = threading.Thread(target=lambda: ExchangeClient([recorder.address], key).put("x", b"recorded"), daemon=True)
        sending.start()
        recorder.join(10)
        check(len(recorder.data) > 100, "nothing was recorded")
        with socket.create_connection(("127.0.0.1", port_of(exchange)), 5) as connected:
            connected.sendall(recorder.data)
            equal(len(connected.recv(4096)), 32, "bytes of the greeting")
            try:
                equal(connected.recv(4096), b"", "the answer")
            except ConnectionResetError:  # the script has closed the connection before it has read everything
                pass
        equal(exchange.get("x"), None, "the value")


# ---- the package -------------------------------------------------------------------------------------------------------------


def modules():
    """Returns the modules, except those of frameworks, which need their framework."""
    frameworks = {PACKAGE / "trainrt/train" / name for name in ("horovod", "huggingface", "jax", "keras", "lightgbm", "lightning", "tensorflow", "torch", "xgboost")}
    return [path for path in sorted((PACKAGE / "trainrt").rglob("*.py")) if not frameworks & set(path.parents)]


OPTIONAL = {"bayes_opt", "pyarrow", "cloudpickle", "comet_ml", "mlflow", "numpy", "optuna", "pandas", "psutil", "tensorboardX", "tensorflow", "torch", "wandb"}  # imported at their first use, if installed


@test
def the_package_needs_nothing_but_python_3_9():
    check(len(modules()) > 30, f"only {len(modules())} files were found")
    for path in modules():
        tree = ast.parse(path.read_text(), str(path), feature_version=(3, 9))
        for node in ast.walk(tree):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            at_top = node in tree.body
            foreign = {name.split(".")[0] for name in names} - sys.stdlib_module_names - (set() if at_top else OPTIONAL)
            check(not foreign, f"{path.name} imports {foreign}")


@test
def importing_the_package_imports_nothing_heavy():
    text = "import sys, trainrt.train, trainrt.air, trainrt.tune; print(sorted({'torch', 'numpy', 'pandas', 'cloudpickle', 'xgboost', 'tensorflow', 'jax'} & set(sys.modules)))"
    equal(run([PYTHON, "-c", text], env={"PYTHONPATH": PACKAGE}).out.strip(), "[]", "modules")


@test
def modules_of_ray_train_exist_under_their_names():
    import trainrt.air.config
    import trainrt.air.session
    import trainrt.train.base_trainer
    import trainrt.train.context
    import trainrt.train.trainer
    equal(trainrt.train.base_trainer.TrainingFailedError, TrainingFailedError, "TrainingFailedError")
    equal(trainrt.train.context.TrainContext, TrainContext, "TrainContext")
    check(issubclass(DataParallelTrainer, trainrt.train.trainer.BaseTrainer), "the Trainers' base")
    check(issubclass(trainrt.air.config.ScalingConfig, ScalingConfig), "ScalingConfig")
    equal(trainrt.air.session.report, train.report, "report")
    equal(trainrt.air.session.get_world_size(), 1, "world size")


@test
def batches_are_converted_between_frames_and_arrays_as_in_ray_air():
    try:
        import numpy
        import pandas
    except ImportError:
        skip("pandas is not installed")
    from trainrt.data.util import data_batch_conversion as conversion
    frame = conversion._convert_batch_type_to_pandas({"x": numpy.arange(2), "v": numpy.ones((2, 3))})
    equal((frame["x"].tolist(), frame["v"][0].tolist()), ([0, 1], [1, 1, 1]), "a frame")
    equal(list(conversion._convert_batch_type_to_pandas(numpy.arange(2))), ["__value__"], "the column of an array")
    equal(conversion._convert_pandas_to_batch_type(pandas.DataFrame({"x": [1]}), conversion.BatchFormat.NUMPY).tolist(), [1], "one column is an array")
    equal(sorted(conversion._convert_batch_type_to_numpy(frame)), ["v", "x"], "several columns are a dict")
    raises(ValueError, "must be of type np.ndarray", "for key x", of=lambda: conversion._convert_batch_type_to_numpy({"x": [1]}))
    raises(ValueError, "Received data of type", of=lambda: conversion._convert_batch_type_to_pandas([1]))


@test
def the_package_and_the_program_have_the_same_version():
    equal(f"trainrt {trainrt.__version__}", run([TRAINRT, "--version"]).out.splitlines()[0], "version")


@test
def the_wheel_has_the_version_of_the_runtime_and_the_package():
    if run([PYTHON, "-c", "import setuptools, wheel, pip"]).code != 0:
        skip("pip, setuptools or wheel is not installed (packages python3-pip, python3-setuptools, python3-wheel)")
    built = run(["cmake", "--build", BUILD, "--target", "python_wheel"], timeout=120)
    equal(built.code, 0, "exit of the build", built)
    target = scratch()
    done = run([PYTHON, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", target, BUILD / f"wheel/trainrt-{trainrt.__version__}-py3-none-any.whl"])
    equal(done.code, 0, "exit of pip", done)
    packed = sorted(str(path.relative_to(target)) for path in target.rglob("trainrt/**/*.py"))
    generated = "trainrt/data/preprocessors/_generated.py"
    equal(packed, sorted([generated, *(str(path.relative_to(PACKAGE)) for path in (PACKAGE / "trainrt").rglob("*.py"))]), "files")
    check((target / "trainrt/py.typed").exists(), "py.typed is not in the wheel")
    text = "import trainrt.train; trainrt.train.report({'x': 1}); print(trainrt.train.get_context().get_world_size())"
    equal(run([PYTHON, "-c", text], env={"PYTHONPATH": target}).out.strip(), "1", "world size without a launcher")
    text = "from trainrt.data.preprocessors import Normalizer; print(Normalizer(['x', 'y']).transform_batch({'x': [3.0], 'y': [4.0]})['y'][0])"
    equal(run([PYTHON, "-c", text], env={"PYTHONPATH": target}).out.strip(), "0.8", "result of a preprocessor without the runtime")


if __name__ == "__main__":
    main()
