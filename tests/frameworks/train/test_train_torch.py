#!/usr/bin/python3
"""trainrt.train.torch on one and two ranks; a training that is killed continues with the same bits."""
import os
import shlex
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403
from tools import guides  # noqa: E402

BEGIN = """
import os, random, time, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset, WeightedRandomSampler
from trainrt.train import torch as tt
torch.set_num_threads(1)

class Numbers(Dataset):
    # Records the loaded indices, and draws random numbers as augmentation does.
    def __init__(self, count):
        self.count, self.seen = count, []
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        self.seen.append(index)
        return torch.tensor(float(index)), torch.rand(1), torch.tensor(random.random())

def refused(kind, words, function, *args, **named):
    try:
        function(*args, **named)
    except kind as error:
        missing = [word for word in words.split("|") if word not in str(error)]
        assert not missing, f"{missing} not in: {error}"
    else:
        raise AssertionError(f"nothing was refused: {words}")
"""

TRAINING = """
class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))

inputs = torch.randn(212, 6, generator=torch.Generator().manual_seed(1))
data = TensorDataset(inputs, inputs.sum(1, keepdim=True))
torch.manual_seed(3 + ctx.world_rank)  # DDP broadcasts the weights of rank 0
model = tt.prepare_model(Net())
loader = tt.prepare_data_loader(DataLoader(data, batch_size=8, shuffle=True, num_workers=ctx.config("workers", 0)))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=500)
losses = torch.zeros(2, dtype=torch.float64)
at = tt.load_state(model, optimizer, scheduler, data=loader, sums={"losses": losses}, epoch=0)
for epoch in range(at["epoch"], 16):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x + 0.01 * torch.randn_like(x)), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses += torch.tensor([loss.item(), 1.0])
        time.sleep(ctx.config("pause", 0.0))
        tt.save_point()
    mean = trainrt.ratio(losses[0], losses[1])
    losses.zero_()
    tt.save_state(model, optimizer, scheduler, data=loader, epoch=epoch + 1, metrics={"loss": mean})
ctx.save()
"""


def setup():
    require_torch()


def torch_program(text, name="run", **sections):
    return program_config(python(BEGIN + text), name, **sections)


def torch_run(ranks, text, **sections):
    config = torch_program(text, **sections)
    job = run_program(ranks, config)
    check_exit(job, FINISHED)
    return config, job


def plain(text):
    """Runs the lines in a process that trainrt did not start."""
    job = Job([PYTHON, program_file(BEGIN + text)], env={**ONE_THREAD, "PYTHONPATH": f"{BUILD}/python"})
    check(job.wait(90) == 0, "the process failed", job)
    return job


# ---- stops and kills leave the same bits -----------------------------------------------------------------------------------------------------------------


