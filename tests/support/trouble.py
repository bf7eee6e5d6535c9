"""The train function of tests/support/trouble.cpp, built once a test file, and its configs."""
from harness import *  # noqa: F403

_module = None


def trouble_module():
    global _module
    if _module is None:
        if shutil.which("g++") is None:
            skip("g++ is not there")
        _module = scratch("module") / "libtrouble.so"
        done = subprocess.run(["g++", "-shared", "-fPIC", "-std=c++20", "-O1", f"-I{SOURCE / 'include'}", str(SOURCE / "tests/support/trouble.cpp"),
                               "-o", str(_module)], capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, f"the module was not built: {done.stderr}")
    return _module


def trouble_config(trouble, name="run", **sections):
    """`trouble`: keys of [loop]."""
    folder = scratch()
    return write_config(folder / f"{name}.ini", {"run": {"name": name, "storage_path": folder / "runs"}, "train": {"library": trouble_module()},
                                                 "loop": trouble, **sections})
