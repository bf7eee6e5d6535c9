"""Sends the same reports to a scheduler of Ray Tune and to trainrt's of the same name: `ray_tune_decisions.py OURS NAME`, where OURS is
tests/support/programs/tune_decisions.cpp. Fails at the first different decision, and prints the number of decisions."""
import random
import subprocess
import sys
from types import SimpleNamespace

from ray.tune.experiment import Trial
from ray.tune.schedulers import AsyncHyperBandScheduler, HyperBandScheduler, PopulationBasedTraining
from ray.tune.schedulers.trial_scheduler import TrialScheduler


class Mine:
    def __init__(self, name, trials, **keys):
        self._process = subprocess.Popen([sys.argv[1], name, str(trials), "1", *(f"{key}={value}" for key, value in keys.items())],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        print(*words, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()


class Theirs:
    """A trial with the attributes that schedulers read."""

    is_saving, experiment_tag = False, ""
    evaluated_params = {}
    run_metadata = SimpleNamespace(checkpoint_manager=SimpleNamespace(checkpoint_config=SimpleNamespace(num_to_keep=None)))

    def __init__(self, number):
        self.number, self.trial_id, self.status, self.config, self.reports = number, f"{number:05d}", Trial.RUNNING, {"lr": 0.1}, 0

    def is_finished(self):
        return self.status == Trial.TERMINATED

    def __str__(self):
        return self.trial_id


def asha(draws):
    trials, most = 60, 40
    keys = {"max_t": most, "grace_period": draws.randint(1, 3), "reduction_factor": draws.choice([2, 3, 4])}
    theirs, mine = AsyncHyperBandScheduler(metric="score", mode="max", **keys), Mine("asha", trials, **keys)
    running = [Theirs(number) for number in range(trials)]
    for trial in running:
        theirs.on_trial_add(None, trial)
    count = 0
    while running:
        trial = draws.choice(running)
        trial.reports += 1
        score = draws.random() + trial.number / 30
        expected = theirs.on_trial_result(None, trial, {"training_iteration": trial.reports, "score": score})
        found = mine.ask("report", trial.number, trial.reports, repr(score))
        if (found == "stop") != (expected == TrialScheduler.STOP):
            raise SystemExit(f"asha {keys}: trial {trial.number} at {trial.reports}: {found}, but Ray Tune decides {expected}")
        count += 1
        if found == "stop":
            running.remove(trial)
    return count


def hyperband(draws):
    """Compares the number of reports of each trial, with reports in random order."""
    trials, most = draws.randint(20, 120), draws.choice([9, 27, 20])
    scores = [draws.random() for _ in range(trials)]
    theirs = HyperBandScheduler(metric="score", mode="max", max_t=most)
    everybody = [Theirs(number) for number in range(trials)]

    def stop_trial(trial):
        trial.status = Trial.TERMINATED
        theirs.on_trial_remove(controller, trial)

    controller = SimpleNamespace(stop_trial=stop_trial)
    for trial in everybody:
        theirs.on_trial_add(controller, trial)
    while running := [trial for trial in everybody if trial.status == Trial.RUNNING]:
        trial = draws.choice(running)
        trial.reports += 1
        action = theirs.on_trial_result(controller, trial, {"training_iteration": trial.reports, "score": scores[trial.number]})
        if action == TrialScheduler.STOP:
            trial.status = Trial.TERMINATED
        elif action == TrialScheduler.PAUSE and trial.status == Trial.RUNNING:
            trial.status = Trial.PAUSED
        for other in everybody:
            bracket = theirs._trial_info[other][0]
            if other.status == Trial.PAUSED and other in bracket.trials_to_unpause:
                bracket.trials_to_unpause.discard(other)
                other.status = Trial.RUNNING
    mine = Mine("hyperband", trials, max_t=most)
    made, running, paused, count = [0] * trials, list(range(trials)), [], 0
    while running or paused:
        for trial in list(paused):
            answer = mine.ask("paused", trial)
            if answer != "pause":
                paused.remove(trial)
            if answer == "go":
                running.append(trial)
        if not running:
            break
        trial = draws.choice(running)
        made[trial] += 1
        answer = mine.ask("report", trial, made[trial], repr(scores[trial]))
        count += 1
        if answer != "go":
            running.remove(trial)
        if answer == "pause":
            paused.append(trial)
    expected = [trial.reports for trial in everybody]
    if made != expected:
        raise SystemExit(f"hyperband of {trials} trials, max_t={most}: reports {made}, but Ray Tune gives {expected}")
    return count


def pbt(draws):
    trials = draws.randint(2, 12)
    theirs = PopulationBasedTraining(time_attr="training_iteration", metric="score", mode="max", perturbation_interval=1, hyperparam_mutations={"lr": [1, 2]})
    mine = Mine("pbt", trials, perturbation_interval=1)
    everybody = [Theirs(number) for number in range(trials)]
    controller = SimpleNamespace(search_alg=SimpleNamespace(searcher=None), get_trials=lambda: everybody)
    for trial in everybody:
        theirs.on_trial_add(controller, trial)
    for turn in range(300):
        trial = draws.choice([trial for trial in everybody if trial.status == Trial.RUNNING])
        trial.reports += 1
        score = draws.random()
        theirs._trial_state[trial].last_score = score
        worst, best = theirs._quantiles()
        found = mine.ask("report", trial.number, trial.reports, repr(score))
        if found.startswith("clone") != (trial in worst) or found.startswith("clone") and int(found.split()[1]) not in [each.number for each in best]:
            raise SystemExit(f"pbt of {trials} trials, turn {turn}: {found}, but Ray Tune has {[str(each) for each in worst]} below, {[str(each) for each in best]} above")
        if turn == 150:
            trial.status = Trial.TERMINATED
            mine.ask("over", trial.number)
            if trials == 2:
                return turn
    return 300


if __name__ == "__main__":
    play = {"asha": asha, "hyperband": hyperband, "pbt": pbt}[sys.argv[2]]
    print("decisions", sum(play(random.Random(seed)) for seed in range(20)))
