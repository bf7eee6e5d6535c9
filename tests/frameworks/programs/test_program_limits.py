#!/usr/bin/python3
"""Limits that programs and their ranks meet: memory, a full disk, open files, an unusable /dev/shm, many ranks on a node, and a rank whose
program is missing or exits before the others."""
import contextlib
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PYTHON = "/usr/bin/python3"
MANY = int(os.environ.get("TRAINRT_TEST_RANKS", 64))  # on one node; 200 takes about 40 s and 2.5 GB on 2 cores


def command(ranks, *words, keys=(), launcher="mpiexec"):
    """Returns the command of a run in the current folder, under mpiexec or `trainrt -n`."""
    if launcher == "mpiexec":
        return [MPIEXEC, "-n", ranks, TRAINRT, "--run.name=run", "--failure.max_failures=0", *keys, "--", *words]
    return [TRAINRT, "-n", ranks, "--run.name=run", "--failure.max_failures=0", *keys, "--", *words]


def fails(job, *words, code=FAILED):
    check_exit(job, code)
    for word in words:
        check(re.search(word, job.err), f"the log lacks {word!r}", job)


# ---- memory ----------------------------------------------------------------------------------------------------------------------

EATS = """import os, time
held = []
while os.environ["RANK"] == "1":
    held.append(b"x" * (4 << 20))
time.sleep(60)
"""
KILLER = r"the kernel's out-of-memory killer"
FIGURES = r" \(the largest process of the program held 0\.\d GiB, and the limit is 0\.2 GiB\)"


@contextlib.contextmanager
def memory_cgroup(megabytes):
    """Yields a command prefix that runs the command in a new cgroup with a limit of `megabytes`."""
    name = f"trainrt-test-{os.getpid()}"
    for root, limit, swap in ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
                              (Path("/sys/fs/cgroup"), "memory.max", "memory.swap.max")):
        folder = root / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if not (folder / limit).exists():
                continue
            (folder / limit).write_text(f"{megabytes << 20}")
            with contextlib.suppress(OSError):  # the kernel may not account swap
                (folder / swap).write_text("0" if swap.endswith("swap.max") else f"{megabytes << 20}")
            yield ["sh", "-c", f"echo $$ > {folder}/cgroup.procs && exec \"$@\"", "sh"]
            return
        finally:
            wait_until(lambda: not (folder / "cgroup.procs").read_text(), 10, "the cgroup to be empty")
            folder.rmdir()
    skip("no cgroup with a memory limit can be created here")


def killed_for_memory(program, *words):
    with memory_cgroup(200) as prefix:
        fails(run([*prefix, *command(2, *program)], cwd=scratch()), *words)


add_test("an_out_of_memory_kill_of_a_program_is_named", killed_for_memory, [PYTHON, "-c", EATS],
         r"the program of rank 1 on \S+ \(train.program, process \d+\) was ended by SIGKILL, by " + KILLER + FIGURES)
add_test("an_out_of_memory_kill_of_a_client_program_is_named", killed_for_memory, [PYTHON, "-c", f"import trainrt\ntrainrt.context().restore(trainrt.State())\n{EATS}"],
         r"the program of rank 1 on \S+ \(train.program, process \d+\) was ended by SIGKILL, by " + KILLER + FIGURES)
add_test("an_out_of_memory_kill_of_a_program_in_a_shell_is_named", killed_for_memory, ["sh", "-c", f"{PYTHON} -c '{EATS}'; exit $?"],
         r"the program of rank 1 on .* exited with 137, after " + KILLER + " had ended a process of its cgroup" + FIGURES)


@test
def a_killed_program_is_not_reported_as_out_of_memory():
    job = run(command(2, "sh", "-c", "[ $RANK = 0 ] || kill -9 $$; sleep 60"), cwd=scratch())
    fails(job, "rank 1 on .* was ended by SIGKILL")
    check("out-of-memory" not in job.err, "the out-of-memory killer is named", job)


