#!/usr/bin/python3
"""A program that is a sink gets every report across stops, kills and restarts. A sink that hangs or fails does not disturb the run."""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

EPOCHS = 30
# A tracker that writes reports to a file, and reads its last iteration from that file at the next start.
TRACKER = """
import json, pathlib, sys
from trainrt.sinks import serve

class Tracker:
    def __init__(self, begin):
        self.file = pathlib.Path(sys.argv[1])
        there = [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []
        self.last = there[-1]["iteration"] if there else 0
        with open(f"{self.file}.starts", "a") as starts:
            print(json.dumps([begin.run, begin.run_id, begin.run_dir, begin.after, begin.config["loop.epochs"]]), file=starts)
    def log(self, iteration, metrics, time):
        with open(self.file, "a") as file:
            print(json.dumps({"iteration": iteration, "loss": metrics["loss"], "keys": sorted(metrics)}), file=file)
    def finish(self, complete):
        with open(f"{self.file}.ends", "a") as ends:
            print(complete, file=ends)

serve(Tracker)
"""


def slow_config(folder, program, **keys):
    """Returns the config of a run of some seconds with `program` as a sink."""
    return linear_config(folder, "run", {"epochs": EPOCHS, "step_pause": 0.005}, metrics={"sinks": "csv, mine"}, **{"sink.mine": {"program": program, **keys}})


def lines_of(path):
    return path.read_text().splitlines() if path.exists() else []


@test
def a_tracker_gets_every_report_once_across_a_stop_and_a_kill():
    folder = scratch()
    config = slow_config(folder, f"python3 {program_file(TRACKER)} {folder}/got")
    run_dir = run_dir_of(config)
    for ends, count, action in ((1, 5, signal.SIGTERM), (2, 15, signal.SIGKILL)):
        job = start_ranks(2, config)
        ranks = job.wait_for_ranks(2)
        wait_for_reports(run_dir, count, job)
        kill([ranks[0]], action)
        job.code = job.wait(60)
        check(job.code != FINISHED, "the run finished before the signal", job)
        wait_until(lambda: len(lines_of(folder / "got.ends")) == ends, 30, "the tracker to see the end", job)
    job = run_ranks(2, config)
    check_exit(job, FINISHED)
    got = [json.loads(line) for line in lines_of(folder / "got")]
    equal([each["iteration"] for each in got], list(range(1, EPOCHS + 1)), "iterations of the tracker", job)
    equal([each["loss"] for each in got], [each["loss"] for each in reports(run_dir)], "losses", job)
    check("runtime/time_this_iter_s" in got[0]["keys"] and not any(key.startswith("_") for key in got[0]["keys"]), got[0]["keys"])
    starts = [json.loads(line) for line in lines_of(folder / "got.starts")]
    run_id = json.loads((run_dir / "run.json").read_text())["run_id"]
    equal({tuple(start[:3]) for start in starts}, {("run", run_id, str(run_dir))}, "name, ID and directory of the run")
    equal([starts[0][3], starts[-1][4]], [0, str(EPOCHS)], "first iteration and config")
    check(starts[-1][3] > 0, f"the tracker does not get its last iteration: {starts}")
    equal(lines_of(folder / "got.ends"), ["True", "False", "True"], "complete attempts")
    note = json.loads((run_dir / "sink_mine.json").read_text())
    equal(note, {"run_id": run_id, "kept": EPOCHS, "dropped": 0}, "record of the sink")
    check_no_debris(run_dir)


@test
def a_sink_that_hangs_or_fails_is_named_and_does_not_change_the_run():
    folder = scratch()
    reference = linear_config(folder, "reference", {"epochs": EPOCHS})
    check_exit(run_ranks(2, reference), FINISHED)
    for name, program, part in (("hangs", "sleep 600", f"sink.mine has not kept the last {EPOCHS} reports within 0.2 s"),
                                ("dies", "echo no such host >&2; exit 3", "sink.mine exited with 3; it will be restarted in 1 s: no such host"),
                                ("is_missing", "/no/such/program", "sink.mine exited with 127"),
                                ("lacks_its_library", "python3 -m trainrt.sinks.comet", "No module named 'comet_ml'; install it for")):
        config = linear_config(folder, name, {"epochs": EPOCHS, "step_pause": 0.001}, metrics={"sinks": "mine"}, **{"sink.mine": {"program": program, "wait": 0.2}})
        job = run_ranks(2, config)
        check_exit(job, FINISHED)
        if name != "lacks_its_library" or run(["python3", "-c", "import comet_ml"]).code != 0:
            check(part in job.err, f"{name}: the message lacks {part!r}", job)
        check_same_bits(run_dir_of(config), run_dir_of(reference))
        check(not processes_with("sleep 600"), "the program is still running", job)


