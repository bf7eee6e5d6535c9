"""A PyTorch model, data-parallel: parameters in the State by name, the optimizer in a file, on a GPU if the rank has one.

    mpiexec.mpich -n 2 trainrt --config program.ini --train.program='python3 torch_program.py'
"""
import os
import tempfile

import torch
import trainrt

BATCH, STEPS = 32, 40  # samples per rank and step, and steps per epoch

ctx = trainrt.context()
torch.set_num_threads(1)  # the bits of the weights may depend on the number of threads
torch.manual_seed(ctx.seed)  # the same initial weights on every rank
device = torch.device("cuda", ctx.gpus[0]) if ctx.gpus else torch.device("cpu")
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
loss_sum = torch.zeros(1, dtype=torch.float64)  # this rank's sum since the last report

state = trainrt.State()
for name, tensor in model.state_dict().items():
    state.tensor("model/" + name.replace(".", "/"), tensor)
state.tensor("loss_sum", loss_sum, part_of_sum=True)
state["epoch"] = state["batch"] = 0

# Objects other than tensors of fixed shape are saved in a file, which becomes part of every checkpoint.
optimizer_file = os.path.join(tempfile.mkdtemp(), "optimizer.pt")
state.file("optimizer.pt", optimizer_file)


@state.before_save
def save_optimizer():
    torch.save(optimizer.state_dict(), optimizer_file)


if ctx.restore(state):
    optimizer.load_state_dict(torch.load(optimizer_file, map_location=device))

while state["epoch"] < ctx.config("epochs", 4):
    while state["batch"] < STEPS:  # after a restart: from the next batch on
        torch.manual_seed(ctx.step_seed % 2**63)  # from (run.seed, step, rank): the same after any restart
        x = torch.randn(BATCH, 8, device=device)
        loss = torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            ctx.all_reduce(parameter.grad, "mean")  # in place
        optimizer.step()
        loss_sum += loss.item()
        state["batch"] += 1
        ctx.step()  # the state is consistent: the run may stop here
    loss = loss_sum.item() / STEPS
    loss_sum.zero_()
    state["batch"] = 0
    state["epoch"] += 1  # the state is complete before it is reported
    ctx.report({"loss": loss})
ctx.save()
