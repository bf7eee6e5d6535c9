#!/usr/bin/python3
"""Object stores as storage of runs in Python: filesystem objects of pyarrow with access keys, and URLs with options."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403
from fakes.object_store import KEY, Store  # noqa: E402

ARROW_PYTHON = BUILD / "arrow-python/bin/python"
stores = []

# The function is in a module, which ranks import, since the Python with pyarrow lacks cloudpickle.
MODULE = """
import os
from pathlib import Path
from trainrt import train

def exposed():  # the processes that show the secret in their arguments or environment
    secret, found = Path(os.environ["SECRET_FILE"]).read_bytes(), []
    for file in (f"/proc/{number}/{name}" for number in os.listdir("/proc") if number.isdigit() for name in ("cmdline", "environ")):
        try:
            found += [file] if secret in Path(file).read_bytes() else []
        except OSError:  # the process has ended
            pass
    return found

def loop(config, filesystem=None):
    for number in range(2):
        folder = Path(os.environ["TMPDIR"], f"report-{os.getpid()}-{number}")
        folder.mkdir()
        (folder / f"rank{train.get_context().get_world_rank()}").write_text(str(number))
        train.report({"number": number, "exposed": str(exposed())}, checkpoint=train.Checkpoint.from_directory(folder))
"""
HEAD_OF_SCRIPT = """import functools, json, os, sys
from pathlib import Path
import pyarrow.fs
from store_loop import loop
from trainrt import tune
from trainrt.train import *

url, secret = os.environ["STORE"], Path(os.environ["SECRET_FILE"]).read_text()
filesystem = lambda: pyarrow.fs.S3FileSystem(endpoint_override=url, access_key=os.environ["STORE_USER"], secret_key=secret, region="us-east-1")
trainer = lambda function=loop, **options: DataParallelTrainer(function, scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(**{"name": "run", **options}))
if __name__ == "__main__":
"""


def store(**options):
    """Returns a store with its own secret. Processes of other tests on this machine may show the secret that all stores have by default."""
    stores.append(Store(**{"secret": f"secret/With+Letters={os.urandom(8).hex()}", **options}))
    stores[-1].buckets["bucket"] = {}
    return stores[-1]


def needs_pyarrow():
    if not ARROW_PYTHON.exists() or subprocess.run([ARROW_PYTHON, "-c", "import pyarrow.fs"], capture_output=True).returncode:
        skip("pyarrow is not installed (PyPI could not be reached)")


def script_with(body):
    needs_pyarrow()
    made = Script("    " + body.strip().replace("\n", "\n    ") + "\n", head=HEAD_OF_SCRIPT)
    (made.folder / "store_loop.py").write_text(MODULE)
    return made


def finished(script, own, *launch, **more):
    """Runs the script with the store's address and without access keys in its environment. Returns the job."""
    hidden = scratch("hidden")
    (hidden / "secret").write_text(own.secret)
    env = {"STORE": own.url, "STORE_USER": own.key, "SECRET_FILE": hidden / "secret", "NO_PROXY": "*", "TRAINRT_STORAGE": script.runs, "HOME": script.folder,
           "TMPDIR": script.folder, "AWS_EC2_METADATA_DISABLED": "true", **more}
    job = script.run(command=[*launch, ARROW_PYTHON, script.path], env=env)
    equal(job.code, 0, "exit code", job)
    return job


def files_with(text, folder):
    return [str(path) for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and text.encode() in path.read_bytes()]


def mirrored(own, prefix):
    return sorted(name.removeprefix(prefix) for name in own.buckets["bucket"] if name.endswith("/manifest.json"))


def access_keys_of_a_filesystem_object_stay_in_memory(*launch):
    own = store()
    script = script_with("""
print("RESULT", json.dumps({"exposed": [each["exposed"] for each in trainer(storage_filesystem=filesystem(), storage_path="bucket/sub").fit().reports]}))
""")
    job = finished(script, own, *launch)
    equal(result_of(job)[0]["exposed"], ["[]", "[]"], "processes that show the secret", job)
    equal(mirrored(own, "sub/run/"), ["checkpoint_000000/manifest.json", "checkpoint_000001/manifest.json"], "checkpoints in the bucket", job)
    record = json.loads((script.runs / "run/trainer.json").read_text())
    equal(record["not_recorded"], ["run_config=RunConfig(storage_filesystem=...)"], "arguments that restore() needs again", job)
    for text in (own.secret, KEY):
        equal(files_with(text, script.folder), [], f"files with {text}", job)
        equal([name for name, data in own.buckets["bucket"].items() if text.encode() in data], [], f"objects with {text}", job)
        check(text not in job.out + job.err, f"the output shows {text}", job)


