"""trainrt.train.torch with torch 2: torch.distributed.checkpoint saves into a run and loads on other ranks; load_state() and save_state()
handle modules that are sharded over several dimensions of a mesh, or by the class FullyShardedDataParallel."""
import json
import subprocess
from pathlib import Path

import environments
from cases import LIMIT_S
from frameworks import TORCH, Framework
from harness import FINISHED, TRAINRT, Job, check, check_exit, check_verifies, equal, run, run_state, scratch

CHECKPOINTS = Framework("trainrt_train_torch", "", *TORCH, "torch")

BEGIN = """
import json, os, sys, torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
import trainrt
from trainrt.train import torch as tt
torch.set_num_threads(1)
ctx = trainrt.context()
dist.init_process_group("gloo")
rank, size = ctx.world_rank, ctx.world_size

def refused(kinds, words, function, *args, **named):
    try:
        function(*args, **named)
    except kinds as error:
        missing = [word for word in words.split("|") if word not in str(error)]
        assert not missing, f"{missing} not in: {error}"
    else:
        raise AssertionError(f"nothing was refused: {words}")
"""

# Tensors of all kinds. Distributed tensors are spread over a mesh of 2 x 2 on 4 ranks, otherwise over a mesh of one dimension.
STATE = BEGIN + """
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b")) if size == 4 else init_device_mesh("cpu", (size,))

def spread(tensor, *placements):
    return distribute_tensor(tensor, mesh, placements if size == 4 else [Shard(0)])

def values(factor):
    numbers = torch.arange(7 * 5, dtype=torch.float32).reshape(7, 5) * factor
    return {"both": spread(numbers, Shard(0), Shard(1)), "replicated": spread(numbers + 1, Replicate(), Shard(1)), "plain": numbers + 2,
            "turned": (numbers + 3).t(), "scalar": torch.tensor(4.0 * factor), "complex": torch.complex(numbers, -numbers),
            "half": spread((numbers + 5).bfloat16(), Shard(1), Shard(0)), "flags": numbers > 9, "empty": torch.empty(0, 3),
            "few": spread(numbers[:1] + 6, Shard(0), Replicate()), "of.dots": {"a.b": numbers + 7}}

def full(tensor):
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor

def check_same(found, wanted, where=""):
    for key, each in wanted.items():
        if isinstance(each, dict):
            check_same(found[key], each, f"{where}{key}.")
        elif isinstance(each, torch.Tensor):
            assert torch.equal(full(found[key]), full(each)), (where + key, full(found[key]), full(each))
        else:
            assert found[key] == each and type(found[key]) is type(each), (where + key, found[key], each)

objects = {"epoch": 3, "name": "first", "lr": 0.1, "nothing": None, "nested": {"betas": (0.9, 0.99), "steps": [1, 2, float("inf")], 7: "seven"}}
"""

SAVE = STATE + """
dcp.save({"model": values(1), **objects}, storage_writer=tt.CheckpointWriter({"loss": 1.5}), checkpoint_id="one")
saved = {"model": values(2), **objects, "epoch": 4}
saving = dcp.async_save(saved, storage_writer=tt.CheckpointWriter(checkpoint_id="two"))
saved["model"]["plain"].zero_()              # the saved copy must not change
saving.result()
assert ctx.checkpoint()["index"] == 1, ctx.checkpoint()
found = {"model": values(0), **objects, "epoch": 0}
dcp.load(found, storage_reader=tt.CheckpointReader())
check_same(found, {"model": values(2), **objects, "epoch": 4})
dcp.load(found, storage_reader=tt.CheckpointReader(), checkpoint_id="one")
check_same(found, {"model": values(1), **objects})
refused(BaseException, "'three'|has_checkpoint", dcp.load, found, storage_reader=tt.CheckpointReader("three"))
if rank == size - 1:
    only = {"own": torch.ones(2)}                       # as on the last stage of a pipeline
else:
    only = {"other": torch.zeros(3), "shared": torch.ones(1)}
dcp.save(only, storage_writer=tt.CheckpointWriter())
dcp.async_save(only, storage_writer=tt.CheckpointWriter()).result()
found = {"own": torch.zeros(2), "other": torch.ones(3)}
dcp.load(found, storage_reader=tt.CheckpointReader())
check_same(found, {"own": torch.ones(2), "other": torch.zeros(3)})
refused(BaseException, "model.code|function", dcp.save, {"model": {"code": print}, "x": torch.ones(1)}, storage_writer=tt.CheckpointWriter())
refused(BaseException, "async_checkpointer_type", __import__("pickle").dumps, tt.CheckpointWriter())
assert len(os.listdir(ctx.run_dir + "/checkpoint_000001/files")) == 1
"""

