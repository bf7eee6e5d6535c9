#!/usr/bin/python3
"""The words of comments, quoted texts and guides: in the folders of STRICT, each mark of unclear language keeps within its limit per 10,000
words; in all others, the marks together stay within RATES, which may only be lowered. A mark counts from its third occurrence on. Text
between backticks is skipped.

    wording.py BUILD FOLDER      prints the lines with marks below FOLDER, to be read and written again
"""
import functools
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

KINDS = ("comments", "texts", "guides")
MARKS = {  # name: pattern, limit per 10,000 words
    "what": (r"(?i:\bwhat\b)", 10),
    "who": (r"(?i:\bwho(?:se|ever|m)?\b)", 6),
    "beginning": (r"(?:^|[.:;]\s)(?:Of|What|Who|Whose|That\swhich|None)\s", 1.5),
    "tell, say": (r"(?i:\b(?:tells?|told|says?|said)\b)", 4),
    "stand, lie": (r"(?i:\b(?:stands?|stood|lies|lie|lay)\b)", 1.5),
    "none": (r"\bnone\b", 8),  # not the name None
    "behind": (r"(?i:\bbehind\b)", 1),
    "anew": (r"(?i:\b(?:anew|as\sever|so\smany|so\soften|so\slong)\b)", 0.5),
    "mend, fall": (r"(?i:\b(?:mend(?:ed|s)?|fell|falls|fallen)\b)", 1),
    "hang on": (r"(?i:\bhangs?\son\b)", 1),
    "go on": (r"(?i:\b(?:goes|go|went|going)\son\b)", 1),
    "is there": (r"(?i:\b(?:is|are|was|were)\s(?:not\s|no\slonger\s|still\s)?there\b)", 1),
    "whole": (r"(?i:\bwhole\b)", 2),
    "too many": (r"(?i:\btoo\smany\b)", 1),
    "beside": (r"(?i:\bbeside\b)", 1),
}
MIN_COUNT = 3

# Folders that keep all limits. A folder that was rewritten gets a line here, which takes precedence over its line in RATES.
STRICT = (
    "CMakeLists.txt",
    "Makefile",
    "hdf5_schemas",
    "include/trainrt",
    "jobs",
    "slurm",
    "src/batch",
    "src/checkpoint",
    "src/cli",
    "src/comm",
    "src/config",
    "src/core",
    "src/data/arrays",
    "src/data/batches",
    "src/data/bytes",
    "src/data/hdf5",
    "src/data/images",
    "src/data/node_memory",
    "src/data/order",
    "src/data/preprocess",
    "src/data/records",
    "src/data/reshape",
    "src/data/section",
    "src/data/source",
    "src/data/tables",
    "src/data/tar",
    "src/data/text",
    "src/data/tokens",
    "src/data/transform",
    "src/device",
    "src/frameworks/builtin",
    "src/frameworks/torch",
    "src/frameworks/trees",
    "src/io",
    "src/launch",
    "src/metrics",
    "src/program",
    "src/python",
    "src/rundir",
    "src/trainer",
    "src/tune",
    "src/view",
    "src/watch",
    "tests/CMakeLists.txt",
    "tests/README.md",
    "tests/attack",
    "tests/bench",
    "tests/chaos",
    "tests/contract",
    "tests/faults",
    "tests/frameworks",
    "tests/fuzz",
    "tests/lint",
    "tests/multirank",
    "tests/run.sh",
    "tests/slurm",
    "tests/support",
    "tests/unit",
)

# Marks per 10,000 words of comments, texts and guides. A path that is in neither table is strict.
RATES = {
    "tests/gpu": (0, 0, 60),
}

FOLDERS = sorted({*STRICT, *RATES}, key=len, reverse=True)
COMMENT = {suffix: r"//+" for suffix in (".cpp", ".hpp", ".cu", ".h", ".c")} | {suffix: "#+" for suffix in (".py", ".sh", ".cmake", ".txt", ".ini", "")}
QUOTED = re.compile(r'"((?:[^"\\\n]|\\.){12,})"')


def folder_of(name):
    return next((folder for folder in FOLDERS if name == folder or name.startswith(folder + "/")), "")


def prose_of(path):
    """Yields kind, line number and text of each comment, quoted text and line of a guide."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    fenced = docstring = False
    for number, line in enumerate(lines, 1):
        if path.suffix == ".md":
            fenced ^= line.lstrip().startswith("```")
            if not fenced:
                yield "guides", number, line
            continue
        quotes = line.count('"""') if path.suffix == ".py" else 0
        if docstring or quotes:
            yield "comments", number, line.replace('"""', " ")
            docstring ^= quotes % 2 == 1
            continue
        if comment := re.search(rf"(?:^|\s){COMMENT[path.suffix]}<? ?(.*)$", line):
            yield "comments", number, comment[1]
            line = line[:comment.start()]
        yield from (("texts", number, text) for text in QUOTED.findall(line) if " " in text)


def checked_files():
    names = subprocess.run(["git", "-C", SOURCE, "ls-files"], capture_output=True, text=True).stdout.split()
    for name in names:
        path = SOURCE / name
        is_text = path.suffix in COMMENT or path.suffix == ".md"
        if is_text and path.is_file() and "golden" not in name and (path.suffix or path.name == "Makefile") and (path.suffix != ".txt" or path.name == "CMakeLists.txt"):
            yield name, path


def marks_in(text):
    prose = re.sub(r"`[^`]*`", " ", text)
    return Counter({mark: len(re.findall(pattern, prose)) for mark, (pattern, _) in MARKS.items()})


@functools.cache
def counted():
    """Returns the number of words and of each mark by folder and kind."""
    words, marks = Counter(), defaultdict(Counter)
    for name, path in checked_files():
        for kind, _, text in prose_of(path):
            key = folder_of(name), kind
            words[key] += len(re.findall(r"[A-Za-z][a-z']+", text))
            marks[key] += marks_in(text)
    return words, marks


def is_above(count, words, limit):
    return count >= MIN_COUNT and 1e4 * count / words > limit


@test
def folders_that_are_strict_keep_the_limit_of_each_mark():
    words, marks = counted()
    above = [f"{folder or '(no folder)'}, {kind}: '{mark}' {count} times in {words[folder, kind]} words"
             for (folder, kind), counts in marks.items() if folder in STRICT or not folder
             for mark, count in counts.items() if is_above(count, words[folder, kind], MARKS[mark][1])]
    check(not above, "\n".join(["too frequent; wording.py BUILD FOLDER prints the lines", *above]))


@test
def the_other_folders_do_not_get_worse():
    words, marks = counted()
    above = [f"{folder}, {kind}: {marks[folder, kind].total()} marks in {words[folder, kind]} words, {limit} per 10,000 are allowed"
             for folder, limits in RATES.items() if folder not in STRICT
             for kind, limit in zip(KINDS, limits) if is_above(marks[folder, kind].total(), words[folder, kind], limit)]
    check(not above, "\n".join(["above the rate of the folder; wording.py BUILD FOLDER prints the lines", *above]))


def print_lines(folder):
    for name, path in checked_files():
        if name.startswith(folder):
            for _, number, text in prose_of(path):
                if found := [mark for mark, count in marks_in(text).items() if count]:
                    print(f"{name}:{number}: {', '.join(found)}: {text.strip()}")


if sys.argv[2:] and (SOURCE / sys.argv[2]).exists():
    print_lines(sys.argv[2])
else:
    main()
