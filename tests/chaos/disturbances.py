"""Disturbances of a run by their kind. Each function disturbs the run and returns a description, or "" if there was nothing to
disturb. Lasting disturbances are undone later by BrokenRun."""
import os
import signal

from harness import Skipped, checkpoints, is_stopped, kill, run
from plans import LAYOUTS

DOERS = {}


def doer(function):
    DOERS[function.__name__] = function
    return function


# ---- processes ----------------------------------------------------------------------------------------------------------------


@doer
def kill_rank(broken, rank):
    pid = broken.ranks().get(rank)
    kill([pid] if pid else [])
    return f"kill -9 of rank {rank}, pid {pid}" if pid else ""


@doer
def kill_step(broken):
    pids = list(broken.ranks().values())
    kill(pids)
    return f"kill -9 of all ranks, pids {pids}" if pids else ""


@doer
def kill_srun(broken):
    pids = broken.processes("srun")
    kill(pids)
    return f"kill -9 of srun, pids {pids}" if pids else ""


@doer
def kill_script(broken, which):
    pids = broken.processes({"script": "slurm_script", "supervise": "supervise"}[which])
    kill(pids)
    return f"kill -9 of the batch job's {which}, pids {pids}" if pids else ""


@doer
def freeze(broken, rank, seconds):
    pid = broken.ranks().get(rank)
    if not pid:
        return ""
    broken.frozen.add(pid)
    kill([pid], signal.SIGSTOP)

    def thaw():
        broken.frozen.discard(pid)
        if is_stopped(pid):
            kill([pid], signal.SIGCONT)

    if seconds is not None:
        broken.later(seconds, thaw)
    return f"SIGSTOP of rank {rank}, pid {pid}, {'for good' if seconds is None else f'for {seconds} s'}"


@doer
def signal_to(broken, name, to):
    ranks = broken.ranks()
    if not ranks:
        return ""
    if to == "script":
        broken.cluster.call("scancel", "--batch", f"--signal={name}", broken.job.id)
    elif to == "step":
        broken.cluster.call("scancel", f"--signal={name}", f"{broken.job.id}.{_step_of(ranks)}")
    elif to == "job":
        broken.cluster.call("scancel", f"--signal={name}", broken.job.id)
    else:
        pids = list(ranks.values()) if to == "all" else [ranks[to]] if to in ranks else []
        if not pids:
            return ""
        kill(pids, getattr(signal, f"SIG{name}"))
    return f"SIG{name} to {f'rank {to}' if isinstance(to, int) else to}"


DOERS["signal"] = DOERS.pop("signal_to")


def _step_of(ranks):
    from harness import environment_of
    return next((environment_of(pid).get("SLURM_STEP_ID", "0") for pid in ranks.values()), "0")


# ---- Slurm --------------------------------------------------------------------------------------------------------------------


@doer
def requeue(broken):
    return "" if broken.cluster.call("scontrol", "requeue", broken.job.id).strip() else f"scontrol requeue {broken.job.id}"


@doer
def cancel(broken):
    if broken.state() not in ("RUNNING", "PENDING"):
        return ""
    broken.cancelled = True
    broken.job.cancel()
    return f"scancel {broken.job.id}"


@doer
def preempt(broken):
    nodes = broken.nodes()
    if broken.state() != "RUNNING" or not nodes:
        return ""
    other = run(["sbatch", "--parsable", "-p", "high", "--exclusive", f"-w{','.join(nodes)}", f"-N{len(nodes)}", "--output=/dev/null", "--wrap", "sleep 1"],
                env=broken.cluster.env, submits=True)
    restarts = int(broken.shown.get("Restarts", 0))
    broken.wait(lambda: broken.state() != "RUNNING" or int(broken.shown.get("Restarts", 0)) > restarts, 60, f"job {other.out.strip()} to preempt")
    return f"preempted by job {other.out.strip()}"


@doer
def relayout(broken):
    names = list(LAYOUTS[broken.plan.ranks])
    layout = names[(names.index(broken.plan.layout) + 1) % len(names)]
    broken.lay_out(LAYOUTS[broken.plan.ranks][layout])
    return (requeue(broken) or "start later") + f", as {layout} from then on"


@doer
def resize(broken, ranks):
    broken.lay_out(next(iter(LAYOUTS[ranks].values())))
    return (requeue(broken) or "start later") + f", with {ranks} ranks from then on"


@doer
def time_limit(broken):
    if broken.state() != "RUNNING":
        return ""
    job, restarts = broken.job, int(broken.job.show().get("Restarts", 0))
    answer = broken.cluster.call("scontrol", "update", f"JobId={job.id}", "TimeLimit=1")
    back = lambda: broken.cluster.call("scontrol", "update", f"JobId={job.id}", "TimeLimit=60")  # noqa: E731
    broken.when(lambda: broken.over() or int(broken.shown.get("Restarts", 0)) > restarts, back, user_waits=False)
    return "" if answer.strip() else "time limit of 1 min"


@doer
def kill_node(broken, node, with_processes, noticed, back_after):
    nodes = broken.nodes()
    if broken.state() != "RUNNING" or len(nodes) <= node:
        return ""
    name, cluster, job = nodes[node], broken.cluster, broken.job
    restarts = int(job.show().get("Restarts", 0))
    cluster.kill_node(name, with_processes)
    if noticed == "declared":
        cluster.call("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=chaos")

    def back():
        cluster.start_node(name)
        cluster.call("scontrol", "update", f"NodeName={name}", "State=RESUME")

    if noticed == "by_slurm":  # the node returns after Slurm has declared it down
        broken.when(lambda: broken.job is not job or broken.over() or int(broken.shown.get("Restarts", 0)) > restarts or
                    broken.state() not in ("RUNNING", "COMPLETING"), back)
    else:
        broken.later(back_after, back)
    return f"kill -9 of slurmd {name}{' and all processes there' if with_processes else ''}, {noticed}"


# ---- storage ------------------------------------------------------------------------------------------------------------------


@doer
def fill_disk(broken, seconds):
    if not broken.on_small_disk:
        raise Skipped("needs root, to mount a small disk")
    filler = broken.run_dir.parent / "filler"
    with open(filler, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    broken.later(seconds, lambda: filler.unlink(missing_ok=True))
    return f"disk full {'for good' if seconds is None else f'for {seconds} s'}"


def _flip(path, where):
    with open(path, "r+b") as file:
        file.seek(where)
        found = file.read(16)
        file.seek(where)
        file.write(bytes(byte ^ 0x55 for byte in found))


@doer
def corrupt(broken, what):
    """Damages the newest checkpoint that still exists when its file is opened."""
    part, how = what.split("_")
    pattern = {"shard": "shard-*.h5", "manifest": "manifest.json", "view": "state.h5"}[part]
    for directory in reversed(checkpoints(broken.run_dir)):
        try:
            path = sorted(directory.glob(pattern))[-1]
            size = path.stat().st_size
            if how == "gone":
                path.unlink()
            elif how == "cut":
                os.truncate(path, size // 2)
            else:
                _flip(path, size // 2)
        except (OSError, IndexError):
            continue  # deleted meanwhile, or its view does not exist yet
        broken.damaged.append(directory.name)
        return f"{what}: {directory.name}/{path.name}"
    return ""