LOAD = STATE + """
source = ctx.config("source", str)
found = {"model": values(0), **objects, "epoch": 0}
dcp.load(found, storage_reader=tt.CheckpointReader(source))
check_same(found, {"model": values(2), **objects, "epoch": 4})
part = {"model": {"plain": torch.zeros(7, 5, dtype=torch.float64)}}   # one tensor, with another type
dcp.load(part, storage_reader=tt.CheckpointReader(source))
assert torch.equal(part["model"]["plain"].float(), values(2)["plain"])
assert not tt.CheckpointReader().has_checkpoint()
"""

# Trains a module. It is sharded over a 2 x 2 mesh on 4 ranks, over a one-dimensional mesh on 2 or 3 ranks, and not sharded on 1 rank. A run that is
# moved from 4 to 3 and again to 4 ranks must end with the same weights as a run on 1 rank (up to rounding).
HYBRID = BEGIN + """
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 3))
if size > 1:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("copies", "shards")) if size == 4 else init_device_mesh("cpu", (size,))
    for part in (model[0], model[2], model):
        fully_shard(part, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
grid = torch.zeros(5, 6)
if size == 4:
    grid = distribute_tensor(grid, mesh, [Shard(1), Shard(0)])
at = tt.load_state(model, optimizer, grid=grid, epoch=0)
print(f"begins at {at['epoch']} of {size}", flush=True)
last = ctx.config("last", int)
for epoch in range(at["epoch"], last):
    inputs = torch.randn(12, 6, generator=torch.Generator().manual_seed(epoch))
    optimizer.zero_grad()
    (model(inputs) ** 2).mean().backward()
    optimizer.step()
    with torch.no_grad():
        grid.add_(1.0)
    tt.save_state(model, optimizer, grid=grid, epoch=epoch + 1, metrics={"epoch": epoch})
weights = torch.cat([(each.full_tensor() if hasattr(each, "full_tensor") else each).detach().flatten() for each in model.parameters()])
assert torch.equal(grid.full_tensor() if size == 4 else grid, torch.full((5, 6), float(last)))
if rank == 0:
    with open(ctx.config("out", str), "w") as file:
        file.write(repr(weights.tolist()))
ctx.save()
"""

