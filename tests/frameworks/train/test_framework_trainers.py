#!/usr/bin/python3
"""The trainer classes of Ray 2.0 to 2.7 without their frameworks: their arguments are checked, and a missing package is named. The samples of
make test-frameworks train with them."""
import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403

sys.path.insert(0, str(SOURCE / "src/python"))
os.environ.pop("TRAINRT_FD", None)

# A fake package accelerate. As in Accelerate, AcceleratorState ignores the plugin if ACCELERATE_USE_CPU is set, and does not connect the ranks if it
# is not.
FAKE_ACCELERATE = """
import os
class PartialState:
    joined = []
    def __init__(self, cpu=False):
        self.joined.append(cpu or bool(self.joined))
class GradientState:
    @staticmethod
    def _reset_state():
        pass
class AcceleratorState:
    @staticmethod
    def _reset_state(reset_partial_state):
        PartialState.joined.clear()
    def __init__(self, plugin=None):
        cpu = "ACCELERATE_USE_CPU" in os.environ
        PartialState(cpu)
        self.plugin = None if cpu else plugin
"""


def refused(error, *words, of):
    try:
        of()
    except error as caught:
        for word in words:
            check(word in str(caught), f"{word!r} is not in: {caught}")
        return
    check(False, f"no {error.__name__}")


@test
def a_missing_framework_is_named_with_the_command_that_installs_it():
    require_torch()
    from trainrt.train import huggingface, lightning
    builder = lightning.LightningConfigBuilder().module(cls=Path)
    calls = {"transformers": ("pip install transformers", lambda: huggingface.TransformersTrainer(lambda train_dataset, eval_dataset: None)),
             "accelerate": ("pip install accelerate", lambda: huggingface.AccelerateTrainer(lambda: None)),
             "lightning": ("pip install lightning", lambda: lightning.LightningTrainer(builder.build()))}
    for package, (command, call) in calls.items():
        if importlib.util.find_spec(package) is None:
            refused(ImportError, command, of=call)
    refused(ImportError, "LightningPredictor is not supported", "LightningCheckpoint.get_model()", of=lambda: lightning.LightningPredictor)
    refused(ImportError, "TransformersPredictor is not supported", of=lambda: huggingface.transformers.TransformersPredictor)


@test
def an_invalid_configuration_of_lightning_is_an_error_that_says_what_to_write():
    require_torch()
    from trainrt.train.lightning import LightningConfigBuilder
    from trainrt.train.lightning._trainer import _check_data
    builder = LightningConfigBuilder()
    refused(ValueError, "module(cls=None)", "LightningModule", of=builder.build)
    refused(ValueError, "strategy(name=...)", of=lambda: builder.trainer(strategy="ddp"))
    refused(ValueError, "module(cls=...)", of=lambda: builder.fit_params(model=1))
    refused(ValueError, "'horovod'", "ddp", of=lambda: builder.strategy("horovod"))
    refused(ValueError, "checkpointing(dirpath=...)", "monitor", "ModelCheckpoint", of=lambda: builder.checkpointing(dirpath="/tmp"))
    refused(ValueError, "fit_params(datamodule=...)", of=lambda: _check_data({"datamodule": 1}, {"train": 1}, {"batch_size": 1}))
    refused(ValueError, "datasets_iter_config", of=lambda: _check_data({}, {"train": 1}, None))
    refused(ValueError, "'test'", "'train' and 'val'", of=lambda: _check_data({}, {"test": 1}, {"batch_size": 1}))
    config = builder.module(Path, lr=0.1).strategy("deepspeed_stage_2", offload=True).checkpointing(monitor="loss").build()
    equal((config["class"], config["module"], config["strategy"]), (Path, {"lr": 0.1}, ("RayDeepSpeedStrategy", {"stage": 2, "offload": True})), "config")


@test
def a_function_that_cannot_be_called_with_its_config_is_an_error():
    require_torch()
    from trainrt.train.huggingface.transformers._trainer import _check_call
    refused(TypeError, "trainer_init_per_worker=3", of=lambda: _check_call(3, None))
    refused(TypeError, "trainer_init_config=[1]", of=lambda: _check_call(print, [1]))
    refused(ValueError, "'lr'", of=lambda: _check_call(lambda train_dataset, eval_dataset, lr: None, {}))
    _check_call(lambda train_dataset, eval_dataset=None, **config: None, {"lr": 1})


@test
def accelerates_deepspeed_plugin_is_used_on_ranks_without_a_gpu():
    require_torch()
    from trainrt.train.torch import _accelerate_state
    folder = scratch() / "accelerate"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "state.py").write_text(FAKE_ACCELERATE)
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "accelerate"}
    for name in before:
        del sys.modules[name]
    sys.path.insert(0, str(folder.parent))
    os.environ["ACCELERATE_USE_CPU"] = "true"
    try:
        _accelerate_state.begin()
        import accelerate.state as state
        equal((state.AcceleratorState("plugin").plugin, state.PartialState.joined), (None, [True]), "without a plugin of DeepSpeed")
        os.environ["ACCELERATE_USE_DEEPSPEED"] = "true"
        state.PartialState.joined.clear()
        equal((state.AcceleratorState("plugin").plugin, state.PartialState.joined), ("plugin", [True, True]), "with a plugin of DeepSpeed")
        _accelerate_state.end()
        equal({name: value for name, value in os.environ.items() if name.startswith("ACCELERATE_")}, {"ACCELERATE_USE_CPU": "true"}, "variables afterwards")
        equal(state.PartialState.joined, [], "state afterwards")
    finally:
        sys.path.remove(str(folder.parent))
        os.environ.pop("ACCELERATE_USE_CPU")
        os.environ.pop("ACCELERATE_USE_DEEPSPEED", None)
        for name in ("accelerate", "accelerate.state"):
            sys.modules.pop(name, None)
        sys.modules.update(before)


main()
