#!/usr/bin/python3
"""Runs some points of the attack harness (tests/attack; `make attack` runs all of them): a run is killed, stopped or gets an error at a
system call, and the next attempt finishes it with the results of an undisturbed run."""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("attack", "support")]
import attack  # noqa: E402
from conversion import CONVERSIONS  # noqa: E402
from scenes import INJECTOR, SCENES, require_tracing  # noqa: E402
from sweep_scene import SWEEPS  # noqa: E402
from harness import *  # noqa: E402,F403

SEED = 2137
POINTS = 56
CONVERSION_POINTS = 40
TIME_S = 60  # fewer points on a loaded machine


# Action on the second of three lines that a program writes -> contents of the file afterwards.
ONE_CALL = {"fail:28": "1\n3\n", "short": "1\n23\n", "kill-before": "1\n", "kill-after": "1\n2\n", "signal:15": "1\n2\n"}
WRITER = """import os, sys
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
for line in b"1\\n", b"2\\n", b"3\\n":
    try:
        os.write(file, line)
    except OSError as error:
        print(error.strerror)
"""


@test
def an_attack_affects_only_the_given_call():
    require_tracing()
    for action, expected in ONE_CALL.items():
        folder = scratch()
        program = program_file(WRITER)
        run([INJECTOR, "--watch", folder, "--log", folder.parent / "calls", "--at", "write", "file", "2", action, "/usr/bin/python3", program, folder / "file"])
        equal((folder / "file").read_text(), expected, f"contents after {action}")


@test
def an_attack_at_any_system_call_does_not_change_the_results():
    tally = attack.run(SEED, POINTS, scenes=(*SCENES, *SWEEPS), time_s=TIME_S)
    tally.print_report()
    check(tally.count(), "no point was attacked")
    check(tally.late <= tally.count() // 5, f"{tally.late} of {tally.count()} calls did not occur: the calls differ from those of an undisturbed run")
    check(not tally.missed, f"{len(tally.missed)} points of seed {SEED} failed, see above")


@test
def an_attack_at_any_system_call_of_a_conversion_leaves_no_incomplete_output():
    tally = attack.run(SEED, CONVERSION_POINTS, scenes=CONVERSIONS, time_s=TIME_S)
    tally.print_report()
    check(tally.count(), "no point was attacked")
    check(not tally.missed, f"{len(tally.missed)} points of seed {SEED} failed, see above")


main()