@test
def a_sink_that_exits_at_the_end_without_its_reports_is_reported_as_exited():
    folder = scratch()
    config = linear_config(folder, "run", {"epochs": 3}, metrics={"sinks": "mine"}, **{"sink.mine": {"program": "sleep 0.7; exit 3"}})
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    check("sink.mine has not kept the last 3 reports, because its program has exited. result.json has these reports" in job.err, "the message", job)


@test
def two_sinks_get_the_same_reports_and_have_separate_logs():
    folder = scratch()
    sinks = {f"sink.{name}": {"program": f"echo I am {name} >&2; cat > {folder}/{name}"} for name in ("one", "two")}
    config = linear_config(folder, "run", {"epochs": 3}, metrics={"sinks": "one, two"}, **sinks)
    check_exit(run_ranks(1, config), FINISHED)
    for name in ("one", "two"):
        got = [json.loads(line) for line in lines_of(folder / name)]
        equal([each["type"] for each in got], ["begin", "report", "report", "report", "end"], name)
        equal([each["metrics"] for each in got[1:4]], reports(run_dir_of(config)), name)
        check(f"I am {name}\n" in (run_dir_of(config) / f"logs/sink.{name}.log").read_text(), f"log of {name}")


@test
def the_name_of_a_sink_must_be_valid_and_have_a_section_with_a_program():
    for overrides, words in ((["--metrics.sinks=mine"], ("no such sink: 'mine'", "[sink.mine] program = COMMAND")),
                             (["--metrics.sinks=a b", "--sink.a b.program=cat"], ("a b", "letters, digits")),
                             (["--metrics.sinks=mine", "--sink.mine.program=cat", "--sink.mine.queue=0"], ("[sink.mine]", "queue", "from 1 to")),
                             (["--sink.mine.queue=3"], ("'mine'", "[sink.mine] program = COMMAND"))):
        config = linear_config(scratch(), "run", {"epochs": 1})
        job = run_ranks(1, config, *overrides)
        check_exit(job, USAGE)
        for word in words:
            check(word in job.err, f"the message lacks {word!r}", job)


@test
def different_metrics_have_different_names_in_a_tracker():
    sys.path.insert(0, str(SOURCE / "src/python"))
    from trainrt.sinks import _serve, mlflow
    metrics = {"x": 1, "_x": 2, "runtime/x": 3, "metric/runtime/x": 4, "metric/x": 5, "_timestamp": 6, "text": "\\Infinity", "low": "-Infinity"}
    equal(_serve.numbers(metrics), {"x": 1, "runtime/x": 2, "metric/runtime/x": 3, "metric/metric/runtime/x": 4, "metric/x": 5, "low": float("-inf")}, "names")
    equal([mlflow.name_of(key) for key in ("acc@1", "acc_1", "损失", "a//b", "/a", "..", "..a", "_u0040_")],
          ["acc_u0040_1", "acc_1", "损失", "a_u002f__u002f_b", "_u002f_a", "_u002e__u002e_", "_u002e_.a", "_u005f_u0040_"], "names in MLflow")
    letters, draws = ["_", "u", "0", "4", "a", "@", "/", ".", " ", "é", "f", "2", "e"], random.Random(1)
    for key in {"".join(draws.choice(letters) for _ in range(draws.randint(0, 9))) for _ in range(20000)}:
        equal(mlflow.original_name(mlflow.name_of(key)), key, "key from the name in MLflow")
    long = [mlflow.name_of("x" * 300 + end) for end in "ab"]
    check(long[0] != long[1] and {len(name) for name in long} == {250}, f"unexpected names of long keys: {long}")


main()
