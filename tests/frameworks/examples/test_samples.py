#!/usr/bin/python3
"""Samples of Ray Train's documents: each script of tests/frameworks/samples works as `python3 FILE` and as `trainrt -n 2 -- python3 FILE`.

The first line of a script may be a comment with settings, separated by semicolons, for example `# ways: python3; limit: 60; make test`:
  ways: python3      the script is run in this way only (`python3`, `trainrt`, or both)
  limit: SECONDS     time limit of each way; default 90
  make test          `make test` runs the script; the others are run by `make test-frameworks`, which sets TRAINRT_SAMPLES=all
  environment: NAME  virtual environment in which `make test-frameworks` runs the script; default: the first that has its packages
A script that needs a missing package prints "skipped: REASON". SEEDS: folder with copies of the documents, whose code blocks are run, too.
RAY_EXAMPLES: folder with copies of the files of Ray's repository that the documents include (for example an unpacked wheel).
"""
import ast
import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "support"), str(Path(__file__).resolve().parents[1] / "pypi")]
import environments  # noqa: E402
from frameworks import Framework  # noqa: E402
from harness import *  # noqa: E402,F403
from tools.documents import blocks_in  # noqa: E402

SAMPLES = SOURCE / "tests/frameworks/samples"
PYTHON = "/usr/bin/python3"
WAYS = ("python3", "trainrt")
DEFAULT_LIMIT_S = 90
BLOCK_LIMIT_S = 240  # on a loaded machine, each process that imports torch takes 20 s
SAMPLE_COUNT = 254
RUNS_ALL = os.environ.get("TRAINRT_SAMPLES") == "all" or len(sys.argv) > 2  # words choose the scripts
SEEDS, EXAMPLES = os.environ.get("SEEDS"), os.environ.get("RAY_EXAMPLES")
USES_ENVIRONMENTS = os.environ.get("TRAINRT_SAMPLES") == "all"
REQUIREMENTS = {"torch": ("torch", "deepspeed"), "transformers4": ("transformers4",)}  # requirement files of each environment that a script may name
_VERDICTS = ("works as written", "works after a change", "refused", "the document's own mistake", "not runnable here", "broken")
_ON_RANKS = ("the same", "refused", "-")  # beginnings of the column for `trainrt -n N`
_RUN = ("both", "python3", "text", "script", "-")
# Errors of blocks that cannot run here: they need a missing package, a definition of an earlier block, a GPU, or a bucket that does not exist.
_UNAVAILABLE = re.compile(r"ModuleNotFoundError: No module named '(?!trainrt)\w+|NameError: name '\w+' is not|ImportError: .* needs .*|(?:sees|has) no GPU|\w+@trainrt-example-data")


def settings_of(script):
    """Returns the settings in the first line of a script."""
    first = script.read_text().partition("\n")[0]
    pairs = [word.partition(":") for word in first.lstrip("# ").split(";")] if first.startswith("# ") else []
    return {key.strip(): value.strip() for key, _, value in pairs}


def pythons(environment=None):
    """Returns the interpreters that may have the packages of a script. Installs the environment of the script, if it names one."""
    if not USES_ENVIRONMENTS:
        return [PYTHON]
    if environment:
        check(environment in REQUIREMENTS, f"'{environment}' is not an environment of samples; these are {', '.join(REQUIREMENTS)}")
        return [str(environments.ready(Framework("samples", "", environment, REQUIREMENTS[environment], "")) / "bin/python3")]
    return [PYTHON, *map(str, sorted(environments.root().glob("*/bin/python3")))]


def start(script, way, python, ranks=2):
    """Starts a script in a folder of its own, with `ranks` ranks if trainrt starts it."""
    folder = scratch(f"{script.stem}-{way}")
    env = {"PYTHONPATH": BUILD / "python", "PATH": f"{Path(python).parent}:{BUILD}:{os.environ['PATH']}", "HOME": folder, "TMPDIR": folder,
           "OMP_NUM_THREADS": 1, "TORCH_EXTENSIONS_DIR": environments.root() / "torch_extensions", "HF_HUB_OFFLINE": 1, "WANDB_MODE": "offline", "TF_CPP_MIN_LOG_LEVEL": 3}
    return Job([*([TRAINRT, "-n", ranks, "--"] if way == "trainrt" else []), python, script], cwd=folder, env=env)


def reason_of_skip(job):
    found = re.search(r"(?m)^(?:.*\] ?)?skipped: (.*)", job.out)
    return found[1] if found else None


def works(script):
    """Runs a script in its ways at the same time."""
    settings = settings_of(script)
    ways = [way.strip() for way in settings.get("ways", ",".join(WAYS)).split(",")]
    for way in ways:
        check(way in WAYS, f"{script.name}: '{way}' is not a way to start it; ways are {', '.join(WAYS)}")
    for python in pythons(settings.get("environment")):
        jobs = {way: start(script, way, python) for way in ways}
        for job in jobs.values():
            job.code = job.wait(int(settings.get("limit", DEFAULT_LIMIT_S)))
        reason = next(filter(None, map(reason_of_skip, jobs.values())), None)
        if reason is None:
            break
    for way, job in jobs.items():
        equal(job.code, 0, f"exit code ({way})", job)
        check(reason or re.search(r"\bok\b", job.out), f"the script printed no line with ok ({way})", job)
    if reason:
        skip(reason)


# ---- the table ---------------------------------------------------------------------------------------------------------------


