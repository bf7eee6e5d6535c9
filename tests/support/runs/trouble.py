"""Builds train functions of tests/support/programs, each once per test file, and makes configs for that of trouble.cpp."""
from harness import *  # noqa: F403

_modules = {}


def module_of(name):
    """Returns the library that tests/support/programs/NAME.cpp is built as."""
    if name not in _modules:
        if shutil.which("g++") is None:
            skip("g++ not found")
        library = scratch("module") / f"lib{name}.so"
        done = subprocess.run(["g++", "-shared", "-fPIC", "-std=c++20", "-O1", f"-I{SOURCE / 'include'}", str(SOURCE / f"tests/support/programs/{name}.cpp"),
                               "-o", str(library)], capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, f"the module was not built: {done.stderr}")
        _modules[name] = library
    return _modules[name]


def trouble_config(trouble, name="run", **sections):
    """Returns a config; `trouble` has keys of [loop]."""
    folder = scratch()
    return write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"}, "train": {"library": module_of("trouble")},
                                                 "loop": trouble, **sections})
