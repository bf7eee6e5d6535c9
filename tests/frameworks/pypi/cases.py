"""The cases of each framework's script, and the check that its ranks trained together: each rank has its own data, all ranks end with the
same weights, and these are not the weights of a rank that trains alone."""
import json
import os

import environments
from cluster import Cluster
from harness import (FINISHED, SOURCE, TRAINRT, Failure, Job, check, check_exit, environment_of, equal, kill, parent_of, processes_with, scratch,
                     wait_until)

SCRIPTS = SOURCE / "tests/frameworks/scripts"
LIMIT_S = 300
ONCE = "--failure.max_failures=0"  # for undisturbed runs, in which no restart may hide a failure
PAUSE = ("--pause", 0.2)  # seconds per step, for runs that are disturbed
DISTURBED_AT = r"(?m)^(?:.*\] ?)?step 9\b"
CLUSTER = Cluster("pypi")


class Place:
    """A folder for one run. The script writes into `out`."""

    def __init__(self, framework):
        self.framework = framework
        self.environment = environments.ready(framework)
        self.folder = scratch(framework.name)
        self.out = self.folder / "out"
        self.out.mkdir()

    def program(self, *words):
        return ["--", "python3", SCRIPTS / self.framework.script, self.out, *self.framework.words, *words]

    def start(self, launcher, *words, env=None):
        return Job([*launcher, *self.program(*words)], cwd=self.folder, env={**environments.activated(self.framework, self.environment), **(env or {})})

    def run(self, launcher, *words, env=None):
        job = self.start(launcher, *words, env=env)
        job.code = job.wait(LIMIT_S)
        check_exit(job, FINISHED)
        return job

    def found(self, ranks, job):
        """Checks that the ranks trained together, and returns the files that they wrote."""
        check(all((self.out / f"{rank}.json").exists() for rank in range(ranks)), f"a rank wrote no file: {os.listdir(self.out)}", job)
        found = [json.loads((self.out / f"{rank}.json").read_text()) for rank in range(ranks)]
        for rank, each in enumerate(found):
            equal(each["size"], ranks, f"number of ranks on rank {rank}", job)
            check(each["weights"] == found[0]["weights"], f"the weights of rank {rank} differ from rank 0: each trained alone", job)
        equal(len({each["seen"] for each in found}), ranks, "ranks with different data", job)
        return found


_weights = {}  # (framework, ranks) -> weights of an undisturbed run, or the Failure


def _undisturbed(framework, ranks):
    """Returns the final weights of an undisturbed run with `ranks` ranks on this node."""
    key = (framework.name, ranks)
    if key not in _weights:
        try:
            place = Place(framework)
            job = place.run([TRAINRT, "-n", ranks, ONCE])
            _weights[key] = place.found(ranks, job)[0]["weights"]
        except Failure as failure:
            _weights[key] = failure
    if isinstance(_weights[key], Failure):
        raise _weights[key]
    return _weights[key]


def ranks_of_a_node(framework, ranks):
    together = _undisturbed(framework, ranks)
    check(together != _undisturbed(framework, 1), f"{ranks} ranks end with the weights of one")


def two_nodes(framework):
    place = Place(framework)
    job = place.run(["srun", "-N2", "-n2", "-c1", TRAINRT, ONCE], env=cluster_env())
    _same_as_undisturbed(framework, place.found(2, job), job)


def killed(framework):
    """One worker's program is killed by SIGKILL; the run restarts without help."""
    place = Place(framework)
    job = place.start([TRAINRT, "-n", 2], *PAUSE)
    job.wait_for(DISTURBED_AT, LIMIT_S)
    before = len(job.out)
    victim = program_of_rank(1, job)
    kill([victim])
    job.code = job.wait(LIMIT_S)
    check_exit(job, FINISHED)
    _check_again(framework, job.out[before:], job)
    _same_as_undisturbed(framework, place.found(2, job), job)


def requeued(framework):
    """The job is requeued: the script continues from its own checkpoint, or begins again if it saves nothing."""
    place = Place(framework)
    variables = {key: str(value) for key, value in environments.activated(framework, place.environment).items()}
    cluster_env()
    exported = ",".join(f"{key}={value}" for key, value in variables.items())
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1", f"--export=ALL,{exported}"], *place.program(*PAUSE), script="program.sbatch", cwd=place.folder)
    job.wait_for(DISTURBED_AT, LIMIT_S)
    before = len(job.text)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1, 120)
    job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", timeout=LIMIT_S)
    equal(job.state(), "COMPLETED", "end of the job", job)
    _check_again(framework, job.text[before:], job)
    _same_as_undisturbed(framework, place.found(2, job), job)


def cluster_env():
    """Returns the variables of the cluster, and starts it at the first call."""
    if not CLUSTER.env:
        CLUSTER.up(2)
    return CLUSTER.env


def program_of_rank(rank, job):
    ranks = set(job.ranks().values())
    found = [pid for pid in processes_with(job.token)
             if parent_of(pid) in ranks and pid not in ranks and environment_of(pid).get("RANK") == str(rank)]
    equal(len(found), 1, f"programs of rank {rank}", job)
    return found[0]


def _check_again(framework, text, job):
    """Checks that the script was restarted and continued from its own checkpoint, if it saves one."""
    sign = "continues at step " if framework.saves else "step 1 "
    check(sign in text.replace("\n", " "), f"no {sign!r} after the disturbance", job)


def _same_as_undisturbed(framework, found, job):
    check(found[0]["weights"] == _undisturbed(framework, 2), "the weights differ from the undisturbed run's", job)
    check(found[0]["weights"] != _undisturbed(framework, 1), "the weights of one rank that trains alone", job)


def cases_of(framework):
    """Returns (name, function, arguments) for each case."""
    return [("2_ranks", ranks_of_a_node, 2), ("3_ranks", ranks_of_a_node, 3), ("2_nodes", two_nodes), ("worker_killed", killed),
            ("job_requeued", requeued)]
