#!/usr/bin/python3
"""fashion_mnist of the torch module: a run that is stopped and killed within epochs and continued ends with the same model, optimizer and
metrics, bit for bit, as an undisturbed run. Covers SGD with momentum, AdamW, dropout and shuffling. The images are made here, so no
data set is needed."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.training import *  # noqa: E402,F403

EPOCHS = 12
IMAGES = {"train": 3210, "test": 333}  # not divisible by the ranks and batches, which needs padding and uneven ends
LOOP = {"epochs": EPOCHS, "batch_size": 16, "hidden": 64, "dropout": 0.2}
OPTIMIZERS = {"sgd": {"optimizer": "sgd", "lr": 0.05, "momentum": 0.9}, "adamw": {"optimizer": "adamw", "lr": 0.001, "weight_decay": 0.01}}
STOPS = 2
_data = None


def setup():
    global _data
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built (package libtorch-dev)")
    _data = scratch("data")
    for part, count in IMAGES.items():
        write_images(_data, part, count)


def config_of(name, **loop):
    folder = scratch()
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 7}, "train": {"function": "fashion_mnist"},
        "loop": {**LOOP, **loop}, **image_sections(_data)})


def exact(ranks, optimizer):
    whole, stopped = config_of("whole", **OPTIMIZERS[optimizer]), config_of("stopped", **OPTIMIZERS[optimizer])
    check_exact(ranks, whole, stopped, EPOCHS, -(-IMAGES["train"] // (ranks * LOOP["batch_size"])), STOPS)
    accuracy = reports(run_dir_of(whole))[-1]["test_accuracy"]
    check(accuracy > 0.9, f"test_accuracy stays low: {accuracy}")


for ranks in (1, 2, 3):
    for optimizer in OPTIMIZERS:
        add_test(f"{optimizer}_stopped_and_killed_in_epochs_on_{ranks}_ranks_ends_with_the_same_bits", exact, ranks, optimizer)


@test
def the_checkpoint_has_the_tensor_names_of_the_model():
    config = config_of("names", **{**OPTIMIZERS["adamw"], "epochs": 1})
    finish(1, config)
    names = state_of(run_dir_of(config))
    for name in ("model/fc1/weight", "model/fc3/bias", "optimizer/fc2/weight/exp_avg_sq", "optimizer/fc3/bias/step", "epoch"):
        check(name in names, f"{name} is not in {sorted(names)}")
    equal(names["model/fc1/weight"][:2], ("float32", (64, 784)), "type and shape of model/fc1/weight")


def refused(loop, words):
    config = config_of("refused", **loop)
    job = run([TRAINRT, "--config", config])
    check(words in job.err, f"the error lacks '{words}'", job)
    check_exit(job, USAGE)


add_test("an_unknown_optimizer_is_refused_with_the_valid_names", refused, {"optimizer": "adamx"}, "sgd, adamw")
add_test("a_dropout_of_one_is_refused_with_its_range", refused, {"dropout": 1}, "from 0 to less than 1")

main(setup)