@test
def a_program_that_reaches_ulimit_v_is_reported_with_its_MemoryError():
    eats = EATS.replace("    held.append", "    try: held.append").replace("\ntime", "\n    except MemoryError:\n        held.clear()  # Python 3.13 needs memory for the traceback\n        raise\ntime")
    job = run(command(2, "sh", "-c", f"ulimit -v 500000; exec {PYTHON} -c '{eats}'"), cwd=scratch())
    fails(job, r"rank 1 on .* exited with 1: MemoryError\n")


# ---- a full disk -----------------------------------------------------------------------------------------------------------

PRINTS = """import os, sys, time
for i in range(6):
    os.write(1, b"x" * (1 << 20))
open(sys.argv[1] + "/printed-" + os.environ["RANK"], "w").close()
while not os.path.exists(sys.argv[1] + "/room"):
    time.sleep(0.02)
os.write(1, b"the last words\\n")
"""


@test
def a_full_disk_under_a_log_does_not_block_and_the_missing_bytes_are_counted():
    folder, disk = scratch(), scratch("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], capture_output=True).returncode != 0:
        skip("a file system cannot be mounted here")
    try:
        filler = disk / "filler"
        filler.write_bytes(bytes(1 << 20))
        job = Job(command(2, PYTHON, "-c", PRINTS, folder, keys=[f"--run.storage_path={disk}", "--run.output=none"]), cwd=folder)
        wait_until(lambda: len(list(folder.glob("printed-*"))) == 2 or job.ended(), 30, "the programs to have printed", job)
        job.wait_for(r"cannot be written to .*: No space left on device; .*\. The run continues without it")
        filler.unlink()
        (folder / "room").touch()
        job.code = job.wait(60)
        check_exit(job, FINISHED)
        for rank in range(2):  # each printed more than there was room for
            log = (disk / f"run/logs/rank-{rank:05}.log").read_text()
            lacks = re.findall(r"\n==== (\d+) bytes are missing here ====\n", log)
            check(lacks, f"the log of rank {rank} does not give the number of missing bytes", job)
            equal(log.count("x") + sum(map(int, lacks)), 6 << 20, f"bytes that rank {rank} printed", job)
            # The text "the last words" must come directly after the line about missing bytes, or after the bytes x that were still in the pipe when
            # space became free.
            check(re.search(r"(?:here ====\n|x)the last words\n$", log), f"the end of the log of rank {rank}: {log[-200:]}", job)
        equal(job.err.count("The run continues without it"), 2, "warnings of 2 ranks", job)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


# ---- many ranks, and limits on processes and open files --------------------------------------------------------------------------------

SEES = "echo $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $WORLD_SIZE > $0/$RANK"


def check_all_see(out, ranks, job):
    found = {path.name: path.read_text() for path in out.iterdir()}
    equal(found, {str(rank): f"{rank} {rank} {ranks} {ranks}\n" for rank in range(ranks)}, "ranks and sizes that the programs see", job)


@test
def many_ranks_start_on_a_node_and_each_program_knows_its_rank():
    """The soft limit is 1024 open files, as on most sites."""
    out = scratch("out")
    job = run(["sh", "-c", "ulimit -n 1024 && exec \"$@\"", "sh", *command(MANY, "/bin/sh", "-c", SEES, out, launcher="-n")], timeout=240, cwd=scratch())
    check_exit(job, FINISHED)
    check_all_see(out, MANY, job)
    check("warning" not in job.err, "a warning", job)


@test
def more_ranks_than_ulimit_n_allows_are_an_error_that_names_the_limit():
    job = run(["sh", "-c", "ulimit -n 64 && exec \"$@\"", "sh", *command(200, "true", launcher="-n")], cwd=scratch())
    fails(job, "cannot start rank [1-9][0-9] of 200: Too many open files; raise ulimit -n")
    check(len(job.err.splitlines()) < 5, "the message is longer than five lines", job)


@test
def more_ranks_than_ulimit_u_allows_are_an_error_that_names_the_limit():
    """Root has no such limit, so the ranks run as another user."""
    folder = scratch()
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if os.geteuid() != 0 or run([*as_nobody, "test", "-x", TRAINRT]).code != 0:
        skip("no process of another user that finds trainrt can be started here")
    for part in (scratch_root(), folder):
        part.chmod(0o777)
    job = run([*as_nobody, "prlimit", "--nproc=20", *command(64, "true", launcher="-n")], cwd=folder)
    fails(job, "cannot start rank [0-9]+ of 64: Resource temporarily unavailable; raise ulimit -u")


# ---- an unusable /dev/shm ----------------------------------------------------------------------------------------------------------


def dev_shm_of_no_use(options, launcher, says):
    out = scratch("out")
    job = run([*own_mount("/dev/shm", options), *command(2, "/bin/sh", "-c", SEES, out, launcher=launcher)], cwd=scratch())
    check_exit(job, FINISHED)
    check_all_see(out, 2, job)
    expected = 1 if launcher == "mpiexec" else 0  # the ranks of trainrt -n need no MPI, and no /dev/shm
    for word in (says, "MPI uses System V shared memory instead", "To fix this, give the container a larger --shm-size"):
        equal(job.err.count(word), expected, f"number of messages {word!r}", job)


for _launcher in ("mpiexec", "-n"):
    _name = "under_mpiexec" if _launcher == "mpiexec" else "under_trainrt_n"
    add_test(f"programs_run_with_a_read_only_dev_shm_{_name}", dev_shm_of_no_use, "ro", _launcher, "/dev/shm cannot be written: Read-only file system")
    add_test(f"programs_run_with_a_dev_shm_of_64_KiB_{_name}", dev_shm_of_no_use, "size=64k", _launcher, "/dev/shm has 0.1 MiB free")


def without_sysv():
    """Returns a command prefix that runs the command without System V shared memory."""
    if subprocess.run(["unshare", "-i", "sh", "-c", "echo 0 > /proc/sys/kernel/shmmni"], capture_output=True).returncode != 0:
        skip("the limits of System V shared memory cannot be changed here")
    return ["unshare", "-i", "sh", "-c", "echo 0 > /proc/sys/kernel/shmmni && exec \"$@\"", "sh"]


@test
def programs_run_without_System_V_shared_memory():
    job = run([*without_sysv(), *command(2, "true")], cwd=scratch())
    check_exit(job, FINISHED)
    check("UCX  ERROR" not in job.err, "UCX complains", job)


@test
def ranks_that_need_MPI_without_any_shared_memory_are_an_error_that_names_a_remedy():
    for launcher, keys in (("mpiexec", ()), ("-n", ("--scaling.backend=mpi",))):
        job = run([*own_mount("/dev/shm", "ro"), *without_sysv(), *command(2, "true", keys=keys, launcher=launcher)], cwd=scratch())
        fails(job, "/dev/shm cannot be written: Read-only file system; System V shared memory is not available: .*--shm-size", code=USAGE)
        check("UCX  ERROR" not in job.err and "Abort" not in job.err, "MPI complains", job)


@test
def ranks_of_trainrt_n_run_without_dev_shm_and_System_V_shared_memory():
    job = run([*own_mount("/dev/shm", "ro"), *without_sysv(), *command(2, "true", launcher="-n")], cwd=scratch())
    check_exit(job, FINISHED)


# ---- a program that fails on one rank only ----------------------------------------------------------------------------------


@test
def a_program_missing_on_one_rank_is_named_with_the_rank():
    folder = scratch()
    (folder / "bin").mkdir()
    (folder / "bin/train").symlink_to("/bin/true")
    words = [TRAINRT, "--run.name=run", "--", "train"]
    job = run([MPIEXEC, "-n", 1, "-env", "PATH", f"{folder}/bin:{os.environ['PATH']}", *words, ":", "-n", 1, *words], cwd=folder)
    fails(job, "executable 'train' not found in the PATH of this node", "rank 1", code=USAGE)


@test
def a_program_that_exits_early_with_0_does_not_end_the_other_programs():
    folder = scratch()
    job = run(command(3, "sh", "-c", f"[ $RANK = 1 ] || sleep 2; date > {folder}/$RANK"), cwd=folder)
    check_exit(job, FINISHED)
    check(all((folder / str(rank)).exists() for rank in range(3)), "a program was stopped early", job)


main()
