"""Sweeps of small runs: configs, readers of their journals, and checks that hold for all sweeps."""
import json

from harness import *  # noqa: F403


def sweep_config(folder, name="sweep", tune=None, space=None, asha=None, loop=None, **sections):
    more = {"tune.asha": asha} if asha else {}
    return linear_config(folder, name, loop={"epochs": 9, **(loop or {})},
                         **{"tune": {"metric": "loss", "mode": "min", "num_samples": 8, **(tune or {})},
                            "tune.space": space or {"lr": "loguniform(1e-4, 0.3)", "batch_size": "choice(16, 32)"}, **more, **sections})


def tune(config, *words, timeout=120):
    return run([TRAINRT, "tune", "--config", config, *words], timeout=timeout)


def trials_of(config):
    job = run([TRAINRT, "tune", "status", run_dir_of(config), "--json"])
    check_exit(job, 0)
    return json.loads(job.out)


def records_of(config):
    """Returns, by file number, a list of (end of the line in bytes, record) of all complete lines."""
    found = {}
    for path in sorted((run_dir_of(config) / "journal").glob("*.jsonl")):
        at, records = 0, []
        for line in path.read_bytes().splitlines(keepends=True):
            at += len(line)
            if line.endswith(b"\n") and len(line) > 18 and line[16:17] == b" ":
                try:
                    records.append((at, json.loads(line[17:])))
                except ValueError:
                    continue  # a test has damaged it
        found[int(path.stem)] = records
    return found


def check_each_once(config, count):
    """Checks that every trial is done and that at most one attempt of each was claimed at a time."""
    trials = trials_of(config)
    equal(len(trials), count, "trials")
    check(all(trial["state"] == "finished" for trial in trials), f"states: {[trial['state'] for trial in trials]}")
    ends = [record["trial"] for own in records_of(config).values() for _, record in own if record["record"] == "end" and record["state"] in (3, 4)]
    equal(sorted(ends), list(range(count)), "ends of trials, each once")
    for trial in trials:
        check_verifies(trial["path"])
    return trials


def check_as_alone(config, trial, ranks=1):
    """Runs the config of one trial without the sweep."""
    name = f"alone_{trial['trial']}"
    words = [f"--{key}={value}" for key, value in trial["config"].items()]
    job = run([TRAINRT, "-n", ranks, "--config", run_dir_of(config) / "trial.ini", f"--run.name={name}", *words])
    check_exit(job, 0)
    check_same_bits(trial["path"], run_dir_of(config) / name)


# ---- populations ---------------------------------------------------------------------------------------------------------

PBT = {"tune.pbt": {"perturbation_interval": 3}}


def pbt_config(folder, name="sweep", tune=None, loop=None, **sections):
    return sweep_config(folder, name, tune={"num_samples": 6, "scheduler": "pbt", **(tune or {})}, loop={"epochs": 12, **(loop or {})},
                        space={"lr": "loguniform(1e-5, 0.3)", "batch_size": "choice(16, 32, 64)"}, **{**PBT, **sections})


def clones_of(config):
    """Returns the records of all clones by (trial, generation)."""
    return {(record["trial"], record["generation"]): record for own in records_of(config).values() for _, record in own
            if record["record"] == "clone" and record["checkpoint"]}


def run_alone(config, name, params, *words, ranks=1):
    job = run([TRAINRT, "-n", ranks, "--config", run_dir_of(config) / "trial.ini", f"--run.name={name}",
               *[f"--{key}={value}" for key, value in params.items()], *words])
    check_exit(job, 0)
    return run_dir_of(config) / name


def line_alone(config, clones, first, trial, generation, ranks=1):
    """Runs the ancestors of a trial without the sweep, each from the checkpoint of the previous one, and returns the last run directory."""
    name = f"alone_{trial}_{generation}"
    if generation == 1:
        return run_alone(config, name, first[trial], "--checkpoint.num_to_keep=0", ranks=ranks)
    clone = clones[trial, generation]
    before = line_alone(config, clones, first, clone["donor"], clone["donor_generation"], ranks)
    [start] = [path.parent for path in before.glob("checkpoint_*/manifest.json")
               if json.loads(path.read_text())["iteration"] == clone["donor_iteration"]]
    return run_alone(config, name, clone["params"], "--checkpoint.num_to_keep=0", f"--run.resume_from_checkpoint={start}",
                     "--run.resume_iteration=continue", ranks=ranks)


def check_clones(config, trials, ranks=1):
    clones = clones_of(config)
    unchanged = sweep_config(run_dir_of(config).parent, "first", tune={"num_samples": len(trials)}, loop={"epochs": 1},
                             space={"lr": "loguniform(1e-5, 0.3)", "batch_size": "choice(16, 32, 64)"})
    check_exit(tune(unchanged), 0)
    first = {number: trial["config"] for number, trial in enumerate(trials_of(unchanged))}  # depends on the seed only
    for number, trial in enumerate(trials):
        generation = max([1] + [of for each, of in clones if each == number])
        check(trial["path"].endswith(f"trial_{number:05d}" + (f"-{generation}" if generation > 1 else "")), f"path of trial {number}: {trial['path']}")
        equal(trial["training_iteration"], 12, f"reports of trial {number}")
        check_iterations(trial["path"], 12)
    if clones:
        changed = max(clones, key=lambda each: each[1])
        check_same_bits(trials[changed[0]]["path"], line_alone(config, clones, first, *changed, ranks))
    return clones
