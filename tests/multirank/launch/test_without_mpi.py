#!/usr/bin/python3
"""The program links neither MPI nor PMIx. `trainrt -n N`, and all commands, work on one node without them, with the same bits."""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

LOOP, DATA = {"epochs": 2, "batch_size": 32}, {"samples": 384, "features": 200}


def libraries_of(file):
    return subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout


@test
def the_program_and_the_library_link_neither_MPI_nor_PMIx():
    for file in (TRAINRT, BUILD / "libtrainrt.so"):
        if not Path(file).exists():
            skip(f"{file} is not built")
        found = re.findall(r"lib(?:mpi|mpich|pmix|ucp)[\w.]*", libraries_of(file))
        equal(found, [], f"libraries of MPI and PMIx in ldd {file}")


def hidden():
    """Returns a command prefix that hides the installed libraries of MPI and PMIx, as if their packages were not installed."""
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    files = {os.path.realpath(path) for path in re.findall(r"=> (\S+/lib(?:mpi|mpich|pmix)\.so\.\d+)\b", cache)}
    if not files:
        return []  # not installed: nothing to hide
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        skip("needs root and mount namespaces to hide the libraries of MPI and PMIx")
    return ["unshare", "-m", "sh", "-c", "".join(f"mount --bind /dev/null {file} && " for file in sorted(files)) + 'exec "$@"', "sh"]


@test
def ranks_of_one_node_train_without_MPI_and_PMIx_with_the_same_bits():
    prefix = hidden()
    for ranks in (2, 3):
        without, with_mpi = (linear_config(scratch(), name, LOOP, DATA) for name in ("without", "with_mpi"))
        job = run([*prefix, TRAINRT, "-n", ranks, "--config", without])
        check_exit(job, FINISHED)
        check(f"{ranks} ranks on 1 node (pmi, node: in shared memory)" in job.err, "the ranks are not described", job)
        check_exit(run([TRAINRT, "-n", ranks, "--config", with_mpi, "--scaling.backend=mpi"]), FINISHED)
        check_same_bits(run_dir_of(without), run_dir_of(with_mpi))


@test
def a_run_without_MPI_continues_after_a_stop_with_the_same_bits():
    prefix = hidden()
    stopped, whole = (linear_config(scratch(), name, {**LOOP, "epochs": 40, "step_pause": 0.005}, DATA) for name in ("stopped", "whole"))
    job = Job([*prefix, TRAINRT, "-n", 2, "--config", stopped])
    wait_for_reports(run_dir_of(stopped), 2, job)
    kill(processes_with(job.token), signal.SIGTERM)
    equal(job.wait(30), STOPPED, "exit code", job)
    check_exit(run([*prefix, TRAINRT, "-n", 2, "--config", stopped]), FINISHED)
    check_exit(run([TRAINRT, "-n", 2, "--config", whole]), FINISHED)
    check_same_bits(run_dir_of(stopped), run_dir_of(whole))


@test
def a_failure_of_one_rank_without_MPI_ends_all_ranks_with_its_exit_code():
    config = linear_config(scratch(), "run", {**LOOP, "epochs": 100000}, DATA)
    job = Job([*hidden(), TRAINRT, "-n", 2, "--config", config, "--failure.max_failures=0"])
    wait_for_reports(run_dir_of(config), 1, job)
    ranks = [pid for pid in processes_with(job.token) if environment_of(pid).get("PMI_RANK") == "1"]
    equal(len(ranks), 1, "processes of rank 1", job)
    kill(ranks)
    code = job.wait(30)
    check(code not in (FINISHED, STOPPED), f"exit {code}", job)
    check(not processes_with(job.token), "processes are left", job)


@test
def commands_work_without_MPI_and_PMIx():
    prefix = hidden()
    config = linear_config(scratch(), "run", LOOP, DATA)
    for words in (["-n", 2, "--config", config], ["check", "--config", config], ["result", run_dir_of(config)], ["list", "all"], ["doctor"]):
        check_exit(run([*prefix, TRAINRT, *words]), FINISHED)
    job = run([*prefix, TRAINRT, "--version"])
    check_exit(job, FINISHED)
    for name in ("MPI", "PMIx"):
        check(re.search(rf"^  {name} +not available \(no {name} library can be loaded", job.out, re.M), f"{name} is not reported as missing", job)


@test
def doctor_on_ranks_of_one_node_reports_the_missing_MPI_as_not_needed():
    job = run([*hidden(), TRAINRT, "-n", 2, "--program.has_trainer=true", "--run.name=doctor", f"--run.storage_path={scratch()}", "--", TRAINRT, "doctor"])
    check(re.search(r"^ok +mpi +no MPI library can be loaded: .*; this launch does not need it$", job.out, re.M), "the missing MPI is not explained", job)


@test
def a_backend_that_needs_the_missing_MPI_is_refused_with_advice():
    config = linear_config(scratch(), "run", LOOP, DATA)
    job = run([*hidden(), TRAINRT, "-n", 2, "--config", config, "--scaling.backend=mpi"])
    check_exit(job, USAGE)
    for words in ("these ranks communicate over MPI, but no MPI library can be loaded: libmpi.so.12", "package libmpich12", "TRAINRT_MPI_LIBRARY"):
        check(words in job.err, f"the message lacks {words!r}", job)
    equal(job.err.count("error:"), 1, "number of messages", job)


@test
def the_MPI_library_of_the_variable_is_used_and_an_unusable_one_is_refused():
    config = linear_config(scratch(), "run", LOOP, DATA)
    job = run([TRAINRT, "-n", 2, "--config", config, "--scaling.backend=mpi"], env={"TRAINRT_MPI_LIBRARY": "/does/not/exist.so"})
    check_exit(job, USAGE)
    check("no MPI library can be loaded: /does/not/exist.so" in job.err, "the file is not named", job)
    fake = BUILD / "tests/fake_mpi_foreign.so"
    if not fake.exists():
        skip(f"{fake} is not built")
    job = run([TRAINRT, "-n", 2, "--config", config, "--scaling.backend=mpi"], env={"TRAINRT_MPI_LIBRARY": fake})
    check_exit(job, USAGE)
    check(f"the MPI library {fake} (Open MPI v9.8.7) cannot be used" in job.err, "the library is not named", job)


main()
