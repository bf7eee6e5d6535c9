"""Builds programs with their own main, such as tests/support/programs/heat.cpp, against the installed library."""
import os
import shutil
import subprocess

from harness import BUILD, SOURCE, check, scratch, skip


def must(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    check(done.returncode == 0, f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def pkg_config(prefix, *words):
    if shutil.which("pkg-config") is None:
        skip("pkg-config not found")
    return must(["pkg-config", *words, "trainrt"], env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()


def install_library():
    """Installs the library in a new folder and returns that prefix."""
    prefix = scratch("prefix")
    must(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "library"])
    return prefix


def build_own_main(prefix, source, name):
    """Builds a source file that has its own main and uses MPI, and returns the program."""
    program = prefix / name
    compiler = shutil.which("mpicxx.mpich") or shutil.which("mpicxx")
    if compiler is None:
        skip("mpicxx.mpich not found (package libmpich-dev)")
    must([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", source, *pkg_config(prefix, "--cflags", "--libs"), "-o", program])
    return program


def build_heat(prefix):
    """Builds heat.cpp and returns the program."""
    return build_own_main(prefix, SOURCE / "tests/support/programs/heat.cpp", "heat")


def build_own_trainer(prefix, source, name):
    """Builds a source file that calls Trainer, without an MPI compiler, and returns the program."""
    program = prefix / name
    must(["g++", "-O2", "-Wall", "-Wextra", "-Werror", source, *pkg_config(prefix, "--cflags", "--libs"), "-o", program])
    return program
