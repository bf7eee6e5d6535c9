# make test
"""Checkpoint.from_dict() and to_dict(), as in the example of AccelerateTrainer: values without pickle; a model itself is refused."""
import os

import numpy
import torch
from trainrt import train
from trainrt.train import Checkpoint, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer


def refusal(function, *arguments):
    try:
        function(*arguments)
    except (TypeError, ValueError) as error:
        return str(error)
    raise AssertionError(f"{function.__name__}{arguments} was not refused")


def train_func():
    model = torch.nn.Linear(2, 1)
    values = train.get_checkpoint().to_dict()
    model.load_state_dict(values["model"])
    with torch.no_grad():
        model.weight += 1
    text = refusal(Checkpoint.from_dict, {"epoch": 0, "model": model})
    assert "the type Linear" in text and "model.state_dict()" in text, text
    train.report({"epoch": 1}, checkpoint=Checkpoint.from_dict({**values, "epoch": values["epoch"] + 1, "model": model.state_dict()}))


torch.manual_seed(1)
first = Checkpoint.from_dict({"epoch": 1, "model": torch.nn.Linear(2, 1).state_dict(), "names": ["a", ("b", None)], "array": numpy.arange(3)})
result = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name="values"), resume_from_checkpoint=first).fit()
before, after, folder = first.to_dict(), result.checkpoint.to_dict(), first.path
assert after["epoch"] == 2 and after["names"] == ["a", ("b", None)] and after["array"].tolist() == [0, 1, 2], after
assert torch.equal(after["model"]["weight"], before["model"]["weight"] + 1), after
del first
assert not os.path.exists(folder)
assert "was not made by Checkpoint.from_dict()" in refusal(Checkpoint.from_directory(os.path.dirname(os.path.abspath(__file__))).to_dict)
print("ok")
