"""build.py SOURCES HEADERS OUTPUT: compiles the torch module for the PyTorch of this Python, and writes torch.so and torch.json to OUTPUT.

`trainrt build torch` runs it with the Python of the user. It needs a compiler for C++20: CXX, or g++."""

import concurrent.futures
import glob
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

FILES_PER_UNIT = 4  # compiled together, which takes about 2 GB of memory
OPTIONS = ["-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-w"]


def fail(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(70)


def torch_folder():
    """Returns the folder of PyTorch, which has its headers and libraries."""
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a library of PyTorch cannot be loaded
        fail(f"{sys.executable} cannot import torch ({error}). Install it, for example in a virtual environment: pip install torch")
    folder = os.path.dirname(torch.__file__)
    for needed in ("include/torch/csrc/api/include/torch/torch.h", "lib/libtorch_cpu.so", "lib/libc10.so"):
        if not os.path.exists(os.path.join(folder, needed)):
            fail(f"PyTorch {torch.__version__} in {folder} has no {needed}: use a PyTorch of PyPI (pip install torch)")
    if not torch.compiled_with_cxx11_abi():
        fail(f"PyTorch {torch.__version__} in {folder} was built with the old ABI of C++ strings: use PyTorch 2.6 or newer of PyPI")
    print(f"PyTorch {torch.__version__} in {folder}", flush=True)
    return folder


def compiler():
    """Returns the words that call a compiler for C++20."""
    words = shlex.split(os.environ.get("CXX", "").strip() or "g++")
    if shutil.which(words[0]) is None:
        fail(f"the compiler '{words[0]}' was not found. Load a module of GCC 11 or newer, install the package g++, or set CXX to a compiler for C++20")
    program = "#include <concepts>\n#include <source_location>\n#include <span>\nint main() {}\n"
    tried = subprocess.run([*words, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input=program, capture_output=True, text=True)
    if tried.returncode != 0:
        reason = (tried.stderr.strip().splitlines() or [f"it exited with {tried.returncode}"])[0]
        fail(f"the compiler '{words[0]}' does not support C++20 ({reason}). "
             "Load a module of GCC 11 or newer, or set CXX to a compiler for C++20")
    return words


def compile_unit(words, files, unit):
    with open(unit + ".cpp", "w", encoding="utf-8") as out:
        out.writelines(f'#include "{file}"\n' for file in files)
    done = subprocess.run([*words, "-c", unit + ".cpp", "-o", unit + ".o"], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"the torch module could not be compiled:\n{done.stderr[:4000]}")
    return unit + ".o"


def main():
    sources, headers, output = map(os.path.abspath, sys.argv[1:4])
    torch, cxx = torch_folder(), compiler()
    folders = [f"{torch}/include", f"{torch}/include/torch/csrc/api/include"]
    words = [*cxx, *OPTIONS, f"-I{headers}", *(word for folder in folders for word in ("-isystem", folder))]
    files = sorted(glob.glob(f"{sources}/*.cpp")) + sorted(glob.glob(f"{sources}/interop/*.cpp"))
    units = [files[at:at + FILES_PER_UNIT] for at in range(0, len(files), FILES_PER_UNIT)]
    print(f"compiling {len(files)} files with {shlex.join(cxx)} (takes minutes)", flush=True)
    with tempfile.TemporaryDirectory() as work:
        with concurrent.futures.ThreadPoolExecutor(min(os.cpu_count() or 1, len(units))) as pool:
            objects = list(pool.map(lambda each: compile_unit(words, each[1], f"{work}/unit_{each[0]}"), enumerate(units)))
        libraries = ["-ltorch_cpu", "-lc10"]
        if os.path.exists(f"{torch}/lib/libtorch_cuda.so"):  # libtorch finds GPUs only if these are loaded, though no symbol of them is used
            libraries += ["-Wl,--no-as-needed", "-ltorch_cuda", "-lc10_cuda"]
        linked = subprocess.run([*cxx, "-shared", "-s", "-o", f"{work}/torch.so", *objects, f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib", *libraries],
                                capture_output=True, text=True)
        if linked.returncode != 0:
            fail(f"the torch module could not be linked:\n{linked.stderr[:4000]}")
        shutil.copy(f"{work}/torch.so", f"{output}/torch.so.new")
    os.replace(f"{output}/torch.so.new", f"{output}/torch.so")  # a running program keeps the file that it has loaded
    shutil.copy(f"{sources}/torch.json", output)
    print(f"wrote {output}/torch.so")


if __name__ == "__main__":
    main()
