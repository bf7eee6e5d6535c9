"""Plans: a run, and one to four disturbances with their moments, chosen by a seed.

The same seed and number give the same plan on every machine. Whether a machine allows a disturbance is decided when it is due.
"""
import json
import random
from dataclasses import asdict, dataclass, field

MODELS = {"fashion_mnist": 6, "linear": 4, "program": 2}  # relative frequency; `program` is tests/support/programs/program_linear.py, in Python
REPORTS = 120  # reports per run of any model

# Layouts of the ranks on the two nodes of a job, as options of srun, by number of ranks.
LAYOUTS = {2: {"1+1": "-N2 -n2 --ntasks-per-node=1", "2+0": "-N1 -n2"},
           3: {"2+1": "-N2 -n3 -m block"},
           4: {"2+2": "-N2 -n4 --ntasks-per-node=2"}}

SIGNALS = ("USR1", "USR2", "TERM", "INT")
# Phases in the order of a run. The phases of a save have the names of src/checkpoint/save/phases.hpp.
PHASES = ("start", "load", "step", "report", "reported", "prepared", "staged", "shard_written", "shard_synced", "gathered", "manifest_written",
          "directory_synced", "renamed", "committed", "view_written", "retired", "deleted")
DAMAGES = ("shard_flipped", "shard_cut", "shard_gone", "manifest_flipped", "manifest_cut", "view_flipped")


@dataclass
class Disturbance:
    """`when`: {"reports": k} at the k-th report; {"running": s} s seconds after the ranks run (again); {"phase": name, "times": n} when a
    rank enters this phase of the attempt for the n-th time; {"after": s} s seconds after the last disturbance, in any state of the
    job."""
    kind: str
    when: dict
    options: dict = field(default_factory=dict)

    def ends_attempt(self):
        """Returns whether the disturbance ends the attempt. The next disturbance can then wait for a phase of the new attempt."""
        return self.kind in ENDING or self.only_the_run_notices()

    def only_the_run_notices(self):
        """Returns whether only the hang watch of the run detects the disturbance: a frozen rank; or a rank that is killed together with its
        slurmstepd, if slurmd returns before Slurm misses it, because srun then gets no report."""
        lost = self.kind == "kill_node" and self.options["with_processes"] and self.options["noticed"] == "never"
        return lost or (self.kind == "freeze" and self.options["seconds"] is None)

    def __str__(self):
        words = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.kind}({words})@{'/'.join(f'{key}:{value}' for key, value in self.when.items())}"


@dataclass
class Plan:
    seed: int
    number: int
    model: str
    ranks: int
    layout: str
    checkpoint: dict
    disturbances: list

    def __str__(self):
        checkpoint = " ".join(f"{key}={value}" for key, value in self.checkpoint.items())
        return (f"plan {self.seed}/{self.number}: {self.model}, {self.ranks} ranks {self.layout}, {checkpoint}: " +
                "; ".join(map(str, self.disturbances)))

    def as_json(self):
        return json.dumps(asdict(self))

    def keeps_ranks(self):
        return all(each.kind != "resize" for each in self.disturbances)


def plan_of(text):
    """Parses a plan as written by as_json()."""
    found = json.loads(text)
    return Plan(**{**found, "disturbances": [Disturbance(**each) for each in found["disturbances"]]})


# ---- random disturbances --------------------------------------------------------------------------------------------------
# {kind: (relative frequency, function that chooses the options)}


def _rank(rng, ranks):
    return {"rank": rng.randrange(ranks)}


def _signal(rng, ranks):
    return {"name": rng.choice(SIGNALS), "to": rng.choice((*range(ranks), "all", "step", "job", "script"))}


def _freeze(rng, ranks):
    """Freezes a rank for some seconds, or forever, which only the run itself detects."""
    return {**_rank(rng, ranks), "seconds": round(rng.uniform(0.5, 4), 1) if rng.random() < 0.5 else None}


