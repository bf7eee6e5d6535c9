#!/usr/bin/python3
"""Runs ruff and mypy on the Python package, with the settings of src/python/pyproject.toml. `make test` installs the versions that
tests/lint/requirements/python.txt names."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

SETTINGS = SOURCE / "src/python/pyproject.toml"
TOOLS = BUILD / "python-linters/bin"


def tool(name):
    if not (TOOLS / name).exists():
        skip(f"{name} is not installed (`make configure-tests` installs it from PyPI)")
    return TOOLS / name


def ruff(*paths):
    return run([tool("ruff"), "check", "--no-cache", "--output-format=concise", "--config", SETTINGS, *paths], cwd=SETTINGS.parent, timeout=60)


def mypy(*words, folder):
    return run([tool("mypy"), "--config-file", SETTINGS, "--cache-dir", scratch(), "--no-color-output", *words], cwd=folder, timeout=300)


@test
def the_package_follows_the_rules_of_ruff():
    job = ruff(SOURCE / "src/python/trainrt")
    check(job.code == 0, "\n  " + "\n  ".join(job.out.splitlines()[:40]), job)


@test
def the_types_of_the_package_are_consistent():
    """Checks the copy in the build folder, which has the generated module, too."""
    job = mypy("-p", "trainrt", folder=BUILD / "python")
    check(job.code == 0, "\n  " + "\n  ".join(job.out.splitlines()[:40]), job)


@test
def unsorted_imports_long_lines_and_wrong_types_are_found():
    folder = scratch()
    (folder / "wrong.py").write_text("import sys\nimport os\n\n\ndef f(x: int) -> str:\n    return x + sys.maxsize + len(os.sep)  # " + 120 * "x" + "\n")
    found = ruff(folder / "wrong.py").out
    check("I001" in found and "E501" in found, f"ruff finds: {found}")
    found = mypy("wrong.py", folder=folder).out
    check("[return-value]" in found, f"mypy finds: {found}")


main()
