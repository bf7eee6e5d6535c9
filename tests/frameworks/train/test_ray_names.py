#!/usr/bin/python3
"""Names of Ray: every public name of Ray 2.60.0 (ray_names.txt) is an object of trainrt, or a stub whose error says what to write instead.

`test_ray_names.py BUILD --table` prints the table of src/python/ray_names.md.
"""
import ast
import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PRINTS_TABLE = "--table" in sys.argv
sys.path.insert(0, str(BUILD / "python"))
import trainrt  # noqa: E402,F401
from trainrt import _ray_names  # noqa: E402

GUIDE = SOURCE / "src/python/ray_names.md"
PACKAGE = SOURCE / "src/python/trainrt"


def names_of_ray():
    """Returns {module: names} of ray_names.txt, for example {"tune": ["Tuner", ...]}."""
    lines = [line for line in (SOURCE / "tests/frameworks/ray_names.txt").read_text().splitlines() if not line.startswith("#")]
    return {module: names.split() for module, _, names in (line.partition(": ") for line in lines)}


def home_of(module):
    while module in _ray_names.HOMES:
        module = _ray_names.HOMES[module]
    return module


def listed_names(module):
    """Returns the names in `__all__` of a module of trainrt, without importing it: the package that it needs may be missing."""
    path = PACKAGE / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    values = [node.value for node in ast.parse(file.read_text()).body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    return ast.literal_eval(values[0])


def advice_for(module, name):
    """Returns what the error of an unsupported name advises; None if the name is supported. Raises if the name is unknown."""
    advice = _ray_names.UNSUPPORTED.get(home_of(module), {}).get(name)
    if advice is None:
        try:
            getattr(importlib.import_module(f"trainrt.{module}"), name)
        except ImportError as error:  # a framework is not installed; a module of Ray that is unknown here is a ModuleNotFoundError of trainrt
            check("trainrt" not in (getattr(error, "name", None) or ""), f"{module}.{name}: {error}")
            check(name in listed_names(home_of(module)), f"{module}.{name} does not exist")
    return advice


@test
def every_name_of_ray_exists():
    missing = []
    for module, names in names_of_ray().items():
        for name in names:
            try:
                advice_for(module, name)
            except (AttributeError, ImportError, Failure) as error:
                missing.append(f"{module}.{name}: {error}")
    check(not missing, "\n  ".join(["names that do not exist:", *missing]))


@test
def a_stub_raises_one_error_with_advice_when_it_is_used():
    for path, names in _ray_names.UNSUPPORTED.items():
        for name, advice in names.items():
            check(advice.endswith(".") and advice[0].isupper() or advice[0] == "`", f"{path}.{name}: the advice {advice!r} is no sentence")
            stub = _ray_names.attribute_of(path, name)
            for use in (lambda: stub(), lambda: stub("x", y=1), lambda: type("Mine", (stub,), {})):
                raises(NotImplementedError, name, advice, of=use)


@test
def a_stub_of_an_error_may_be_named_in_an_except_clause():
    from trainrt.train import PreemptionError
    try:
        raise KeyError
    except PreemptionError:
        check(False, "the stub is raised")
    except KeyError:
        pass


@test
def modules_that_ray_train_imports_are_attributes_of_the_package():
    code = "import trainrt.train; print(trainrt.train.base_trainer.TrainingFailedError.__name__, trainrt.train.trainer.__name__)"
    job = run([sys.executable, "-c", code], env={"PYTHONPATH": BUILD / "python"})
    equal(job.out.split(), ["TrainingFailedError", "trainrt.train.trainer"], "attributes", job)


@test
def a_name_that_ray_does_not_have_either_is_an_ordinary_error():
    raises(AttributeError, "no_such_name", of=lambda: trainrt.tune.no_such_name)
    raises(ModuleNotFoundError, "no_such_module", of=lambda: importlib.import_module("trainrt.tune.no_such_module"))


# ---- the guide ---------------------------------------------------------------------------------------------------------------------


def table():
    """Returns the rows of the guide: for each module of trainrt that has names of Ray, the supported names, and the others with their advice."""
    homes = {}
    for module, names in names_of_ray().items():
        homes.setdefault(home_of(module), set()).update((name, advice_for(module, name)) for name in names)
    rows = ["| module | supported | not supported: write instead |", "|---|---|---|"]
    for module, names in sorted(homes.items()):
        supported = ", ".join(f"`{name}`" for name, advice in sorted(names) if advice is None) if names else ""
        by_advice = {}
        for name, advice in sorted(names, key=str):
            if advice is not None:
                by_advice.setdefault(advice, []).append(f"`{name}`")
        others = " ".join(f"{', '.join(group)}: {advice}" for advice, group in by_advice.items())
        rows.append(f"| `trainrt.{module}` | {supported} | {others} |")
    return "\n".join(rows)


@test
def the_guide_shows_the_state_of_every_name():
    check(table() in GUIDE.read_text(), f"{GUIDE} differs; replace its table with the output of: tests/frameworks/train/test_ray_names.py {BUILD} --table")


if PRINTS_TABLE:
    print(table())
else:
    main()
