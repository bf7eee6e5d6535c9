"""Scripts of the package trainrt whose runs and sweeps are mirrored to an object store of the test."""
import shutil
import signal

from fakes.object_store import Store
from runs.train_scripts import *  # noqa: F403

STORE = Store(page=3)
URL = "s3://bucket/runs"
# The weight of the logistic map depends on all earlier steps: a lost or repeated step changes it.
LEARN = """
def learn(config):
    state, found = {"epoch": 0, "weight": 0.5}, train.get_checkpoint()
    if found:
        with found.as_directory() as folder, open(os.path.join(folder, "model.json")) as file:
            state = json.load(file)
    print("begins at", state["epoch"], flush=True)
    while state["epoch"] < config["epochs"]:
        state = {"epoch": state["epoch"] + 1, "weight": 3.7 * state["weight"] * (1 - state["weight"])}
        with Folder() as folder:
            with open(os.path.join(folder, "model.json"), "w") as file:
                json.dump(state, file)
            train.report(state, checkpoint=Checkpoint(folder))
        time.sleep(config["pause"])

def new(storage=None, pause=0, ranks=1, **arguments):
    return trainer(learn, ranks, config={"epochs": 8, "pause": pause}, run_config=RunConfig(name="run", storage_path=storage or os.environ["URL"]), **arguments)

def show(result):
    print("RESULT", json.dumps([result.metrics["weight"], len(result.reports), result.path]))

"""
EXPECTED = 0.5
for _ in range(8):
    EXPECTED = 3.7 * EXPECTED * (1 - EXPECTED)


class StoredScript(Script):
    """A script whose runs are mirrored to a prefix of their own."""

    def __init__(self, text):
        super().__init__(LEARN + MAIN + text)
        self.url = f"{URL}/{self.folder.name}"

    def env(self, **more):
        return super().env(**STORE.environment(), URL=self.url, TRAINRT_STORAGE=self.runs, TMPDIR=self.folder, **more)

    def stop_after(self, reports):
        """Starts the script, stops it after some reports, and returns when its checkpoint is in the store."""
        job = self.start("first")
        wait_for_reports(self.runs / "run", reports, job)
        kill([job.process.pid], signal.SIGTERM)
        equal(job.wait(60), STOPPED, "exit", job)

    def objects(self, name="run"):
        """Returns the objects of a run, {name below the run: bytes}."""
        prefix = f"runs/{self.folder.name}/{name}/"
        return {name[len(prefix):]: data for name, data in STORE.buckets["bucket"].items() if name.startswith(prefix)}

    def checkpoints(self, name="run"):
        """Returns the names of the complete checkpoints in the store. A run may commit a newer one before the copy of an older one begins."""
        return sorted(each.split("/")[0] for each in self.objects(name) if each.endswith("/manifest.json"))


STORE.buckets["bucket"] = {}
