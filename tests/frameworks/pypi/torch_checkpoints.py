"""trainrt.train.torch on torch 2: what torch.distributed.checkpoint saves into a run and loads on other ranks, and the parts of modules that are
sharded over several dimensions of a mesh in load_state() and save_state()."""
import json
import subprocess

import environments
from cases import LIMIT_S
from frameworks import TORCH, Framework
from harness import FINISHED, TRAINRT, Job, check, check_exit, check_verifies, equal, run_state, scratch

CHECKPOINTS = Framework("trainrt_train_torch", "", *TORCH, "torch")

BEGIN = """
import os, sys, torch
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

# Tensors of all sorts; on 4 ranks over a mesh of 2 x 2, else over a line.
STATE = BEGIN + """
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b")) if size == 4 else init_device_mesh("cpu", (size,))

def spread(tensor, *placements):
    return distribute_tensor(tensor, mesh, placements if size == 4 else [Shard(0)])

def values(factor):
    numbers = torch.arange(7 * 5, dtype=torch.float32).reshape(7, 5) * factor
    return {"both": spread(numbers, Shard(0), Shard(1)), "replicated": spread(numbers + 1, Replicate(), Shard(1)), "plain": numbers + 2,
            "turned": (numbers + 3).t(), "scalar": torch.tensor(4.0 * factor), "complex": torch.complex(numbers, -numbers),
            "half": spread((numbers + 5).bfloat16(), Shard(1), Shard(0)), "flags": numbers > 9, "none": torch.empty(0, 3),
            "few": spread(numbers[:1] + 6, Shard(0), Replicate()), "of.dots": {"a.b": numbers + 7}}

def whole(tensor):
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor

def check_same(found, wanted, where=""):
    for key, each in wanted.items():
        if isinstance(each, dict):
            check_same(found[key], each, f"{where}{key}.")
        elif isinstance(each, torch.Tensor):
            assert torch.equal(whole(found[key]), whole(each)), (where + key, whole(found[key]), whole(each))
        else:
            assert found[key] == each and type(found[key]) is type(each), (where + key, found[key], each)

objects = {"epoch": 3, "name": "first", "lr": 0.1, "nothing": None, "nested": {"betas": (0.9, 0.99), "steps": [1, 2, float("inf")], 7: "seven"}}
"""

SAVE = STATE + """
dcp.save({"model": values(1), **objects}, storage_writer=tt.CheckpointWriter({"loss": 1.5}), checkpoint_id="one")
saved = {"model": values(2), **objects, "epoch": 4}
saving = dcp.async_save(saved, storage_writer=tt.CheckpointWriter(checkpoint_id="two"))
saved["model"]["plain"].zero_()              # the copy is taken
saving.result()
assert ctx.checkpoint()["index"] == 1, ctx.checkpoint()
found = {"model": values(0), **objects, "epoch": 0}
dcp.load(found, storage_reader=tt.CheckpointReader())
check_same(found, {"model": values(2), **objects, "epoch": 4})
dcp.load(found, storage_reader=tt.CheckpointReader(), checkpoint_id="one")
check_same(found, {"model": values(1), **objects})
refused(BaseException, "'three'|has_checkpoint", dcp.load, found, storage_reader=tt.CheckpointReader("three"))
if rank == size - 1:
    only = {"own": torch.ones(2)}                       # as the last stage of a pipeline has it
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
part = {"model": {"plain": torch.zeros(7, 5, dtype=torch.float64)}}   # of another type, and no more
dcp.load(part, storage_reader=tt.CheckpointReader(source))
assert torch.equal(part["model"]["plain"].float(), values(2)["plain"])
assert not tt.CheckpointReader().has_checkpoint()
"""

# A module in a mesh of two dimensions, and the same on other ranks; what is saved at the end is what one rank alone computes.
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
    check("model/both" in text and "7, 5" in text.replace("x", ", "), f"the tensors are not there: {text}", job)
    check(not list(run_dir.rglob("*.pt")) and not list(run_dir.rglob("*.distcp")), "torch's own files", job)
    for ranks in (1, 3):
        place.run(ranks, LOAD, f"loaded_{ranks}", f"--loop.source={run_dir / 'checkpoint_000001'}")


def states_over_two_dimensions_of_a_mesh(_):
    place, weights = Place(), {}

    def end(ranks, run, last):
        out = place.folder / f"{run}_{last}"
        job = place.run(ranks, HYBRID, run, f"--loop.last={last}", f"--loop.out={out}", "--scaling.on_resize=keep_batch")
        weights[run, last] = json.loads(out.read_text())
        return job

    end(1, "alone", 6)
    end(4, "moved", 2)
    job = end(3, "moved", 4)
    check("begins at 2 of 3" in job.out, "it began anew", job)
    job = end(4, "moved", 6)
    check("begins at 4 of 4" in job.out, "it began anew", job)
    apart = max(abs(one - other) for one, other in zip(weights["alone", 6], weights["moved", 6]))
    check(apart < 1e-5, f"the weights are {apart} from those of one rank", job)
    equal(run_state(place.folder / "runs/moved"), "finished", "state of the run", job)


def cases_of_checkpoints():
    """(name, function)."""
    return [("dcp_other_ranks", dcp_saves_and_loads_on_other_ranks), ("mesh_of_two_dimensions", states_over_two_dimensions_of_a_mesh)]
