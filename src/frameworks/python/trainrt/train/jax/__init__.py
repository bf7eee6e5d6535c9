"""Ray Train's names for JAX: the ranks are the processes of jax.distributed.

    def train_func():
        print(jax.process_index(), jax.device_count())                     # of all ranks
        ...
        train.report({"loss": float(loss)}, checkpoint=...)

    JaxTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()
"""

from ._trainer import JaxConfig, JaxTrainer

__all__ = ["JaxConfig", "JaxTrainer"]
