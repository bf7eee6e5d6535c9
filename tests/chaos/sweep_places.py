"""Places in which a disturbed sweep runs: processes of this machine, or jobs of the tests' Slurm. Each place has its disturbances."""
import os
import signal

from cluster import Cluster
from harness import MPIEXEC, TRAINRT, Failure, Job, check, kill, processes_with, wait_until

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "GONE")


def is_trainrt(pid):
    try:
        return os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(TRAINRT)
    except OSError:
        return False


class Here:
    """`trainrt tune` as a process that starts its trials as processes, or with slices under mpiexec."""

    KINDS = ("kill the sweep", "kill a rank", "stop the sweep")
    START_S, STEP_PAUSE_S = 0, 0.004  # seconds until a start has ranks; pause per step, so that trials outlast the disturbances

    def down(self):
        """Does nothing."""

    def start(self, config, plan):
        ranks = [MPIEXEC, "-n", plan.workers * plan.at_once] if plan.slices else []
        return Job([*ranks, TRAINRT, "tune", "--config", config])

    def is_alive(self, job):
        return not job.ended()

    def disturb(self, kind, jobs, plan):
        """Disturbs one of the jobs; returns False if there was no process to disturb."""
        job = plan.draws.choice(jobs)
        ranks = sorted(pid for pid in processes_with(job.token) if pid != job.process.pid and is_trainrt(pid))
        if kind == "kill a rank":
            kill([plan.draws.choice(ranks)] if ranks else [])
            return bool(ranks)
        if kind == "kill the sweep":
            kill([job.process.pid])
        elif plan.slices:
            kill(ranks, signal.SIGTERM)  # like srun forwards it
        else:
            job.process.send_signal(signal.SIGTERM)
        return True

    def wait(self, job):
        job.wait(120)

    def finish(self, config, plan):
        job = self.start(config, plan)
        code = job.wait(180)
        if code != 0:
            raise Failure(f"the last start: exit {code}\n{job.tail()}")


class OnCluster:
    """jobs/tune.sbatch on two nodes of the tests' Slurm. Trials are job steps, or slices of one step."""

    KINDS = ("kill the sweep", "kill a rank", "kill a job", "cancel a job", "requeue a job")
    START_S, STEP_PAUSE_S = 1.5, 0.03

    def __init__(self):
        self._cluster = Cluster("sweeps")
        self._cluster.up(2)

    def down(self):
        self._cluster.down()

    def start(self, config, plan):
        tasks = plan.workers * plan.at_once
        place = ["--tune.place=slices"] if plan.slices else []
        return self._cluster.sbatch([f"-N{min(tasks, 2)}", f"-n{tasks}"], config, *place, script="tune.sbatch")

    def is_alive(self, job):
        if job.state() in ENDED:
            return False
        job.hurry()
        return True

    def disturb(self, kind, jobs, plan):
        job = plan.draws.choice(jobs)
        processes = sorted(pid for pid in job.processes() if is_trainrt(pid))
        ranks = sorted(job.ranks().values())
        victims = {"kill the sweep": sorted(set(processes) - set(ranks)), "kill a rank": ranks}.get(kind)
        if victims is not None:
            kill([plan.draws.choice(victims)] if victims else [])
            return bool(victims)
        if not processes:
            return False
        if kind == "kill a job":
            kill(job.processes())
        elif kind == "cancel a job":
            job.cancel()
        else:
            self._cluster.call("scontrol", "requeue", job.id)
        return True

    def wait(self, job):
        wait_until(lambda: not self.is_alive(job), 180, f"job {job.id} to end", job)

    def finish(self, config, plan):
        job = self.start(config, plan)
        self.wait(job)
        check(job.state() == "COMPLETED", f"the last job: {job.state()}", job)
