"""LightGBM on several workers over its sockets, each with its own rows. The hosts come from TF_CONFIG. LightGBM needs unbound ports: they are
below the range that the kernel assigns, and differ for each MASTER_PORT."""
import argparse
import json
import os
import time

import lightgbm
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--pause", type=float, default=0, help="seconds a round")
args = parser.parse_args()

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
hosts = [worker.rsplit(":", 1)[0] for worker in json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"]]
ports = [12400 + int(os.environ["MASTER_PORT"]) % 16000 + number for number in range(size)]
network = {"num_machines": size, "machines": ",".join(f"{host}:{port}" for host, port in zip(hosts, ports)), "local_listen_port": ports[rank],
           "tree_learner": "data", "pre_partition": True} if size > 1 else {}


def progress(state):
    time.sleep(args.pause)
    print(f"step {state.iteration + 1}", flush=True)


random = numpy.random.default_rng(1000 + rank)
inputs = random.normal(size=(400, 8))
targets = inputs[:, 0] * inputs[:, 1] + random.normal(size=400)
model = lightgbm.train({"num_leaves": 7, "learning_rate": 0.3, "num_threads": 1, "verbosity": -1, **network}, lightgbm.Dataset(inputs, targets),
                       args.rounds, callbacks=[progress])
weights = [model.get_leaf_output(tree, leaf) for tree in range(args.rounds) for leaf in range(model.dump_model()["tree_info"][tree]["num_leaves"])]
with open(f"{args.out}/{rank}.json", "w") as file:
    json.dump({"size": size, "seen": float(inputs.sum()), "weights": weights}, file)
