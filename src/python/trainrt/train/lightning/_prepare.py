"""`prepare_trainer()`: checks that a Lightning Trainer uses the ranks of the run, and starts no processes of its own."""

from ._environment import RayLightningEnvironment
from ._library import pl
from ._strategies import RayDDPStrategy, RayDeepSpeedStrategy, RayFSDPStrategy

_STRATEGIES = (RayDDPStrategy, RayFSDPStrategy, RayDeepSpeedStrategy)


def prepare_trainer(trainer: "pl.Trainer") -> "pl.Trainer":
    """Returns the Trainer unchanged, after checking its strategy and environment.

    Parameters
    ----------
    trainer : lightning.pytorch.Trainer

    Returns
    -------
    lightning.pytorch.Trainer

    Raises
    ------
    RuntimeError
        If the Trainer would train a separate model on each rank, or start processes.

    Examples
    --------
    >>> from trainrt.train.lightning import prepare_trainer
    >>> prepare_trainer(pl.Trainer(logger=False))                # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    RuntimeError: prepare_trainer(): the Trainer's strategy is ...
    """
    if not isinstance(trainer.strategy, _STRATEGIES):
        raise RuntimeError(f"prepare_trainer(): the Trainer's strategy is {type(trainer.strategy).__name__}; it must be one of "
                           f"{', '.join(each.__name__ for each in _STRATEGIES)}, such as Trainer(strategy=RayDDPStrategy())")
    environment = getattr(trainer.strategy, "cluster_environment", None)
    if environment is not None and not isinstance(environment, RayLightningEnvironment):
        raise RuntimeError(f"prepare_trainer(): the Trainer's environment is {type(environment).__name__}; it must be RayLightningEnvironment: "
                           f"Trainer(plugins=[RayLightningEnvironment()])")
    return trainer
