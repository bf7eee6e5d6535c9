#!/usr/bin/python3
"""A simulation with its own main and its own MPI_Init (tests/support/programs/heat.cpp) is built with the installed library. Killed
and continued on another number of ranks, it ends with the same bits as an uninterrupted run."""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from runs.own_mpi import build_heat, install_library, must, pkg_config  # noqa: E402

STEPS = 60  # with a checkpoint every 5 steps
PREFIX = None
HEAT = None


def setup():
    global PREFIX, HEAT
    if MPIEXEC is None:
        skip("mpiexec.mpich is not installed (package mpich)")
    PREFIX = install_library()
    HEAT = build_heat(PREFIX)


def start_heat(ranks, directory, files="node", pause_ms=0):
    return Job([MPIEXEC, "-n", ranks, HEAT, directory, STEPS, files, pause_ms], trainrt=str(HEAT))


def run_heat(ranks, directory, files="node", may_warn=None):
    job = start_heat(ranks, directory, files)
    equal(job.wait(60), 0, f"exit code of {ranks} ranks", job)
    unexpected = [line for line in job.err.splitlines() if may_warn is None or may_warn not in line]
    equal(unexpected, [], "unexpected lines on standard error", job)
    check(f"step {STEPS} in {directory}" in job.out, "the program did not reach the last step", job)
    return job


@test
def inspect_shows_the_index_of_a_checkpoint_of_checkpointstore_but_no_step():
    directory = scratch() / "plate"
    run_heat(2, directory)
    newest = checkpoints(directory)[-1]
    text = must([TRAINRT, "inspect", newest])
    check(f"index       {int(newest.name[-6:])}" in text and "CheckpointStore" in text, f"the index is missing:\n{text}")
    check(not re.search("^(step|iteration|attempt) ", text, re.M), f"it shows a step, which a CheckpointStore does not have:\n{text}")
    record = json.loads(must([TRAINRT, "inspect", newest, "--json"]))
    equal([record[key] for key in ("index", "step", "iteration", "attempt")], [int(newest.name[-6:]), None, None, None], "record")


def killed_heat(ranks, directory, files="node", index=4):
    """Kills all ranks after checkpoint `index` appears, at a random time, so that the next save may be running."""
    job = start_heat(ranks, directory, files, pause_ms=20)
    wait_until(lambda: (directory / f"checkpoint_{index:06d}").exists() or job.ended(), 30, f"checkpoint {index}", job)
    time.sleep(random.uniform(0, 0.15))
    check(not job.ended(), "the program ended before it could be killed", job)
    kill(job.ranks().values())
    check(job.wait(30) != 0, "exit 0 after kill -9 of all ranks", job)


_reference = None


def reference():
    """Returns the last checkpoint of an uninterrupted run on one rank."""
    global _reference
    if _reference is None:
        directory = scratch() / "whole"
        run_heat(1, directory)
        _reference = state_of(directory)
        equal(sorted(_reference), ["plate/temperature", "step"], "names in state.h5")
        equal(_reference["plate/temperature"][:2], ("float64", (61, 47)), "type and shape of the field")
        equal(int.from_bytes(_reference["step"][2], "little"), STEPS, "last step")
    return _reference


def check_field(directory):
    check(state_of(directory) == reference(), "the field differs from that of the uninterrupted run")
    left = sorted(path.name for path in directory.iterdir())
    equal(left, ["checkpoint_000009", "checkpoint_000010", "checkpoint_000011"], "entries of the directory")


def killed_on_a_continues_on_b(before, after, files):
    directory = scratch() / "heat"
    killed_heat(before, directory, files)
    job = run_heat(after, directory, files, may_warn="state.h5 is missing")
    check(re.search(rf"restored step \d+ of {before} ranks", job.out), "the program did not resume from a checkpoint of the killed run", job)
    check_field(directory)
    shards = len(list((directory / "checkpoint_000011").glob("shard-*.h5")))
    equal(shards, after if files == "rank" else 1, f"shard files in the layout {files}")


for _before, _after, _files in ((3, 1, "node"), (1, 3, "rank"), (3, 2, "single"), (2, 3, "node")):
    add_test(f"a_simulation_killed_on_{_before}_ranks_continues_on_{_after}_with_the_same_bits_with_files_{_files}", killed_on_a_continues_on_b, _before, _after, _files)


@test
def a_simulation_killed_in_any_phase_of_a_save_continues_with_the_same_bits():
    text = (SOURCE / "src/checkpoint/save/phases.hpp").read_text()
    directory = scratch() / "heat"
    for phase in re.findall(r"^  (\w+),", text[text.index("enum class Phase"):text.index("};")], re.M):
        own = [MPIEXEC, "-n", 1, "-env", "TRAINRT_STOP_AT", phase, HEAT, directory, STEPS, "node", 5]
        job = Job([*own, ":", "-n", 1, HEAT, directory, STEPS, "node", 5], trainrt=str(HEAT))
        wait_until(lambda: job.ended() or is_stopped(job.ranks().get(0, 0)), 30, f"rank 0 to reach the phase {phase}", job)
        check(not job.ended(), f"the phase {phase} was not reached", job)
        kill(job.ranks().values())
        job.wait(30)
        left = [path.name for path in directory.iterdir() if path.name.startswith(".saving-")]
        check(len(left) <= 1, f"temporary folders of earlier processes were not removed: {left}")
    run_heat(3, directory, may_warn="state.h5 is missing")
    check_field(directory)


@test
def a_program_without_mpi_builds_with_the_flags_of_pkg_config():
    folder = scratch()
    (folder / "sim.cpp").write_text("""
#include <trainrt/checkpoint_store.hpp>
#include <trainrt/communicators.hpp>
#include <cstdio>
int main(int, char** argv) {
  std::int64_t step = 0;
  trainrt::State state;
  state.value("step", step);
  const auto alone = trainrt::self_communicator();
  trainrt::CheckpointStore store(argv[1], *alone);
  store.restore(state);
  ++step;
  store.save(state);
  std::printf("%d\\n", static_cast<int>(step));
}
""")
    must(["g++", folder / "sim.cpp", *pkg_config(PREFIX, "--cflags", "--libs"), "-o", folder / "sim"])
    for expected in (1, 2, 3):
        equal(must([folder / "sim", folder / "run"]), f"{expected}\n", "steps")


@test
def the_library_exports_only_the_public_api():
    library = PREFIX / "lib/libtrainrt.so"
    names = [line.split(maxsplit=2)[2] for line in must(["nm", "-DC", "--defined-only", library]).splitlines() if line.split()[1] != "A"]
    check(any("CheckpointStore::save" in name for name in names), "CheckpointStore::save is not exported")
    foreign = [name for name in names if not re.match(r"(typeinfo (name )?for |vtable for )?trainrt::", name)]
    check(not foreign, f"foreign symbols are exported: {foreign[:10]}")
    internal = [name for name in names if re.search(r"trainrt::(checkpoint|comm|launch|io|log|plugins)::", name)]
    check(not internal, f"internal symbols are exported: {internal[:10]}")


main(setup)
