#!/usr/bin/python3
"""`trainrt build torch` in an installation: its errors name what is missing, and with Debian's PyTorch it compiles a module that works. The errors
need no PyTorch: packages with the name torch stand in for it."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.training import *  # noqa: E402,F403

PREFIX = None
# Files of a PyTorch that `trainrt build torch` looks for.
NEEDED = ["include/torch/csrc/api/include/torch/torch.h", "lib/libtorch_cpu.so", "lib/libc10.so"]


def setup():
    global PREFIX
    PREFIX = scratch("prefix")
    for component in ("Unspecified", "library"):
        done = run(["cmake", "--install", BUILD, "--prefix", PREFIX, "--component", component], timeout=120)
        check(done.code == 0, f"cmake --install: exit {done.code}", done)
    for file in (PREFIX / "lib/trainrt/modules").glob("torch.*"):  # the file of `make dist` does not have the module
        file.unlink()


def build_torch(*words, timeout=60, **env):
    return run([PREFIX / "bin/trainrt", "build", "torch", *words], timeout=timeout, env=env)


def refused(job, code, *words):
    check_exit(job, code)
    for word in words:
        check(str(word) in job.err, f"the error does not name '{word}'", job)


def fake_torch(text="", files=NEEDED):
    """Returns the environment in which Python imports a package torch with the code `text` and empty `files`."""
    folder = scratch("fake")
    for name in ["__init__.py", *files]:
        (folder / "torch" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "torch" / name).touch()
    (folder / "torch/__init__.py").write_text(text or "__version__ = '2.99'\ndef compiled_with_cxx11_abi(): return True\n")
    return {"PYTHONPATH": folder}


def script(text):
    path = scratch() / "script"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@test
def a_program_that_is_not_installed_names_the_option_of_cmake():
    refused(run([TRAINRT, "build", "torch"]), USAGE, "this program was not installed", "-DTORCH_ROOT=FOLDER")


@test
def invalid_arguments_are_named():
    refused(run([PREFIX / "bin/trainrt", "build", "tensorflow"]), USAGE, "unknown module 'tensorflow'", "can build torch")
    refused(build_torch("--python", "python-of-nobody"), USAGE, "'python-of-nobody' was not found", "--python PROGRAM")
    nowhere = scratch() / "nowhere"
    refused(build_torch("--output", nowhere), USAGE, nowhere, "cannot be written (No such file or directory)", f"TRAINRT_MODULE_PATH=FOLDER:{PREFIX}/lib/trainrt/modules")


@test
def a_python_without_pytorch_is_named():
    bare = script('exec /usr/bin/python3 -I -S "$@"')  # without the folders of packages
    refused(build_torch("--python", bare), FAILED, "cannot import torch", "No module named 'torch'", "pip install torch")


@test
def a_broken_pytorch_is_named_with_its_error():
    refused(build_torch(**fake_torch("raise OSError('libcudart.so.12: cannot open shared object file')")), FAILED, "cannot import torch (libcudart.so.12")


@test
def a_pytorch_without_headers_or_with_the_old_abi_is_named():
    for missing in NEEDED:
        refused(build_torch(**fake_torch(files=[name for name in NEEDED if name != missing])), FAILED, "PyTorch 2.99", f"has no {missing}")
    old = "__version__ = '2.0'\ndef compiled_with_cxx11_abi(): return False\n"
    refused(build_torch(**fake_torch(old)), FAILED, "PyTorch 2.0", "old ABI of C++ strings", "2.6 or newer")


@test
def a_missing_or_old_compiler_is_named():
    fake = fake_torch()
    refused(build_torch(**fake, CXX="g++-of-nobody"), FAILED, "the compiler 'g++-of-nobody' was not found", "set CXX")
    old = script("echo \"error: unrecognized option '-std=c++20'\" >&2; exit 1")
    refused(build_torch(**fake, CXX=str(old)), FAILED, f"the compiler '{old}' does not support C++20 (error: unrecognized option", "GCC 11 or newer")
    silent = script("exit 1")
    refused(build_torch(**fake, CXX=str(silent)), FAILED, f"the compiler '{silent}' does not support C++20")


@test
def the_compiler_of_cxx_is_called_with_its_words():
    calls = scratch() / "calls"
    compiler = script(f'echo "$@" >>{calls}; cat >/dev/null\ncase "$*" in *fsyntax-only*) exit 0 ;; esac\necho "torch.h:1: error: no space" >&2; exit 1')
    job = build_torch(**fake_torch(), CXX=f"{compiler} -mtune=generic")
    refused(job, FAILED, "the torch module could not be compiled", "torch.h:1: error: no space")
    check(f"with {compiler} -mtune=generic" in job.out, "the compiler is not printed", job)
    compiled = [line for line in calls.read_text().splitlines() if " -c " in line]
    check(compiled and all(line.startswith("-mtune=generic -std=c++20") for line in compiled), f"calls: {compiled}")
    check(all("-ffp-contract=off" in line for line in compiled), f"calls: {compiled}")


@test
def an_empty_cxx_means_gcc():
    job = build_torch(**fake_torch(), CXX=" ")  # the headers of this PyTorch are empty
    refused(job, FAILED, "the torch module could not be compiled")
    check("with g++" in job.out, "g++ is not printed", job)


@test
def a_failed_build_leaves_no_module():
    output = scratch("output")
    check_exit(build_torch("--output", output, **fake_torch()), FAILED)
    equal(list(output.iterdir()), [], "files after a failed build")


@test
def a_module_for_the_pytorch_of_debian_trains():
    if os.environ.get("TRAINRT_SAMPLES") != "all":
        skip("compiling the module takes a minute; make test-frameworks does it")
    if run(["/usr/bin/python3", "-c", "import torch"]).code != 0:
        skip("PyTorch is not installed (package python3-torch)")
    if not (BUILD / "modules/torch.so").exists():
        skip("libtorch is not installed (package libtorch-dev)")
    output = scratch("output")
    job = build_torch("--python", "/usr/bin/python3", "--output", output, timeout=900)
    check_exit(job, FINISHED)
    equal(sorted(file.name for file in output.iterdir()), ["torch.json", "torch.so"], "files of the module")
    folder = scratch()
    for part in ("train", "test"):
        write_images(folder, part, 64)
    config = write_config(folder / "run.ini", {
        "run": {"name": "run", "storage_path": folder / "runs", "seed": 7}, "train": {"function": "fashion_mnist"},
        "loop": {"epochs": 1, "hidden": 8}, **image_sections(folder)})
    job = run([PREFIX / "bin/trainrt", "--config", config], env={"TRAINRT_MODULE_PATH": output})
    check_exit(job, FINISHED)


main(setup)
