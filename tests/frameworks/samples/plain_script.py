# make test
"""fit() at the top level of a script, without `if __name__ == "__main__":`, with a function and a global of the script."""
from trainrt import train
from trainrt.train import ScalingConfig
from trainrt.train.data_parallel_trainer import DataParallelTrainer

STEP = 2


class Counter:
    def __init__(self):
        self.value = 0

    def advance(self):
        self.value += STEP
        return self.value


def train_func(config):
    counter = Counter()
    for _ in range(config["epochs"]):
        train.report({"value": counter.advance(), "rank": train.get_context().get_world_rank()})


result = DataParallelTrainer(train_func, train_loop_config={"epochs": 3}, scaling_config=ScalingConfig(num_workers=2)).fit()
assert result.metrics["value"] == 6, result.metrics
print("ok: fit() at the top level of a script")
