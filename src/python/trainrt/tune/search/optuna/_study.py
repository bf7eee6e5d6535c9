"""Study: an optuna.Study whose trials have the IDs of the sweep."""

from __future__ import annotations

import json
import random
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
        self._mode: Any = None
        self._asked: dict[str, Any] = {}  # trial of Optuna by the ID of the trial
        self._ended: set[str] = set()

    def open(self, mode: Any) -> None:
        """Creates the study, or loads it from the storage. `mode`: "min" or "max", or a list of these."""
        self._mode = mode
        self._study = self._opened(self._storage)

    def _opened(self, storage: Any) -> Any:
        import optuna

        sampler = self._sampler or optuna.samplers.TPESampler(seed=self._seed)
        directions = ["minimize" if each == "min" else "maximize" for each in (self._mode if isinstance(self._mode, list) else [self._mode])]
        made = optuna.create_study(storage=storage, sampler=sampler, pruner=optuna.pruners.NopPruner(), study_name=self._name, load_if_exists=True,
                                   directions=directions)
        self._let_differ(made)
        return made

    def _let_differ(self, study: Any) -> None:
        """Seeds the sampler by the number of trials too, so that a restarted script does not repeat the draws of earlier starts."""
        import optuna

        count = len(study.get_trials(deepcopy=False))
        if count == 0 or (self._sampler is None and self._seed is None):
            return
        if self._sampler is not None:
            study.sampler.reseed_rng()
        else:
            study.sampler = optuna.samplers.TPESampler(seed=random.Random(f"{self._seed} {count}").getrandbits(32))

    def enqueue(self, point: dict[str, Any]) -> None:
        """Makes one of the next trials use the values `point`, unless the study already has a trial with these values."""
        self._study.enqueue_trial(point, skip_if_exists=True)

    def asked(self, trial_id: str, distributions: Any) -> Any:
        """Returns the optuna.Trial of the trial `trial_id`, which is created at the first call."""
        if trial_id not in self._asked:
            self._asked[trial_id] = self._study.ask(fixed_distributions=distributions)
        return self._asked[trial_id]

    def report(self, trial_id: str, value: float, step: int) -> None:
        """Adds an intermediate value, unless the trial has ended or the study does not have it."""
        if trial_id in self._asked and trial_id not in self._ended:
            self._asked[trial_id].report(value, step)

    def tell(self, trial_id: str, value: Any, error: bool) -> None:
        """Ends a trial, if the study has it. `value` is `None` if it has not reported the metric."""
        import optuna

        if trial_id in self._ended or trial_id not in self._asked:
            return
        self._ended.add(trial_id)
        is_missing = value is None or (isinstance(value, list) and None in value)
        states = optuna.trial.TrialState
        state = states.COMPLETE if not is_missing else states.FAIL if error else states.PRUNED
        try:
            self._study.tell(self._asked[trial_id], None if is_missing else value, state=state)
        except ValueError as failure:  # a NaN, for example
            _notes.say(f"OptunaSearch: the result of {trial_id} is ignored: {failure}")

    def has_complete(self, params: dict[str, Any], value: Any) -> bool:
        """Returns whether a trial with these values has ended with this result."""
        values = value if isinstance(value, list) else [value]
        return any(each.params == params and each.values == values for each in self._study.trials if each.state.is_finished())

    def add(self, params: dict[str, Any], value: Any, distributions: Any, state: str, steps: Any) -> None:
        """Adds a trial that has ended."""
        import optuna

        made = {"value": value if state != "FAIL" else None} if not isinstance(value, list) else {"values": value}
        self._study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState[state], params=params, distributions=distributions,
                                                        intermediate_values=dict(enumerate(steps)) if steps else None, **made))

    def save(self, path: str) -> None:
        """Writes the trials as JSON, with the IDs of those that have not ended."""
        import optuna

        text = optuna.distributions.distribution_to_json
        trials = [{"state": each.state.name, "values": each.values, "params": each.params, "steps": [[*step] for step in each.intermediate_values.items()],
                   "distributions": {name: text(kind) for name, kind in each.distributions.items()},
                   "fixed": each.system_attrs.get("fixed_params")} for each in self._study.get_trials(deepcopy=False)]
        unfinished = {trial_id: trial.number for trial_id, trial in self._asked.items() if trial_id not in self._ended}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "trainrt optuna 1", "trials": trials, "unfinished": unfinished}, file)

    def restore(self, path: str) -> None:
        """Restores the trials of save(). A study in a storage already has its trials."""
        import optuna

        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        if self._storage is None:
            if "unfinished" in record:  # older versions did not save the points of enqueue()
                self._study = self._opened(None)
            for each in record["trials"]:
                self._study.add_trial(_trial_of(each))
            self._let_differ(self._study)
        trials = self._study.get_trials(deepcopy=False)
        for trial_id, number in record.get("unfinished", {}).items():
            if number < len(trials) and not trials[number].state.is_finished():
                self._asked[trial_id] = optuna.trial.Trial(self._study, trials[number]._trial_id)


def _trial_of(record: dict[str, Any]) -> Any:
    """Returns the optuna.FrozenTrial of a trial in the file of save()."""
    import optuna

    state = optuna.trial.TrialState[record["state"]]
    fixed = record.get("fixed")
    return optuna.trial.create_trial(
        state=state, params=record["params"], intermediate_values=dict(record.get("steps", ())),
        values=record["values"] if state != optuna.trial.TrialState.FAIL else None,
        distributions={name: optuna.distributions.json_to_distribution(text) for name, text in record["distributions"].items()},
        system_attrs={"fixed_params": fixed} if fixed is not None else None)
