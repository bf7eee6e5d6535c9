"""prepare_trainer(): is this a Trainer of the ranks?"""

from ._environment import RayLightningEnvironment
from ._strategies import RayDDPStrategy, RayDeepSpeedStrategy, RayFSDPStrategy

_STRATEGIES = (RayDDPStrategy, RayFSDPStrategy, RayDeepSpeedStrategy)


def prepare_trainer(trainer):
    """The Trainer as it was given. RuntimeError if it would train by itself on each rank, or start processes."""
    if not isinstance(trainer.strategy, _STRATEGIES):
        raise RuntimeError(f"prepare_trainer(): the Trainer's strategy is {type(trainer.strategy).__name__}; it must be one of "
                           f"{', '.join(each.__name__ for each in _STRATEGIES)}: Trainer(strategy=RayDDPStrategy())")
    environment = getattr(trainer.strategy, "cluster_environment", None)
    if environment is not None and not isinstance(environment, RayLightningEnvironment):
        raise RuntimeError(f"prepare_trainer(): the Trainer's environment is {type(environment).__name__}; it must be RayLightningEnvironment: "
                           f"Trainer(plugins=[RayLightningEnvironment()])")
    return trainer
