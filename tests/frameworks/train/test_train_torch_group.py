#!/usr/bin/python3
"""torch.distributed.init_process_group("trainrt"): scripts that wrap DDP themselves, over the runtime's collectives on the CPU."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403

BEGIN = """
import torch, trainrt
import torch.distributed as dist
from torch import nn
import trainrt.train.torch
torch.set_num_threads(1)

def refused(kind, words, function):
    try:
        function()
    except kind as error:
        missing = [word for word in words.split("|") if word not in str(error)]
        assert not missing, f"{missing} not in: {error}"
    else:
        raise AssertionError(f"nothing was refused: {words}")
"""
IN_GROUP = BEGIN + """
dist.init_process_group("trainrt")
rank, size = dist.get_rank(), dist.get_world_size()
dist.barrier()  # rank 0 serves torch's store and must not exit before the others have connected
"""


def setup():
    require_torch()


def run(ranks, text):
    job = run_program(ranks, program_config(f"{PYTHON} {program_file(text)}"))
    check_exit(job, FINISHED)
    return job


@test
def a_model_in_DDP_gets_the_exact_weights_of_manual_averaging():
    run(2, IN_GROUP + """
assert dist.get_backend() == "trainrt" and size == 2
made = lambda: nn.Sequential(nn.Linear(64, 600), nn.ReLU(), nn.Linear(600, 600), nn.ReLU(), nn.Linear(600, 4), nn.BatchNorm1d(4))
torch.manual_seed(rank)  # DDP broadcasts the weights of rank 0
model = nn.parallel.DistributedDataParallel(made(), bucket_cap_mb=1)
torch.manual_seed(0)
by_hand = made()
assert all(map(torch.equal, model.module.parameters(), by_hand.parameters())), "rank 0's first weights did not come to all"
optimizers = [torch.optim.SGD(each.parameters(), lr=0.01, momentum=0.9) for each in (model, by_hand)]
torch.manual_seed(5 + rank)
for step in range(4):
    x = torch.randn(16, 64)
    for each, optimizer in zip((model, by_hand), optimizers):
        optimizer.zero_grad()
        each(x).square().sum().backward()
        if each is by_hand:
            for parameter in each.parameters():
                dist.all_reduce(parameter.grad)
                parameter.grad /= 2
        optimizer.step()
    same = [torch.equal(*pair) for pair in zip(model.module.parameters(), by_hand.parameters())]
    assert all(same), f"step {step}: {same}"
""")


TRAINING = """
import hashlib, os, signal, sys, time
import torch, torch.distributed as dist, trainrt
from torch.utils.data import DataLoader, TensorDataset
from trainrt.train.torch import load_state, prepare_data_loader, prepare_model, save_point, save_state
torch.set_num_threads(1)
how, is_killed = sys.argv[1], sys.argv[2] == "killed"
dist.init_process_group("trainrt" if how == "trainrt" else "gloo")
torch.manual_seed(0)
data = TensorDataset(x := torch.randn(384, 8), x.sum(1, keepdim=True))
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
model = prepare_model(net) if how == "prepared" else torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loader = prepare_data_loader(DataLoader(data, batch_size=32, shuffle=True))
at = load_state(model, optimizer, data=loader, epoch=0)
for epoch in range(at["epoch"], 2):
    for features, target in loader:
        loss = torch.nn.functional.mse_loss(model(features), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        save_point()
    save_state(model, optimizer, data=loader, epoch=epoch + 1, metrics={"loss": loss.item()})
    if is_killed and not at:
        trainrt.context().checkpoint()
        dist.barrier()
        if dist.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
weights = b"".join(each.detach().numpy().tobytes() for each in model.parameters())
print("weights", hashlib.sha256(weights).hexdigest())
"""
NOTE = "torch.distributed uses gloo with 3 ranks"


def trained(how, is_killed):
    """Trains on 3 ranks, of which one may be killed, and returns (digest of the weights, output)."""
    word = "killed" if is_killed else "whole"
    job = run_program(3, program_config(f"{PYTHON} {program_file(TRAINING)} {how} {word}", checkpoint={"every": "1 reports"}, failure={"max_failures": 1}))
    check_exit(job, FINISHED)
    return job.out.rpartition("weights ")[2].split()[0], job.out + job.err


@test
def after_a_kill_3_ranks_end_with_the_same_bits_with_the_group_trainrt_and_with_prepare_model():
    for how in ("trainrt", "prepared"):
        (whole, _), (killed, output) = trained(how, False), trained(how, True)
        check(killed == whole, f"{how}: {killed} is not {whole}")
        check(NOTE not in output, f"{how}: a note about gloo", output)


@test
def a_restart_of_3_ranks_with_gloo_prints_one_note_about_the_order_of_sums():
    _, output = trained("gloo", True)
    check(output.count(NOTE) == 1, f"{output.count(NOTE)} notes", output)


@test
def collectives_work_for_any_type_and_shape():
    run(3, IN_GROUP + """
for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.uint8):
    for op, expected in ((dist.ReduceOp.SUM, 6), (dist.ReduceOp.MIN, 1), (dist.ReduceOp.MAX, 3)):
        tensor = torch.full((2, 3), rank + 1, dtype=dtype)
        dist.all_reduce(tensor, op)
        assert tensor.tolist() == [[expected] * 3] * 2, (dtype, op, tensor)
