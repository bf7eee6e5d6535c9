"""Transformers under a TorchTrainer, with Ray Train's names. Needs transformers 4.30 or later.

    def train_func():
        trainer = transformers.Trainer(model=model, args=TrainingArguments(output_dir, save_strategy="steps", save_steps=100, ...), ...)
        trainer.add_callback(RayTrainReportCallback())
        trainer = prepare_trainer(trainer)
        found = train.get_checkpoint()                                     # after a restart
        if found is None:
            trainer.train()
        else:
            with found.as_directory() as folder:
                trainer.train(resume_from_checkpoint=os.path.join(folder, RayTrainReportCallback.CHECKPOINT_NAME))

    TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

Every checkpoint that the Trainer saves is reported, and the run may stop there. It contains the random generators of each rank and the step within the
epoch: a resumed run on the same number of ranks ends with the same weights. On the CPU set use_cpu=True. TransformersTrainer, the class of Ray 2.1 to
2.7, calls train() itself.
"""

from typing import TYPE_CHECKING, Any

from ...._support import _deferred_names
from ._checkpoint import TransformersCheckpoint
from ._trainer import TransformersTrainer

if TYPE_CHECKING:
    from ._callback import RayTrainReportCallback
    from ._prepare import prepare_trainer

__all__ = ["RayTrainReportCallback", "TransformersCheckpoint", "TransformersTrainer", "prepare_trainer"]

_DEFERRED = {"RayTrainReportCallback": "_callback", "prepare_trainer": "_prepare"}  # they need Transformers
_REFUSED = {"TransformersPredictor": "load the model with TransformersCheckpoint.get_model(), and call it in a script or in map_batches()"}


def __getattr__(name: str) -> Any:
    return _deferred_names.found(__name__, name, _DEFERRED, _REFUSED)
