"""Scripts that use trainrt.train. Each has its own folder, which also contains its runs."""
import json

from runs.program_runs import *  # noqa: F403

HEAD = """import json, os, shutil, sys, time
from trainrt import train
from trainrt.train import *

rank = lambda: train.get_context().get_world_rank()

class Folder:  # holds the files of one report, and is removed after the report
    def __enter__(self):
        self.path = os.path.join(os.environ["TEST_SCRATCH"], f"report-{os.getpid()}-{time.monotonic_ns()}")
        os.mkdir(self.path)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)

def count(config):
    for number in range(config["reports"]):
        train.report({"number": number, f"of_{rank()}": rank()})
        time.sleep(config.get("pause", 0))
    return {"rank": rank(), "size": train.get_context().get_world_size()}

def trainer(function=count, ranks=2, name="run", config=None, **arguments):
    run_config = arguments.pop("run_config", None) or RunConfig(name=name, storage_path=os.environ["RUNS"], **arguments.pop("run", {}))
    return DataParallelTrainer(function, train_loop_config=config or {"reports": 3}, scaling_config=ScalingConfig(num_workers=ranks, **arguments.pop("scaling", {})),
                               run_config=run_config, **arguments)
"""


class Script:
    """A script in its own folder, which also contains its runs."""

    def __init__(self, text, head=HEAD):
        self.folder = scratch("script")
        self.path = self.folder / "train.py"
        self.path.write_text(head + text)
        self.runs = self.folder / "runs"

    def env(self, **more):
        return {**ONE_THREAD, "PYTHONPATH": BUILD / "python", "RUNS": self.runs, **more}

    def start(self, *words, env=None, command=None):
        return Job([*(command or [PYTHON, self.path]), *words], env=self.env(**(env or {})), cwd=self.folder)

    def run(self, *words, timeout=60, **options):
        job = self.start(*words, **options)
        job.code = job.wait(timeout)
        return job

    def left(self):
        """Returns the private folders that were not removed."""
        return [path.name for path in self.runs.glob(".fit-*")]


MAIN = "if __name__ == '__main__':\n"
FIT = MAIN + """    result = trainer().fit()
    print("RESULT", json.dumps({"metrics": result.metrics, "returned": result.return_value, "path": result.path}))
"""


def result_of(job):
    lines = [line for line in job.out.splitlines() if line.startswith("RESULT ")]
    check(lines, "the script printed no result", job)
    return [json.loads(line[7:]) for line in lines]


def here(script, *words, ranks=2):
    """Runs the complete script on every rank."""
    command = [TRAINRT, "-n", ranks, f"--run.storage_path={script.runs}", "--failure.max_failures=0", *words, "--", PYTHON, script.path]
    return script.run(command=command)
