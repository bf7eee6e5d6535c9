"""Train functions in tests/support, each built once a test file, and the configs of that in trouble.cpp."""
from harness import *  # noqa: F403

_modules = {}


def module_of(name):
    """Returns the library that tests/support/programs/NAME.cpp is built as."""
    if name not in _modules:
        if shutil.which("g++") is None:
            skip("g++ is not there")
        library = scratch("module") / f"lib{name}.so"
        done = subprocess.run(["g++", "-shared", "-fPIC", "-std=c++20", "-O1", f"-I{SOURCE / 'include'}", str(SOURCE / f"tests/support/programs/{name}.cpp"),
                               "-o", str(library)], capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, f"the module was not built: {done.stderr}")
        _modules[name] = library
    return _modules[name]


def trouble_config(trouble, name="run", **sections):
    """`trouble`: keys of [loop]."""
    folder = scratch()
    return write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"}, "train": {"library": module_of("trouble")},
                                                 "loop": trouble, **sections})
