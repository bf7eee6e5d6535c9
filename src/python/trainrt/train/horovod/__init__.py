"""HorovodTrainer and HorovodConfig, for train functions that call hvd.init(): with PyTorch, TensorFlow or Keras.

    def train_func():
        hvd.init()
        optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
        ...

    HorovodTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

Horovod finds its ranks by the variables that trainrt sets for every program, and by a rendezvous that the runtime serves: nothing is started by SSH.
"""

from . import _library
from ._trainer import HorovodConfig, HorovodTrainer

__all__ = ["HorovodConfig", "HorovodTrainer"]

del _library