for _name, _launch in (("of_a_script", ()), ("of_a_program", (TRAINRT, "-n", 2, "--"))):
    add_test(f"access_keys_of_a_filesystem_object_stay_in_memory_{_name}", access_keys_of_a_filesystem_object_stay_in_memory, *_launch)


@test
def a_sweep_signs_with_the_keys_of_a_filesystem_object():
    own = store()
    script = script_with("""
tuner = tune.Tuner(loop, tune_config=tune.TuneConfig(metric="number", mode="max", num_samples=1),
                   run_config=RunConfig(name="sweep", storage_filesystem=filesystem(), storage_path="bucket/sub"))
assert not tuner.fit().errors
""")
    job = finished(script, own)
    names = set(own.buckets["bucket"])
    check({"sub/sweep/sweep.json", "sub/sweep/trial_00000/checkpoint_000001/manifest.json"} <= names, f"objects in the bucket: {sorted(names)}", job)
    equal(files_with(own.secret, script.folder), [], "files with the secret", job)


@test
def the_trainer_that_is_sent_to_trials_has_no_access_keys():
    own = store()
    script = script_with("""
import pickle
tuner = tune.Tuner(trainer(storage_filesystem=filesystem(), storage_path="bucket/sub"), param_space={"train_loop_config": {"x": tune.uniform(0, 1)}})
assert secret.encode() in pickle.dumps(tuner._trainable), "this test cannot find the secret"
assert secret.encode() not in pickle.dumps(tuner._trainable.for_ranks("")), "the trials get the secret"
assert tuner._trainable.trainer.run_config.storage_filesystem is not None
""")
    finished(script, own)


@test
def options_in_a_url_name_the_store_of_a_run():
    own, public = store(), store(anonymous=True, key="OTHER")
    script = script_with(f"""
trainer(storage_path=f"s3://bucket/sub?endpoint_override={{url}}&region=us-east-1").fit()
trainer(storage_path="s3://anonymous@bucket/public?endpoint_override={public.url}", name="other").fit()
""")
    job = finished(script, own, AWS_ACCESS_KEY_ID=own.key, AWS_SECRET_ACCESS_KEY=own.secret, AWS_ENDPOINT_URL="http://127.0.0.1:1")
    equal((len(mirrored(own, "sub/run/")), len(mirrored(public, "public/other/"))), (2, 2), "checkpoints in the buckets", job)
    names = [*own.buckets["bucket"], *public.buckets["bucket"]]
    check(all(name.startswith(("sub/run/", "public/other/")) for name in names), f"objects in the buckets: {sorted(names)}", job)


@test
def a_run_is_restored_from_a_store_whose_filesystem_object_has_the_keys():
    own = store()
    script = script_with("""
import shutil
trainer(storage_filesystem=filesystem(), storage_path="bucket/sub").fit()
shutil.rmtree(os.path.join(os.environ["TRAINRT_STORAGE"], "run"))
print("RESULT", json.dumps(trainer(storage_filesystem=filesystem(), storage_path="bucket/sub").fit().metrics["training_iteration"]))
""")
    job = finished(script, own)
    check("restoring the run from s3://bucket/sub/run/" in job.err, "the run was not restored", job)
    equal(result_of(job), [2], "reports", job)


@test
def restore_reads_and_continues_a_run_by_the_keys_of_a_filesystem_object():
    own = store()
    script = script_with("""
import shutil
trainer(storage_filesystem=filesystem(), storage_path="bucket/sub", stop={"training_iteration": 1}).fit()
shutil.rmtree(os.path.join(os.environ["TRAINRT_STORAGE"], "run"))
assert DataParallelTrainer.can_restore("bucket/sub/run", storage_filesystem=filesystem())
restored = DataParallelTrainer.restore("bucket/sub/run", loop, storage_filesystem=filesystem(), run_config=RunConfig(stop={"training_iteration": 2}))
print("RESULT", json.dumps(len(restored.fit().reports)))
local = DataParallelTrainer.restore(os.environ["TRAINRT_STORAGE"] + "/run", loop, storage_filesystem=pyarrow.fs.LocalFileSystem())
assert local.run_config.name == "run", local.run_config
""")
    job = finished(script, own)
    equal(result_of(job), [2], "reports", job)
    equal(mirrored(own, "sub/run/"), ["checkpoint_000000/manifest.json", "checkpoint_000001/manifest.json"], "checkpoints in the bucket", job)
    check("which its record cannot hold" not in job.err, "a note asks for the filesystem", job)
    equal(files_with(own.secret, script.folder), [], "files with the secret", job)