def _kill_node(rng, _):
    """Kills the node of the batch script or the other one: all its processes, or only slurmd, like a node without network whose ranks
    keep running. The loss is detected by Slurm after its SlurmdTimeout, declared by an administrator, or never detected."""
    return {"node": rng.randrange(2), "with_processes": rng.random() < 0.5, "noticed": rng.choice(("declared",) * 4 + ("by_slurm", "never")),
            "back_after": round(rng.uniform(2, 8), 1)}


def _damage(rng, _):
    return {"what": rng.choice(DAMAGES)}


def _nothing(*_):
    return {}


KINDS = {
    "kill_rank": (14, _rank), "kill_step": (14, _nothing), "kill_srun": (3, _nothing), "kill_script": (4, lambda rng, _: {"which": rng.choice(("script", "supervise"))}),
    "kill_node": (7, _kill_node), "signal": (22, _signal), "freeze": (7, _freeze), "preempt": (6, _nothing), "requeue": (8, _nothing),
    "cancel": (4, _nothing), "relayout": (5, _nothing), "resize": (3, lambda rng, ranks: {"ranks": rng.choice([n for n in LAYOUTS if n != ranks])}),
    "time_limit": (1, _nothing), "fill_disk": (6, lambda rng, _: {"seconds": round(rng.uniform(0.5, 3), 1)}), "corrupt": (9, _damage)}
ENDING = ("kill_rank", "kill_step", "kill_srun", "kill_script", "signal", "preempt", "requeue", "cancel", "relayout", "resize")
# Kinds that the run does not notice immediately.
QUIET = ("corrupt",)
ONCE = ("corrupt", "time_limit", "kill_node", "resize", "fill_disk")
# Kinds that may occur while a rank is stopped in a phase.
IN_PHASE = ("kill_rank", "kill_step", "signal", "requeue", "kill_script")


def _moment(rng, earlier, kind, reached):
    """Chooses the moment of a disturbance. `reached` is the number of reports for which earlier disturbances wait."""
    follows_start = not earlier or earlier[-1].ends_attempt()
    choice = rng.random()
    if earlier and choice < 0.2 and kind not in ("time_limit",):
        return {"after": round(rng.uniform(0, 1.5), 2)}
    if follows_start and kind in IN_PHASE and choice < 0.45:
        phase = rng.choice(PHASES)
        return {"phase": phase, "times": 1 if phase in ("start", "load") else rng.randint(1, 4)}
    if follows_start and choice < 0.65:
        return {"running": round(rng.uniform(0, 2.5), 2)}
    return {"reports": rng.randint(reached + 1, min(reached + 30, REPORTS - 15))}


def _pick(rng, taken):
    kinds = [kind for kind in KINDS if not (kind in ONCE and kind in taken)]
    return rng.choices(kinds, [KINDS[kind][0] for kind in kinds])[0]


def _disturbances(rng, ranks):
    found, reached = [], 0
    for _ in range(rng.choices((1, 2, 3, 4), (4, 4, 2, 1))[0]):
        kind = _pick(rng, [each.kind for each in found])
        when = _moment(rng, found, kind, reached)
        reached = max(reached, when.get("reports", 0))
        found.append(Disturbance(kind, when, KINDS[kind][1](rng, ranks)))
    if found[-1].kind in QUIET:  # a damaged checkpoint is noticed only when it is loaded
        found.append(Disturbance(rng.choice(("kill_step", "requeue", "kill_rank")), {"after": round(rng.uniform(0, 0.3), 2)}, {}))
        if found[-1].kind == "kill_rank":
            found[-1].options.update(_rank(rng, ranks))
    return found


def make_plan(seed, number):
    rng = random.Random(f"{seed}/{number}")
    ranks = rng.choices((2, 3), (5, 1))[0]
    plan = Plan(seed, number, rng.choices(list(MODELS), MODELS.values())[0], ranks, rng.choice(list(LAYOUTS[ranks])),
                {"every": rng.choice(("1 reports", "3 reports", "25 steps", "1 s")), "layout": rng.choice(("node", "node", "rank", "single")),
                 "async": rng.random() < 0.85}, _disturbances(rng, ranks))
    if any(each.kind == "time_limit" for each in plan.disturbances):
        plan.model = "linear"  # its duration can be increased
    return plan