# Modules in the class FSDP with each way of sharding; on one rank they are not wrapped. Rank 0 writes the gathered state to a file.
CLASS_FSDP = BEGIN.replace('"gloo"', 'ctx.config("backend", str)') + """
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy, StateDictType

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(5, 11), nn.Sequential(nn.Linear(11, 4), nn.LayerNorm(4))
        self.kernel = nn.Parameter(torch.randn(2, 3, 4))
        self.register_buffer("batches", torch.zeros(2, 2))
        self.register_buffer("scratch", torch.zeros(3), persistent=False)

    def forward(self, inputs):
        self.batches += 1
        return self.second(torch.tanh(self.first(inputs))) @ self.kernel.sum((0, 1))

def wrapped(way):
    torch.manual_seed(1)
    model = Net()
    if size > 1:
        options = {"use_orig_params": way[0], "sharding_strategy": ShardingStrategy[way[1]], "device_id": torch.device("cpu")}
        model.second = FSDP(model.second, **options)
        model = FSDP(model, **options)
    return model, torch.optim.AdamW(model.parameters(), lr=0.05, amsgrad=True)

ways = [(True, "FULL_SHARD"), (False, "FULL_SHARD"), (True, "SHARD_GRAD_OP"), (True, "NO_SHARD"), (False, "NO_SHARD")]
pairs = [wrapped(way) for way in ways]
parts = {f"{kind}{number}": pair[at] for number, pair in enumerate(pairs[1:]) for at, kind in enumerate(("model", "optimizer"))}
at = tt.load_state(*pairs[0], **parts, epoch=0)
print(f"begins at {at['epoch']} of {size}", flush=True)

def gathered(thing):
    found = [None] * size
    dist.all_gather_object(found, thing)
    return found

def moments_of(model, optimizer, orig, strategy):
    if size == 1:
        return {f"{name} {key}": value for name, each in model.named_parameters() for key, value in optimizer.state.get(each, {}).items()}
    found = {}
    for prefix, unit in (("", model), ("second.", model.second)):
        flat = unit._handle.flat_param
        of_ranks = gathered([{key: value.flatten() if value.dim() else value for key, value in optimizer.state.get(each, {}).items()}
                             for each in (flat._params if orig else [flat])])
        for number in range(len(of_ranks[0])):
            states = [each[number] for each in of_ranks if each[number].get("exp_avg", torch.empty(0)).numel()]
            names, sizes = ([flat._fqns[number]], [flat._numels[number]]) if orig else (flat._fqns, flat._numels)
            for key in states[0] if states else ():
                values = [each[key] for each in states][:1 if strategy == "NO_SHARD" or not states[0][key].dim() else None]
                joined = torch.cat(values)[:sum(sizes)].split(list(sizes)) if values[0].dim() else values * len(names)
                found.update({f"{prefix}{name} {key}": value for name, value in zip(names, joined)})
    return found

def leave(file):
    everything = {}
    for number, (way, (model, optimizer)) in enumerate(zip(ways, pairs)):
        if size > 1:
            with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT):
                weights = model.state_dict()
        else:
            weights = model.state_dict()
        for name, tensor in {**weights, **moments_of(model, optimizer, *way)}.items():
            everything[f"{number} {name}"] = tensor.double().flatten().tolist()
    if rank == 0:
        with open(file, "w") as file:
            json.dump(everything, file)

leave(ctx.config("out", str) + ".begin")
for epoch in range(at["epoch"], ctx.config("last", int)):
    inputs = torch.randn(12, 5, generator=torch.Generator().manual_seed(10 * epoch + rank))
    for model, optimizer in pairs:
        optimizer.zero_grad()
        (model(inputs) ** 2).mean().backward()
        optimizer.step()
    tt.save_point()
    tt.save_state(*pairs[0], **parts, epoch=epoch + 1, metrics={"epoch": epoch})
leave(ctx.config("out", str) + ".end")
ctx.save()
"""


class Place:
    """A folder for programs and their runs."""

    def __init__(self):
        self.folder = scratch("torch_checkpoints")
        self.environment = environments.activated(CHECKPOINTS, environments.ready(CHECKPOINTS))

    def run(self, ranks, program, run, *words):
        script = self.folder / f"{run}.py"
        script.write_text(program)
        job = Job([TRAINRT, "-n", ranks, "--failure.max_failures=0", f"--run.name={run}", f"--run.storage_path={self.folder / 'runs'}", *words, "--", "python3",
                   script], cwd=self.folder, env={**self.environment, "OMP_NUM_THREADS": 1})
        job.code = job.wait(LIMIT_S)
        check_exit(job, FINISHED)
        return job


def dcp_saves_and_loads_on_other_ranks(_):
    place = Place()
    job = place.run(4, SAVE, "saved")
    run_dir = place.folder / "runs/saved"
    check_verifies(run_dir)
    text = subprocess.run([TRAINRT, "inspect", run_dir / "checkpoint_000001"], capture_output=True, text=True, check=True).stdout
    check("model/both" in text and "7, 5" in text.replace("x", ", "), f"the tensors are missing: {text}", job)
    check(not list(run_dir.rglob("*.pt")) and not list(run_dir.rglob("*.distcp")), "the checkpoint has torch's own files", job)
    for ranks in (1, 3):
        place.run(ranks, LOAD, f"loaded_{ranks}", f"--loop.source={run_dir / 'checkpoint_000001'}")


