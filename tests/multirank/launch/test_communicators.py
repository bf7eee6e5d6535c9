#!/usr/bin/python3
"""If a rank is late, calls a collective with another size or is killed, the other ranks get a clear error and no shared memory is left."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

PROGRAM = BUILD / "tests/communicator_trouble"


def run_ranks(ranks, *words, env=None, limit=60):
    command = [MPIEXEC, "-n", str(ranks), str(PROGRAM), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=limit, env={**os.environ, **(env or {})})


def setup():
    if MPIEXEC is None:
        skip("mpiexec.mpich is not installed (package mpich)")


def late_rank(backend, nodes, ranks):
    done = run_ranks(ranks, backend, nodes, "late")
    heard = [line for line in done.stdout.splitlines() if "all_reduce of 'bucket 1'" in line]
    equal(len(heard), ranks - 1, f"ranks that report the timeout\n{done.stdout}{done.stderr}")
    for line in heard:
        check("waited 1 s for rank 1" in line, f"the time limit or the rank is not named: {line}")
        check("at step 5" in line and re.search(r"rank 1 \((last seen at step|no answer)", line),
              f"the missing rank and the step are not named: {line}")
        others = [other for other in range(ranks) if other != 1 and re.search(rf"rank {other} \((last seen|no answer)", line)]
        check(not others, f"waiting ranks are named as missing: {line}")


add_test("the_mpi_backend_names_a_late_rank", late_rank, "mpi", "", 3)
add_test("the_node_backend_names_a_late_rank", late_rank, "node", "", 2)


@test
def ranks_of_the_same_node_name_a_late_rank_and_other_nodes_name_its_leader():
    done = run_ranks(3, "node", "0,0,1", "late")
    by_rank = {int(line.split()[1].rstrip(":")): line for line in done.stdout.splitlines() if line.startswith("rank ")}
    check("rank 1 (last seen at step 3)" in by_rank.get(0, ""), f"rank 0 does not name it: {done.stdout}")
    check("rank 0 (no answer)" in by_rank.get(2, ""), f"rank 2 does not name the leader for which it waits: {done.stdout}")


@test
def all_ranks_report_both_sizes_of_a_mismatched_collective():
    for backend in ("mpi", "node"):
        done = run_ranks(2, backend, "", "other")
        for rank in (0, 1):
            line = next((line for line in done.stdout.splitlines() if line.startswith(f"rank {rank}: the ranks")), "")
            check("rank 0 called all_reduce of 9 f32 (sum) 'bucket 1'" in line and "rank 1 called all_reduce of 8 f32" in line,
                  f"{backend}: {done.stdout}{done.stderr}")


@test
def without_shared_memory_the_ranks_fall_back_to_mpi_with_one_warning():
    shim = BUILD / "tests/fault_shim.so"
    if not shim.exists():
        skip("the fault shim is not built")
    done = run_ranks(2, "auto", "", "name", env={"LD_PRELOAD": str(shim), "TRAINRT_FAULTS": "fallocate:ENOSPC:memfd"})
    equal(done.returncode, 0, f"exit code\n{done.stdout}{done.stderr}")
    check("backend mpi" in done.stdout, f"the ranks did not fall back: {done.stdout}")
    equal(done.stderr.count("cannot share memory"), 1, f"warnings\n{done.stderr}")
    check("No space left on device" in done.stderr and "rank 0" in done.stderr, f"the reason is not named: {done.stderr}")


@test
def a_failed_allocation_of_a_shared_window_costs_copies_but_not_the_run():
    shim = BUILD / "tests/fault_shim.so"
    if not shim.exists():
        skip("the fault shim is not built")
    # Lets the first two memory reservations of each rank succeed, because the backend needs them for itself. All later ones fail.
    done = run_ranks(2, "node", "", "name", env={"LD_PRELOAD": str(shim), "TRAINRT_FAULTS": "fallocate:ENOSPC:memfd:2"})
    equal(done.returncode, 0, f"exit code\n{done.stdout}{done.stderr}")
    check("backend node" in done.stdout, f"the board failed too: {done.stdout}{done.stderr}")
    check("Reductions need additional copies" in done.stderr, f"the warning is missing: {done.stderr}")


@test
def killed_ranks_leave_no_shared_memory():
    """The ranks get their own /dev/shm, because other programs on this machine also create files there."""
    folder = scratch()
    listed = ["sh", "-c", f'"$@" > {folder}/output 2>&1; ls /dev/shm > {folder}/left', "sh"]
    process = subprocess.Popen([*own_mount("/dev/shm"), *listed, MPIEXEC, "-n", "2", str(PROGRAM), "node", "", "late"])
    wait_until(lambda: (folder / "output").exists() and (folder / "output").read_text().count("has met the others") == 2, 30, "the ranks to meet")
    subprocess.run(["pkill", "-KILL", "-f", f"^{PROGRAM}"], check=True)
    process.wait(30)
    of_mpi = ("mpich", "ucx_")  # files of MPI and its transport are ignored
    equal([name for name in (folder / "left").read_text().split() if not any(word in name for word in of_mpi)], [], "names in /dev/shm")


@test
def a_backend_that_cannot_serve_is_refused_with_the_reason():
    done = run_ranks(1, "node", "", "name")
    check(done.returncode != 0 and "requires more than one rank" in done.stdout + done.stderr and "auto would select self" in done.stdout + done.stderr,
          f"{done.returncode}: {done.stdout}{done.stderr}")
    done = run_ranks(1, "gloo", "", "name")
    check("unknown backend" in done.stdout + done.stderr and "node" in done.stdout + done.stderr, f"{done.stdout}{done.stderr}")


main(setup)
