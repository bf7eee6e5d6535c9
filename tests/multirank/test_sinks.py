#!/usr/bin/python3
"""The sinks of a run: chosen by metrics.sinks, each by itself, with the options of its section."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

ITERATIONS = 3


def sinks():
    table = run([TRAINRT, "list"]).out.split("\nmetric sinks\n")[1].split("\n\n")[0]
    return [name for name in re.findall(r"^  (\w+) ", table, re.M) if name != "program"]  # it needs one


def finished(names, *overrides):
    """The run directory, its files, and the job, of a run with these sinks."""
    config = linear_config(scratch(), "run", {"epochs": ITERATIONS})
    job = run_ranks(2, config, f"--metrics.sinks={names}", *overrides)
    check_exit(job, FINISHED)
    run_dir = run_dir_of(config)
    equal([json.loads(line)["_training_iteration"] for line in (run_dir / "result.json").read_text().splitlines()],
          list(range(1, ITERATIONS + 1)), "iterations in result.json", job)
    return run_dir, {path.name for path in run_dir.iterdir() if path.is_file()}, job


@test
def a_run_has_the_files_of_the_sinks_that_it_names():
    _, without, job = finished("none")
    check("run: iteration" not in job.out, "there is progress on standard output", job)
    _, everything, job = finished(", ".join(sinks()))
    check("run: iteration" in job.out, "there is no progress on standard output", job)
    of_each = {}
    for name in sinks():
        run_dir, files, job = finished(name)
        check(without <= files <= everything, f"{name}: {sorted(files)}", job)
        of_each[name] = files - without
        check(("run: iteration" in job.out) == (name == "progress"), f"progress on standard output with {name} alone", job)
        check_exit(run([TRAINRT, "verify", run_dir]), FINISHED)
    equal((of_each["csv"], of_each["hdf5"]), ({"progress.csv"}, {"metrics.h5"}), "files of csv and hdf5")
    equal(set().union(*of_each.values()), everything - without, "files of all sinks")
    equal(sum(len(files) for files in of_each.values()), len(everything - without), "number of files: two sinks write the same")


@test
def csv_hdf5_and_progress_are_the_default():
    equal(finished("csv, hdf5, progress")[1], run_with_defaults(), "files")


def run_with_defaults():
    config = linear_config(scratch(), "run", {"epochs": ITERATIONS})
    check_exit(run_ranks(2, config), FINISHED)
    return {path.name for path in run_dir_of(config).iterdir() if path.is_file()}


@test
def a_sink_that_there_is_not_and_its_options_are_refused_before_anything_is_made():
    for overrides, words in ((["--metrics.sinks=cvs"], ("metrics.sinks", "'cvs'", "did you mean 'csv'")),
                             (["--metrics.sinks=csv,csv"], ("metrics.sinks", "named twice")),
                             (["--sink.hdf5.interval=soon"], ("[sink.hdf5]", "interval", "'soon'", "a number of seconds")),
                             (["--sink.hdf4.interval=3"], ("'hdf4'", "did you mean 'hdf5'"))):
        config = linear_config(scratch(), "run", {"epochs": ITERATIONS})
        for job in (run_ranks(2, config, *overrides), run([TRAINRT, "check", "--config", config, *overrides])):
            check_exit(job, USAGE)
            for word in words:
                check(word in job.err, f"the message lacks {word!r}", job)
        check(not run_dir_of(config).exists(), "a run directory is left behind")


main()