def states_over_two_dimensions_of_a_mesh(_):
    place, weights = Place(), {}

    def end(ranks, run, last):
        out = place.folder / f"{run}_{last}"
        job = place.run(ranks, HYBRID, run, f"--loop.last={last}", f"--loop.num_epochs={last}", f"--loop.out={out}", "--scaling.on_resize=keep_batch")
        weights[run, last] = json.loads(out.read_text())
        return job

    end(1, "alone", 6)
    end(4, "moved", 2)
    job = end(3, "moved", 4)
    check("begins at 2 of 3" in job.out, "the run restarted from the beginning", job)
    job = end(4, "moved", 6)
    check("begins at 4 of 4" in job.out, "the run restarted from the beginning", job)
    apart = max(abs(one - other) for one, other in zip(weights["alone", 6], weights["moved", 6]))
    check(apart < 1e-5, f"the weights differ by {apart} from those of one rank", job)
    equal(run_state(place.folder / "runs/moved"), "finished", "state of the run", job)


def class_fsdp_continues_with_the_same_bits(_):
    """With the same number of ranks, a stop does not change the bits. Other numbers of ranks, and the unwrapped module, begin with the same bits."""
    place = Place()

    def run(ranks, name, last, begins, backend="gloo"):
        out = place.folder / f"{name}_{ranks}_{last}"
        job = place.run(ranks, CLASS_FSDP, name, f"--loop.last={last}", f"--loop.num_epochs={last}", f"--loop.out={out}", f"--loop.backend={backend}", "--scaling.on_resize=keep_batch",
                        "--checkpoint.replica_check_every=1 steps")
        check(f"begins at {begins} of {ranks}" in job.out, f"the run does not begin at {begins}", job)
        return *(json.loads(Path(f"{out}.{at}").read_text()) for at in ("begin", "end")), job

    _, straight, job = run(2, "straight", 4, 0)
    check(len(straight) == 5 * (8 + 7 * 4), f"5 modules have {len(straight)} tensors", job)
    run(2, "moved", 2, 0)
    _, moved, job = run(2, "moved", 4, 2)
    _same(moved, straight, "continued on 2 ranks", job)
    begin, end, job = run(3, "moved", 6, 4, "trainrt")
    _same(begin, straight, "loaded by 3 ranks", job)
    begin, end_of_one, job = run(1, "moved", 7, 6)
    _same(begin, end, "loaded by one rank", job)
    begin, _, job = run(2, "moved", 7, 7)
    _same(begin, end_of_one, "loaded by 2 ranks from one", job)
    check_verifies(place.folder / "runs/moved")


def _same(found, expected, what, job):
    different = sorted({name for name in {**found, **expected} if found.get(name) != expected.get(name)})
    check(not different, f"{what}: {len(different)} of {len(expected)} differ: {different[:6]}", job)


def the_import_leaves_out_the_slow_modules_of_torch(_):
    """DTensor and torch.distributed.checkpoint import sympy, which takes longer than torch."""
    program = "import sys, trainrt.train.torch; print([name for name in ('torch.distributed.tensor', 'torch.distributed.checkpoint', 'sympy') if name in sys.modules])"
    job = run(["python3", "-c", program], timeout=LIMIT_S, env=environments.activated(CHECKPOINTS, environments.ready(CHECKPOINTS)))
    equal((job.code, job.out.strip()), (0, "[]"), "exit code, and imported modules", job)


def cases_of_checkpoints():
    """Returns (name, function) for each case."""
    return [("dcp_other_ranks", dcp_saves_and_loads_on_other_ranks), ("mesh_of_two_dimensions", states_over_two_dimensions_of_a_mesh),
            ("class_FSDP", class_fsdp_continues_with_the_same_bits), ("fast_import", the_import_leaves_out_the_slow_modules_of_torch)]