@test
def checkpoints_are_copied_through_a_filesystem_object_of_another_protocol():
    """The file system is pyarrow's handler of a folder, under another name, so that trainrt does not know it."""
    script = script_with("""
from handlers import Folder
custom = pyarrow.fs.PyFileSystem(Folder(pyarrow.fs.LocalFileSystem(), os.path.abspath("copy")))
result = trainer(storage_filesystem=custom, storage_path="top/").fit()
assert os.path.dirname(result.path) == os.environ["TRAINRT_STORAGE"], result.path
""")
    (script.folder / "handlers.py").write_text("""
import pyarrow.fs

class Folder(pyarrow.fs.FileSystemHandler):
    def __init__(self, inner, root):
        self.inner, self.root = inner, root
    def __reduce__(self):
        return Folder, (self.inner, self.root)
    def get_type_name(self):
        return "folder"
    def normalize_path(self, path):
        return path
for _name in ("create_dir", "delete_dir", "delete_file", "open_input_stream", "open_output_stream"):
    setattr(Folder, _name, lambda self, path, *_, _name=_name: getattr(self.inner, _name)(f"{self.root}/{path}"))
Folder.__abstractmethods__ = frozenset()
""")
    job = finished(script, store())
    copy = script.folder / "copy/top/run"
    names = sorted(str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file())
    check({"run.json", "checkpoint_000001/manifest.json", "checkpoint_000001/files/rank0", "checkpoint_000001/files/rank1"} <= set(names), f"files: {names}", job)
    equal((copy / "checkpoint_000001/files/rank0").read_text(), "1", "a copied file", job)


def waits_for_copies(filesystem, **limits):
    """Copies a run with one checkpoint. Returns whether the wait ends within 5 s, and the notes."""
    sys.path.insert(0, str(BUILD / "python"))
    from trainrt.train._sessions import _store_copies
    run, notes = scratch("copied"), []
    (run / "checkpoint_000000").mkdir()
    (run / "checkpoint_000000/manifest.json").write_text('{"format": "trainrt checkpoint"}')
    for name, value in {"_PAUSE_S": 0.01, **limits}.items():
        setattr(_store_copies, name, value)
    _store_copies._notes.warn, warn = notes.append, _store_copies._notes.warn
    try:
        copies = _store_copies.StoreCopies(str(run), filesystem, "bucket/run")
        time.sleep(0.2)  # during the training, when failures do not count
        return any(copies.wait(0.1) for _ in range(50)), notes
    finally:
        copies.end()
        _store_copies._notes.warn = warn


@test
def a_run_ends_if_its_file_system_has_failed_often_or_does_not_answer():
    class Files:
        def open_input_stream(self, path):
            raise OSError("no access")
    has_ended, notes = waits_for_copies(Files())
    check(has_ended and "no access" in notes[0], f"after failures: {has_ended}, {notes}")
    Files.open_input_stream = lambda self, path: time.sleep(60)
    has_ended, notes = waits_for_copies(Files(), _CALL_LIMIT_S=0.5)
    check(has_ended and "did not answer for bucket/run/checkpoint_000000/manifest.json within 0.5 s" in notes[0], f"without an answer: {has_ended}, {notes}")


@test
def ranks_that_receive_an_s3_filesystem_exit_without_a_crash():
    """Unpickling does not import pyarrow.fs. If the ranks did not import it either, about half of such runs would fail with SIGSEGV."""
    script = script_with("""
for number in range(3):
    DataParallelTrainer(functools.partial(loop, filesystem=filesystem()), scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name=f"run{number}")).fit()
""")
    finished(script, store())


try:
    main()
finally:
    for _each in stores:
        _each.end()
