#!/usr/bin/python3
"""Programs in containers (bubblewrap, as the machines of the tests have no Apptainer): the ranks find each other, the client finds its
run, and a stop and a kill do what they do without one."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from runs.plain_scripts import *  # noqa: E402,F403
from runs.training import *  # noqa: E402,F403

LINEAR = SOURCE / "tests/support/programs/program_linear.py"


def container(*writable):
    """A command prefix: the machine's file system for reading, processes, users, host name and /tmp of its own, the network of the node."""
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
def an_unchanged_DDP_script_in_containers_trains_together():
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
def a_program_with_the_client_in_a_container_is_stopped_and_killed_and_ends_with_the_same_bits():
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
    equal([pid for pid in inner if Path(f"/proc/{pid}/exe").exists()], [], "programs that are left", job)
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    check_same_bits(run_dir, run_dir_of(whole))


@test
def what_a_container_of_Apptainer_must_show_is_in_its_variable():
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
        equal(shown[0], "/mine", "what the user has set", job)
        client = seen["PYTHONPATH"].split(":")[0]
        for needed in (seen["TRAINRT_RUN_DIR"], *([] if client.startswith(("/tmp/", "/var/tmp/")) else [client])):
            check(needed in shown and needed in seen["SINGULARITY_BINDPATH"].split(","), f"{needed} is not shown: {shown}", job)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
