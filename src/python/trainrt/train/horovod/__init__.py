"""HorovodTrainer and HorovodConfig, for train functions that call `hvd.init()`, with PyTorch, TensorFlow or Keras.

    def train_func():
        hvd.init()
        optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
        ...

    HorovodTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

Horovod finds the ranks through environment variables that trainrt sets for every program, and a rendezvous that the runtime serves. SSH is not used.
"""

from . import _library
from ._trainer import HorovodConfig, HorovodTrainer

__all__ = ["HorovodConfig", "HorovodTrainer"]

del _library
