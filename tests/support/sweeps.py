"""Sweeps of small runs: their configs, what their journals have, and what must hold of all of them."""
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
    """{file number: [(end of the line in bytes, record)]}, of whole lines."""
    found = {}
    for path in sorted((run_dir_of(config) / "journal").glob("*.jsonl")):
        at, records = 0, []
        for line in path.read_bytes().splitlines(keepends=True):
            at += len(line)
            if line.endswith(b"\n") and len(line) > 18 and line[16:17] == b" ":
                records.append((at, json.loads(line[17:])))
        found[int(path.stem)] = records
    return found


def check_each_once(config, count):
    """Every trial is over, and one attempt of each was claimed at a time."""
    trials = trials_of(config)
    equal(len(trials), count, "trials")
    check(all(trial["state"] in ("finished", "stopped") for trial in trials), f"states: {[trial['state'] for trial in trials]}")
    ends = [record["trial"] for own in records_of(config).values() for _, record in own if record["record"] == "end" and record["state"] in (3, 4)]
    equal(sorted(ends), list(range(count)), "ends of trials, each once")
    for trial in trials:
        check_verifies(trial["path"])
    return trials


def check_as_alone(config, trial):
    """The same config, run by itself."""
    name = f"alone_{trial['trial']}"
    words = [f"--{key}={value}" for key, value in trial["config"].items()]
    job = run([TRAINRT, "--config", run_dir_of(config) / "trial.ini", f"--run.name={name}", *words])
    check_exit(job, 0)
    check_same_bits(trial["path"], run_dir_of(config) / name)
