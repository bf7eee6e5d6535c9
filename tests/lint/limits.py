#!/usr/bin/python3
"""Checks limits on the length of files and functions, and on the number of places where a rank tests whether it is rank 0. The exceptions are
listed here with their reasons."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

FILE_LINES = 300
FUNCTION_LINES = 50
LONG_FILES = {"src/comm/reduce.cpp": (311, "the loops of all types, compiled with their own options")}
LONG_FUNCTIONS = {"src/frameworks/builtin/linear.cpp: train": (60, "an example, to be read from top to bottom")}
# Rank-specific behaviour is decided at construction (an object that does nothing on the other ranks): RankZero, log's run_warning and
# run_error, comm::collectively_on_first, delay_after_rank0_s. These files test the rank themselves.
RANK_0 = {path: (int(count), reason) for reason, places in {
    "decided once, at construction":
        "src/core/rank_zero.hpp 1, src/core/output/output_targets.cpp 1, src/cli/commands/doctor.cpp 1, src/checkpoint/replicas.cpp 1, src/trainer/saving/checkpoint_cycle.cpp 1, "
        "src/trainer/reports/reporter.cpp 1",
    "one rank acts first, and the others wait for it":
        "src/launch/world.cpp 1, src/checkpoint/load/newest_intact.cpp 1",
    "only rank 0 writes data that is shared by all ranks":
        "src/checkpoint/save/shard_staging.cpp 1",
    "the root of a collective provides the data for the others":
        "src/checkpoint/save/agree.cpp 1, src/comm/nccl/nccl_communicator.cpp 1, "
        "src/program/services/address_survey.cpp 1, src/program/environments/launch_services.cpp 1",
}.items() for path, count in (place.split() for place in places.split(", "))}
ASKS = re.compile(r"\brank(?:\(\))? *(?:==|!=) *0\b")


def sources():
    return sorted(path for root in ("src", "include") for path in (SOURCE / root).rglob("*") if path.suffix in (".cpp", ".hpp", ".cu"))


def name_of(path):
    return str(path.relative_to(SOURCE))


def functions(lines):
    """Yields first line, name and length of each definition. The code is formatted, so a body ends with a brace at the indent of its first
    line."""
    for number, line in enumerate(lines):
        start = re.match(r"( *)(?![ /#}])(?!(?:namespace|class|struct|enum|union|extern)\b).*\)[^;]*\{$", line)
        if not start or re.match(r" *(?::|\w+_\()", line) or re.match(r" *(?:if|for|while|switch|else|do|try|catch|return|case)\b", line):
            continue
        end = next((i for i in range(number + 1, len(lines)) if re.match(rf"{start[1]}\}}", lines[i])), None)
        if end is not None:
            yield number + 1, line.strip(), end - number + 1


def beyond(found, allowed, limit, unit):
    """Checks `found` (name -> number) against the limit and its exceptions."""
    wrong = [f"{name}: {number} {unit}, {allowed.get(name, (limit,))[0]} at most"
             for name, number in sorted(found.items()) if number > allowed.get(name, (limit,))[0]]
    wrong += [f"{name}: is listed with {most} but is within the general limit: remove it from the list" for name, (most, _) in sorted(allowed.items())
              if found.get(name, 0) <= limit]
    check(not wrong, "\n  " + "\n  ".join(wrong))


@test
def no_file_is_too_long():
    beyond({name_of(path): len(path.read_text().splitlines()) for path in sources()}, LONG_FILES, FILE_LINES, "lines")


@test
def no_function_is_too_long():
    found = {}
    for path in sources():
        for _, text, length in functions(path.read_text().splitlines()):
            name = f"{name_of(path)}: {re.split(r'[(]', text)[0].split()[-1] if '(' in text else text}"
            found[name] = max(found.get(name, 0), length)
    check(len(found) > 500, f"only {len(found)} functions were found")
    beyond(found, LONG_FUNCTIONS, FUNCTION_LINES, "lines")


@test
def few_places_ask_for_rank_0():
    found = {}
    for path in sources():
        if count := len(ASKS.findall(path.read_text())):
            found[name_of(path)] = count
    beyond(found, RANK_0, 0, "places that ask for rank 0")


main()
