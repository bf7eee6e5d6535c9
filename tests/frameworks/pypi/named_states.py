"""load_state() and save_state() of Keras, TensorFlow and JAX, and fit() of Keras with checkpoints after batches: the same bits after a stop
within an epoch and after a killed rank; arrays of JAX on another number of ranks."""
import json
import re
import signal

import environments
from cases import LIMIT_S, program_of_rank
from frameworks import TORCH, Framework
from harness import FINISHED, SOURCE, STOPPED, TRAINRT, Job, check, check_exit, check_verifies, equal, kill, scratch

_KERAS_2 = ("tensorflow", ("tensorflow", "tf_keras"), "tf_keras")
STATES = [Framework("trainrt_train_keras_2", "keras_states.py", *_KERAS_2, ("keras2", "function")),
          Framework("trainrt_train_keras_2_arrays", "keras_states.py", *_KERAS_2, ("keras2", "arrays")),
          Framework("trainrt_train_keras_jax", "keras_states.py", *TORCH, "keras", ("jax", "function")),
          Framework("trainrt_train_keras_torch", "keras_states.py", *TORCH, "keras", ("torch", "function")),
          Framework("trainrt_train_tensorflow_states", "tensorflow_states.py", "tensorflow", ("tensorflow", "tf_keras"), "tensorflow-cpu"),
          Framework("trainrt_train_jax_states", "jax_states.py", *TORCH, "jax")]
JAX = STATES[-1]
DISTURBED_AT = r"(?m)^(?:.*\] ?)?batch 9\b"
PAUSE = {"PAUSE": 0.2}


class Place:
    """A folder for one run, which may be started more than once."""

    def __init__(self, framework):
        self.framework, self.out = framework, scratch(framework.name)
        self.variables = {**environments.activated(framework, environments.ready(framework)), "OMP_NUM_THREADS": 1, "TF_CPP_MIN_LOG_LEVEL": 3}
        self.ranks = 1 if "keras_torch" in framework.name or "keras_jax" in framework.name else 2

    def start(self, *words, ranks=None, options=(), **env):
        script = SOURCE / "tests/frameworks/scripts" / self.framework.script
        return Job([TRAINRT, "-n", ranks or self.ranks, *options, "--", "python3", script, self.out, *self.framework.words, *words], cwd=self.out,
                   env={**self.variables, **env})

    def run(self, *words, **more):
        job = self.start(*words, **more)
        job.code = job.wait(LIMIT_S)
        check_exit(job, FINISHED)
        return job

    def end(self):
        """Returns the weights, which must be equal on all ranks, and the metrics of the reports."""
        found = [json.loads((self.out / f"{rank}.json").read_text()) for rank in range(self.ranks)]
        check(all(each["weights"] == found[0]["weights"] for each in found), "the weights of the ranks differ")
        rows = [json.loads(line) for line in (self.out / "runs/run/result.json").read_text().splitlines()]
        return found[0]["weights"], found[0]["wait"], [{name: row[name] for name in ("loss", "mae", "lr", "learning_rate") if name in row} for row in rows]


_whole = {}  # framework -> end() of an undisturbed run


def undisturbed(framework):
    if framework.name not in _whole:
        place = Place(framework)
        place.run(options=["--failure.max_failures=0"])
        _whole[framework.name] = place.end()
        check_verifies(place.out / "runs/run")
    return _whole[framework.name]


def stopped_within_an_epoch(framework):
    """SIGTERM stops the run after batch 9 of 24. The same command continues with the next batch and reports the same as an undisturbed run."""
    whole, place = undisturbed(framework), Place(framework)
    job = place.start(**PAUSE)
    job.wait_for(DISTURBED_AT, LIMIT_S)
    job.process.send_signal(signal.SIGTERM)
    job.code = job.wait(LIMIT_S)
    check_exit(job, STOPPED)
    seen = len(set(re.findall(r"batch (\d+)", job.out)))
    again = place.run()
    check(seen % 6 != 0, f"the run was stopped between two epochs, after batch {seen}", job)
    equal(place.end(), whole, "weights and reports after the stop", again)


def rank_killed(framework):
    """The last rank is killed by SIGKILL. The run restarts from its last report."""
    whole, place = undisturbed(framework), Place(framework)
    job = place.start(**PAUSE)
    job.wait_for(DISTURBED_AT, LIMIT_S)
    kill([program_of_rank(place.ranks - 1, job)])
    job.code = job.wait(LIMIT_S)
    check_exit(job, FINISHED)
    check("restart 1" in job.out + job.err, "the run was not restarted", job)
    equal(place.end()[:2], whole[:2], "weights after the kill", job)


def other_ranks(framework):
    """3 ranks load the shards of 2 ranks, and one rank loads those of 3 ranks, with the same bits after any stop."""
    place, last = Place(framework), None
    for ranks, until in ((2, 9), (3, 15), (1, None)):
        job = place.start(ranks=ranks, options=["--scaling.on_resize=keep_batch"], **(PAUSE if until else {}))
        if until:
            job.wait_for(rf"(?m)^(?:.*\] ?)?batch {until}\b", LIMIT_S)
            job.process.send_signal(signal.SIGTERM)
        job.code = job.wait(LIMIT_S)
        check_exit(job, STOPPED if until else FINISHED)
        begin = re.search(r"begins at \d \d (\w+) (\w+)", job.out)
        check(begin is not None and (last is None or begin.groups() == ("True", last)), f"{ranks} ranks begin with different bits than those saved", job)
        last = re.findall(r"batch \d+ (\w+)", job.out)[-1]


def cases_of_states():
    """Returns (framework, name, function) for each case."""
    cases = [(each, name, function) for each in STATES for name, function in (("stopped_within_an_epoch", stopped_within_an_epoch), ("rank_killed", rank_killed))]
    return [*cases, (JAX, "other_ranks", other_ranks)]
