#!/usr/bin/python3
"""The installed module file under Environment Modules and Lmod. After `module load trainrt`, a plain `srun trainrt` forms one run, even if
the default of the cluster is no MPI."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from tools.guides import GUIDES, block  # noqa: E402
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("mod")
PREFIX = None


def setup():
    global PREFIX
    PREFIX = scratch("prefix")
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", PREFIX], capture_output=True, text=True)
    check(done.returncode == 0, f"cmake --install: exit {done.returncode}\n{done.stdout}{done.stderr}")
    CLUSTER.up(2, "--mpi-default", "none")


def environment_modules():
    """Returns the shell command that defines `module`."""
    init = Path("/usr/share/modules/init/bash")
    if not init.exists():
        skip("Environment Modules is not installed (package environment-modules)")
    return f"source {init}"


_lmod = None


def lmod():
    """Returns the shell commands that define `module`. Debian's package lmod conflicts with environment-modules, so it is only unpacked if it is not
    installed."""
    global _lmod
    if _lmod is None:
        _lmod = scratch("lmod")
        installed = Path("/usr/share/lmod/lmod/init/bash")
        if installed.exists():
            _lmod = Path("/")
        elif subprocess.run(["apt-get", "download", "lmod"], cwd=_lmod, capture_output=True).returncode == 0:
            for package in _lmod.glob("lmod_*.deb"):
                subprocess.run(["dpkg", "-x", str(package), str(_lmod)], check=True, capture_output=True)
    root = _lmod / "usr/share/lmod/lmod"
    if not (root / "libexec/lmod").exists():
        skip("Lmod is not installed, and apt-get download lmod failed")
    interpreter = next((shutil.which(name) for name in ("lua5.3", "lua", "lua5.4") if shutil.which(name)), None)
    if interpreter is None:
        skip("Lmod needs lua (package lua5.3)")
    return (f'export LMOD_CMD={root}/libexec/lmod LMOD_DIR={root}/libexec LMOD_PKG={root}; '
            f'module() {{ eval "$({interpreter} {root}/libexec/lmod bash "$@")"; }}')


def shell(system, script, env=None):
    modules = PREFIX / "share/modulefiles"
    text = f"set -e\n{system()}\nexport MODULEPATH={modules}\n{script}\n"
    job = run(["bash", "-c", text], timeout=90, env={"BASH_ENV": "", "LMOD_SYSTEM_DEFAULT_MODULES": "", **(env or {})})
    check(job.code == 0, f"exit {job.code}", job)
    return job


def load_sets_the_environment(system):
    job = shell(system, 'module load trainrt; command -v trainrt; echo "$SLURM_MPI_TYPE"; echo "$TRAINRT_HOME"; trainrt --version; trainrt list')
    lines = job.out.splitlines()
    equal(lines[:3], [f"{PREFIX}/bin/trainrt", "pmix", str(PREFIX)], "path, SLURM_MPI_TYPE, TRAINRT_HOME", job)
    check("linear" in job.out, "trainrt list does not show linear", job)
    if (BUILD / "modules/torch.so").exists():
        check("fashion_mnist" in job.out, "the installed program does not find its torch module", job)
        check((PREFIX / "lib/trainrt/modules/torch.so").exists(), "the torch module is not installed")


def a_script_finds_the_package(system):
    job = shell(system, f'module load trainrt; cd {scratch()}; /usr/bin/python3 -c "import trainrt.train; print(trainrt.__file__)"')
    equal(job.out.splitlines()[-1:], [f"{PREFIX}/lib/trainrt/python/trainrt/__init__.py"], "path of the package", job)


def unload_restores_the_environment(system):
    job = shell(system, 'module load trainrt; module unload trainrt; command -v trainrt || echo gone; echo "type=$SLURM_MPI_TYPE"')
    check("gone" in job.out and "type=\n" in job.out, "the environment is not restored after module unload", job)


def avail_and_help_show_the_module(system):
    job = shell(system, "module avail 2>&1; module help trainrt 2>&1")
    check("trainrt" in job.out and "srun trainrt" in job.out, "module avail or help does not show the module", job)


def plain_srun_forms_one_world(system):
    config = linear_config(scratch(), "run", {"epochs": 2})
    job = shell(system, f"module load trainrt; srun -N2 -n2 trainrt --config {config}", CLUSTER.env)
    equal(job.err.count("trainrt: 2 ranks on 2 nodes (pmix"), 1, "lines with '2 ranks on 2 nodes (pmix'", job)
    equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [2], "ranks of the attempts")
    check_iterations(run_dir_of(config), 2)


@test
def the_batch_script_of_the_README_trains():
    folder = scratch()
    (folder / "job.sbatch").write_text(block("sbatch", "module load trainrt").replace("-- python3 train.py", "--config train.ini"))
    linear_config(folder, "train", {"epochs": 2})
    job = shell(environment_modules, f"export -f module; cd {folder}; sbatch --wait --ntasks-per-node=1 --output=out job.sbatch || {{ cat out; exit 1; }}", CLUSTER.env)
    equal(run_state(folder / "runs/train"), "finished", "state", job)
    equal([attempt["ranks"] for attempt in attempts(folder / "runs/train")], [2], "ranks of the attempts", job)


@test
def plain_srun_without_the_module_is_refused():
    """Otherwise the other tests would prove nothing."""
    config = linear_config(scratch(), "run", {"epochs": 2})
    job = run(["srun", "-N2", "-n2", TRAINRT, "--config", config], env=CLUSTER.env)
    check_exit(job, USAGE)


for name, system in (("environment_modules", environment_modules), ("lmod", lmod)):
    add_test(f"{name}_load_sets_the_environment", load_sets_the_environment, system)
    add_test(f"{name}_load_makes_the_python_package_importable", a_script_finds_the_package, system)
    add_test(f"{name}_unload_restores_the_environment", unload_restores_the_environment, system)
    add_test(f"{name}_avail_and_help_show_the_module", avail_and_help_show_the_module, system)
    add_test(f"{name}_makes_plain_srun_form_one_run", plain_srun_forms_one_world, system)


@test
def all_files_for_users_are_installed():
    for path in ("bin/trainrt", "include/trainrt/trainrt.hpp", "share/trainrt/jobs/train.sbatch", "share/trainrt/jobs/fashion_mnist.ini",
                 "share/trainrt/jobs/examples/train_function.cpp", "share/trainrt/hdf5_schemas/shard.json", "share/trainrt/hdf5_schemas/metrics.json",
                 "share/trainrt/slurm/minicluster", "share/man/man1/trainrt.1", "share/man/man1/trainrt-export.1",
                 *(f"share/doc/trainrt/{path.relative_to(SOURCE)}" for path in GUIDES)):
        check((PREFIX / path).exists(), f"{path} is not installed")
    check(os.access(PREFIX / "share/trainrt/slurm/minicluster", os.X_OK), "minicluster is not executable")


main(setup=setup, teardown=CLUSTER.down)
