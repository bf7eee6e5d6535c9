#!/usr/bin/python3
"""Programs in containers (bubblewrap; the test machines have no Apptainer): the ranks find each other, the client finds its run, and a stop
and a kill have the same effect as without containers."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import *  # noqa: E402,F403
from runs.training import *  # noqa: E402,F403

LINEAR = SOURCE / "tests/support/programs/program_linear.py"


def container(*writable):
    """Returns a command prefix: a container with the machine's files read-only, own processes, users, host name and /tmp, and the node's network."""
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--unshare-all", "--share-net", "--die-with-parent"]
    for folder in writable:
        words += ["--bind", str(folder), str(folder)]
    tried = subprocess.run([*words, "true"], capture_output=True, text=True) if shutil.which("bwrap") else None
    if tried is None or tried.returncode != 0:
        skip("no bubblewrap here (package bubblewrap)" if tried is None else f"containers are not allowed here: {tried.stderr.strip()}")
    return " ".join([*words, "--"])


def linear_config(name, prefix, **loop):
    folder = scratch()
    (folder / "runs").mkdir()
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 5}, "checkpoint": {"num_to_keep": 2, "every": "2 reports"},
        "train": {"program": f"{prefix(folder)} {PYTHON} {LINEAR}".strip()}, "loop": {"epochs": 12, "report_every": 7, **loop}})


@test
def ranks_of_an_unchanged_DDP_script_in_containers_train_together():
    require_torch()
    folder = scratch()
    out = folder / "out"
    out.mkdir()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"},
                                               "train": {"program": f"{container(out)} {PYTHON} {DDP} {out}"}})
    job = run_ranks(2, config, timeout=240)
    check_exit(job, FINISHED)
    check_trained_together(out, 2, job)


@test
def a_client_program_in_a_container_ends_with_the_same_bits_after_a_stop_and_a_kill():
    whole = linear_config("whole", lambda folder: "", step_pause=0)
    check_exit(run_ranks(2, whole), FINISHED)
    config = linear_config("run", lambda folder: container(folder, folder.parent), step_pause=0.02)
    run_dir = run_dir_of(config)
    job = start_ranks(2, config)
    wait_for_reports(run_dir, 3, job)
    kill(job.ranks().values(), signal.SIGTERM)
    check(job.wait(40) == STOPPED, "the run was not stopped", job)
    job = start_ranks(2, config)
    wait_for_reports(run_dir, report_count(run_dir) + 3, job)
    inner = [pid for pid in processes_with(job.token) if str(LINEAR) in name_of_process(pid) and not name_of_process(pid).startswith("bwrap")]
    equal(len(inner), 2, "programs in containers", job)
    kill(inner[:1])
    wait_until(lambda: job.ended() or "restart 1 of 3" in job.err, 20, "a restart in place", job)
    equal([pid for pid in inner if Path(f"/proc/{pid}/exe").exists()], [], "remaining programs", job)
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    check_same_bits(run_dir, run_dir_of(whole))


@test
def paths_that_an_Apptainer_container_needs_are_in_its_bind_variable():
    out = scratch()
    folder = Path("/var/lib") / out.name  # neither /tmp nor $HOME
    try:
        folder.mkdir()
    except OSError as error:
        skip(f"no folder outside of /tmp: {error}")
    try:
        job = run([TRAINRT, f"--run.storage_path={folder}", "--run.name=shown", "--", "/bin/sh", "-c", f"env > {out}/env"],
                  env={"APPTAINER_BINDPATH": "/mine", "HOME": "/nowhere"})
        check_exit(job, FINISHED)
        seen = dict(line.split("=", 1) for line in (out / "env").read_text().splitlines() if "=" in line)
        shown = seen["APPTAINER_BINDPATH"].split(",")
        equal(shown[0], "/mine", "the user's own entry", job)
        client = seen["PYTHONPATH"].split(":")[0]
        for needed in (seen["TRAINRT_RUN_DIR"], *([] if client.startswith(("/tmp/", "/var/tmp/")) else [client])):
            check(needed in shown and needed in seen["SINGULARITY_BINDPATH"].split(","), f"{needed} is missing: {shown}", job)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
