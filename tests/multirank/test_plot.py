#!/usr/bin/python3
"""trainrt plot: curves of runs as pictures, and as characters."""
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "it's `touch made` \\ $x <b> 🙂"
PROGRAM = f"""
import math, os, trainrt
ctx, state = trainrt.context(), trainrt.State()
state["n"] = 0
ctx.restore(state)
while state["n"] < 40:
    state["n"] += 1
    n = state["n"]
    ctx.step()
    ctx.report({{"loss": 1 / n, "val/accuracy": n / 40 if n % 10 else math.nan, {HOSTILE!r}: n % 7, "epoch": n}})
    if n == 20 and ctx.config("dies", False):
        os.kill(os.getpid(), 9)
"""
_folder = []


def folder_of_runs():
    """With the runs `a`, which was killed on its way, and `b`."""
    if not _folder:
        folder = scratch()
        program = program_file(PROGRAM)
        for name, dies in (("a", True), ("b", False), ("a", False)):
            words = [TRAINRT, f"--run.name={name}", f"--run.storage_path={folder}/runs", "--checkpoint.score_attribute=loss", "--checkpoint.score_order=min",
                     "--failure.max_failures=0", f"--loop.dies={str(dies).lower()}", "--metrics.sinks=none", "--", "python3", program]
            check_exit(run(words, cwd=folder), FAILED if dies else FINISHED)
        _folder.append(folder)
    return _folder[0]


def plot(*words, code=FINISHED, env=None):
    job = run([TRAINRT, "plot", *words], cwd=folder_of_runs(), env=env)
    check_exit(job, code)
    return job


def setup():
    if run(["gnuplot", "--version"]).code != 0:
        skip("gnuplot is not there (package gnuplot-nox)")


@test
def a_picture_shows_all_metrics_of_all_runs_and_runs_nothing():
    folder = folder_of_runs()
    job = plot("runs", "-o", "all.svg")
    equal(job.out, "all.svg: 3 metrics of 2 runs\n", "what it says", job)
    drawn = "".join("".join(text.itertext()) + "\n" for text in xml.etree.ElementTree.parse(folder / "all.svg").iter(f"{SVG}text"))
    for word in ("loss", "val/accuracy", HOSTILE, "a (4 values not finite)", "b", "iteration"):
        check(word in drawn, f"{word!r} is not in the picture: {drawn}", job)
    check(not any(path.name == "made" for path in folder.rglob("*")), "a name was run as a command")


@test
def each_kind_of_picture_is_one_and_only_force_replaces_it():
    folder = folder_of_runs()
    for ending, beginning in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        plot("runs/a", "-o", f"one.{ending}", "--smooth", "0.9", "--log", "xy", "--x", "time", "--size", "500x300")
        before = (folder / f"one.{ending}").read_bytes()
        check(before.startswith(beginning), f"{ending}: {before[:20]}")
        check("--force" in plot("runs/a", "-o", f"one.{ending}", code=USAGE).err, "how to replace it")
        equal((folder / f"one.{ending}").read_bytes(), before, "the picture that was there")
        plot("runs/b", "-o", f"one.{ending}", "--force")
        check((folder / f"one.{ending}").read_bytes() != before, "it is not replaced")


@test
def a_restart_is_marked_and_the_picture_fits_its_size():
    marks = {}
    for name in ("a", "b"):
        lines = plot(f"runs/{name}", "--metrics", "loss", "--size", "100x30").out.splitlines()
        equal(max(map(len, lines)) <= 100, True, "lines within the width")
        marks[name] = sum(line.count("^") for line in lines)
    equal(marks, {"a": 1, "b": 0}, "restarts that are marked")


@test
def characters_are_plain_where_there_is_no_terminal():
    out = plot("runs").out
    check("\x1b" not in out, "there are colours in a file")
    equal(out.count("iteration"), 3, "pictures")
    check(max(len(line) for line in out.splitlines() if HOSTILE not in line) <= 80, "wider than 80 columns")


@test
def what_cannot_be_drawn_is_refused_with_what_can():
    for words, said in ((["runs/a", "--metrics", "los"], ("'los'", "did you mean 'loss'")), (["runs/a", "--x", "hours"], ("'hours'", "iteration, time")),
                        (["runs/a", "--x", "step"], ("metrics.detailed = true",)), (["runs/a", "-o", "x.jpg"], (".svg, .png or .pdf",)),
                        (["runs/a", "--smooth", "1"], ("from 0 to below 1",)), (["runs/a", "--log", "z"], ("x, y or xy",)),
                        (["runs/a", "--size", "9"], ("1200x800",)), (["nowhere"], ("nowhere",)), ([program_file(PROGRAM).parent], ("neither a run directory",))):
        job = plot(*words, code=USAGE)
        for word in said:
            check(word in job.err, f"{words}: the message lacks {word!r}", job)
    path = scratch() / "bin"
    path.mkdir()
    check("gnuplot" in plot("runs/a", code=USAGE, env={"PATH": str(path)}).err, "what is missing")


@test
def steps_are_an_axis_if_reports_have_them():
    config = linear_config(scratch(), "detailed", {"epochs": 3}, metrics={"detailed": "true"})
    check_exit(run_ranks(1, config), FINISHED)
    steps = [line["_step"] for line in reports(run_dir_of(config))]
    equal(steps[-1], step_of(run_dir_of(config)), "the last report's step")
    plot(run_dir_of(config), "--x", "step")


@test
def a_torn_result_and_a_run_that_cannot_be_read_stop_no_picture():
    folder = scratch()
    shutil.copytree(folder_of_runs() / "runs", folder / "runs")
    with open(folder / "runs/a/result.json", "a") as log:
        log.write('{"loss": 0.5, "_training_iter')
    (folder / "runs/b/run.json").write_text("{")
    job = plot(folder / "runs")
    check("runs/b" in job.err and "loss" in job.out, "what is left out, and what is shown", job)


main(setup)
