"""frameworks_epochs.py FRAMEWORK [BACKEND]: trains the FashionMNIST MLP of Ray Train's benchmarks on random images with the framework's training
loop. The ranks are started by the framework's launcher or by trainrt. Rank 0 prints `epoch_s=` after each epoch. BACKEND is that of torch's process
group."""
import os
import sys
import time

EPOCHS, SAMPLES, BATCH = 5, 12800, 64
FRAMEWORK = sys.argv[1]
BACKEND = sys.argv[2] if len(sys.argv) > 2 else "gloo"
_began = None


def clock(epoch_ends):
    """Must be called before the first epoch and at the end of each epoch; prints the seconds of the epoch on rank 0."""
    global _began
    now = time.monotonic()
    if epoch_ends and int(os.environ.get("RANK", 0)) == 0:
        print(f"epoch_s={now - _began:.4f}", flush=True)
    _began = now


def torch_parts():
    import torch
    from torch import nn
    torch.set_num_threads(1)
    torch.manual_seed(1)
    if BACKEND == "trainrt":
        import trainrt.train.torch  # registers the backend  # noqa: F401
    data = torch.utils.data.TensorDataset(torch.randn(SAMPLES, 784), torch.randint(10, (SAMPLES,)))
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return torch, nn, data, model


def lightning():
    torch, nn, data, layers = torch_parts()
    import lightning
    from lightning.pytorch.strategies import DDPStrategy

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def training_step(self, batch):
            return nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-3)

        def on_train_epoch_start(self):
            if self.current_epoch == 0:
                clock(False)

        def on_train_epoch_end(self):
            clock(True)

    trainer = lightning.Trainer(accelerator="cpu", strategy=DDPStrategy(process_group_backend=BACKEND), devices=2, max_epochs=EPOCHS, logger=False,
                                enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False)
    trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=BATCH, shuffle=True))


def accelerate():
    torch, nn, data, model = torch_parts()
    torch.distributed.init_process_group(BACKEND)
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=1e-3), loader)
    clock(False)
    for _ in range(EPOCHS):
        for inputs, targets in loader:
            optimizer.zero_grad()
            accelerator.backward(nn.functional.cross_entropy(model(inputs), targets))
            optimizer.step()
        clock(True)


def transformers():
    torch, nn, data, layers = torch_parts()
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x, labels):
            return {"loss": nn.functional.cross_entropy(self.layers(x), labels)}

    class Clock(TrainerCallback):
        def on_train_begin(self, *_, **__):
            clock(False)

        def on_epoch_end(self, *_, **__):
            clock(True)

    samples = [{"x": x, "labels": y} for x, y in data]
    arguments = TrainingArguments("unused", num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH, use_cpu=True, save_strategy="no", report_to=[],
                                  logging_strategy="no", disable_tqdm=True, ddp_backend=BACKEND)
    Trainer(Model(), arguments, train_dataset=samples, callbacks=[Clock()]).train()


def tensorflow():
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import json

    import numpy
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(1)
    os.environ.setdefault("RANK", str(json.loads(os.environ["TF_CONFIG"])["task"]["index"]))
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    random = numpy.random.default_rng(1)
    data = (random.normal(size=(SAMPLES, 28, 28)).astype("f4"), random.integers(10, size=SAMPLES))
    batches = tf.data.Dataset.from_tensor_slices(data).shuffle(SAMPLES, seed=1234).batch(BATCH * strategy.num_replicas_in_sync)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((28, 28)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(512, activation="relu"),
                                     tf.keras.layers.Dense(512, activation="relu"), tf.keras.layers.Dense(10)])
        model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=tf.keras.optimizers.SGD(1e-3), metrics=["accuracy"])
    ends = tf.keras.callbacks.LambdaCallback(on_train_begin=lambda logs: clock(False), on_epoch_end=lambda epoch, logs: clock(True))
    model.fit(batches, epochs=EPOCHS, verbose=0, callbacks=[ends])


