"""Ray Train's names for Transformers, under a TorchTrainer:

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

Whatever the Trainer saves is reported, and the run may stop there. The Trainer's checkpoints hold the random generators of each rank and the
step inside of the epoch: a run that goes on ends with the same weights, on as many ranks. On the CPU set use_cpu=True. Needs transformers 4.30
or later.
"""

from ._callback import RayTrainReportCallback
from ._prepare import prepare_trainer

__all__ = ["RayTrainReportCallback", "prepare_trainer"]
