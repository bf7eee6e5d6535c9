"""mpi4py: gradients are averaged by MPI's allreduce."""
import argparse
import json
import time

import numpy
from mpi4py import MPI

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

ranks = MPI.COMM_WORLD
rank, size = ranks.Get_rank(), ranks.Get_size()
weights = numpy.random.default_rng(1).normal(size=(8, 2))
random, seen = numpy.random.default_rng(1000 + rank), 0.0
for step in range(1, args.steps + 1):
    inputs, targets = random.normal(size=(16, 8)), random.normal(size=(16, 2))
    slope = inputs.T @ (inputs @ weights - targets) / 16
    ranks.Allreduce(MPI.IN_PLACE, slope)
    weights -= 0.1 * slope / size
    seen += float(inputs.sum())
    time.sleep(args.pause)
    print(f"step {step}", flush=True)
with open(f"{args.out}/{rank}.json", "w") as file:
    json.dump({"size": size, "seen": seen, "weights": weights.ravel().tolist()}, file)
