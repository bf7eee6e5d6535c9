"""Program that chooses the values of the next trial of a sweep by Optuna's TPE (Debian's python3-optuna, or PyPI's optuna):

    [tune]
    searcher_program = python3 -m trainrt.tune.search.optuna

trainrt tune starts it for each trial, with all earlier trials as JSON on standard input; it prints the values of the next one as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def _distribution(domain: dict[str, Any], optuna: Any) -> Any:
    kinds = optuna.distributions
    if domain["type"] == "choice":
        return kinds.CategoricalDistribution(domain["values"])
    if domain["type"] == "whole":
        step = max(1, int(domain["step"]))
        has_log = domain["log"] and step == 1  # Optuna has no logarithmic distribution with steps
        return kinds.IntDistribution(int(domain["low"]), int(domain["high"]) - 1, log=has_log, step=step)
    has_log = domain["log"] and not domain["step"]
    return kinds.FloatDistribution(domain["low"], domain["high"], log=has_log, step=domain["step"] or None)


def main() -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    asked = json.load(sys.stdin)
    space = {key: _distribution(domain, optuna) for key, domain in asked["space"].items()}
    study = optuna.create_study(direction="minimize" if asked["mode"] == "min" else "maximize",
                                sampler=optuna.samplers.TPESampler(seed=asked["seed"] + asked["trial"], constant_liar=True))
    for trial in asked["trials"]:
        read: dict[str, Any] = {"choice": str, "whole": int, "real": float}
        params = {key: read[asked["space"][key]["type"]](value) for key, value in trial["params"].items() if key in space}
        is_known = trial["value"] is not None
        states = optuna.trial.TrialState
        study.add_trial(optuna.trial.create_trial(state=states.COMPLETE if is_known else states.RUNNING,
                                                  value=float(trial["value"]) if is_known else None, params=params,
                                                  distributions={key: space[key] for key in params}))
    print(json.dumps(study.ask(space).params))


if __name__ == "__main__":
    main()