def deepspeed():
    torch, nn, data, model = torch_parts()
    import deepspeed
    deepspeed.init_distributed()
    engine, _, _, _ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3), config={
        "train_micro_batch_size_per_gpu": BATCH, "zero_optimization": {"stage": 2}, "zero_allow_untested_optimizer": True})
    sampler = torch.utils.data.DistributedSampler(data)
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH, sampler=sampler)
    clock(False)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            engine.backward(nn.functional.cross_entropy(engine(inputs), targets))
            engine.step()
        clock(True)


def horovod():
    torch, nn, data, model = torch_parts()
    import horovod.torch as hvd
    hvd.init()
    os.environ.setdefault("RANK", str(hvd.rank()))
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=1e-3), named_parameters=model.named_parameters())
    sampler = torch.utils.data.DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH, sampler=sampler)
    clock(False)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
        clock(True)


def jax():
    import jax
    import numpy
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    jax.distributed.initialize(os.environ.get("COORDINATOR"), num_processes=size, process_id=rank)
    mesh = Mesh(numpy.array(jax.devices()), ("data",))
    split, same = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())

    def loss_of(weights, inputs, targets):
        for number, weight in enumerate(weights):
            inputs = (jax.numpy.maximum(inputs, 0) if number else inputs) @ weight
        return -jax.numpy.mean(jax.nn.log_softmax(inputs)[jax.numpy.arange(len(targets)), targets])

    @jax.jit
    def train_step(weights, inputs, targets):
        return [weight - 1e-3 * slope for weight, slope in zip(weights, jax.grad(loss_of)(weights, inputs, targets))]

    random = numpy.random.default_rng(1)
    weights = [jax.make_array_from_process_local_data(same, 0.05 * random.normal(size=shape).astype("f4")) for shape in ((784, 512), (512, 512), (512, 10))]
    inputs, targets = random.normal(size=(SAMPLES // size, 784)).astype("f4"), random.integers(10, size=SAMPLES // size)
    clock(False)
    for _ in range(EPOCHS):
        for first in range(0, len(inputs), BATCH):
            batch = (jax.make_array_from_process_local_data(split, each[first:first + BATCH]) for each in (inputs, targets))
            weights = train_step(weights, *batch)
        jax.block_until_ready(weights)
        clock(True)


def callbacks():
    """Prints the microseconds per call of each framework's report callback without a checkpoint."""
    from statistics import median

    from trainrt.train import RunConfig, ScalingConfig
    from trainrt.train.torch import TorchTrainer

    def timed(call):
        seconds = []
        for number in range(400):
            start = time.perf_counter()
            call(number)
            seconds.append(time.perf_counter() - start)
        return median(seconds) * 1e6

    def train_func():
        import keras
        import numpy
        import xgboost
        from trainrt.train import get_context
        from trainrt.train.keras import ReportCheckpointCallback
        from trainrt.train.xgboost import RayTrainReportCallback
        keras_one = ReportCheckpointCallback(checkpoint_on=[])
        keras_one.set_model(keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]))
        trees = RayTrainReportCallback()
        model = xgboost.train({}, xgboost.DMatrix(numpy.ones((4, 1)), label=numpy.ones(4)), 1)
        found = {"keras": timed(lambda number: keras_one.on_epoch_end(number, {"loss": 1.0, "accuracy": 0.5})),
                 "xgboost": timed(lambda number: trees.after_iteration(model, number, {"train": {"logloss": [1.0] * (number + 1)}}))}
        if get_context().get_world_rank() == 0:
            print(" ".join(f"{name}_us={value:.1f}" for name, value in found.items()), flush=True)

    TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name="callbacks")).fit()


if __name__ == "__main__":
    {each.__name__: each for each in (lightning, accelerate, transformers, deepspeed, horovod, tensorflow, jax, callbacks)}[FRAMEWORK]()
    torch = sys.modules.get("torch")
    if torch is not None and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()  # otherwise gloo's threads sometimes abort the process at exit
