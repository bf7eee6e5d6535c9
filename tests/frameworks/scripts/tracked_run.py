"""A run of 800 reports with unusual keys and values for trackers. A restart continues it."""
import math
import time

import numpy

import trainrt

ctx = trainrt.context()
state = trainrt.State()
state["reports"] = 0
weights = numpy.zeros(1000)
state.tensor("weights", weights)
ctx.restore(state)
while state["reports"] < 800:
    state["reports"] += 1
    n = state["reports"]
    weights[:] = numpy.linspace(-n, n, 1000)
    ctx.report({"loss": 1 / n, "val/accuracy": n / 800, "text": "no number", "μ 🙂": n, "nan": math.nan, "infinite": math.inf if n % 2 else -math.inf})
    time.sleep(0.04)
