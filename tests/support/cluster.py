"""A Slurm cluster on this machine for one test file. With own_networks, if the machine allows it (root, iproute2), each node has its own
network, address, host name, /dev/shm and /tmp; only the scratch folders are shared with the host."""
import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

from harness import (BUILD, SOURCE, TRAINRT, Failure, Job, check, environment_of, kill, name_of_process, parent_of, processes_with, reports, run, scratch,
                     scratch_root, skip, wait_until)

_SCRIPT = SOURCE / "slurm/minicluster/minicluster"
_NAME = "test-{}-{}"  # name of the test and its pid


def _sweep():
    """Removes the clusters of tests that were killed."""
    temporary = os.environ.get("TMPDIR", "/tmp")
    homes = {os.environ.get("MINICLUSTER_HOME", ""), f"{temporary}/minicluster-{os.getuid()}", f"/tmp/minicluster-{os.getuid()}"} - {""}
    for state in (path for home in homes for path in Path(home).glob(_NAME.format("*", "*"))):
        pid = state.name.rsplit("-", 1)[1]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            subprocess.run([_SCRIPT, "down", "--name", state.name], capture_output=True, env={**os.environ, "MINICLUSTER_HOME": str(state.parent)})


class Cluster:
    """A cluster that up() starts and down() removes. down() must be called in any case."""

    def __init__(self, name):
        self.name = _NAME.format(name, os.getpid())
        self.env = {}
        self.shared_network = ""  # why the nodes share the network of this machine; "" if they have their own

    def up(self, nodes=3, *options, own_networks=False):
        missing = [program for program in ("srun", "slurmctld", "munged") if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")]
        if missing:
            skip(f"Slurm not found: {', '.join(missing)} (packages slurm-wlm, munge)")
        _sweep()
        network = ["--network", "auto" if own_networks else "shared", *(word for path in (scratch_root(), BUILD, SOURCE) for word in ("--share", path))]
        done = subprocess.run([_SCRIPT, "up", str(nodes), "--name", self.name, "--wait", "120", *network, *options], capture_output=True, text=True,
                              env={key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "SBATCH"))})
        if done.returncode != 0:
            raise Failure(f"minicluster up: exit {done.returncode}\n{done.stdout}{done.stderr}")
        printed = subprocess.run([_SCRIPT, "env", "--name", self.name], capture_output=True, text=True, check=True).stdout
        why = re.search(r"nodes share the network of this machine: (.*)", done.stdout)
        self.shared_network = why[1] if why else ""
        self.env = {key: shlex.split(value)[0] for key, value in re.findall(r"^export (\w+)=(.*)$", printed, re.M)}
        if own_networks and not self.shared_network:  # UCX may choose an interface that other nodes do not reach, so that MPI_Init fails
            self.env["UCX_NET_DEVICES"] = "eth0"

    def down(self):
        subprocess.run([_SCRIPT, "down", "--name", self.name], capture_output=True)

    # ---- nodes ----

    def kill_node(self, node, with_processes):
        """Kills the slurmd of a node, with the processes of all jobs on it (as a node that lost its power) or without (as a node off the network)."""
        self._daemon("kill", node)
        if with_processes:
            kill(self.processes_on(node))

    def need_own_networks(self):
        """Skips the test if all nodes share the network of this machine."""
        if self.shared_network:
            skip(f"the nodes share one network: {self.shared_network}")

    def enter(self, node, *command):
        """Runs a command in the namespaces of a node and returns its output."""
        done = subprocess.run([_SCRIPT, "enter", "--name", self.name, node, *command], capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, f"on {node}, {command}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def address(self, node):
        """Returns the address of a node in slurm.conf."""
        return re.search(rf"^NodeName={node} .*NodeAddr=(\S+)", Path(self.env["SLURM_CONF"]).read_text(), re.M)[1]

    def start_node(self, node):
        self._daemon("start", node)

    def _daemon(self, command, node):
        done = subprocess.run([_SCRIPT, command, node, "--name", self.name], capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, f"minicluster {command} {node}: exit {done.returncode}: {done.stdout}{done.stderr}")

    def processes_on(self, node):
        """Returns the pids of the jobs' processes on a node and of their slurmstepd processes, which come first."""
        own = [pid for pid in processes_with(f"SLURMD_NODENAME={node}") if environment_of(pid).get("SLURM_CONF") == self.env["SLURM_CONF"]]
        above = {parent for parent in map(parent_of, own) if name_of_process(parent).startswith("slurmstepd")}
        return [*above, *own]

    # ---- steps ----

    def srun(self, arguments, config, *words, env=None):
        return Job(["srun", *arguments, TRAINRT, "--config", config, *words], env={**self.env, **(env or {})})

    def run_srun(self, arguments, config, *words, timeout=60, env=None):
        job = self.srun(arguments, config, *words, env=env)
        job.code = job.wait(timeout)
        return job

    def call(self, *command, timeout=30):
        """Runs a Slurm command and returns its output."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **self.env})
        return done.stdout + done.stderr

    # ---- batch jobs ----

    def sbatch(self, arguments, *words, script="train.sbatch", srun_args="", partition="main", cwd=None):
        """Submits jobs/train.sbatch with a config and overrides, or another script with its arguments, and returns the job."""
        output = scratch("sbatch") / "out"
        job = run(["sbatch", "--parsable", "-p", partition, f"--output={output}", *arguments, SOURCE / "jobs" / script, *words], cwd=cwd, submits=True,
                  env={**self.env, "TRAINRT": TRAINRT, "TRAINRT_JOBS": SOURCE / "jobs", "TRAINRT_SRUN_ARGS": srun_args})
        check(job.code == 0, f"sbatch: exit {job.code}", job)
        return BatchJob(self, job.out.strip(), output)


class BatchJob:
    def __init__(self, cluster, number, output):
        self.cluster, self.id, self.output = cluster, number, output
        self._asked = 0

    def show(self):
        text = self.cluster.call("scontrol", "show", "job", "-o", self.id)
        return dict(re.findall(r"(\w+)=(\S*)", text))

    def state(self):
        return self.show().get("JobState", "GONE")

    def restarts(self):
        return int(self.show().get("Restarts", 0))

    def tail(self):
        text = self.output.read_text(errors="replace") if self.output.exists() else "(no output)"
        return "\n".join("    | " + line for line in text.splitlines()[-30:]) + f"\n    | job {self.id}: {self.show()}"

    @property
    def text(self):
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def ended(self):
        return False

    def hurry(self):
        """Lets a pending job start in 2 s; a requeued job would wait until its old credentials expire. Asks Slurm at most every 3 s."""
        job = self.show()
        if job.get("JobState") == "PENDING" and time.monotonic() > self._asked + 3:
            self._asked = time.monotonic()
            self.cluster.call("scontrol", "update", f"JobId={self.id}", "StartTime=now+2")

    def wait_for_state(self, *states, timeout=60):
        """Waits for one of the states, hurrying the job meanwhile, and returns the state."""
        found = [""]

        def reached():
            found[0] = self.state()
            if found[0] not in states:
                self.hurry()
                time.sleep(0.1)
            return found[0] in states

        wait_until(reached, timeout, f"job {self.id} to be {' or '.join(states)} (it is {found[0]})", self)
        return found[0]

    def wait_for_restart(self, count, timeout=60):
        """Waits until the job runs after its `count`th restart."""
        def restarted():
            job = self.show()
            if job.get("JobState") == "RUNNING" and int(job.get("Restarts", 0)) >= count:
                return True
            self.hurry()
            time.sleep(0.1)
            return False

        wait_until(restarted, timeout, f"restart {count} of job {self.id}", self)

    def wait_for(self, pattern, timeout=30):
        wait_until(lambda: re.search(pattern, self.text), timeout, f"{pattern!r} in the output of job {self.id}", self)

    def processes(self):
        """Returns the pids of all processes of the job on all nodes."""
        return [pid for pid in processes_with(f"SLURM_JOB_ID={self.id}") if environment_of(pid).get("SLURM_CONF") == self.cluster.env["SLURM_CONF"]]

    def ranks(self, program=TRAINRT):
        """Returns the pids, by rank, of the trainrt processes of the job, or of programs that are ranks themselves. `trainrt supervise`, which
        runs outside the step, and children between vfork and exec are left out."""
        rank_of = {}
        for pid in self.processes():
            env = environment_of(pid)
            try:
                if "SLURM_STEP_NUM_TASKS" in env and os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(program):
                    rank_of[pid] = int(env.get("SLURM_PROCID", 0))
            except OSError:
                continue
        return {rank: pid for pid, rank in rank_of.items() if rank_of.get(parent_of(pid)) != rank}

    def cancel(self):
        self.cluster.call("scancel", self.id)