mean = torch.full((2,), float(rank))
dist.all_reduce(mean, dist.ReduceOp.AVG)
assert mean.tolist() == [1, 1], mean
column = torch.arange(6.0).reshape(3, 2)[:, rank % 2]  # not contiguous
dist.broadcast(column, 1)
assert column.tolist() == [1, 3, 5], column
parts = [torch.zeros(2) for _ in range(size)]
dist.all_gather(parts, torch.full((2,), float(rank)))
assert [part.tolist() for part in parts] == [[0, 0], [1, 1], [2, 2]], parts
if hasattr(dist, "all_gather_into_tensor"):
    gathered = torch.zeros(6)
    dist.all_gather_into_tensor(gathered, torch.full((2,), float(rank)))
    assert gathered.tolist() == [0, 0, 1, 1, 2, 2], gathered
objects = [None] * size
dist.all_gather_object(objects, {"rank": rank})
assert [each["rank"] for each in objects] == [0, 1, 2]
word = ["from rank 0" if rank == 0 else None]
dist.broadcast_object_list(word)
assert word == ["from rank 0"]
one, two = torch.ones(2), torch.ones(3, dtype=torch.float64)
dist.group.WORLD.allreduce_coalesced([one, two]).wait()
assert one.tolist() == [3, 3] and two.tolist() == [3, 3, 3]
one.fill_(1), two.fill_(1)
works = [dist.all_reduce(each, async_op=True) for each in (one, two)]
for work in works:
    work.wait()
assert all(work.is_completed() for work in works) and one.tolist() == [3, 3] and two.tolist() == [3, 3, 3]
dist.barrier()
dist.destroy_process_group()
""")


@test
def reductions_gathers_scatters_and_all_to_all_give_the_results_of_torch():
    run(3, IN_GROUP + """
for op, expected in ((dist.ReduceOp.PRODUCT, 6), (dist.ReduceOp.BAND, 0), (dist.ReduceOp.BOR, 3), (dist.ReduceOp.BXOR, 0)):
    for dtype in (torch.int64, torch.uint8, *((torch.float32, torch.bfloat16) if op == dist.ReduceOp.PRODUCT else ())):
        tensor = torch.full((3,), rank + 1, dtype=dtype)
        dist.all_reduce(tensor, op)
        assert tensor.tolist() == [expected] * 3, (op, dtype, tensor)
refused(ValueError, "reduces integers by and, or and xor", lambda: dist.all_reduce(torch.ones(2), dist.ReduceOp.BAND))
tensor = torch.full((2, 3), rank + 1.0)
dist.reduce(tensor, 1)
assert tensor.tolist() == ([[6.0] * 3] * 2 if rank == 1 else [[rank + 1.0] * 3] * 2), tensor
for dtype in (torch.float32, torch.int16):
    part = torch.zeros(2, dtype=dtype)
    dist.reduce_scatter(part, [torch.full((2,), 10 * rank + to, dtype=dtype) for to in range(size)])
    assert part.tolist() == [30 + 3 * rank] * 2, part
