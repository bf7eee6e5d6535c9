"""Program that chooses the values of the next trial of a sweep by Bayesian optimization (PyPI's bayesian-optimization, version 2 or later):

    [tune]
    searcher_program = python3 -m trainrt.tune.search.bayesopt

trainrt tune starts it for each trial, with all earlier trials as JSON on standard input; it prints the values of the next one as JSON. The argument is
optional: a JSON object with the options of BayesOptSearch.
"""

from __future__ import annotations

import json
import math
import random
import sys
from typing import Any

_ENDED = ("finished", "failed")


class Axis:
    """A number of the space as a coordinate from 0 to 1, in which the Gaussian process works. Logarithmic domains are uniform in the logarithm."""

    def __init__(self, domain: dict[str, Any]) -> None:
        self._domain = domain
        self._is_whole = domain["type"] == "whole"
        self._low, self._high = (self._scaled(domain[end]) for end in ("low", "high"))

    def _scaled(self, number: float) -> float:
        return math.log(number) if self._domain["log"] else float(number)

    def coordinate(self, value: float) -> float:
        found = (self._scaled(value + 0.5 if self._is_whole else value) - self._low) / (self._high - self._low)
        return min(max(found, 0.0), 1.0)

    def value(self, coordinate: float) -> float:
        scaled = self._low + coordinate * (self._high - self._low)
        number = math.exp(scaled) if self._domain["log"] else scaled
        low, high, step = (self._domain[name] for name in ("low", "high", "step"))
        if self._is_whole:
            return int(min(max(math.floor(number), low), high - 1))
        return min(max(round(number / step) * step if step else number, low), high)


def _axes(asked: dict[str, Any]) -> dict[str, Axis]:
    for key, domain in asked["space"].items():
        if domain["type"] == "choice" and len(domain["values"]) > 1:
            raise SystemExit(f"{key} is a choice; Bayesian optimization searches numbers only. Use grid(...) for {key}, or the program "
                             f"trainrt.tune.search.optuna")
    return {key: Axis(domain) for key, domain in asked["space"].items() if domain["type"] != "choice"}


def _known(asked: dict[str, Any], axes: dict[str, Axis]) -> list[tuple[dict[str, float], float]]:
    """Returns [(coordinates, target)], where a higher target is better. A running trial without a report counts as an average one, so that parallel
    trials get different values."""
    sign = 1 if asked["mode"] == "max" else -1
    found, pending = [], []
    for trial in asked["trials"]:
        if any(key not in trial["params"] for key in axes):
            continue
        at = {key: axis.coordinate(float(trial["params"][key])) for key, axis in axes.items()}
        if trial["value"] is None:
            pending += [at] if trial["state"] not in _ENDED else []
        elif math.isfinite(float(trial["value"])):
            found.append((at, sign * float(trial["value"])))
    average = sum(target for _, target in found) / len(found) if found else 0.0
    return found + [(at, average) for at in pending] if found else []


def _suggested(asked: dict[str, Any], axes: dict[str, Axis], options: dict[str, Any], seed: int) -> dict[str, float]:
    from bayes_opt import BayesianOptimization, acquisition

    known = _known(asked, axes)
    if not known:
        return _random(axes, seed)
    kind = options.get("kind", "ucb")
    if kind == "ucb":
        function: Any = acquisition.UpperConfidenceBound(kappa=options.get("kappa", 2.576))
    else:
        function = (acquisition.ExpectedImprovement if kind == "ei" else acquisition.ProbabilityOfImprovement)(xi=options.get("xi", 0.0))
    model = BayesianOptimization(f=None, pbounds=dict.fromkeys(axes, (0.0, 1.0)), acquisition_function=function, random_state=seed, verbose=0,
                                 allow_duplicate_points=True)
    for at, target in known:
        model.register(params=at, target=target)
    return {key: float(coordinate) for key, coordinate in model.suggest().items()}


def _random(axes: dict[str, Axis], seed: int) -> dict[str, float]:
    draws = random.Random(seed)
    return {key: draws.random() for key in axes}


def main() -> None:
    options = json.loads(sys.argv[1]) if sys.argv[1:] else {}
    asked = json.load(sys.stdin)
    axes, trial, seed = _axes(asked), asked["trial"], (asked["seed"] + asked["trial"]) % 2**32
    points = options.get("points", [])
    is_random = trial < len(points) + options.get("random_search_steps", 10)
    coordinates = (_random(axes, seed) if is_random else _suggested(asked, axes, options, seed)) if axes else {}
    answer: dict[str, Any] = {key: domain["values"][0] for key, domain in asked["space"].items() if key not in axes}
    answer.update({key: axes[key].value(coordinate) for key, coordinate in coordinates.items()})
    if trial < len(points):
        given = {name if name in axes else f"loop.{name}": value for name, value in points[trial].items()}
        answer.update({key: axes[key].value(axes[key].coordinate(value)) if key in axes else value for key, value in given.items()})
    print(json.dumps({key: value for key, value in answer.items() if key in asked["space"]}))


if __name__ == "__main__":
    main()
