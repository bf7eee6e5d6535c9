#!/usr/bin/python3
"""Ranks that srun starts in containers (bubblewrap), with the PMIx of a real Slurm outside. `trainrt doctor` names each part of PMIx that the
container lacks, and reports ok for a complete one, in which a run can train."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("box")
# bubblewrap leaves no sign of a container, so a variable of Apptainer marks it as one
COMPLETE = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--die-with-parent", "--setenv", "APPTAINER_CONTAINER", "/image.sif"]


def setup():
    tried = subprocess.run([*COMPLETE, "true"], capture_output=True, text=True) if shutil.which("bwrap") else None
    if tried is None or tried.returncode != 0:
        skip("bubblewrap is not installed (package bubblewrap)" if tried is None else f"this machine does not allow containers: {tried.stderr.strip()}")
    CLUSTER.up(1)


def in_step(container, *words, ranks=2, variables=()):
    """Runs `srun env VARIABLES CONTAINER trainrt WORDS`. '{server}' in `container` stands for the folder of the PMIx server."""
    box = " ".join(word.replace("{server}", '"$PMIX_SERVER_TMPDIR"') for word in container)
    job = run(["srun", "--wait=5", f"-n{ranks}", *(["env", *variables] if variables else []), "sh", "-c", f'exec {box} "$@"', "sh", TRAINRT, *words],
              env=CLUSTER.env, timeout=90)
    return job


def examined(container, **step):
    """Returns the checks of doctor by name, with grade, text and advice, and the job."""
    job = in_step(container, "doctor", "--storage", scratch(), "--json", **step)
    line = next((line for line in job.out.splitlines() if line.startswith("{")), None)
    check(line is not None, "doctor gave no report", job)
    return {each["name"]: each for each in json.loads(job.out[job.out.index(line):])["checks"]}, job


def names(container, grade, *words, **step):
    checks, job = examined(container, **step)
    check("container" in checks, f"the check of the container is missing: {list(checks)}", job)
    found = checks["container"]
    check(found["grade"] == grade, f"another grade than {grade}: {found}", job)
    for word in words:
        check(word in found["text"] + found["advice"], f"{word!r} is not in {found}", job)
    return checks, job


@test
def a_container_with_all_parts_of_PMIx_is_ok_and_a_run_in_it_trains():
    checks, job = names(COMPLETE, "ok", "PMIx has everything it needs")
    check_exit(job, FINISHED)
    config = linear_config(scratch(), "run")
    check_exit(in_step(COMPLETE, "--config", config), FINISHED)
    equal(run_state(run_dir_of(config)), "finished", "state")


@test
def the_warning_about_a_hidden_folder_of_the_server_names_the_bind_option():
    names([*COMPLETE, "--tmpfs", "{server}/.."], "warning", "PMIX_SERVER_TMPDIR", "does not exist here", "--bind", "--container-mounts=", ranks=1)
    names([*COMPLETE, "--ro-bind", "{server}", "{server}"], "warning", "PMIX_SERVER_TMPDIR", "is read-only here", ranks=1)


@test
def variables_that_the_container_hides_are_named():
    hidden = [word for name in ("PMIX_RANK", "PMIX_NAMESPACE") for word in ("-u", name)]
    _, job = names(COMPLETE, "error", "PMIX_NAMESPACE", "--mpi=pmix", "--cleanenv", variables=hidden)
    check_exit(job, FAILED)


@test
def a_separate_network_is_named():
    _, job = names([*COMPLETE, "--unshare-net"], "error", "no socket listens at port", "--network=host")
    check(job.code != 0, "the exit code is 0", job)


@test
def another_user_in_the_container_is_named():
    names([*COMPLETE, "--unshare-user", "--uid", "1234"], "error", "user 1234 in the container and user 0 outside", "--fakeroot")


@test
def a_dev_shm_that_the_ranks_of_a_node_do_not_share_is_named_before_MPI_fails():
    apart = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--die-with-parent"]
    _, job = names(apart, "error", "/dev/shm", "has the files of only 1 of the 2 ranks of this node", "--ipc=host")
    check(job.code != 0 and "Abort(" not in job.err, "MPI was started", job)


@test
def a_missing_munge_socket_is_named_if_the_server_requires_it():
    if Path("/run/munge/munge.socket.2").exists():
        skip("this machine runs munged")
    names(COMPLETE, "warning", "socket of munged", "/run/munge", variables=["PMIX_SECURITY_MODE=munge,native"], ranks=1)


main(setup, CLUSTER.down)
