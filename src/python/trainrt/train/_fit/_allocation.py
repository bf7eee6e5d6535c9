"""The Slurm allocation of this process: whether `fit()` can launch its ranks there with srun, and in which environment."""

import os
import re
import subprocess

from ..._support import _own_addresses

_FIRST_SPECIAL_STEP = 0xFFFFFFF0  # from slurm.h: this and higher numbers belong to steps without srun, such as the shell of salloc
_SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "fish", "csh", "tcsh")
_STEP_VARIABLES = re.compile(r"(SLURM_STEP|SLURM_PTY|SLURM_CPU_BIND|SLURM_MEM_BIND|SLURM_PMIX|SLURM_SRUN_COMM|PMIX_|PMI_)|"
                             r"SLURM_(PROCID|LOCALID|NODEID|GTIDS|TASK_PID|DISTRIBUTION|LAUNCH_NODE_IPADDR|CPUS_ON_NODE)$")
_SCONTROL_LIMIT_S = 20
_MAX_TRIED_NODES = 16


def is_shell_step():
    """Returns whether this process was started from a shell that is a Slurm step (salloc with use_interactive_step, `srun --pty bash`). The
    runtime has the same rule in src/launch/shell_step.hpp."""
    task = os.environ.get("SLURM_TASK_PID", "")
    if task == str(os.getpid()) or "MPI_LOCALRANKID" in os.environ or "OMPI_COMM_WORLD_SIZE" in os.environ:
        return False
    step = os.environ.get("SLURM_STEP_ID", "")
    if step.isdigit() and int(step) >= _FIRST_SPECIAL_STEP:
        return "SLURM_STEP_NUM_TASKS" in os.environ
    if not task.isdigit() or "SLURM_PTY_PORT" not in os.environ:
        return False
    return os.environ.get("SLURM_STEP_NUM_TASKS") == "1" or _is_interactive_shell(task)


def can_launch(min_ranks):
    """Returns whether srun can launch at least `min_ranks` ranks: in a batch script, under salloc, or in a notebook of a job.

    In a shell that is a step, the job needs enough tasks: `srun --pty bash` requests a single task, and there `trainrt -n` is used. Raises
    RuntimeError if srun started this script in several tasks.
    """
    if "SLURM_JOB_ID" not in os.environ:
        return False
    if is_shell_step():
        return task_count() >= min_ranks
    started = os.environ.get("SLURM_STEP_NUM_TASKS")
    if started is None:
        return True
    if int(started) > 1:
        raise RuntimeError(f"srun started this script in {started} tasks, and each of them would launch ranks. Use `srun trainrt -- python3 "
                           f"train.py`, or start the script once, without srun")
    return False


def has_other_nodes():
    """Returns whether srun may start ranks on another node than this one."""
    return os.environ.get("SLURM_JOB_NUM_NODES", "1") != "1" or "SLURMD_NODENAME" not in os.environ


def hosts_of_exchange(min_ranks):
    """Returns the addresses of this host by which the ranks of `fit()` on other nodes reach it; [] if all ranks will run on this node."""
    if not can_launch(min_ranks) or not has_other_nodes():
        return []
    return _own_addresses.addresses_towards(_addresses_of_other_nodes()) or _own_addresses.addresses_of_name()


def _addresses_of_other_nodes():
    """Returns the addresses that Slurm has of other nodes of the job, at most _MAX_TRIED_NODES; [] if scontrol does not report them."""
    try:
        shown = subprocess.run(["scontrol", "show", "node", "--oneliner", os.environ.get("SLURM_JOB_NODELIST", "")], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, check=False, timeout=_SCONTROL_LIMIT_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    found = re.findall(r"(?m)^NodeName=(\S+) .*?\bNodeAddr=(\S+)", shown)
    return [address for name, address in found if name != os.environ.get("SLURMD_NODENAME")][:_MAX_TRIED_NODES]


def task_count():
    """Returns the number of tasks of the job, or `None` if it is unknown. In a shell that is a step, SLURM_NTASKS may be that of the step, so
    that scontrol is called."""
    known = int(os.environ["SLURM_NTASKS"]) if "SLURM_NTASKS" in os.environ else None
    if not is_shell_step():
        return known
    known = known or 1
    try:
        shown = subprocess.run(["scontrol", "show", "job", "--oneliner", os.environ["SLURM_JOB_ID"]], stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, check=False, timeout=_SCONTROL_LIMIT_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return known
    found = re.search(r"\bNumTasks=(\d+)", shown)
    return max(known, int(found[1])) if found else known


def environment_of_srun(environment):
    """Returns the environment variables for srun. If this shell runs inside a step of a job (`salloc`), the variables of that step are removed,
    and the new step may use the CPUs of the shell's step."""
    found = {"SLURM_MPI_TYPE": "pmix", **environment}
    if not is_shell_step():
        return found
    if found["SLURM_MPI_TYPE"] == "none":
        found["SLURM_MPI_TYPE"] = "pmix"
    nodes = found.get("SLURM_JOB_NUM_NODES")
    return {**{name: value for name, value in found.items() if not _STEP_VARIABLES.match(name)}, "SLURM_OVERLAP": "1",
            **({"SLURM_NNODES": nodes} if nodes else {})}


def _is_interactive_shell(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            name, *words = file.read().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return False
    words = [word for before, word in zip(["", *words], words) if before not in ("--rcfile", "--init-file")]
    return os.path.basename(name).lstrip("-") in _SHELLS and all(word.startswith("-") and word != "-c" for word in words)
