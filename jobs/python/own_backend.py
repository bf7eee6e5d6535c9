"""A framework that trainrt does not know: a BackendConfig and its Backend run code before and after the train function."""

import os
from dataclasses import dataclass

from trainrt import train
from trainrt.train import RunConfig, ScalingConfig
from trainrt.train.backend import Backend, BackendConfig
from trainrt.train.data_parallel_trainer import DataParallelTrainer


@dataclass
class MyConfig(BackendConfig):
    greeting: str = "hello"

    @property
    def backend_cls(self):
        return MyBackend


class MyBackend(Backend):
    def on_start(self, worker_group, backend_config):
        os.environ["MY_GREETING"] = f"{backend_config.greeting}, rank {os.environ['RANK']}"

    def on_training_start(self, worker_group, backend_config):
        print("the ranks are about to train", flush=True)

    def on_shutdown(self, worker_group, backend_config):
        print("and have trained", flush=True)


def train_func():
    print(os.environ["MY_GREETING"], flush=True)
    train.report({"ranks": train.get_context().get_world_size()})


if __name__ == "__main__":
    trainer = DataParallelTrainer(train_func, backend_config=MyConfig("good morning"), scaling_config=ScalingConfig(num_workers=2),
                                  run_config=RunConfig(name="own-backend", storage_path=os.environ.get("STORAGE", "runs")))
    print(trainer.fit().metrics["ranks"], "ranks")