column = torch.zeros(4, 2)[:, 0]  # not contiguous
getattr(dist, "reduce_scatter_tensor", dist._reduce_scatter_base)(column, torch.arange(12.0) * (rank + 1), op=dist.ReduceOp.MAX)
assert column.tolist() == [3.0 * (4 * rank + at) for at in range(4)], column
refused(ValueError, "does not divide among 3 ranks", lambda: dist._reduce_scatter_base(torch.zeros(4), torch.zeros(13)))

parts = [torch.zeros(2) for _ in range(size)] if rank == 1 else None
dist.gather(torch.full((2,), float(rank)), parts, dst=1)
assert parts is None or [part.tolist() for part in parts] == [[0, 0], [1, 1], [2, 2]], parts
one = torch.zeros(2, dtype=torch.int8)
dist.scatter(one, [torch.full((2,), to, dtype=torch.int8) for to in range(size)] if rank == 2 else None, src=2)
assert one.tolist() == [rank] * 2, one
objects = [None] * size if rank == 0 else None
dist.gather_object({"rank": rank}, objects, dst=0)
assert objects is None or [each["rank"] for each in objects] == [0, 1, 2]
word = [None]
dist.scatter_object_list(word, [f"to {to}" for to in range(size)] if rank == 0 else [None] * size, src=0)
assert word == [f"to {rank}"], word
parts = [torch.zeros(1 + to) for to in range(size)]
dist.all_to_all(parts, [torch.full((1 + rank,), 10.0 * rank + to) for to in range(size)])
assert [part.tolist() for part in parts] == [[10.0 * one + rank] * (1 + one) for one in range(size)], parts
received = torch.zeros(3, 2)
dist.all_to_all_single(received, torch.arange(6.0).reshape(3, 2) + 100 * rank)
assert received.tolist() == [[100.0 * one + 2 * rank, 100.0 * one + 2 * rank + 1] for one in range(size)], received
sent, taken = [rank, 1, 2], [(one, 1, 2)[rank] for one in range(size)]
received = torch.zeros(sum(taken))
dist.all_to_all_single(received, torch.full((sum(sent),), float(rank)), taken, sent)
assert received.tolist() == [float(one) for one in range(size) for _ in range(taken[one])], received
refused(ValueError, "split sizes [1, 1] do not divide 3 rows among 3 ranks", lambda: dist.all_to_all_single(torch.zeros(3), torch.zeros(3), [1, 1]))
refused(ValueError, f"all_to_all on rank {rank} have [1, 1, 2] elements|send [1, 1, 1]",
        lambda: dist.all_to_all(list(torch.zeros(4).split([1, 1, 2])), list(torch.zeros(3).split(1))))
trainrt.train.torch._process_group._MAX_ALL_TO_ALL_BYTES = 100
refused(ValueError, "all_to_all|108 bytes to each rank|backend='gloo'", lambda: dist.all_to_all_single(torch.zeros(9), torch.zeros(9)))
dist.barrier()
""")


@test
def a_pass_of_DDP_makes_one_reduction_for_all_buckets():
    run(2, IN_GROUP + """
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
ctx, calls = trainrt.context(), []
ask = ctx._ask
ctx._ask = lambda op, *rest, **named: (calls.append(op), ask(op, *rest, **named))[1]

def ddp(**words):
    torch.manual_seed(0)
    return nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 600), nn.Linear(600, 600), nn.Linear(600, 4)), bucket_cap_mb=0.1, **words)

def passes(model):
    torch.manual_seed(rank + 1)
    for _ in range(3):
        model.zero_grad()
        calls.clear()
        model(torch.randn(4, 8)).sum().backward()
    return [parameter.grad for parameter in model.parameters()]

