"""A NumPy program with steps of about 10 ms, whose State is copied in memory."""
import time

import numpy
import trainrt

ctx = trainrt.context()
weights = numpy.zeros(100_000, numpy.float32)
state = trainrt.State()
state.tensor("weights", weights)
state["step"] = 0
ctx.restore(state)
while state["step"] < ctx.config("steps", 1_000_000):
    gradient = numpy.random.default_rng(ctx.step_seed).standard_normal(weights.size, numpy.float32)
    ctx.all_reduce(gradient, "mean")
    weights += gradient
    state["step"] += 1
    time.sleep(0.01)
    ctx.step()
ctx.save()
