"""LightningConfigBuilder of Ray 2.4 to 2.7."""

from __future__ import annotations

from typing import Any

_STRATEGIES: dict[str, tuple[str, dict[str, Any]]] = {
    "ddp": ("RayDDPStrategy", {}), "ddp_find_unused_parameters_true": ("RayDDPStrategy", {"find_unused_parameters": True}),
    "ddp_find_unused_parameters_false": ("RayDDPStrategy", {"find_unused_parameters": False}), "fsdp": ("RayFSDPStrategy", {}),
    "deepspeed": ("RayDeepSpeedStrategy", {}), **{f"deepspeed_stage_{stage}": ("RayDeepSpeedStrategy", {"stage": stage}) for stage in (1, 2, 3)}}
_CHECKPOINTING = ("monitor", "mode", "save_top_k", "every_n_train_steps", "every_n_epochs", "save_last", "filename", "auto_insert_metric_name", "verbose")


class LightningConfigBuilder:
    """Collects the configuration of a LightningTrainer. Each method returns the builder.

    Examples
    --------
    >>> from trainrt.train.lightning import LightningConfigBuilder
    >>> class Model:
    ...     def __init__(self, lr):
    ...         self.lr = lr
    >>> config = LightningConfigBuilder().module(cls=Model, lr=0.1).trainer(max_epochs=3).build()
    >>> config["trainer"]
    {'max_epochs': 3}
    """

    def __init__(self) -> None:
        self._class: Any = None
        self._parts: dict[str, dict[str, Any]] = {"module": {}, "trainer": {}, "fit_params": {}, "checkpointing": {}}
        self._strategy: tuple[str, dict[str, Any]] = _STRATEGIES["ddp"]

    def module(self, cls: Any = None, **arguments: Any) -> LightningConfigBuilder:
        """Sets the class of the LightningModule and adds arguments of its constructor."""
        self._class = cls if cls is not None else self._class
        return self._added("module", arguments)

    def trainer(self, **arguments: Any) -> LightningConfigBuilder:
        """Adds arguments of lightning.pytorch.Trainer, except `strategy`."""
        if "strategy" in arguments:
            raise ValueError("LightningConfigBuilder.trainer(strategy=...): set the strategy by strategy(name=...)")
        return self._added("trainer", arguments)

    def fit_params(self, **arguments: Any) -> LightningConfigBuilder:
        """Adds arguments of Trainer.fit(): `datamodule`, or `train_dataloaders` and `val_dataloaders`."""
        if "model" in arguments:
            raise ValueError("LightningConfigBuilder.fit_params(model=...): the LightningTrainer makes the model; set its class by module(cls=...)")
        return self._added("fit_params", arguments)

    def strategy(self, name: str = "ddp", **arguments: Any) -> LightningConfigBuilder:
        """Sets the strategy: `ddp` (default), `fsdp` or `deepspeed`, with arguments of Lightning's strategy."""
        if name not in _STRATEGIES:
            raise ValueError(f"LightningConfigBuilder.strategy({name!r}): unknown strategy; valid are {', '.join(_STRATEGIES)}")
        kind, options = _STRATEGIES[name]
        self._strategy = (kind, {**options, **arguments})
        return self

    def checkpointing(self, **arguments: Any) -> LightningConfigBuilder:
        """Adds options of checkpoints: `monitor`, `mode` and `save_top_k` are used unless the RunConfig has a CheckpointConfig; `every_n_epochs` and
        `every_n_train_steps` say when a checkpoint is reported. `save_last`, `filename`, `auto_insert_metric_name` and `verbose` have no effect."""
        unknown = sorted(set(arguments) - set(_CHECKPOINTING))
        if unknown:
            raise ValueError(f"LightningConfigBuilder.checkpointing({unknown[0]}=...): unknown option; valid are {', '.join(_CHECKPOINTING)}. For other "
                             f"options, add a ModelCheckpoint: trainer(callbacks=[ModelCheckpoint(...)])")
        return self._added("checkpointing", arguments)

    def build(self) -> dict[str, Any]:
        """Returns the configuration for LightningTrainer(lightning_config=...). Raises ValueError if module(cls=...) is missing or not a class."""
        if not isinstance(self._class, type):
            raise ValueError(f"LightningConfigBuilder.build(): module(cls={self._class!r}): must be a subclass of LightningModule")
        return {"class": self._class, "strategy": self._strategy, **{name: dict(part) for name, part in self._parts.items()}}

    def _added(self, part: str, arguments: dict[str, Any]) -> LightningConfigBuilder:
        self._parts[part].update(arguments)
        return self