grads = passes(ddp())
assert calls == ["all_reduce"], calls
assert all(map(torch.equal, grads, passes(ddp(find_unused_parameters=True))))
assert calls == ["all_reduce"] * 2, calls  # the second one reduces integers: the parameters that each rank used
for state, hook in ((None, default_hooks.fp16_compress_hook), (powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2), powerSGD_hook.powerSGD_hook)):
    model = ddp()
    model.register_comm_hook(state, hook)  # a Python hook, which may wait for each bucket
    passes(model)
model = ddp()
class Broken(Exception):
    pass
def fail(_):
    raise Broken
handle = model.module[0].weight.register_hook(fail)  # fails after the buckets of the other layers were filled
refused(Broken, "", lambda: model(torch.randn(4, 8)).sum().backward())
handle.remove()
dist.barrier()
model = ddp()
assert all(map(torch.equal, grads, passes(model)))
dist.barrier()
""")


@test
def groups_of_some_ranks_use_gloo_and_send_and_recv_require_one():
    job = run(3, IN_GROUP + """
pair = dist.new_group([0, 2])
one = torch.ones(1)
if rank != 1:
    dist.all_reduce(one, group=pair)
    assert one.item() == 2
alone = [dist.new_group([each]) for each in range(size)][rank]
dist.all_reduce(one, group=alone)
every = dist.new_group()
assert dist.get_backend(every) == "trainrt"
one.fill_(1)
dist.all_reduce(one, group=every)
assert one.item() == 3
for function in (dist.send, dist.recv, dist.isend, dist.irecv):
    refused(NotImplementedError, "'trainrt' has no |need all ranks|new_group(backend=\\"gloo\\")", lambda: function(one, (rank + 1) % size))
refused(NotImplementedError, "has no recv_anysource", lambda: dist.recv(one))
two = dist.new_group(backend="gloo")
if rank == 0:
    dist.send(one + 4, 2, group=two)
if rank == 2:
    dist.recv(one, 0, group=two)
    assert one.item() == 7
dist.barrier()
""")
    check("a process group of some of the ranks uses gloo: 'trainrt' supports groups of all 3 ranks" in job.err, "the backend of the small group is not reported", job)


@test
def a_group_in_another_rank_order_is_refused():
    run(2, IN_GROUP + """
dist.destroy_process_group()
store = dist.HashStore()
refused(RuntimeError, f"rank {1 - rank} of 2 was requested|rank {rank} of 2|use gloo",
        lambda: trainrt.train.torch._process_group.ProcessGroup(1 - rank, 2))
""")


@test
def TorchTrainer_uses_the_backend_of_its_config():
    text = """
from trainrt import train
from trainrt.train.torch import TorchConfig, TorchTrainer, prepare_model
def function():
    assert dist.get_backend() == "trainrt"
    one = torch.ones(1)
    dist.all_reduce(one)
    prepare_model(nn.Linear(2, 1), gradients_by="torch")(torch.ones(3, 2)).sum().backward()
    train.report({"sum": one.item()})
result = TorchTrainer(function, torch_config=TorchConfig(backend="trainrt"), scaling_config=train.ScalingConfig(num_workers=2)).fit()
assert result.metrics["sum"] == 2 and not dist.is_initialized()
"""
    run(2, BEGIN + text)


@test
def outside_of_a_run_the_group_has_one_rank():
    text = BEGIN + """
dist.init_process_group("trainrt", store=dist.HashStore(), rank=0, world_size=1)
one = torch.ones(2)
dist.all_reduce(one)
dist.broadcast(one, 0)
dist.barrier()
nn.parallel.DistributedDataParallel(nn.Linear(2, 1))(torch.ones(3, 2)).sum().backward()
assert one.tolist() == [1, 1]
refused(RuntimeError, "of 2 ranks needs a run|use gloo", lambda: trainrt.train.torch._process_group.ProcessGroup(0, 2))
"""
    job = Job([PYTHON, program_file(text)], env={**ONE_THREAD, "PYTHONPATH": f"{BUILD}/python"})
    check(job.wait(90) == 0, "the process failed", job)


main(setup)
