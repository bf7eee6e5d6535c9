"""Study: an optuna.Study whose trials have the IDs of the sweep."""

from __future__ import annotations

import json
from typing import Any

from ...._support import _notes


class Study:
    """An optuna.Study. Raises AssertionError if `storage` or `sampler` has another type than Optuna's."""

    def __init__(self, name: str, storage: Any, sampler: Any, seed: int | None) -> None:
        import optuna

        assert storage is None or isinstance(storage, optuna.storages.BaseStorage), f"OptunaSearch(storage={storage!r}): it must be an " \
                                                                                    f"optuna.storages.BaseStorage"
        assert sampler is None or isinstance(sampler, optuna.samplers.BaseSampler), f"OptunaSearch(sampler={sampler!r}): it must be an " \
                                                                                    f"optuna.samplers.BaseSampler"
        if sampler is not None and seed is not None:
            _notes.say("OptunaSearch(seed=...) has no effect with sampler=...: pass the seed to the sampler")
        self._name, self._storage, self._sampler, self._seed = name, storage, sampler, seed
        self._study: Any = None
        self._asked: dict[str, Any] = {}  # trial of Optuna by the ID of the trial
        self._ended: set[str] = set()

    def open(self, mode: Any) -> None:
        """Creates the study, or loads it from the storage. `mode`: "min" or "max", or a list of these."""
        import optuna

        sampler = self._sampler or optuna.samplers.TPESampler(seed=self._seed)
        directions = ["minimize" if each == "min" else "maximize" for each in (mode if isinstance(mode, list) else [mode])]
        self._study = optuna.create_study(storage=self._storage, sampler=sampler, pruner=optuna.pruners.NopPruner(), study_name=self._name,
                                          load_if_exists=True, directions=directions)

    def enqueue(self, point: dict[str, Any]) -> None:
        """Makes `point` the values of a next trial."""
        self._study.enqueue_trial(point)

    def asked(self, trial_id: str, distributions: Any) -> Any:
        """Returns the optuna.Trial of a trial."""
        if trial_id not in self._asked:
            self._asked[trial_id] = self._study.ask(fixed_distributions=distributions)
        return self._asked[trial_id]

    def report(self, trial_id: str, value: float, step: int) -> None:
        """Adds an intermediate value, unless the trial has ended."""
        if trial_id not in self._ended:
            self._asked[trial_id].report(value, step)

    def tell(self, trial_id: str, value: Any, error: bool) -> None:
        """Ends a trial. `value` is `None` if it has not reported the metric."""
        import optuna

        if trial_id in self._ended:
            return
        self._ended.add(trial_id)
        is_missing = value is None or (isinstance(value, list) and None in value)
        states = optuna.trial.TrialState
        state = states.COMPLETE if not is_missing else states.FAIL if error else states.PRUNED
        try:
            self._study.tell(self._asked[trial_id], None if is_missing else value, state=state)
        except ValueError as failure:  # a NaN, for example
            _notes.say(f"OptunaSearch: the result of {trial_id} is ignored: {failure}")

    def add(self, params: dict[str, Any], value: Any, distributions: Any, state: str, steps: Any) -> None:
        """Adds a trial that has ended."""
        import optuna

        made = {"value": None if state == "FAIL" else value} if not isinstance(value, list) else {"values": value}
        self._study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState[state], params=params, distributions=distributions,
                                                        intermediate_values=dict(enumerate(steps)) if steps else None, **made))

    def save(self, path: str) -> None:
        """Writes the trials that have ended, as JSON."""
        import optuna

        text = optuna.distributions.distribution_to_json
        trials = [{"state": each.state.name, "values": each.values, "params": each.params,
                   "distributions": {name: text(kind) for name, kind in each.distributions.items()}} for each in self._study.trials if each.state.is_finished()]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "trainrt optuna 1", "trials": trials}, file)

    def restore(self, path: str) -> None:
        """Adds the trials of save()."""
        import optuna

        with open(path, encoding="utf-8") as file:
            trials = json.load(file)["trials"]
        for each in trials:
            kinds = {name: optuna.distributions.json_to_distribution(text) for name, text in each["distributions"].items()}
            self.add(each["params"], each["values"] if each["values"] is None or len(each["values"]) > 1 else each["values"][0], kinds, each["state"], None)
