#!/usr/bin/python3
"""The key metrics.sinks selects the sinks of a run. Each sink works without the others, and reads the options of its own section."""
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from tools.event_file import events_of  # noqa: E402
from harness import *  # noqa: E402,F403

ITERATIONS = 3


def sinks():
    return [name for name in listed("metric sinks") if name != "program"]  # this sink needs a program


def finished(names, *overrides):
    """Runs with these sinks; returns the run directory, the names of its files, and the job."""
    config = linear_config(scratch(), "run", {"epochs": ITERATIONS})
    job = run_ranks(2, config, f"--metrics.sinks={names}", *overrides)
    check_exit(job, FINISHED)
    run_dir = run_dir_of(config)
    equal([json.loads(line)["_training_iteration"] for line in (run_dir / "result.json").read_text().splitlines()],
          list(range(1, ITERATIONS + 1)), "iterations in result.json", job)
    return run_dir, {path.name for path in run_dir.iterdir() if path.is_file()}, job


@test
def a_run_has_exactly_the_files_of_its_sinks():
    _, without, job = finished("none")
    check("run: iteration" not in job.out, "progress is printed", job)
    _, everything, job = finished(", ".join(sinks()))
    check("run: iteration" in job.out, "no progress is printed", job)
    of_each = {}
    for name in sinks():
        run_dir, files, job = finished(name)
        check(without <= files <= everything, f"{name}: {sorted(files)}", job)
        of_each[name] = files - without
        check(("run: iteration" in job.out) == (name == "progress"), f"progress printed with only {name}", job)
        check_exit(run([TRAINRT, "verify", run_dir]), FINISHED)
    equal((of_each["csv"], of_each["hdf5"]), ({"progress.csv"}, {"metrics.h5"}), "files of csv and hdf5")
    equal(set().union(*of_each.values()), everything - without, "files of all sinks")
    equal(sum(len(files) for files in of_each.values()), len(everything - without), "number of files (two sinks write the same file)")


@test
def csv_hdf5_and_progress_are_the_default():
    equal(finished("csv, hdf5, progress")[1], run_with_defaults(), "files")


def run_with_defaults():
    config = linear_config(scratch(), "run", {"epochs": ITERATIONS})
    check_exit(run_ranks(2, config), FINISHED)
    return {path.name for path in run_dir_of(config).iterdir() if path.is_file()}


@test
def unknown_sinks_and_invalid_options_are_refused_before_files_are_created():
    for overrides, words in ((["--metrics.sinks=cvs"], ("metrics.sinks", "'cvs'", "did you mean 'csv'")),
                             (["--metrics.sinks=csv,csv"], ("metrics.sinks", "named twice")),
                             (["--sink.hdf5.interval=soon"], ("[sink.hdf5]", "interval", "'soon'", "a number of seconds")),
                             (["--sink.hdf4.interval=3"], ("'hdf4'", "did you mean 'hdf5'"))):
        config = linear_config(scratch(), "run", {"epochs": ITERATIONS})
        for job in (run_ranks(2, config, *overrides), run([TRAINRT, "check", "--config", config, *overrides])):
            check_exit(job, USAGE)
            for word in words:
                check(word in job.err, f"the message lacks {word!r}", job)
        check(not run_dir_of(config).exists(), "a run directory was left")


def histograms(run_dir):
    """Returns the histograms of the event file as {tag: [(step, histogram), ...]}."""
    found = {}
    for step, tag, value in events_of(run_dir / "events.out.tfevents.trainrt"):
        if isinstance(value, dict):
            found.setdefault(tag, []).append((step, value))
    return found


@test
def histograms_of_tensors_equal_those_of_numpy_also_after_a_restart():
    import h5py
    import numpy
    loop, data = {"epochs": 8, "optimizer": "adamw", "lr": 0.1}, {"features": 3000}
    plain, shown = (linear_config(scratch(), name, loop, data, {"num_to_keep": 8}) for name in ("plain", "shown"))
    check_exit(run_ranks(2, plain), FINISHED)
    words = ["--metrics.sinks=tensorboard", "--sink.tensorboard.histograms=model/*, optimizer/second", "--sink.tensorboard.histogram_interval=2"]
    killed = start_ranks(2, shown, *words, first_env={"TRAINRT_STOP_AT": "reported:5"})
    wait_until(lambda: any(is_stopped(pid) for pid in killed.ranks().values()), 30, "the fifth report", killed)
    kill(killed.ranks().values())
    killed.wait(30)
    again = run_ranks(2, shown, *words)
    check_exit(again, FINISHED)
    run_dir = run_dir_of(shown)
    check_same_bits(run_dir, run_dir_of(plain))
    found = histograms(run_dir)
    equal({tag: [step for step, _ in each] for tag, each in found.items()}, {tag: [2, 4, 6, 8] for tag in ("model/weights", "optimizer/second")},
          "steps of the histograms", again)
    for tag, each in found.items():
        for step, histogram in each:
            with h5py.File(run_dir / f"checkpoint_{step - 1:06}" / "state.h5") as state:
                values = state[tag][...].astype(numpy.float64)
            counts, edges = numpy.histogram(values, bins=64)
            equal((histogram["bucket"], histogram["bucket_limit"]), (counts.tolist(), edges[1:].tolist()), f"buckets of {tag} at {step}")
            equal((histogram["min"], histogram["max"], histogram["num"]), (values.min(), values.max(), values.size), f"range of {tag} at {step}")
            check(numpy.allclose([histogram["sum"], histogram["sum_squares"]], [values.sum(), (values**2).sum()], rtol=1e-9), f"other sums of {tag} at {step}")


