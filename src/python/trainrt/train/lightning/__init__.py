"""Lightning under a TorchTrainer, with Ray Train's names. Needs lightning or pytorch_lightning, 2.0 or later.

    def train_func():
        trainer = pl.Trainer(max_epochs=10, devices="auto", accelerator="auto", strategy=RayDDPStrategy(), plugins=[RayLightningEnvironment()],
                             callbacks=[RayTrainReportCallback()], enable_checkpointing=False)
        trainer = prepare_trainer(trainer)
        found = train.get_checkpoint()                                     # after a restart
        if found is None:
            trainer.fit(model, loader)
        else:
            with found.as_directory() as folder:
                trainer.fit(model, loader, ckpt_path=os.path.join(folder, RayTrainReportCallback.CHECKPOINT_NAME))

    TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

Each epoch ends with a report and a checkpoint that Lightning writes and reads. The run may stop there; an epoch that was interrupted is repeated from
its start. Lightning does not save the state of random generators: if a model uses random numbers (dropout), seed them by the epoch.

With checkpoints within epochs, a run resumes after the batch of the last checkpoint, with the same bits, dropout included:

        callbacks=[RayTrainReportCallback(every_n_train_steps=100)], use_distributed_sampler=False     # of pl.Trainer
        trainer.fit(model, trainrt.train.torch.prepare_data_loader(loader), ckpt_path=...)

Lightning's means over a resumed epoch are computed from the remaining batches only. Lightning neither requeues the job nor writes hpc_ckpt files.
LightningTrainer, the class of Ray 2.4 to 2.7, makes the Trainer and calls fit() itself.
"""

from typing import TYPE_CHECKING, Any

from ..._support import _deferred_names
from ._checkpoint import LightningCheckpoint
from ._config_builder import LightningConfigBuilder
from ._trainer import LightningTrainer

if TYPE_CHECKING:
    from ._callback import RayTrainReportCallback
    from ._environment import RayLightningEnvironment
    from ._prepare import prepare_trainer
    from ._strategies import RayDDPStrategy, RayDeepSpeedStrategy, RayFSDPStrategy

__all__ = ["LightningCheckpoint", "LightningConfigBuilder", "LightningTrainer", "RayDDPStrategy", "RayDeepSpeedStrategy", "RayFSDPStrategy",
           "RayLightningEnvironment", "RayTrainReportCallback", "prepare_trainer"]

_DEFERRED = {"RayDDPStrategy": "_strategies", "RayDeepSpeedStrategy": "_strategies", "RayFSDPStrategy": "_strategies",
             "RayLightningEnvironment": "_environment", "RayTrainReportCallback": "_callback", "prepare_trainer": "_prepare"}  # they need Lightning
_REFUSED = {"LightningPredictor": "load the model with LightningCheckpoint.get_model(), and call it in a script or in map_batches()"}


def __getattr__(name: str) -> Any:
    return _deferred_names.found(__name__, name, _DEFERRED, _REFUSED)