def _ends_with_the_same_bits(ranks, loop):
    whole, stopped = (torch_program(TRAINING, name, loop={**loop, "pause": pause}) for name, pause in (("whole", 0.0), ("stopped", 0.01)))
    check_exit(run_program(ranks, whole), FINISHED)
    steps = []
    for number in range(3):
        job = start_program(ranks, stopped)
        wait_for_reports(run_dir_of(stopped), 2 + 4 * number, job, 60)
        time.sleep(0.013 * (number + 1))
        kill(*((job.ranks().values(),) if number == 1 else ([job.ranks()[0]], signal.SIGUSR1)))
        job.wait(60)
        check(run_state(run_dir_of(stopped)) != "finished", "the run ended before it could be stopped", job)
        if number != 1:
            steps.append(step_of(run_dir_of(stopped)))
    check_exit(run_program(ranks, stopped), FINISHED)
    check(any(step % -(-212 // (8 * ranks)) for step in steps), f"every stop came at the end of an epoch: {steps}")
    check_iterations(run_dir_of(stopped), 16)
    check_same_bits(run_dir_of(stopped), run_dir_of(whole))
    equal(reported_metrics(run_dir_of(stopped)), reported_metrics(run_dir_of(whole)), "metrics")
    rows = reports(run_dir_of(whole))
    check(rows[-1]["loss"] < 0.5 * rows[0]["loss"], f"the loss stays high: {rows[0]['loss']} to {rows[-1]['loss']}")


@test
def training_stopped_and_killed_within_epochs_ends_with_the_same_bits_on_2_ranks():
    _ends_with_the_same_bits(2, {})


@test
def training_stopped_and_killed_on_one_rank_with_loader_workers_ends_with_the_same_bits():
    _ends_with_the_same_bits(1, {"workers": 2})


@test
def a_checkpoint_has_tensors_named_by_parameters_and_no_pickle():
    config, _ = torch_run(2, TRAINING)
    state = state_of(run_dir_of(config))
    names = {"model/0/weight", "model/1/running_mean", "optimizer/0/weight/exp_avg", "optimizer/0/weight/step", "losses"}
    check(names <= set(state), f"missing: {names - set(state)}; found: {sorted(state)}")
    check(not [path for path in checkpoints(run_dir_of(config))[-1].rglob("*.p*t*") if path.suffix in (".pt", ".pkl", ".pth")], "the checkpoint has a pickle file")


# replaces the package safetensors
LOAD_FILE = """
import json, math, struct, sys, torch, types

def load_file(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    length = struct.unpack("<Q", data[:8])[0]
    types_of = {"F32": torch.float32, "I64": torch.int64}
    return {name: torch.frombuffer(data, dtype=types_of[item["dtype"]], offset=8 + length + item["data_offsets"][0], count=math.prod(item["shape"])
                                   ).reshape(item["shape"]) for name, item in json.loads(data[8:8 + length]).items() if name != "__metadata__"}

sys.modules["safetensors"], sys.modules["safetensors.torch"] = types.ModuleType("safetensors"), types.ModuleType("safetensors.torch")
sys.modules["safetensors.torch"].load_file = load_file
"""


@test
def the_guide_loads_an_export_into_a_model_with_batch_norm():
    config, _ = torch_run(2, TRAINING.replace("range(at[\"epoch\"], 16)", "range(2)"))
    folder = scratch()
    command = shlex.split(guides.block("sh", "trainrt export runs/first", "src/checkpoint"), comments=True)
    check_exit(run([TRAINRT, "export", run_dir_of(config), *command[3:]], cwd=folder), FINISHED)
    snippet = guides.block("python", "load_state_dict", "src/checkpoint").split("\n\n")[1]
    model = TRAINING.split("\n\n")[0]
    check_statistics = "print(module[1].running_mean.tolist())"
    script = program_file(f"{LOAD_FILE}from torch import nn\n{model}\nmodule = Net()\n{snippet}{check_statistics}\n")
    job = run([PYTHON, script], cwd=folder, env=ONE_THREAD)
    check_exit(job, FINISHED)
    _, shape, data = state_of(run_dir_of(config))["model/1/running_mean"]
    equal(shape, (2, 16), "shape of the statistics of both ranks")
    equal(eval(job.out), list(struct.unpack("<16f", data[:64])), "statistics of rank 0")
    job = run([TRAINRT, "export", run_dir_of(config), "-o", "all.npz"], cwd=folder)
    check("such as losses [2, 2], have an additional first axis in the file; --rank=0 exports those of rank 0" in job.err, "the axis is noted", job)


@test
def a_running_loader_that_load_state_did_not_get_gives_one_warning():
    text = """
loader = tt.prepare_data_loader(DataLoader(Numbers(24), batch_size=4, shuffle=True))
model = nn.Linear(1, 1)
parts = {"data": loader} if ctx.config("given", 0) else {}
tt.load_state(model, **parts)
for epoch in range(2):
    for batch in loader:
        tt.save_point()
    tt.save_state(model, **parts)
"""
    for given, count in ((0, 1), (1, 0)):
        job = run_program(2, torch_program(text, loop={"given": given}))
        check_exit(job, FINISHED)
        equal(job.err.count("did not get the loader of prepare_data_loader()"), count, f"warnings with given = {given}", job)


@test
def one_rank_continues_a_run_of_two_after_the_samples_of_both():
    text = """
numbers = Numbers(48)
loader = tt.prepare_data_loader(DataLoader(numbers, batch_size=4, shuffle=True))
model = nn.Linear(1, 1)
tt.load_state(model, data=loader)
seen = []
for number, batch in enumerate(loader):
    seen += batch[0].long().tolist()
    if ctx.world_size == 2 and number == 3:
        ctx.save()
        ctx.log("seen " + str(seen))
        os.kill(os.getpid(), 9)
ctx.log("seen " + str(seen))
"""
    config = torch_program(text)
    first = run_program(2, config)
    second = run_program(1, config, "--scaling.on_resize=keep_batch")
    check_exit(second, FINISHED)
    parts = [eval(words) for job in (first, second) for words in re.findall(r"seen (\[.*?\])", job.err)]
    equal(sorted(sum(parts, [])), list(range(48)), "samples of both runs", second)


@test
def save_point_saves_changed_values_in_a_script_without_a_loader():
    config, _ = torch_run(1, """
refused(RuntimeError, "save_point() was given 'batch'|load_state() has not been called", tt.save_point, batch=1)
model = nn.Linear(1, 1)
refused(TypeError, "tensor 'model' is a Linear|load_state() and save_state() of trainrt.train.torch", trainrt.State().tensor, "model", model)
at = tt.load_state(model, epoch=0, batch=0)
for batch in range(at["batch"], 3):
    tt.save_point(batch=batch + 1)
refused(ValueError, "save_point() was given 'bach'|pass it to load_state()", tt.save_point, bach=1)
ctx.save()
""")
    state = state_of(run_dir_of(config))
    equal([int.from_bytes(state[name][2], "little") for name in ("epoch", "batch")], [0, 3], "values of the checkpoint")


@test
def check_exact_names_state_that_no_checkpoint_restores():
    plain("""
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
loader = tt.prepare_data_loader(DataLoader(TensorDataset(torch.randn(40, 4), torch.randn(40, 1)), batch_size=5, shuffle=True))
before = [parameter.detach().clone() for parameter in model.parameters()]

def step(batch):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(batch[0]), batch[1]).backward()
    optimizer.step()

tt.check_exact(step, model, optimizer, data=loader)
assert all(map(torch.equal, before, model.parameters())) and not any(optimizer.state.values()) and loader.state_dict()["batches"] == 0
refused(tt.NotExact, "step 1|'model/0/weight'", tt.check_exact, lambda: step((torch.randn(5, 4), torch.ones(5, 1))), model, optimizer)
calls = []
def counts(batch):
    calls.append(0)
    optimizer.param_groups[0]["lr"] = 0.01 / len(calls)
    step(batch)
refused(tt.NotExact, "step 1", tt.check_exact, counts, model, optimizer, data=loader)
""")


# ---- loaders ---------------------------------------------------------------------------------------------------------------


@test
def a_restored_loader_skips_seen_samples_and_keeps_the_random_numbers():
    plain("""
for workers, persistent in ((0, False), (2, False), (2, True)):
    make = lambda: tt.prepare_data_loader(DataLoader(Numbers(23), batch_size=4, shuffle=True, num_workers=workers, persistent_workers=persistent))
    step = lambda loader, batch: ([part.tolist() for part in batch], torch.rand(1).item(), random.random(), loader.state_dict())
    loader = make()
    full = [step(loader, batch) for _ in range(3) for batch in loader]
    assert len(full) == 18 and [each[3]["epoch"] for each in full] == sorted([0, 1, 2] * 6), full
    assert sorted(sum((each[0][0] for each in full[:6]), [])) == list(range(23))
    assert len({str(each[0]) for each in full}) == 18, "two epochs have the same order"
    again = make()
    again.load_state_dict(full[7][3])
    rest = [step(again, batch) for _ in range(2) for batch in again]
    assert rest == full[8:], (rest[0], full[8])
    if workers == 0:
        assert len(again.dataset.seen) == 15 + 23, len(again.dataset.seen)
""")


@test
def every_loop_is_an_epoch_unless_the_script_sets_it():
    plain("""
loader = tt.prepare_data_loader(DataLoader(Numbers(20), batch_size=4, shuffle=True))
orders = [[int(batch[0][0]) for batch in loader] for _ in range(2)]
assert orders[0] != orders[1]
for batch in loader:
    break
assert loader.state_dict() == {"epoch": 3, "batches": 0, "samples": 0}, loader.state_dict()
loader.set_epoch(1)
assert [int(batch[0][0]) for batch in loader] == orders[1]
loader.sampler.set_epoch(0)
assert [int(batch[0][0]) for batch in loader] == orders[0]
assert len(loader) == 5 and loader.batch_size == 4 and isinstance(loader, DataLoader)
refused(ValueError, "epoch, batches", loader.load_state_dict, {"samples": 3})
refused(TypeError, "DataLoader, not a list", tt.prepare_data_loader, [1, 2])
""")


@test
def a_custom_sampler_on_one_rank_is_kept_and_continued():
    plain("""
loader = tt.prepare_data_loader(DataLoader(Numbers(20), batch_size=4, sampler=WeightedRandomSampler([1.0] * 20, 20)))
epochs = [[batch[0].tolist() for batch in loader] for _ in range(2)]
assert isinstance(loader.sampler, WeightedRandomSampler) and epochs[0] != epochs[1]
loader.load_state_dict({"epoch": 1, "batches": 2, "samples": 0})
assert [batch[0].tolist() for batch in loader] == epochs[1][2:]

class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter(range(10))
stream = tt.prepare_data_loader(DataLoader(Stream(), batch_size=2))
stream.load_state_dict({"epoch": 0, "batches": 3, "samples": 0})
assert [batch.tolist() for batch in stream] == [[6, 7], [8, 9]]
""")


@test
def ranks_share_an_epoch_in_the_order_of_run_seed():
    text = """
loader = tt.prepare_data_loader(DataLoader(Numbers(20), batch_size=3, shuffle=True))
mine = torch.tensor([float(value) for batch in loader for value in batch[0]])
parts = ctx.all_gather(mine)
assert sorted(torch.cat(parts).tolist()) == list(range(20)), parts
drawn = ctx.all_gather(torch.rand(1))
assert drawn[0] != drawn[1], "dropout would be the same on all ranks"
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    other = tt.prepare_data_loader(DataLoader(Numbers(20), batch_size=3, sampler=WeightedRandomSampler([1.0] * 20, 20)))
assert len(other) == 4 and len(caught) == (ctx.world_rank == 0), caught
batches = torch.utils.data.BatchSampler(range(20), 4, False)
refused(ValueError, "batch_sampler|add_dist_sampler=False", tt.prepare_data_loader, DataLoader(Numbers(20), batch_sampler=batches))
assert len(tt.prepare_data_loader(DataLoader(Numbers(20), batch_sampler=batches), add_dist_sampler=False)) == 5
if ctx.world_rank == 0:
    print("order", mine.tolist())
"""
    orders = [re.findall("order .*", torch_run(2, text, **({"run": {"seed": seed}} if seed else {}))[1].out)[0] for seed in (0, 0)]
    equal(orders[0], orders[1], "orders of two runs")


@test
def the_last_samples_are_repeated_with_a_warning_uneven_or_dropped():
    _, job = torch_run(2, """
count = lambda loader: int(sum(ctx.all_gather(torch.tensor([float(sum(len(batch[0]) for batch in loader))]))))
plain = lambda **more: DataLoader(Numbers(9), batch_size=2, **more)
for how, expected in ((None, 10), (None, 10), ("pad", 10), ("uneven", 9), ("drop", 8)):
    loader = tt.prepare_data_loader(plain(), **({"remainder": how} if how else {}))
    assert count(loader) == expected, (how, expected)
assert count(tt.prepare_data_loader(plain(shuffle=True))) == 10
loader = tt.prepare_data_loader(plain(), remainder="uneven")
assert len(loader) == 3 - ctx.world_rank and [float(x) for batch in loader for x in batch[0]] == list(range(ctx.world_rank, 9, 2))
loader.load_state_dict({"epoch": 0, "batches": 1, "samples": 4})
assert count(loader) == 5
refused(ValueError, "remainder='rest'|'uneven'", tt.prepare_data_loader, plain(), remainder="rest")
batches = torch.utils.data.BatchSampler(range(9), 4, False)
refused(ValueError, "own batch_sampler", tt.prepare_data_loader, DataLoader(Numbers(9), batch_sampler=batches), add_dist_sampler=False, remainder="drop")
""")
    equal((job.out + job.err).count("the last batches repeat 1 of the 9 samples"), 1, "notes", job)


# ---- models ----------------------------------------------------------------------------------------------------------------


@test
def one_rank_does_not_wrap_the_model_and_uses_the_cpu():
    plain("""
model = nn.Linear(3, 2)
for strategy in ("ddp", "fsdp", None):
    assert tt.prepare_model(model, parallel_strategy=strategy) is model
assert tt.prepare_model(model, wrap_ddp=True, ddp_kwargs={"bucket_cap_mb": 1}) is model
assert tt.get_device() == torch.device("cpu") and tt.get_devices() == [torch.device("cpu")]
refused(ValueError, "parallel_strategy='zero'|'ddp', 'fsdp' or None", tt.prepare_model, model, parallel_strategy="zero")
refused(ValueError, "init_method='file'|env, tcp", tt.TorchConfig, init_method="file")
tt.accelerate(amp=False)
optimizer = tt.prepare_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
tt.backward(model(torch.ones(3)).sum())
optimizer.step()
assert model.weight.grad is not None
tt.accelerate(amp=True)
assert tt.prepare_model(nn.Linear(3, 2))(torch.ones(3)).dtype == torch.bfloat16
tt.enable_reproducibility(5)
first = torch.rand(2), random.random()
tt.enable_reproducibility(5)
assert torch.equal(first[0], torch.rand(2)) and first[1] == random.random() and torch.are_deterministic_algorithms_enabled()
""")


@test
def gradients_are_the_exact_mean_with_one_collective_per_step():
    torch_run(2, """
from torch.nn.parallel import DistributedDataParallel
calls = []
reduced = ctx._all_reduced
ctx._all_reduced = lambda arrays, op: (calls.append(len(arrays)), reduced(arrays, op))[1]
torch.manual_seed(ctx.world_rank)
nets = nn.Sequential(nn.Linear(64, 600), nn.ReLU(), nn.Linear(600, 600), nn.ReLU(), nn.Linear(600, 4))
model = tt.prepare_model(nets, parallel_strategy_kwargs={"bucket_cap_mb": 1})
assert isinstance(model, DistributedDataParallel)
parts = ctx.all_gather(torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()]))
assert torch.equal(*parts), "rank 0's first weights did not come to all"
for _ in range(3):
    x = torch.randn(16, 64)
    model.zero_grad()
    model(x).square().sum().backward()
    mean = [parameter.grad.clone() for parameter in nets.parameters()]
    nets.zero_grad()
    nets(x).square().sum().backward()
    for parameter, found in zip(nets.parameters(), mean):
        one, other = ctx.all_gather(parameter.grad)
        assert torch.equal((one + other) / 2, found), "other bits than the mean in the order of the ranks"
assert len(calls) == 3 and calls[-1] > 1, calls
with model.no_sync():
    model(x).sum().backward()
assert len(calls) == 3
plain = tt.prepare_model(nn.Linear(2, 2), gradients_by="torch")
plain(torch.ones(2)).sum().backward()
assert len(calls) == 3
""")


@test
def TorchTrainer_runs_its_function_inside_a_process_group():
    text = """
import torch.distributed as dist
from trainrt.train.torch import TorchTrainer, TorchConfig
from trainrt.train import ScalingConfig
def function():
    one = torch.ones(1)
    dist.all_reduce(one)
    assert one.item() == dist.get_world_size() == WORLD and tt.get_device().type == "cpu"
    assert os.environ["ACCELERATE_TORCH_DEVICE"] == "cpu"
    from trainrt import train
    train.report({"sum": one.item()})
refused(TypeError, "TorchConfig, not a dict", TorchTrainer, function, torch_config={"backend": "gloo"})
result = TorchTrainer(function, torch_config=TorchConfig(init_method="METHOD"), scaling_config=ScalingConfig(num_workers=WORKERS)).fit()
assert result.metrics["sum"] == WORLD and not dist.is_initialized()
"""
    for method in ("env", "tcp"):
        torch_run(2, text.replace("METHOD", method).replace("WORLD", "2").replace("WORKERS", "2"))
    plain(text.replace("METHOD", "env").replace("WORLD", "1").replace("WORKERS", "0").replace("def function", "import trainrt\ndef function"))


@test
def a_second_fit_has_another_process_group_while_the_first_model_exists():
    """The first model holds its process group, whose store torch would reuse with the old addresses."""
    text = """
import torch.distributed as dist
from trainrt import train
from trainrt.train.torch import TorchTrainer
kept = []
def function():
    kept.append(tt.prepare_model(nn.Linear(2, 1)))
    kept[-1](torch.ones(1, 2)).sum().backward()
    one = torch.ones(1)
    dist.all_reduce(one)
    train.report({"sum": one.item()})
for name in ("first", "second"):
    print(name, "sum", TorchTrainer(function, run_config=train.RunConfig(name=name)).fit().metrics["sum"])
"""
    job = run([TRAINRT, "-n", 2, "--failure.max_failures=0", "--", PYTHON, program_file(BEGIN + text)], env=ONE_THREAD, cwd=scratch(), timeout=90)
    check_exit(job, FINISHED)
    check("first sum 2.0" in job.out and "second sum 2.0" in job.out, "the groups do not have both ranks", job)


@test
def a_prepared_model_can_be_copied_and_pickled():
    """Ray's examples evaluate a deep copy of the model."""
    config = torch_program("""
import copy, io
def function():
    model = tt.prepare_model(nn.Linear(2, 1))
    model(torch.ones(1, 2)).sum().backward()
    copied = copy.deepcopy(model)
    assert torch.equal(copied.module.weight, model.module.weight) and copied.module.weight is not model.module.weight
    torch.save(model, io.BytesIO())
from trainrt.train.torch import TorchTrainer
TorchTrainer(function).fit()
""")
    check_exit(run_program(2, config), FINISHED)


@test
def shards_of_fully_shard_continue_on_another_number_of_ranks():
    text = """
torch.manual_seed(1)
strategy = "fsdp" if ctx.world_size > 1 else "ddp"
if strategy == "fsdp" and (int(torch.__version__.split(".")[0]) < 2 or not hasattr(torch.cpu.Stream, "record_event")):
    refused(RuntimeError, "needs GPUs|torch 2.6", tt.prepare_model, nn.Linear(2, 2), parallel_strategy="fsdp")
    print("skipped")
    raise SystemExit(0)
model = tt.prepare_model(nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 3)), parallel_strategy=strategy)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
at = tt.load_state(model, optimizer, epoch=0)
full = lambda tensor: tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
def sums():
    parts = [part.detach() for part in model.parameters()] + [optimizer.state[part]["exp_avg_sq"] for part in model.parameters() if part in optimizer.state]
    return str([full(part).double().sum().item() for part in parts])
ctx.log("begin " + sums())
for epoch in range(at["epoch"], at["epoch"] + 3):
    torch.manual_seed(epoch)
    optimizer.zero_grad()
    model(torch.randn(8, 6)).square().sum().backward()
    optimizer.step()
    tt.save_state(model, optimizer, epoch=epoch + 1)
ctx.log("end " + sums())
ctx.save()
os.kill(os.getpid(), 9)
"""
    config = torch_program(text)
    before = None
    for ranks in (2, 3, 1):
        job = run_program(ranks, config, "--scaling.on_resize=keep_batch")
        if "skipped" in job.out:
            return
        begin, end = (re.findall(rf"{word} (\[.*?\])", job.err) for word in ("begin", "end"))
        check(len(begin) == len(end) == ranks and len(set(begin)) == len(set(end)) == 1, "the tensors of the ranks differ", job)
        check(before in (None, begin[0]), f"the run continues with {begin[0]}, after {before}", job)
        before = end[0]


# ---- saved and unsupported state ----------------------------------------------------------------------------------------


@test
def a_flat_interval_of_a_parameter_becomes_a_few_boxes():
    plain("""
import math
from trainrt.train.torch._flat_shards import Share
for shape in ((7,), (3, 5), (5, 1), (2, 3, 4), (2, 1, 3, 2)):
    size = math.prod(shape)
    for first in range(size):
        for count in range(size - first + 1):
            full, array = torch.full(shape, -1), torch.arange(100, 103 + count)
            pieces = Share(shape, first, count, 2, True).pieces(array)
            assert len(pieces) <= 2 * len(shape) - 1, (shape, first, count)
            for piece, offset in pieces:
                box = full[tuple(slice(at, at + extent) for at, extent in zip(offset, piece.shape))]
                assert box.shape == piece.shape and (box == -1).all(), (shape, first, count)
                box.copy_(piece)
            wanted = torch.full((size,), -1)
            wanted[first:first + count] = array[2:2 + count]
            assert torch.equal(full.flatten(), wanted), (shape, first, count)
""")


@test
def every_optimizer_and_scheduler_of_torch_is_restored():
    plain("""
import warnings
warnings.simplefilter("ignore")
optimizers = [lambda p: torch.optim.SGD(p, lr=0.01), lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, dampening=0.1), torch.optim.Adadelta, torch.optim.Adamax,
              torch.optim.Adagrad, lambda p: torch.optim.Adam(p, amsgrad=True), torch.optim.AdamW, torch.optim.ASGD, torch.optim.NAdam, torch.optim.RAdam,
              lambda p: torch.optim.RMSprop(p, momentum=0.5, centered=True), torch.optim.Rprop]
of = torch.optim.lr_scheduler
schedulers = [lambda o: of.StepLR(o, 2), lambda o: of.MultiStepLR(o, [1, 2]), lambda o: of.OneCycleLR(o, 0.1, total_steps=20, cycle_momentum=False),
              lambda o: of.LambdaLR(o, lambda e: 0.9 ** e), lambda o: of.CosineAnnealingWarmRestarts(o, 3),
              lambda o: of.SequentialLR(o, [of.ConstantLR(o), of.ExponentialLR(o, 0.9)], [2])]

def check(make_optimizer, make_scheduler):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 4, 2), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 1)).to(memory_format=torch.channels_last)
    optimizer = make_optimizer(model.parameters())
    scheduler = make_scheduler(optimizer)
    loader = tt.prepare_data_loader(DataLoader(TensorDataset(torch.randn(20, 3, 3, 3), torch.randn(20, 1)), batch_size=4))
    first = str(optimizer.state_dict())
    def step(batch):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(batch[0]), batch[1]).backward()
        optimizer.step()
        scheduler.step()
    tt.check_exact(step, model, optimizer, scheduler, data=loader)
    assert str(optimizer.state_dict()) == first, (first, str(optimizer.state_dict()))
    for batch in loader:
        step(batch)
    tt.check_exact(step, model, optimizer, scheduler, data=loader)

for each in optimizers:
    check(each, schedulers[0])
for each in schedulers:
    check(torch.optim.AdamW, each)
""")


@test
def state_that_a_checkpoint_cannot_hold_is_an_error_that_names_it():
    plain("""
model = nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
class Odd(nn.Linear):
    def get_extra_state(self):
        return {"a": 1}
    def set_extra_state(self, state):
        pass
class Part:
    def __init__(self, state):
        self.state = state
    def state_dict(self):
        return self.state
    def load_state_dict(self, state):
        self.state = state
refused(TypeError, "'_extra_state'|Odd|dict", tt.load_state, Odd(2, 2))
refused(TypeError, "tensor 'model/weight'|meta", tt.load_state, nn.Linear(2, 2, device="meta"))
refused(TypeError, "LBFGS|closure|State.file", tt.load_state, model, torch.optim.LBFGS(model.parameters()))
class FullyShardedDataParallel(nn.Module):  # as in torch before 2.3, without the layout of the shards
    pass
for each in (FullyShardedDataParallel(), nn.Sequential(nn.Linear(2, 2), FullyShardedDataParallel())):
    refused(TypeError, "FullyShardedDataParallel|torch 2.3|ddp|State.file", tt.load_state, each)
refused(ValueError, "shape [3, 3]|other=module", tt.load_state, nn.Linear(2, 2), optimizer)
refused(TypeError, "'table' is a dict", tt.load_state, model, optimizer, table={1: 2})
refused(TypeError, "part/inner/0 is a Linear", tt.load_state, model, part=Part({"inner": [model]}))
refused(TypeError, "part/weights is a Tensor", tt.load_state, model, part=Part({"weights": torch.ones(3)}))
assert not tt.load_state(model, optimizer, epoch=0)
tt.save_state(model, optimizer, epoch=1, metrics={"loss": 1.0})
refused(ValueError, "a 'model' that is not the object", tt.save_state, nn.Linear(3, 3), optimizer)
refused(ValueError, "'step', which was not passed to load_state()", tt.save_state, model, optimizer, step=3)
""")


@test
def distributed_checkpoints_require_a_torch_that_has_them():
    torch_run(1, """
for name in ("CheckpointWriter", "CheckpointReader"):
    if int(torch.__version__.split(".")[0]) < 2:
        refused(ImportError, f"{name}|torch 2.4|{torch.__version__}|save_state()", getattr, tt, name)
    else:
        getattr(tt, name)
refused(AttributeError, "'Writer'", getattr, tt, "Writer")
""")


@test
def training_without_load_state_over_a_checkpoint_is_an_error():
    text = """
model = nn.Linear(2, 2)
if ctx.config("loads", True):
    tt.load_state(model, epoch=0)
    refused(RuntimeError, "a second time", tt.load_state, model)
for epoch in range(3):
    tt.save_state(model, epoch=epoch, metrics={})
    if epoch == 1 and ctx.config("loads", True):
        ctx.save()
        os.kill(os.getpid(), 9)
"""
    config = torch_program(text)
    run_program(1, config)
    job = run_program(1, config, "--loop.loads=false")
    check("has not loaded: call load_state() before the training" in error_of(config), "the error lacks the remedy", job)


main(setup)
