#!/usr/bin/python3
"""`trainrt plot` draws curves of runs into image files and in the terminal."""
import ctypes
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
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
    """Returns a folder with the runs `a`, which was killed and restarted, and `b`, which was not."""
    if not _folder:
        folder = scratch()
        program = program_file(PROGRAM)
        for name, dies in (("a", True), ("b", False), ("a", False)):
            words = [TRAINRT, f"--run.name={name}", f"--run.storage_path={folder}/runs", "--checkpoint.score_attribute=loss", "--checkpoint.score_order=min",
                     "--failure.max_failures=0", f"--loop.dies={str(dies).lower()}", "--metrics.sinks=none", "--", "python3", program]
            check_exit(run(words, cwd=folder), FAILED if dies else FINISHED)
        _folder.append(folder)
    return _folder[0]


def has_librsvg():
    try:
        return ctypes.CDLL("librsvg-2.so.2") is not None
    except OSError:
        return False


def plot(*words, code=FINISHED, env=None):
    job = run([TRAINRT, "plot", *words], cwd=folder_of_runs(), env=env)
    check_exit(job, code)
    return job


@test
def an_image_shows_all_metrics_of_all_runs():
    folder = folder_of_runs()
    job = plot("runs", "-o", "all.svg")
    equal(job.out, "all.svg: 3 metrics of 2 runs\n", "output", job)
    drawn = "".join("".join(text.itertext()) + "\n" for text in xml.etree.ElementTree.parse(folder / "all.svg").iter(f"{SVG}text"))
    for word in ("loss", "val/accuracy", HOSTILE, "a (4 values not finite)", "b", "iteration"):
        check(word in drawn, f"{word!r} is not in the image: {drawn}", job)


@test
def images_are_svg_png_or_pdf_and_only_force_replaces_a_file():
    if not has_librsvg():
        skip("librsvg is not installed (package librsvg2-2)")
    folder = folder_of_runs()
    for ending, beginning in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        plot("runs/a", "-o", f"one.{ending}", "--smooth", "0.9", "--log", "xy", "--x", "time", "--size", "500x300")
        before = (folder / f"one.{ending}").read_bytes()
        check(before.startswith(beginning), f"{ending}: {before[:20]}")
        check("--force" in plot("runs/a", "-o", f"one.{ending}", code=USAGE).err, "the message lacks --force")
        equal((folder / f"one.{ending}").read_bytes(), before, "the existing image")
        plot("runs/b", "-o", f"one.{ending}", "--force")
        check((folder / f"one.{ending}").read_bytes() != before, "the image is not replaced")


@test
def a_restart_is_marked_and_the_chart_keeps_to_its_width():
    marks = {}
    for name in ("a", "b"):
        lines = plot(f"runs/{name}", "--metrics", "loss", "--size", "100x30").out.splitlines()
        equal(max(map(len, lines)) <= 100, True, "lines within the width")
        marks[name] = sum(line.count("^") for line in lines)
    equal(marks, {"a": 1, "b": 0}, "marked restarts")


@test
def output_without_a_terminal_has_no_colors_and_80_columns():
    out = plot("runs").out
    check("\x1b" not in out, "the output has colors")
    equal(out.count("iteration"), 3, "charts")
    check(max(len(line) for line in out.splitlines() if HOSTILE not in line) <= 80, "wider than 80 columns")


@test
def an_invalid_argument_is_an_error_that_lists_the_valid_ones():
    for words, parts in ((["runs/a", "--metrics", "los"], ("'los'", "did you mean 'loss'")), (["runs/a", "--x", "hours"], ("'hours'", "iteration, time")),
                        (["runs/a", "--x", "step"], ("metrics.detailed = true",)), (["runs/a", "-o", "x.jpg"], (".svg, .png or .pdf",)),
                        (["runs/a", "--smooth", "1"], ("from 0 to below 1",)), (["runs/a", "--log", "z"], ("x, y or xy",)),
                        (["runs/a", "--size", "9"], ("1200x800",)), (["nowhere"], ("nowhere",)), ([program_file(PROGRAM).parent], ("neither a run directory",))):
        job = plot(*words, code=USAGE)
        for part in parts:
            check(part in job.err, f"{words}: the message lacks {part!r}", job)


@test
def a_png_without_librsvg_is_an_error_that_names_the_package():
    """The test puts an empty file before librsvg in the library path."""
    libraries = scratch()
    (libraries / "librsvg-2.so.2").write_text("")
    job = plot("runs/a", "-o", "none.png", code=USAGE, env={"LD_LIBRARY_PATH": str(libraries)})
    check("librsvg2-2" in job.err and ".svg" in job.err, "the message lacks the package or the format that works without it", job)
    check(not (folder_of_runs() / "none.png").exists(), "a file was left")


@test
def step_can_be_the_x_axis_if_reports_contain_it():
    config = linear_config(scratch(), "detailed", {"epochs": 3}, metrics={"detailed": "true"})
    check_exit(run_ranks(1, config), FINISHED)
    steps = [line["_step"] for line in reports(run_dir_of(config))]
    equal(steps[-1], step_of(run_dir_of(config)), "step of the last report")
    plot(run_dir_of(config), "--x", "step")


@test
def an_incomplete_report_and_an_unreadable_run_are_left_out():
    folder = scratch()
    shutil.copytree(folder_of_runs() / "runs", folder / "runs")
    with open(folder / "runs/a/result.json", "a") as log:
        log.write('{"loss": 0.5, "_training_iter')
    (folder / "runs/b/run.json").write_text("{")
    job = plot(folder / "runs")
    check("runs/b" in job.err and "loss" in job.out, "the unreadable run is not named, or the chart is missing", job)


main()
