#!/usr/bin/python3
"""Ranks that make different calls: the error names the user's own calls with their lines, and the rank that left or did not arrive."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403


def names_the_calls(text, expected, ranks=2, **failure):
    """Checks the first line of error.txt. In `expected`, FILE stands for the name of the program's file."""
    path = program_file(text)
    config = program_config(f"{PYTHON} {path}", failure=failure)
    job = run_program(ranks, config)
    check_exit(job, FAILED)
    line = error_of(config).splitlines()[0]
    check(expected.replace("FILE", Path(path).name) in line, f"error.txt: {line}", job)


@test
def a_rank_that_leaves_early_is_named_with_the_call_of_the_others():
    names_the_calls("import trainrt\nctx = trainrt.context()\nif ctx.world_rank == 0:\n    ctx.report({'loss': 1})\n",
                    "rank 1 left the program while rank 0 waits in report() at FILE:4")
    names_the_calls("import sys, trainrt\nctx = trainrt.context()\nfor i in range(3):\n    if ctx.world_rank == 1 and i == 1:\n        sys.exit(0)\n    ctx.report({'i': i})\n",
                    "rank 1 left the program (last call: report() at FILE:6) while ranks 0,2 wait in report() at FILE:6", ranks=3)
    names_the_calls("import os\nif os.environ['RANK'] == '1':\n    raise SystemExit(0)\nimport trainrt\nctx = trainrt.context()\nctx.barrier()\n",
                    "rank 1 left the program while rank 0 waits in context() at FILE:5")


@test
def a_rank_that_left_is_named_at_once_while_another_still_computes():
    names_the_calls("import time, trainrt\nctx = trainrt.context()\nif ctx.world_rank == 0:\n    ctx.barrier()\nif ctx.world_rank == 2:\n    time.sleep(1000)\n",
                    "rank 1 left the program while rank 0 waits in barrier() at FILE:4", ranks=3)


@test
def different_calls_are_named_with_their_lines():
    names_the_calls("import array, trainrt\nctx = trainrt.context()\nif ctx.world_rank == 0:\n    ctx.all_reduce(array.array('d', [1]))\nelse:\n    ctx.barrier()\n",
                    "the ranks do not make the same call: rank 0 is in all_reduce() at FILE:4, ranks 1-2 in barrier() at FILE:6", ranks=3)
    names_the_calls("from trainrt import train\nimport trainrt\nif trainrt.context().world_rank == 0:\n    train.report({'loss': 1})\nelse:\n    train.collective.barrier()\n",
                    "the ranks do not make the same call: rank 0 is in report() at FILE:4, rank 1 in barrier() at FILE:6")


@test
def a_rank_that_never_arrives_is_named_with_its_last_call():
    loop = "import time, trainrt\nctx = trainrt.context()\nctx.report({'i': 1})\ndef forever():\n    while True:\n        time.sleep(0.1)\nif ctx.world_rank == 1:\n    forever()\nctx.report({'i': 2})\n"
    names_the_calls(loop, "rank 0 has waited 2 s (failure.collective_timeout) in report() at FILE:9 for rank 1 (last call: report() at FILE:3)", collective_timeout=2)
    path = program_file(loop)
    name = Path(path).name
    config = program_config(f"{PYTHON} {path}", failure={"hang_timeout": "3 s"})
    job = run_program(2, config)
    check_exit(job, FAILED)
    for words in ("rank 1 on ", f"its program is in {name}, line 6 in forever, its last call was report() at {name}:3", f"rank 0 waits in report() at {name}:9"):
        check(words in job.err, f"the error lacks {words!r}", job)


@test
def a_program_that_fails_after_another_left_names_the_other():
    """Connections of gloo break when a rank leaves early, in programs without the client."""
    names_the_calls("import os, time\nif os.environ['RANK'] == '1':\n    raise SystemExit(0)\ntime.sleep(2)\nraise RuntimeError('Connection closed by peer')\n",
                    "Connection closed by peer; rank 1 had already exited with 0")


FUNCTION = """
def function(config):
    if rank() == 0 or config["leaves"] == "no":
        train.report({'x': 1})
    elif config["leaves"] == "exit":
        sys.exit(0)

""" + MAIN + """    try:
        trainer(function, config={"leaves": sys.argv[1]}).fit()
    except train.TrainingFailedError as error:
        print("RESULT", json.dumps(str(error)))
"""


def line_of(script, text):
    return next(number for number, line in enumerate(script.path.read_text().splitlines(), 1) if text in line)


def of_report(script):
    return line_of(script, "'x': 1")


@test
def an_early_return_or_exit_of_a_train_function_is_named():
    for word in ("returns", "exit"):
        script = Script(FUNCTION)
        job = script.run(word)
        there = f"while rank 0 waits in report() at train.py:{of_report(script)}"
        left = "rank 1 left the train function" if word == "returns" else f"rank 1 left the program by sys.exit() at train.py:{line_of(script, 'sys.exit(0)')}"
        text = result_of(job)[0]
        check(left in text and there in text and "broadcast" not in text.split("\n")[0], f"{word}: the raised error lacks the calls", job)


@test
def an_early_return_or_exit_in_a_program_of_trainrt_is_named():
    for word in ("returns", "exit"):
        script = Script(FUNCTION)
        job = script.run(command=[TRAINRT, "-n", 2, "--failure.max_failures=0", "--", PYTHON, script.path, word])
        there = f"while rank 0 waits in report() at train.py:{of_report(script)}"
        left = "rank 1 left the train function" if word == "returns" else f"rank 1 left the program by sys.exit() at train.py:{line_of(script, 'sys.exit(0)')}"
        check(left in job.err and there in job.err, f"{word}: the log lacks the calls", job)


main()
