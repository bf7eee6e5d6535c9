"""Shares of the hardware for a run: some CPUs of this machine, or some nodes of a cluster. Each share starts, disturbs and ends its jobs."""
import os
import signal
import time

from harness import FINISHED, STOPPED, TRAINRT, Job, check, kill, wait_until

ONE_THREAD = {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1}
CPUS = sorted(os.sched_getaffinity(0))
NODE_COUNTS = (1, 2, 3, 4, 8)
END_LIMIT_S = 1800  # the machine may be busy


class CpuShare:
    """The first CPUs of this machine, on which `trainrt -n` starts all workers."""

    EVENTS = ("kill_rank", "kill_all")  # restarted in the job
    ENDS = ("stop", "cancel")

    def __init__(self, cpus):
        self.cpus, self.name = cpus, f"{cpus} CPU{'s' if cpus > 1 else ''}"

    def start(self, config, workers):
        words = ["taskset", "-c", ",".join(map(str, CPUS[:self.cpus])), TRAINRT, "-n", workers, "--config", config]
        return Job(words, env=ONE_THREAD)

    def has_ended(self, job):
        return job.ended()

    def disturb(self, job, event, draws):
        """Returns whether the event took place: the job may have ended."""
        ranks = job.ranks()
        if job.ended() or not ranks:
            return False
        if event == "kill_rank":
            kill([ranks[draws.choice(sorted(ranks))]])
        elif event == "kill_all":
            kill(ranks.values())
        elif event == "stop":
            kill([ranks[draws.choice(sorted(ranks))]], signal.SIGUSR1)
        else:
            kill([job.process.pid, *ranks.values()])
        return True

    def finish(self, job):
        code = job.wait(END_LIMIT_S)
        check(code in (FINISHED, STOPPED, -signal.SIGKILL), f"exit code {code}", job)


class NodeShare:
    """Some nodes of a cluster, on which `trainrt supervise` starts all workers in a batch job."""

    EVENTS = ("kill_rank", "kill_all", "requeue")
    ENDS = ("stop", "cancel")
    cpus = 0

    def __init__(self, cluster, nodes):
        self.cluster, self.nodes, self.name = cluster, nodes, f"{nodes} node{'s' if nodes > 1 else ''}"

    def start(self, config, workers):
        return self.cluster.sbatch([f"-N{self.nodes}", f"-n{self.nodes}", "-c1", "--requeue"], config, f"--scaling.num_workers={workers}",
                                   "--failure.max_requeues=0")

    def has_ended(self, job):
        time.sleep(0.2)  # callers poll this, and Slurm must not be asked more often
        job.hurry()
        return job.state() not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")

    def disturb(self, job, event, draws):
        ranks = job.ranks()
        if self.has_ended(job) or not ranks:
            return False
        if event == "kill_rank":
            kill([ranks[draws.choice(sorted(ranks))]])
        elif event == "kill_all":
            kill(ranks.values())
        elif event == "requeue":
            restarts = job.restarts()
            self.cluster.call("scontrol", "requeue", job.id)
            wait_until(lambda: self.has_ended(job) or job.restarts() > restarts, 60, "the requeue", job)
        elif event == "stop":
            self.cluster.call("scancel", "--signal=USR1", job.id)
        else:
            job.cancel()
        return True

    def finish(self, job):
        wait_until(lambda: self.has_ended(job), END_LIMIT_S, f"the end of job {job.id}", job)
        wait_until(lambda: not job.processes(), 60, f"the processes of job {job.id} to end", job)


def cpu_shares():
    return [CpuShare(count) for count in (1, 2, 4, 8) if count <= len(CPUS)]


def node_shares(cluster):
    return [NodeShare(cluster, count) for count in NODE_COUNTS]
