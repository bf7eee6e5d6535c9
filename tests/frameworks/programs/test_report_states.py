#!/usr/bin/python3
"""Programs that pass a State with single reports instead of attaching one: the checkpoint holds its slabs, and load() reads any other slabs
of the tensors, on any number of ranks."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

# Rank r holds the columns r, r + ranks, ... of `numbers`, one slab each. Only rank 0 has `own`; all ranks have `same`.
BEGIN = """
import os, signal
rank, ranks = ctx.world_rank, ctx.world_size
full = numpy.arange(5 * 7, dtype=numpy.float32).reshape(5, 7)

def state(factor, epoch):
    state = trainrt.State()
    arrays = {c: numpy.ascontiguousarray(full[:, c:c + 1] * factor) for c in range(rank, 7, ranks)}
    for column, array in arrays.items():
        state.slab("layer/numbers", array, (0, column), (5, 7))
    if not arrays:
        state.slab("layer/numbers", numpy.empty((0, 0), numpy.float32), (0, 0), (5, 7))
    own = numpy.full(3 if rank == 0 else 0, 9 * factor, numpy.int64)
    state.slab("own", own, (0,), (3,))
    same = numpy.full((2, 2), factor, numpy.float64)
    state.slab("same", same, (0, 0), (2, 2))
    state["epoch"] = epoch
    return state, arrays, own, same

def check(factor, epoch, path):
    found, arrays, own, same = state(0, 0)
    ctx.load(found, path)
    assert all((array == full[:, c:c + 1] * factor).all() for c, array in arrays.items()), arrays
    assert (own == 9 * factor).all() and (same == factor).all() and found["epoch"] == epoch, (own, same, found["epoch"])
"""

TRAINING = BEGIN + """
epoch = 0
if ctx.restore():
    place = ctx.checkpoint()["path"]
    found = trainrt.State()
    found["epoch"] = 0
    ctx.load(found, place)                # loads only the epoch
    epoch = found["epoch"]
    check(epoch, epoch, place)
    print("continues at", epoch, flush=True)
while epoch < 6:
    epoch += 1
    gives = rank == 0 and epoch % 2       # also passes a directory
    ctx.report({"epoch": epoch}, directory=os.path.dirname(__file__) + "/given" if gives else None, state=state(epoch, epoch)[0])
    newest = ctx.checkpoint()["path"]     # waits for the commit
    check(epoch, epoch, newest)
    if epoch == 3 and rank == ranks - 1 and ctx.config("dies", False) and not os.path.exists(ctx.run_dir + "/died"):
        open(ctx.run_dir + "/died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def training(text=TRAINING, **sections):
    config = program_config(python(text), **sections)
    given = Path(config_command(config)).parent / "given"
    given.mkdir(exist_ok=True)
    (given / "index").write_text("of these")
    return config


def config_command(config):
    return next(line.split(" = ", 1)[1].split()[-1] for line in config.read_text().splitlines() if line.startswith("program"))


@test
def states_of_single_reports_are_found_after_a_kill():
    config = training(loop={"dies": "true"}, failure={"max_failures": 1})
    job = run_program(3, config)
    check_exit(job, FINISHED)
    check("continues at 3" in job.out or "continues at 2" in job.out, "the run restarted from the beginning", job)
    check_verifies(run_dir_of(config))


@test
def any_number_of_ranks_loads_states_of_reports():
    config = training()
    check_exit(run_program(2, config), FINISHED)
    path = sorted(run_dir_of(config).glob("checkpoint_*"))[-1]
    for ranks in (1, 3):
        job = run_program(ranks, program_config(python(BEGIN + f"check(6, 6, {str(path)!r})\ncheck(6, 6, {str(run_dir_of(config))!r})\n")))
        check_exit(job, FINISHED)


@test
def missing_tensors_and_wrong_slabs_are_named():
    config = training()
    check_exit(run_program(1, config), FINISHED)
    for lines, words in (("found.tensor('layer/other', numpy.zeros(2))", ("'layer/other'", "only in the State")),
                         ("found.slab('same', numpy.zeros((1, 3)), (0, 0), (3, 3))", ("'same'", "[2, 2]", "[3, 3]")),
                         ("found.slab('same', numpy.zeros((2, 2)), (1, 1), (2, 2))", ("'same'", "not inside its tensor"))):
        job = run_program(2, program_config(python(f"found = trainrt.State()\n{lines}\nctx.load(found, {str(run_dir_of(config))!r})")))
        check_exit(job, USAGE)
        check(all(word in job.err for word in words), f"the error lacks {words}", job)


@test
def an_attached_state_and_a_state_of_a_report_exclude_each_other():
    for ranks, given in ((1, "state(1, 1)[0]"), (2, "state(1, 1)[0] if rank == 1 else None")):
        config = program_config(python(BEGIN + "mine = trainrt.State()\nmine['n'] = 1\nctx.restore(mine)\n"
                                       f"ctx.report({{}}, directory=os.path.dirname(__file__), state={given})"))
        job = run_program(ranks, config)
        check_exit(job, USAGE)
        check("Use only one of the two" in job.err and "the same call" not in job.err, "the error is not raised on both ranks", job)


@test
def a_state_missing_on_some_ranks_is_an_error_that_names_the_rank():
    job = run_program(2, program_config(python(BEGIN + "ctx.restore()\nctx.report({}, state=state(1, 1)[0] if rank == 0 else None)")))
    check(job.code not in (0, None) and "missing on rank 1" in job.err, "the error lacks the rank", job)


main()
