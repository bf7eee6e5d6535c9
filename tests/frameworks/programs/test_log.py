#!/usr/bin/python3
"""ctx.log() writes lines of a train function into the run's log, in C++ and in Python; ctx.config() reads the keys of [loop]."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

FUNCTION = r"""
#include <trainrt/trainrt.hpp>

void train(trainrt::Context& ctx) {
  if (ctx.world_rank() == ctx.config<int>("speaker")) {  // not collective
    ctx.log("one line");
    ctx.log("two\r\nlines\n");
    ctx.log("a \x1b[2J screen, \xff and \xc2\x9b, gr\xc3\xb6\xc3\x9f" "e\tand a tab");
    ctx.log("");
  }
  ctx.log("from all: " + ctx.config<std::string>("word", "default") + " " + std::to_string(ctx.config<double>("rate", 0.5)));
  ctx.report({{"loss", 1.0}});
}
TRAINRT_TRAIN_FUNCTION("speaks", train)
"""
PROGRAM = r"""
import trainrt
ctx = trainrt.context()
if ctx.world_rank == ctx.config("speaker", 0):
    ctx.log("one line")
    ctx.log("two\r\nlines\n")
    ctx.log("a \x1b[2J screen, \udcff and \x9b, größe\tand a tab")
    ctx.log("")
ctx.log(f"from all: {ctx.config('word', 'default')} {ctx.config('rate', 0.5):f}")
ctx.report({"loss": 1.0})
"""
MODULE = None


def setup():
    global MODULE
    source = scratch() / "speaks.cpp"
    source.write_text(FUNCTION)
    MODULE = source.with_name("libspeaks.so")
    done = subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", "-Wall", "-Werror", "-I", str(SOURCE / "include"), str(source), "-o", str(MODULE)],
                          capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)


def config_of(train, **loop):
    folder = scratch()
    return write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": train, "loop": {"speaker": 1, **loop}})


def ways():
    """Returns [train] for a function in C++ and for a program in Python."""
    return {"library": MODULE}, {"program": f"/usr/bin/python3 {program_file(PROGRAM)}"}


@test
def each_logged_line_has_its_rank_and_no_control_code():
    for train in ways():
        job = run_ranks(2, config_of(train))
        check_exit(job, FINISHED)
        said = [line.rstrip() for line in job.err.splitlines() if line.startswith("trainrt: rank 1:")]
        of_a_byte = r"\xff and \xc2\x9b" if "library" in train else r"? and \xc2\x9b"  # Python's str has no such byte
        equal(said[:5], ["trainrt: rank 1: one line", "trainrt: rank 1: two", "trainrt: rank 1: lines",
                         rf"trainrt: rank 1: a \x1b[2J screen, {of_a_byte}, größe" + "\tand a tab", "trainrt: rank 1:"], f"{train}: lines of rank 1", job)
        for rank in (0, 1):
            equal(job.err.count(f"trainrt: rank {rank}: from all: default 0.500000\n"), 1, f"{train}: lines of rank {rank}", job)
        check("\x1b" not in job.err, "a control code reached the log", job)


@test
def lines_of_a_run_of_one_rank_have_no_rank():
    for train in ways():
        job = run([TRAINRT, "--config", config_of(train, speaker=0, word="hello", rate=2)])
        check_exit(job, FINISHED)
        check("trainrt: one line\n" in job.err and "trainrt: from all: hello 2.000000\n" in job.err, "the lines of the run", job)


@test
def a_key_beyond_the_range_of_int_is_an_error_that_names_the_range():
    config = config_of({"library": MODULE}, speaker=3000000000)
    job = run([TRAINRT, "--config", config])
    check_exit(job, USAGE)
    for word in ("[loop] speaker is '3000000000'", "a whole number from -2147483648 to 2147483647", "run.ini:7"):
        check(word in job.err, f"no {word!r}", job)
    for value, keys in (("x", {"speaker": "x"}), ("a number", {"speaker": 0, "rate": "fast"})):
        job = run([TRAINRT, "--config", config_of({"library": MODULE}, **keys)])
        check_exit(job, USAGE)
        check(value in job.err and "[loop]" in job.err, f"no {value!r}", job)


main(setup)
