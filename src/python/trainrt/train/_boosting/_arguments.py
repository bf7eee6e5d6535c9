"""Arguments of the trainers: with a train function, or, in Ray Train's older form, with `params` and `label_column`."""

import functools


def is_older_form(trainer, function, older):
    """Returns whether the trainer was given the arguments of the older form. Raises ValueError if it was given both forms, or an incomplete one.

    `function`: the train function, or `None`; `older`: arguments of the older form by name.
    """
    given = [name for name, value in older.items() if value is not None]
    if "preprocessor" in given:
        raise ValueError(f"{trainer}: preprocessor= is not an argument; pass transformed datasets: datasets={{'train': preprocessor.fit_transform(dataset)}}")
    if function is not None and given:
        raise ValueError(f"{trainer}: {', '.join(given)} cannot be combined with train_loop_per_worker; remove one of them")
    if function is None:
        missing = [name for name in ("params", "label_column") if older.get(name) is None]
        if missing:
            raise ValueError(f"{trainer}: missing arguments: {' and '.join(missing)}. Pass train_loop_per_worker, or params and label_column")
    return function is None


def require_train_dataset(trainer, datasets):
    if "train" not in (datasets or {}):
        raise ValueError(f"{trainer}(params=...): datasets={{'train': ...}} is missing; other datasets are evaluated after each round")


def notes_of_form(notes, is_older):
    """Returns `notes`, the notes on arguments without effect. In the older form, removes the note on CheckpointConfig's frequency, which then has an
    effect."""
    return [line for line in notes if not (is_older and line.startswith("CheckpointConfig: checkpoint_frequency"))]


def checkpoint_rules(run_config):
    """Returns what the CheckpointConfig specifies: the number of rounds per checkpoint (0: no checkpoints), and whether the last round saves a
    checkpoint."""
    config = getattr(run_config, "checkpoint_config", None)
    if config is None:
        return 0, True
    return config.checkpoint_frequency or 0, True if config.checkpoint_at_end is None else bool(config.checkpoint_at_end)


def set_older_arguments(trainer, values):
    """Replaces arguments of the older form other than `params`. Also adjusts the names of the datasets and the rules of the checkpoints to the trainer's
    `datasets` and `run_config`, which a Tuner may have changed.

    `values`: {name: value} of arguments of the trainer or of `train()` of the library.
    """
    function = trainer.train_loop_per_worker
    own = {name: value for name, value in values.items() if name in function.keywords}
    others = {name: value for name, value in values.items() if name not in own}
    frequency, at_end = checkpoint_rules(trainer.run_config)
    trainer.train_loop_per_worker = functools.partial(function.func, **{
        **function.keywords, **own, "names": names_of(trainer.datasets), "frequency": frequency, "at_end": at_end,
        "arguments": {**function.keywords["arguments"], **others}})


def names_of(datasets):
    """Returns the names of the datasets, 'train' first."""
    return sorted(datasets or {}, key="train".__ne__)
