#!/usr/bin/python3
"""Checks the imports of the Python package against the order of its sub-packages, and the length of its modules."""
import ast
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

PACKAGE = SOURCE / "src/python/trainrt"
MODULE_LINES = 300
LONG_MODULES: dict = {}
# Sub-packages and modules of the package, in order. Each may import itself and those before it; PATH/__init__ is the sub-package without its contents. The
# package trainrt is above all of them.
ORDER = ("_version", "_ray_names", "cloudpickle", "actor", "_support", "_cluster", "_client", "data/_values", "data/_operations", "data/_batches", "data", "data/preprocessors", "train/errors", "train/_results", "train/_sessions",
         "train/_config", "train/_validation", "train/_fit", "train/backend", "train/data_parallel_trainer", "train/base_trainer", "train/trainer",
         "train/context", "train/collective", "train/_boosting", "train/torch", "train/jax", "train/tensorflow/_variables", "train/keras", "train/tensorflow",
         "train/xgboost", "train/lightgbm", "train/horovod", "train/huggingface/transformers", "train/huggingface/accelerate", "train/huggingface",
         "train/lightning", "train/_v1",
         "train/v2", "train/_checkpoint", "train/examples", "train/__init__", "tune/error", "tune/_domains", "tune/_spaces", "tune/_nested_values", "tune/_spec",
         "tune/_samples", "tune/_compared", "tune/utils", "tune/schedulers", "tune/search", "tune/search/bayesopt", "tune/search/optuna", "tune", "air/util", "air", "air/integrations", "sinks")
# Imports of a module of a later sub-package, with the reason. Circles are errors all the same.
EXCEPTIONS: dict = {}


def modules():
    """Returns the file of each module by its path in the package, without suffix: "train/_fit", "train/_fit/_launch"."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE).with_suffix(""))
        found["" if name == "__init__" else name.removesuffix("/__init__")] = path
    return found


def executed(tree):
    """Yields the nodes of a module, except the bodies of `if TYPE_CHECKING:`, which only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        yield node
        yield from executed(node)


def imports_of(name, path, known):
    """Yields the line and name of each module of the package that this one imports, in functions, too."""
    package = name.split("/") if path.name == "__init__.py" else name.split("/")[:-1]
    for node in executed(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = [*package[:len(package) - node.level + 1], *(node.module or "").split(".")]
        base = [part for part in base if part]
        for alias in node.names:
            inner = "/".join([*base, alias.name])
            target = inner if inner in known else "/".join(base)
            if target != name:
                yield node.lineno, target


def graph():
    known = modules()
    return known, {name: dict(reversed([(target, line) for line, target in imports_of(name, path, known)])) for name, path in known.items()}


def circles_in(edges):
    """Returns the sets of modules that import each other, in a circle (Tarjan's strongly connected components)."""
    number, low, stack, found = {}, {}, [], []

    def visit(name):
        number[name] = low[name] = len(number)
        stack.append(name)
        for target in edges.get(name, ()):
            if target not in number:
                visit(target)
            if target in stack:
                low[name] = min(low[name], low[target])
        if low[name] == number[name]:
            component = [stack.pop()]
            while component[-1] != name:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for name in edges:
        if name not in number:
            visit(name)
    return found


def place_of(name):
    """Returns the position in ORDER of the longest entry that is the module or a folder of it."""
    found = [entry for entry in ORDER if entry in (name, f"{name}/__init__") or name.startswith(entry + "/")]
    return ORDER.index(max(found, key=len)) if found else None


@test
def modules_import_only_from_earlier_sub_packages():
    known, edges = graph()
    findings = [f"{name}: is in no sub-package of ORDER" for name in known if name and place_of(name) is None]
    used = set()
    for name, targets in edges.items():
        for target, line in targets.items():
            if not name or not target or place_of(target) is None or place_of(target) <= place_of(name):
                continue
            if (name, target) in EXCEPTIONS:
                used.add((name, target))
            else:
                findings.append(f"{name}.py:{line}: {ORDER[place_of(name)]} must not import {target}")
    findings += [f"EXCEPTIONS: {name} does not import {target}" for name, target in set(EXCEPTIONS) - used]
    check(sum(map(len, edges.values())) > 300, "few imports were found")
    check(not findings, "\n  " + "\n  ".join(findings))


@test
def modules_do_not_import_each_other_in_circles():
    found = circles_in(graph()[1])
    check(not found, "\n  " + "\n  ".join(" <-> ".join(each) for each in found))


@test
def a_circle_is_found():
    equal(circles_in({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}), [["a", "b", "c"]], "circles")


@test
def modules_are_short():
    found = {str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in modules().values()}
    wrong = [f"{name}: {count} lines; the maximum is {LONG_MODULES.get(name, (MODULE_LINES,))[0]}" for name, count in found.items()
             if count > LONG_MODULES.get(name, (MODULE_LINES,))[0]]
    wrong += [f"{name}: is in LONG_MODULES, but has at most {MODULE_LINES} lines" for name in LONG_MODULES if found.get(name, 0) <= MODULE_LINES]
    check(not wrong, "\n  " + "\n  ".join(wrong))


main()
