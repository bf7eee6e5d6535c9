"""Describes the machine for the parts: its GPU, driver, libraries and system calls, and the reason why a GPU cannot be used."""
import ctypes
import errno
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

CUDA_13_DRIVER = 580  # the oldest driver branch that runs CUDA 13
NEEDED_MIB = 8192     # of free device memory
QUERY = ("name", "driver_version", "memory.total", "memory.free", "compute_mode", "mig.mode.current")
SYSTEM_CALLS = {"memfd_create": (319, (b"probe", 0)), "pidfd_open": (434, (os.getpid(), 0)), "io_uring_setup": (425, (4, ctypes.create_string_buffer(120)))}


def refused_system_calls():
    """Returns {name: error} for system calls that the kernel or a sandbox refuses. Works only on x86-64."""
    if platform.machine() != "x86_64":
        return {}
    libc = ctypes.CDLL(None, use_errno=True)
    refused = {}
    for name, (number, words) in SYSTEM_CALLS.items():
        descriptor = libc.syscall(number, *words)
        if descriptor < 0:
            refused[name] = errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno()))
        else:
            os.close(descriptor)
    return refused


def nvidia_smi(*words):
    """Returns rows of the query as lists of words, or [] if nvidia-smi is missing or fails."""
    program = shutil.which("nvidia-smi") or "/usr/local/nvidia/bin/nvidia-smi"
    try:
        done = subprocess.run([program, *words, "--format=csv,noheader,nounits"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [[word.strip() for word in line.split(",")] for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []


def gpus():
    """Returns a dictionary {query: text} for each GPU."""
    return [dict(zip(QUERY, row)) for row in nvidia_smi(f"--query-gpu={','.join(QUERY)}")]


def package_folder(name):
    spec = importlib.util.find_spec(name)
    folders = list(spec.submodule_search_locations or []) if spec else []
    return Path(folders[0]) if folders else None


def library_folders():
    """Returns the folders with the libraries of PyTorch, NCCL and CUPTI of this Python."""
    torch, nvidia = package_folder("torch"), package_folder("nvidia")
    folders = [torch / "lib"] if torch else []
    for library in ("libnccl.so.2", "libcupti.so.13"):
        folders += sorted(path.parent for path in nvidia.rglob(library)) if nvidia else []
    return folders + [path for path in (Path("/usr/local/nvidia/lib64"),) if path.is_dir()]  # the folder of the driver in some containers


def torch_versions():
    text = "import torch; print(torch.__version__, torch.version.cuda, '.'.join(map(str, torch.cuda.nccl.version())) if torch.cuda.is_available() else '-')"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    words = done.stdout.split()
    return {"torch": words[0], "torch_cuda": words[1], "nccl": words[2]} if len(words) == 3 else {"torch": "not found"}


def why_no_gpu(found):
    """Returns the reason why the parts cannot run, in one line, or "" if they can."""
    if not found:
        return "no GPU: nvidia-smi is missing or finds no GPU"
    gpu = found[0]
    if gpu["driver_version"].split(".")[0].isdigit() and int(gpu["driver_version"].split(".")[0]) < CUDA_13_DRIVER:
        return f"driver {gpu['driver_version']} is too old for CUDA 13: it needs {CUDA_13_DRIVER} or newer"
    if gpu["compute_mode"] not in ("Default", "[N/A]"):
        return f"GPU 0 is in compute mode {gpu['compute_mode']}: several processes must be able to use it (nvidia-smi -c DEFAULT)"
    if gpu["mig.mode.current"] == "Enabled":
        return "GPU 0 is divided into MIG slices: the parts need the complete GPU"
    if gpu["memory.free"].isdigit() and int(gpu["memory.free"]) < NEEDED_MIB:
        return f"GPU 0 has {gpu['memory.free']} MiB of free memory, {NEEDED_MIB} MiB are needed: other programs use it"
    return ""


def describe():
    """Returns all facts about this machine that a table of results needs, as JSON values."""
    system = platform.freedesktop_os_release() if hasattr(platform, "freedesktop_os_release") else {}
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 ** 30
    found = gpus()
    return {"system": system.get("PRETTY_NAME", "?"), "kernel": platform.release(), "glibc": platform.libc_ver()[1], "cpu": cpu,
            "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory, 1), "python": platform.python_version(), **torch_versions(),
            "gpus": found, "refused_system_calls": refused_system_calls(), "why_no_gpu": why_no_gpu(found)}
