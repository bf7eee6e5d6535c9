"""A Python program that opens its runs itself through the client."""

# A run of ten steps. Each step computes integers from the previous ones on all ranks, and calls `inside`.
TRAIN = """
import numpy, os, signal, sys, time, trainrt
from trainrt import _client
first_start = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
number = 0

def train(name=None, inside=lambda ctx: None, **settings):
    global number
    number += 1
    if name:
        settings["run.name"] = name
    if not _client.open_run({key.replace("__", "."): value for key, value in settings.items()}, number):
        return print("finished already:", trainrt.context().run_name, flush=True)
    ctx = trainrt.context()
    numbers = numpy.zeros(3, numpy.int64)
    state = trainrt.State()
    state.tensor("numbers", numbers)
    ctx.restore(state)
    while ctx.step_count < 10:
        part = numpy.full(3, ctx.step_count + ctx.world_rank, numpy.int64)
        ctx.all_reduce(part, "sum")
        numbers[:] = 3 * numbers + part
        inside(ctx)
        ctx.step()
        ctx.report({"first": numbers[0]})
    ctx.close_run()
    print("closed", ctx.run_name, flush=True)

"""