def table():
    """Returns {sample: (scripts, verdict of `python3 FILE`, verdict of `trainrt -n N`, run)} of samples.md."""
    rows = re.findall(r"(?m)^\| (\d+\.\d+) \| (-|`\S+`(?:, `\S+`)*) \| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \|$", (SAMPLES / "samples.md").read_text())
    equal(len({name for name, *_ in rows}), len(rows), "different samples in samples.md")
    return {name: (re.findall(r"`(\S+)`", scripts), verdict, on_ranks, how) for name, scripts, verdict, on_ranks, how in rows}


@test
def the_table_has_all_samples_and_names_existing_scripts():
    rows = table()
    equal(len(rows), SAMPLE_COUNT, "samples in samples.md")
    for name, (scripts, verdict, on_ranks, how) in rows.items():
        missing = [script for script in scripts if not (SAMPLES / script).is_file()]
        check(not missing, f"samples.md: sample {name} names {', '.join(missing)}, which does not exist in {SAMPLES}")
        check(verdict.startswith(_VERDICTS), f"samples.md: the verdict of sample {name} is {verdict!r}; it must begin with one of {', '.join(_VERDICTS)}")
        check(on_ranks.startswith(_ON_RANKS), f"samples.md: sample {name} has {on_ranks!r} for `trainrt -n N`; it must begin with one of {', '.join(_ON_RANKS)}")
        check(how in _RUN, f"samples.md: sample {name} has {how!r} in the column 'run'; values are {', '.join(_RUN)}")
    unnamed = {path.name for path in SAMPLES.glob("*.py")} - {script for scripts, *_ in rows.values() for script in scripts}
    check(not unnamed, f"samples.md names no sample for {', '.join(sorted(unnamed))}")


def verdict_on_ranks(verdict, on_ranks):
    """Returns the verdict of `trainrt -n N`. `verdict` is that of `python3 FILE`, and `on_ranks` the text of the column for `trainrt -n N`."""
    if on_ranks.startswith("refused"):
        return "refused"
    return "not known" if on_ranks == "-" and verdict != "not runnable here" else verdict


@test
def the_totals_are_those_of_the_rows():
    verdicts = [next(word for word in _VERDICTS if verdict.startswith(word)) for _, verdict, _, _ in table().values()]
    on_ranks = [verdict_on_ranks(verdict, row[2]) for verdict, row in zip(verdicts, table().values())]
    stated = re.findall(r"(?m)^\| ([^|]+) \| (\d+) \| (\d+) \|$", (SAMPLES / "samples.md").read_text())
    equal([(word, int(first), int(second)) for word, first, second in stated],
          [(word, verdicts.count(word), on_ranks.count(word)) for word in (*_VERDICTS[:-1], "not known")], "totals in samples.md")


# ---- copies of the documents -----------------------------------------------------------------------------------------------------


@test
def an_included_block_has_the_lines_between_its_markers():
    folder = scratch("included")
    (folder / "documents").mkdir()
    (folder / "documents/0.txt").write_text(".. literalinclude:: /../new/a.py\n   :start-after: __begin__\n   :end-before: __end__\n\nText\n")
    for name in ("old", "new"):
        (folder / name).mkdir()
        (folder / name / "a.py").write_text(f"import ray\n# __begin__\n    import {name}, ray\n# __end__\n")
    [block] = blocks_in(folder / "documents", folder)
    equal((block.is_python, block.script()), (True, "import new, trainrt\n"), "block of the file new/a.py")
    equal([block.text for block in blocks_in(folder / "documents")], [""], "block without a copy of the file")


@test
def the_table_counts_the_samples_of_the_documents():
    if not SEEDS:
        skip("SEEDS not given")
    equal([block.name for block in blocks_in(SEEDS)], list(table()), "numbers of the code blocks")


def is_complete(block):
    """Returns whether a block imports trainrt and starts a training."""
    try:
        nodes = list(ast.walk(ast.parse(block.script())))
    except SyntaxError:
        return False
    modules = [name for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))
               for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])]
    calls = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    return block.is_python and any(name.split(".")[0] == "trainrt" for name in modules) and bool(calls & {"fit", "run"})


def rank_count(block):
    """Returns the largest constant `num_workers=N` in a block, or else 1."""
    keywords = [node for node in ast.walk(ast.parse(block.script())) if isinstance(node, ast.keyword) and node.arg == "num_workers"]
    return max([node.value.value for node in keywords if isinstance(node.value, ast.Constant)], default=1)


def block_works(block, way):
    script = scratch("sample") / "train.py"
    script.write_text(block.script())
    for python in pythons():
        job = start(script, way, python, rank_count(block))
        job.code = job.wait(BLOCK_LIMIT_S)
        reason = _UNAVAILABLE.search(job.out + job.err) if job.code else None
        if not reason:
            break
    if reason:
        skip(f"document.sample {block.name}: {reason[0]}")
    equal(job.code, 0, f"exit code of sample {block.name} (line {block.line}), started by {way}", job)


if SEEDS:
    _rows = table()
    for _block in filter(is_complete, blocks_in(SEEDS, EXAMPLES)):
        _, _verdict, _on_ranks, _ = _rows.get(_block.name, ([], "", "", ""))
        for _way in WAYS if _on_ranks.startswith("the same") else WAYS[:1]:
            if _verdict.startswith("works as written"):
                add_test(f"sample_{_block.name}_works_as_written_{_way}", block_works, _block, _way)
for _script in sorted(SAMPLES.glob("*.py")):
    if RUNS_ALL or "make test" in settings_of(_script):
        add_test(f"{_script.stem}_works", works, _script)

main()
