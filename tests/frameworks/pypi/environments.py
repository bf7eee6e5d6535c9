"""The virtual environments of the frameworks, installed once from the pinned files of ../requirements.

They are stored in $TRAINRT_FRAMEWORKS, by default in trainrt-frameworks of the user's cache folder."""
import fcntl
import hashlib
import os
import subprocess
from pathlib import Path

from harness import Failure

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"
PYTHON = "/usr/bin/python3"
INSTALLATION_LIMIT_S = 3600
# Options of pip that a requirements file cannot hold, and variables for the compilation of packages.
OPTIONS = {"deepspeed": ["--no-build-isolation"], "horovod": ["--no-build-isolation"], "tf_keras": ["--no-deps"], "transformers4": ["--no-deps"],
           "mpi4py": ["--no-binary", "mpi4py"]}
VARIABLES = {"mpi4py": {"MPICC": "mpicc.mpich"}, "deepspeed": {"DS_ACCELERATOR": "cpu"},
             "horovod": {"HOROVOD_WITH_GLOO": "1", "HOROVOD_WITHOUT_MPI": "1", "HOROVOD_WITH_PYTORCH": "1", "HOROVOD_WITHOUT_TENSORFLOW": "1",
                         "HOROVOD_WITHOUT_MXNET": "1"}}
SYSTEM_PACKAGES = ["horovod", "transformers4"]  # environments that use Debian's torch

# Compiles DeepSpeed's extension during the installation. A kill during a later compilation would leave a lock that blocks every start.
FIRST_USE = {"deepspeed": "from deepspeed.ops.op_builder.cpu import ShareMemCommBuilder; ShareMemCommBuilder().load()"}


def root():
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("TRAINRT_FRAMEWORKS") or Path(cache) / "trainrt-frameworks").resolve()


_failed = {}  # (environment, file) -> error


def ready(framework):
    """Installs the framework's packages and returns the folder of its environment. Raises Failure with pip's last lines."""
    folder = root() / framework.environment
    root().mkdir(parents=True, exist_ok=True)
    with open(root() / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be installing it
        _make(framework, folder)
    return folder


def _make(framework, folder):
    if not (folder / "bin/pip").exists():
        system = ["--system-site-packages"] if framework.environment in SYSTEM_PACKAGES else []
        _must([PYTHON, "-m", "venv", *system, folder], framework.environment, "venv")
    for name in framework.requirements:
        _install(folder, name)


def _install(folder, name):
    file = REQUIREMENTS / f"{name}.txt"
    done = folder / f"installed-{name}-{hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
    if done.exists():
        return
    if (folder, name) in _failed:
        raise Failure(_failed[folder, name])
    print(f"# installing {file.name} into {folder}", flush=True)
    try:
        _must([folder / "bin/pip", "install", "--disable-pip-version-check", "--no-compile", *OPTIONS.get(name, []), "-r", file], folder.name, name,
              VARIABLES.get(name))
        if name in FIRST_USE:
            _must([folder / "bin/python3", "-c", FIRST_USE[name]], folder.name, name, {**VARIABLES.get(name, {}), **_extensions()})
    except Failure as failure:
        _failed[folder, name] = str(failure)
        raise
    done.touch()


def _must(command, environment, what, variables=None):
    path = os.pathsep.join([str(root() / environment / "bin"), os.environ["PATH"]])
    headers = str(root() / environment / "include")  # headers of packages that other packages need
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=INSTALLATION_LIMIT_S,
                          env={**os.environ, "PATH": path, "CPLUS_INCLUDE_PATH": headers, **(variables or {})})
    if done.returncode != 0:
        raise Failure(f"cannot install the environment {environment} ({what}): exit {done.returncode}\n{done.stdout[-1500:]}")


def _extensions():
    """Returns the variable for the folder of torch's compiled extensions."""
    return {"TORCH_EXTENSIONS_DIR": str(root() / "torch_extensions")}


def activated(framework, folder):
    """Returns the variables that `source bin/activate` sets, and those that users of the framework set."""
    return {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "VIRTUAL_ENV": folder, **_extensions(), **framework.variables}


def version(framework, folder):
    asked = f"import importlib.metadata; print(importlib.metadata.version('{framework.package}'))"
    return subprocess.run([folder / "bin/python3", "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