@test
def a_pattern_of_histograms_that_matches_no_tensor_gives_one_warning():
    run_dir, _, job = finished("tensorboard", "--sink.tensorboard.histograms=nodel/*")
    equal(job.err.count("[sink.tensorboard] histograms = nodel/* matches no tensor of the State"), 1, "warnings", job)
    equal(histograms(run_dir), {}, "histograms", job)


@test
def options_of_a_sink_that_is_not_selected_give_one_warning():
    _, _, job = finished("csv", "--sink.tensorboard.histograms=model/*")
    equal(job.err.count("[sink.tensorboard] has no effect: metrics.sinks does not contain tensorboard"), 1, "warnings", job)


@test
def histograms_of_the_State_of_python_programs_on_2_ranks():
    """The State is brought up to date on all ranks, although only rank 0 has sinks."""
    folder = scratch()
    (folder / "train.py").write_text(
        "import numpy, trainrt\nctx = trainrt.context()\nweights = numpy.zeros(4)\nstate = trainrt.State()\nstate.tensor('model/w', weights)\nctx.restore(state)\n"
        "for step in range(6):\n    weights += numpy.arange(4)\n    ctx.step()\n    ctx.report({'loss': 1 / (step + 1)})\n")
    job = run([TRAINRT, "-n", "2", "--run.name=run", f"--run.storage_path={folder}/runs", "--metrics.sinks=tensorboard", "--sink.tensorboard.histograms=model/*",
               "--sink.tensorboard.histogram_interval=3", "--checkpoint.every=2 reports", "--", sys.executable, folder / "train.py"])
    check_exit(job, FINISHED)
    found = histograms(folder / "runs/run")["model/w"]
    equal([(step, histogram["max"]) for step, histogram in found], [(3, 9.0), (6, 18.0)], "steps and maxima of the histograms", job)


@test
def the_parser_of_prometheus_reads_all_names_and_values():
    from prometheus_client import parser
    folder = scratch()
    names = {"loss": "0.25", "val/\u00b5 \U0001f642": "2", 'a "b" \\ c': "-1e-9", "nan": "math.nan", "up": "math.inf", "down": "-math.inf"}
    (folder / "train.py").write_text(
        "import math, trainrt\nctx = trainrt.context()\nctx.restore(trainrt.State())\nctx.report({" +
        ", ".join(f"{name!r}: {value}" for name, value in names.items()) + ", 'text': 'no number'})\n")
    job = run([TRAINRT, "--run.name=r\u00fcn-\U0001f642", f"--run.storage_path={folder}/runs", "--metrics.sinks=prometheus", "--",
               "/usr/bin/python3", folder / "train.py"], cwd=folder)
    check_exit(job, FINISHED)
    text = (folder / "runs/r\u00fcn-\U0001f642/metrics.prom").read_text()
    families = list(parser.text_string_to_metric_families(text))
    samples = [sample for family in families for sample in family.samples]
    equal({sample.labels["run"] for sample in samples}, {"r\u00fcn-\U0001f642"}, "runs", job)
    found = {sample.labels["key"]: sample.value for sample in samples if sample.name == "trainrt_metric"}
    wanted = {"loss": 0.25, "val/\u00b5 \U0001f642": 2, 'a "b" \\ c': -1e-9, "nan": math.nan, "up": math.inf, "down": -math.inf}
    equal({key: repr(found.get(key)) for key in wanted}, {key: repr(float(value)) for key, value in wanted.items()}, f"values in {text}", job)
    check("text" not in found, "a string metric was written", job)
    numbers = {sample.name: sample.value for sample in samples}
    equal((numbers["trainrt_iteration"], numbers["trainrt_running"]), (1, 0), "iteration and running", job)


main()
