#!/usr/bin/python3
"""A training program in Python (`[train] program`) on 1 and 3 ranks: it is stopped, signalled and killed at every point of its life and
ends with the bits of an undisturbed run. Programs that send nothing, fail, or send invalid messages are covered too."""
import json
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from tools.guides import block  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403

def fails(config, *words, ranks=1, code=FAILED, timeout=60, **options):
    """Runs `config` and checks the exit code and the words of error.txt."""
    job = run_program(ranks, config, timeout=timeout, **options)
    check_exit(job, code)
    text = error_of(config)
    for word in words:
        check(word in text, f"error.txt lacks {word!r}: {text}", job)
    check(not programs(job), "a program is still running", job)
    return job


_references = {}


def reference(ranks, loop):
    """Returns the run directory of an undisturbed run."""
    key = f"{ranks} {loop}"
    if key not in _references:
        config = linear_program("whole", loop)
        check_exit(run_program(ranks, config), FINISHED)
        _references[key] = run_dir_of(config)
    return _references[key]


def check_like_undisturbed(ranks, config, loop):
    check_exit(run_program(ranks, config, *(f"--loop.{key}=0" for key in ("step_pause", "piece_pause", "restore_pause"))), FINISHED)
    run_dir = run_dir_of(config)
    check_iterations(run_dir)
    check_same_bits(run_dir, reference(ranks, loop))
    check_no_debris(run_dir, keep=2)
    check_verifies(run_dir)


def stopped_by(job, name="SIG"):
    job.code = job.wait(40)
    check_exit(job, STOPPED)
    check(f"stopped by {name}" in job.out + job.err, "the cause of the stop is not logged", job)


# ---- stops and kills leave the same bits -----------------------------------------------------------------------------------------------------------


def stop(ranks, config, signal_number, whom):
    """Signals one rank (`whom` is its number), all ranks ("ranks"), or also their programs ("all"), as a batch system does."""
    before = report_count(run_dir_of(config))
    job = start_program(ranks, config)
    wait_for_reports(run_dir_of(config), before + random.randint(1, 2), job, 60)
    time.sleep(random.uniform(0, 0.05))
    check(not job.ended(), "the run ended before it could be stopped: make it longer", job)
    pids = job.ranks()
    kill([pids[whom]] if isinstance(whom, int) else [*(programs(job).values() if whom == "all" else ()), *pids.values()], signal_number)
    stopped_by(job, signal.Signals(signal_number).name)
    check("Run the same command again" in (job.out + job.err).splitlines()[-1], "the last line does not name the next step", job)
    check("Traceback" not in job.err, "a program printed a traceback", job)
    check_iterations(run_dir_of(config))


def stops_leave_the_same_bits(ranks, loop):
    config = linear_program("stopped", {**loop, "step_pause": 0.005})
    for signal_number, whom in ((signal.SIGUSR1, ranks - 1), (signal.SIGTERM, "all"), (signal.SIGINT, "ranks"), (signal.SIGUSR2, "all")):
        stop(ranks, config, signal_number, whom)
    check_like_undisturbed(ranks, config, loop)


def kills_leave_the_same_bits(ranks, loop):
    config = linear_program("killed", {**loop, "step_pause": 0.005})
    for whom in ("rank", "ranks", "program"):
        before = report_count(run_dir_of(config))
        job = start_program(ranks, config)
        wait_for_reports(run_dir_of(config), before + random.randint(1, 3), job, 60)
        time.sleep(random.uniform(0, 0.05))
        check(not job.ended(), "the run ended before it could be killed: make it longer", job)
        children = list(programs(job).values())
        kill({"rank": [job.ranks()[ranks - 1]], "ranks": job.ranks().values(), "program": children[:1]}[whom])
        wait_until(lambda: not any(map(parent_of, children)), 15, "the programs to exit", job)
        code = job.wait(30)
        check_exit_after_kill(job, code)
    check_like_undisturbed(ranks, config, loop)


for ranks, word, loop in ((1, "steps", BY_STEPS), (3, "epochs", BY_EPOCHS)):
    add_test(f"stops_leave_the_same_bits_on_{ranks}_ranks_with_reports_by_{word}", stops_leave_the_same_bits, ranks, loop)
    add_test(f"kills_leave_the_same_bits_and_no_programs_on_{ranks}_ranks_with_reports_by_{word}", kills_leave_the_same_bits, ranks, loop)


# ---- signals at other moments ------------------------------------------------------------------------------------------------


def early_signal(whom, pause, env):
    """Signals the run while the programs import or before they restore. Nothing is lost, and the next start begins at the same step."""
    config = linear_program(loop=pause)
    before = None
    for again in (False, True):
        if again:
            first = start_program(2, config, "--loop.restore_pause=0", "--loop.step_pause=0.01")
            wait_for_reports(run_dir_of(config), 3, first, 60)
            kill([first.ranks()[0]], signal.SIGUSR1)
            stopped_by(first)
            before = step_of(run_dir_of(config))
        job = start_program(2, config, env=env)
        children = wait_for_programs(job, 2)
        if whom == "all":
            time.sleep(0.7)
        else:  # the programs make their folders after the run is open
            wait_until(lambda: all((scratch_root() / f"program-linear-{pid}").exists() for pid in children.values()), 60, "the programs to open the run", job)
        kill([*(children.values() if whom == "all" else ()), job.ranks()[1]], signal.SIGTERM)
        stopped_by(job, "SIGTERM")
        check(again == bool(checkpoints(run_dir_of(config))), "checkpoints before the first step", job)
    equal(step_of(run_dir_of(config)), before, "step of the newest checkpoint", job)
    check_like_undisturbed(2, config, BY_STEPS)


add_test("a_signal_to_all_processes_while_the_programs_import_loses_nothing", early_signal, "all", {}, {"PROGRAM_IMPORT_PAUSE": 10})
add_test("a_signal_to_one_rank_before_the_programs_restore_loses_nothing", early_signal, "rank", {"restore_pause": 2}, {})


@test
def a_signal_in_an_evaluation_stops_it_there_and_loses_nothing():
    loop = {"pieces": 40, "piece_pause": 0.1}
    config = linear_program(loop=loop)
    job = start_program(2, config)
    wait_until(lambda: job.ended() or sum("0" != environment_of(pid).get("RANK") for pid in programs(job).values()), 60, "the program", job)
    wait_for_reports(run_dir_of(config), 1, job, 60)  # the next evaluation starts at once and takes 4 s
    time.sleep(1)
    start = time.monotonic()
    kill([job.ranks()[1]], signal.SIGUSR1)
    stopped_by(job)
    took_s, evaluation_s = time.monotonic() - start, reports(run_dir_of(config))[0]["_time_this_iter_s"]
    check(took_s < 0.7 * evaluation_s, f"{took_s:.1f} s until the stop: it waited for the evaluation of {evaluation_s:.1f} s to end", job)
    equal((report_count(run_dir_of(config)), step_of(run_dir_of(config))), (1, 14), "number of reports and step at the stop", job)
    check_like_undisturbed(2, config, {**loop, "piece_pause": 0})


@test
def a_signal_during_a_checkpoint_and_more_signals_do_no_harm():
    config = linear_program(loop={"step_pause": 0.002})
    for phase in ("prepared", "staged", "manifest_written"):
        job = start_program(2, config, env={"TRAINRT_STOP_AT": f"{phase}:2"})
        wait_until(lambda: job.ended() or any(map(is_stopped, job.ranks().values())), 60, f"a rank in {phase}", job)
        pids = [*programs(job).values(), *job.ranks().values()]
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
            kill(pids, number)
        wait_until(lambda: kill(job.ranks().values(), signal.SIGCONT) or job.ended(), 40, "the stop", job)
        stopped_by(job)
    check_like_undisturbed(2, config, BY_STEPS)


@test
def a_run_without_a_report_is_saved_at_the_step_where_it_stops():
    """The run has fewer steps than one report needs; only the stop saves."""
    config = linear_program(loop={"epochs": 100, "report_every": 100000, "step_pause": 0.01})
    job = start_program(2, config)
    wait_for_programs(job, 2)
    time.sleep(4)
    kill([job.ranks()[0]], signal.SIGUSR1)
    stopped_by(job)
    step = step_of(run_dir_of(config))
    check(step > 0, "no step was saved", job)
    job = run_program(2, config, f"--loop.steps={step + 5}", "--loop.step_pause=0")
    check_exit(job, FINISHED)
    equal(step_of(run_dir_of(config)), step + 5, "step at the end", job)


# ---- contents of a checkpoint --------------------------------------------------------------------------------------------------


@test
def a_checkpoint_holds_the_tensors_values_and_files_of_all_ranks():
    config = linear_program(loop={"epochs": 2})
    check_exit(run_program(3, config), FINISHED)
    found = state_of(run_dir_of(config))
    equal({name: entry[:2] for name, entry in found.items() if name in ("model/weights", "optimizer/velocity", "largest")},
          {"model/weights": ("float32", (24,)), "optimizer/velocity": ("float32", (24,)), "largest": ("float32", (12, 24))}, "tensors")
    newest = checkpoints(run_dir_of(config))[-1]
    for rank in range(3):
        equal((newest / f"files/rank-{rank:05d}/history").read_text(), "0\n1\n", f"file of rank {rank}")
    equal((int.from_bytes(found["epoch"][2], "little"), found["warm"][2]), (2, b"\1"), "values")
    shown = run([TRAINRT, "inspect", run_dir_of(config), "--json"])
    check_exit(shown, FINISHED)
    check('"features"' in shown.out, "the program's metadata is not shown", shown)


@test
def arrays_of_every_type_come_back_as_they_were():
    """Tests NumPy arrays, array.array, and torch tensors, also of types that NumPy lacks; scalars, empty arrays, and values that JSON lacks."""
    text = """
import array, math, torch
tensors = {
    "f64": numpy.arange(3.0), "f32": numpy.full((2, 3), 1 / 3, numpy.float32), "f16": numpy.full(3, 1 / 3, numpy.float16),
    "i64": numpy.full(2, -2**63), "i32": numpy.full(2, -7, numpy.int32), "i16": numpy.full(2, -7, numpy.int16), "i8": numpy.full(2, -7, numpy.int8),
    "u8": numpy.full(2, 200, numpy.uint8), "bool": numpy.array([True, False]), "scalar": numpy.array(4.5), "empty": numpy.zeros((0, 3)),
    "array": array.array("d", [1.5, 2.5]), "bytes": bytearray(b"abc"),
    "torch/f32": torch.nn.Parameter(torch.arange(6.0).reshape(2, 3) / 7), "torch/bf16": torch.arange(5).to(torch.bfloat16) / 7,
    "torch/f16": torch.arange(5).half() / 7, "torch/i64": torch.arange(5), "torch/bool": torch.tensor([True, False, True]), "torch/scalar": torch.tensor(2.25)}
values = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan, "zero": -0.0, "tiny": 5e-324, "long": -2**63, "text": 'a "b"\\n\\u00fc', "true": True}
bits = lambda t: bytes(memoryview(t.detach().view(torch.int16).numpy() if t.dtype == torch.bfloat16 else t.detach().numpy()) if isinstance(t, torch.Tensor) else memoryview(t))
wanted = {name: bits(tensor) for name, tensor in tensors.items()}
again = ctx.config("num_epochs", 1) > 1
if again:
    for tensor in tensors.values():
        if isinstance(tensor, torch.Tensor):
            tensor.detach().zero_()
        elif len(bits(tensor)):
            memoryview(tensor).cast("B")[:] = bytes(len(bits(tensor)))
state = trainrt.State()
for name, tensor in tensors.items():
    state.tensor(name, tensor)
for name, value in values.items():
    state["v/" + name] = type(value)() if again else value
assert ctx.restore(state) == again
for name, tensor in tensors.items():
    assert bits(tensor) == wanted[name], (name, tensor)
for name, value in values.items():
    found = state["v/" + name]
    assert type(found) is type(value) and repr(found) == repr(value), (name, found)
for op, expected in (("sum", 3.0), ("mean", 1.5), ("max", 2.0), ("min", 1.0)):
    for one in (numpy.full(3, 1.0 + ctx.world_rank), torch.full((2, 2), 1.0 + ctx.world_rank), torch.full((70000,), 1.0 + ctx.world_rank).bfloat16()):
        assert ctx.all_reduce(one, op) is one and bool((one == expected).all()), (op, one)
ctx.barrier()
ctx.step()
ctx.report({"a": numpy.float32(0.5), "b": torch.tensor(3), "c": math.nan, "d": math.inf, "e": "text", "f": True, "g": numpy.int64(4),
            "h": trainrt.Number(ctx.world_rank, "max"), "i": trainrt.ratio(ctx.world_rank, ctx.world_rank)})
"""
    config = program_config(python(text))
    check_exit(run_program(2, config), FINISHED)
    row = reports(run_dir_of(config))[-1]
    equal({key: row[key] for key in "abcdefghi"},
          {"a": 0.5, "b": 3, "c": None, "d": "Infinity", "e": "text", "f": 1, "g": 4, "h": 1, "i": 1}, "metrics")
    check_exit(run_program(2, config, "--loop.num_epochs=2"), FINISHED)
    equal(len(attempts(run_dir_of(config))), 2, "attempts")


@test
def a_state_may_be_empty_or_hold_only_empty_tensors():
    for text in ("state.tensor('e', numpy.zeros((3, 0)))", "state['v'] = 1", "# nothing"):
        config = program_config(python(f"state = trainrt.State()\n{text}\nprint('restored', ctx.restore(state))\nctx.step()\nctx.report({{}})\nctx.save()"))
        for number, restored in enumerate((False, True)):
            job = run_program(1, config, f"--loop.num_epochs={number}")
            check_exit(job, FINISHED)
            check(f"restored {restored}" in job.out, f"with {text!r}: restored is not {restored}", job)


@test
def the_program_of_the_README_learns_and_ends_with_the_same_bits():
    command = f"{PYTHON} {program_file(block('python', 'trainrt.context()'))}"
    whole, stopped = (program_config(command, name, {"epochs": 25}, {"every": "10 reports"}) for name in ("whole", "stopped"))
    check_exit(run_program(2, whole), FINISHED)
    job = start_program(2, stopped)
    wait_for_reports(run_dir_of(stopped), 3, job, 60)
    kill([job.ranks()[1]], signal.SIGUSR1)
    stopped_by(job)
    check_exit(run_program(2, stopped), FINISHED)
    check_iterations(run_dir_of(stopped), 25)
    different = [name for name, entry in state_of(run_dir_of(whole)).items() if state_of(run_dir_of(stopped))[name] != entry]
    check(not different and reported_metrics(run_dir_of(stopped)) == reported_metrics(run_dir_of(whole)), f"different bits: {different}")
    check(reports(run_dir_of(whole))[-1]["loss"] < 1e-3, f"the loss stays high: {reports(run_dir_of(whole))[-1]}")


@test
def a_torch_program_with_its_optimizer_in_a_file_ends_with_the_same_bits():
    text = """
import time, torch
torch.manual_seed(ctx.seed)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.2), torch.nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
path = __import__("os").path.join(ctx.config("folder"), f"optimizer-{ctx.world_rank}")
state = trainrt.State()
for name, tensor in model.state_dict().items():
    state.tensor("model/" + name.replace(".", "/"), tensor)
state.file("optimizer.pt", path, per_rank=True)
@state.before_save
def save():
    torch.save(optimizer.state_dict(), path)
losses = torch.zeros(1)
state.tensor("loss", losses, per_rank=True)
state["reported"] = 0
if ctx.restore(state):
    optimizer.load_state_dict(torch.load(path))
while True:
    if state["reported"] < ctx.step_count:  # also after a stop between report and save
        state["reported"] += 1
        ctx.report({"loss": losses})
    if ctx.step_count == ctx.config("steps", 80):
        break
    torch.manual_seed(ctx.step_seed % 2**63)
    x = torch.randn(16, 8)
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        ctx.all_reduce(parameter.grad, "mean")
    optimizer.step()
    losses[0] = loss.detach()
    time.sleep(ctx.config("pause", 0.0))
    ctx.step()
ctx.save()
"""
    whole, stopped = (program_config(python(text), name, {"folder": scratch(), "pause": pause}, {"every": "10 reports"}) for name, pause in (("whole", 0.0), ("stopped", 0.03)))
    check_exit(run_program(2, whole), FINISHED)
    for number, pids in enumerate((lambda job: [job.ranks()[0]], lambda job: job.ranks().values())):
        job = start_program(2, stopped)
        wait_for_reports(run_dir_of(stopped), 15 + 20 * number, job, 60)
        kill(pids(job), (signal.SIGUSR1, signal.SIGKILL)[number])
        job.wait(40)
        check(run_state(run_dir_of(stopped)) != "finished", "the run ended before it could be stopped", job)
    check_exit(run_program(2, stopped), FINISHED)
    check_iterations(run_dir_of(stopped), 80)
    check_same_bits(run_dir_of(stopped), run_dir_of(whole))
    first, last = (reports(run_dir_of(whole))[number]["loss"] for number in (0, -1))
    check(last < first, f"the loss does not decrease: {first}, then {last}")


@test
def a_new_run_that_takes_the_tensors_of_another_keeps_its_own_values():
    text = """
weights, other = numpy.zeros(3), numpy.zeros(3)
state = trainrt.State()
state.tensor("model/w", weights)
state.tensor("other", other)
state["best"], state["epoch"], state["name"], state["flag"] = float("inf"), 3, "mine", True
restored = ctx.restore(state)
print("found", restored, weights[0], other[0], state["best"], state["epoch"], state["name"], state["flag"], ctx.step_count)
weights += 1
other += 1
state["best"], state["epoch"], state["name"], state["flag"] = 0.5, 4, "theirs", False
ctx.step()
ctx.report({})
"""
    first = program_config(python(text), "first")
    check_exit(run_program(1, first), FINISHED)
    second = program_config(python(text), "second")
    job = run_program(1, second, f"--run.resume_from_checkpoint={run_dir_of(first)}", "--run.resume_tensors=model/*")
    check_exit(job, FINISHED)
    check("found True 1.0 0.0 inf 3 mine True 0" in job.out, "other contents", job)


# ---- equal arrays on all ranks -----------------------------------------------------------------------------------------------------

UNSEEDED = """
import torch
weights, layer, own = numpy.random.default_rng().random(1000), torch.nn.Linear(3, 2), numpy.full(2, ctx.world_rank)
state = trainrt.State()
state.tensor("model/weights", weights)
state.tensor("model/layer", layer.weight)
state.tensor("own", own, per_rank=True)
restored = ctx.restore(state)
assert own[0] == ctx.world_rank
for tensor in (weights, layer.weight):
    first, second = ctx.all_gather(tensor)
    assert (first == second).all(), (first, second)
while ctx.step_count < ctx.config("steps", 4):
    if ctx.step_count == ctx.config("parts", -1) and ctx.world_rank == 1:
        layer.weight.detach()[1, 2] += 1
    ctx.step()
    ctx.report({"w": weights[7], "l": layer.weight.detach()[1, 2]})
"""


@test
def ranks_that_fill_their_arrays_without_a_seed_train_one_model():
    config = program_config(python(UNSEEDED))
    for steps in (4, 6):
        check_exit(run_program(2, config, f"--loop.steps={steps}"), FINISHED)
    rows = reports(run_dir_of(config))
    equal(len({row["w"] for row in rows} | {row["l"] for row in rows}), 2, "distinct values of both arrays in the reports")


@test
def an_array_that_differs_between_ranks_is_an_error_with_its_name_rank_and_step():
    config = program_config(python(UNSEEDED), loop={"parts": 2})
    fails(config, "at step 3: 'model/layer' on rank 1 differs", "equal at step 2", ranks=2)
    equal(step_of(run_dir_of(config)), 2, "step of the newest checkpoint")


@test
def broadcast_and_all_gather_accept_every_type_of_array():
    text = """
import array, torch
rank, ranks = ctx.world_rank, ctx.world_size
kinds = [lambda n: numpy.full((2, 3), n, numpy.float32), lambda n: numpy.array(n == 1), lambda n: numpy.full(100000, n), lambda n: numpy.zeros((0, 3)),
         lambda n: array.array("h", [n, -n]), lambda n: bytearray([n]), lambda n: torch.full((3,), n / 3).bfloat16(), lambda n: torch.tensor(n),
         lambda n: torch.nn.Parameter(torch.full((2, 2), n / 7))]
same = lambda a, b: type(a) is type(b) and (torch.equal(a, b) if isinstance(a, torch.Tensor) else bytes(a) == bytes(b) and getattr(a, "shape", 0) == getattr(b, "shape", 0))
for kind in kinds:
    mine = kind(rank)
    found = ctx.all_gather(mine)
    plain = lambda one: one.detach() if isinstance(one, torch.Tensor) else one
    assert len(found) == ranks and all(same(one, plain(kind(n))) for n, one in enumerate(found)), found
    assert same(mine, kind(rank)) and not any(one is mine for one in found)
    for root in (0, ranks - 1):
        mine = kind(rank)
        assert ctx.broadcast(mine, root) is mine and same(mine, kind(root)), (root, mine)
try:
    ctx.all_gather(memoryview(bytearray(3)))
except TypeError as error:
    assert "all_gather()" in str(error) and "memoryview" in str(error), error
ctx.broadcast(numpy.zeros(1))
"""
    check_exit(run_program(3, program_config(python(text))), FINISHED)


@test
def different_arrays_or_calls_on_ranks_are_an_error_that_names_both():
    for call, *words in (("ctx.all_gather(numpy.zeros((2, 3 + ctx.world_rank)))", "rank 0 passed all_gather of f64 [2, 3], rank 1 passed all_gather of f64 [2, 4]"),
                         ("ctx.broadcast(numpy.zeros(3, 'f' if ctx.world_rank else 'd'))", "rank 1 passed broadcast from rank 0 of f32 [3]"),
                         ("ctx.broadcast(numpy.zeros(3), ctx.world_rank)", "rank 1 passed broadcast from rank 1 of f64 [3]")):
        fails(program_config(python(call)), "the ranks do not make the same call", *words, ranks=2)


@test
def a_value_with_part_of_sum_keeps_its_total_on_any_number_of_ranks():
    text = """
state = trainrt.State()
state.value("seen", 0, part_of_sum=True)
state.value("loss", 0.0, part_of_sum=True)
ctx.restore(state)
total = ctx.all_gather(numpy.array([state["seen"], state["loss"]], float))
sums = [sum(part[i] for part in total) for i in (0, 1)]
print(f"total {sums[0]} {sums[1]} {type(state['seen']).__name__}\\n", end="")  # one write, so that lines of ranks do not mix
state["seen"] += ctx.world_rank + 1
state["loss"] += 0.5
ctx.step()
ctx.save()
"""
    config = program_config(python(text), scaling={"min_workers": 1})
    for epochs, (ranks, seen, loss) in enumerate(((3, 0, 0), (2, 6, 1.5), (1, 9, 2.5), (3, 10, 3))):
        job = run_program(ranks, config, f"--loop.num_epochs={epochs}", "--run.output=all")
        check_exit(job, FINISHED)
        check(job.out.count(f"total {seen:.1f} {loss:.1f} int") == ranks, f"the totals are not {seen} and {loss}", job)


@test
def a_metric_keeps_the_value_from_the_moment_of_the_call():
    """The running sums may be set to zero before the report is written."""
    import numpy
    sys.path.insert(0, str(SOURCE / "src/python"))
    import trainrt
    total, count = numpy.full(1, 6.0), numpy.full(1, 3)
    given = {"loss": trainrt.ratio(total, count), "largest": trainrt.Number(total, "max", count)}
    total[:] = count[:] = 0
    equal([(one.value, one.weight) for one in given.values()], [(2.0, 3), (6.0, 3)], "numbers")
    equal(trainrt.ratio(total, count).value, 0.0, "ratio of nothing")
    for wrong in ([1.0], None, numpy.zeros(2)):
        try:
            trainrt.ratio(wrong, 1)
        except TypeError as error:
            check("ratio()" in str(error), f"the error does not name ratio(): {error}")
        else:
            raise Failure(f"ratio() took {wrong!r}")


# ---- errors of use -----------------------------------------------------------------------------------------------------------------


@test
def misuse_is_an_error_that_names_the_cause():
    text = """
import math, torch
def refused(kind, words, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        assert all(word in str(error) for word in words.split("|")), (words, error)
    else:
        raise AssertionError(f"not refused: {words}")
state = trainrt.State()
tensor = lambda array, **options: state.tensor("model/w", array, **options)
refused(TypeError, "tensor 'model/w'|list|NumPy", tensor, [1.0])
refused(TypeError, "tensor 'model/w'|'I'|f32", tensor, numpy.zeros(3, numpy.uint32))
refused(TypeError, "tensor 'model/w'|byte order", tensor, numpy.zeros(3, ">f4"))
refused(TypeError, "tensor 'model/w'|complex64", tensor, torch.zeros(3, dtype=torch.complex64))
refused(ValueError, "tensor 'model/w'|not contiguous", tensor, numpy.zeros((3, 4)).T)
refused(ValueError, "tensor 'model/w'|not contiguous", tensor, torch.zeros(3, 4).t())
refused(ValueError, "tensor 'model/w'|read-only", tensor, bytes(4))
refused(ValueError, "tensor 'model/w'|only one of", tensor, numpy.zeros(3), per_rank=True, part_of_sum=True)
refused(TypeError, "tensor 'model/w'|(axis, first, global_extent)", tensor, numpy.zeros(3), sharded=(0, 1))
tensor(numpy.zeros(3))
refused(ValueError, "'model/w'|twice", tensor, numpy.zeros(3))
refused(ValueError, "'model/w'|twice", state.__setitem__, "model/w", 1)
refused(TypeError, "str", state.tensor, 3, numpy.zeros(3))
state["epoch"], state["loss"] = numpy.int32(1), 0.5
assert type(state["epoch"]) is int
refused(TypeError, "value 'epoch'|int|1.5", state.__setitem__, "epoch", 1.5)
refused(TypeError, "value 'epoch'|int|True", state.__setitem__, "epoch", True)
refused(TypeError, "value 'list'|list", state.__setitem__, "list", [1])
refused(ValueError, "'epoch'|twice", state.value, "epoch", 1)
refused(TypeError, "value 'flag'|True|part of a sum", state.value, "flag", True, part_of_sum=True)
refused(OverflowError, "value 'long'", state.__setitem__, "long", 2**63)
refused(KeyError, "'epohc'|epoch, loss", state.__getitem__, "epohc")
state["loss"] = 3
assert type(state["loss"]) is float
refused(TypeError, "restore()|dict", ctx.restore, {})
assert not ctx.restore(state)
refused(RuntimeError, "tensor 'late'|before restore()", state.tensor, "late", numpy.zeros(3))
refused(RuntimeError, "value 'late'|before restore()", state.__setitem__, "late", 1)
state["epoch"] = 2
refused(TypeError, "metric 'loss'|list", ctx.report, {"loss": [1.0]})
refused(TypeError, "metric 'loss'|one number", ctx.report, {"loss": numpy.zeros(2)})
refused(TypeError, "metric 'loss'|one number", ctx.report, {"loss": torch.zeros(2)})
refused(TypeError, "metric 'loss'|None", ctx.report, {"loss": None})
refused(TypeError, "name of a metric|3", ctx.report, {3: 1.0})
refused(TypeError, "checkpoint_metadata()|list", ctx.checkpoint_metadata, [1])
refused(TypeError, "all_reduce()|list", ctx.all_reduce, [1.0])
assert (ctx.config("i", 1), ctx.config("f", 1.0), ctx.config("b", False), ctx.config("s", "no"), ctx.config("i")) == (7, 2.5, True, "text", "7")
assert (ctx.config("absent", 1), ctx.config("absent", 1.5), ctx.config("i", int), ctx.config("b", bool)) == (1, 1.5, 7, True)
refused(KeyError, "'absent'|[loop]", ctx.config, "absent")
refused(KeyError, "'absent'|[loop]", ctx.config, "absent", int)
refused(ValueError, "[loop] s|'text'|an integer", ctx.config, "s", 1)
refused(ValueError, "[loop] s|'text'|true or false", ctx.config, "s", True)
refused(TypeError, "'i'|default", ctx.config, "i", [1])
assert trainrt.context() is ctx and "TRAINRT_FD" not in __import__("os").environ
ctx.step()
"""
    config = program_config(python(text), loop={"i": 7, "f": 2.5, "b": "yes", "s": "text", "unread": 1})
    job = run_program(1, config)
    check_exit(job, FINISHED)
    warnings = [line for line in job.err.splitlines() if "never read" in line or "unread" in line]
    check(len(warnings) == 1 and "unread" in warnings[0], f"warnings of keys that were not read: {warnings}", job)


@test
def an_error_of_the_runtime_is_raised_at_the_call():
    for lines, *words in ((("ctx.step()", "ctx.restore(trainrt.State())"), "restore() must be called before the first step()"),
                          (("state = trainrt.State()", "state['../up'] = 1", "ctx.restore(state)"), "../up"),
                          (("ctx.all_reduce(numpy.zeros(3), 'xor')",), "xor", "mean")):
        text = "".join(f"    {line}\n" for line in lines)
        config = program_config(python(f"try:\n{text}except ValueError as error:\n    print('refused:', error)\n    raise"))
        job = run_program(1, config, timeout=30)
        check(job.code in (USAGE, FAILED), f"exit {job.code}", job)
        refused = re.search("refused: (.*)", job.out)
        check(refused and all(word in refused[1] for word in words), f"not {words}", job)
        check(lines[-1] in job.err, "the traceback lacks the call", job)


@test
def a_stop_that_the_program_catches_is_raised_again():
    folder = scratch()
    config = program_config(python(f"""
import time
ctx.restore(trainrt.State())
stops = 0
while True:
    try:
        time.sleep(0.01)
        ctx.step()
    except BaseException as stop:
        stops += 1
        with open("{folder}/stops", "w") as file:
            file.write(f"{{stops}} {{type(stop).__name__}} {{stop}}")
        if stops == 3:
            raise
"""))
    job = start_program(1, config)
    wait_until(lambda: "restored" in job.err or programs(job) or job.ended(), 30, "the program", job)
    time.sleep(1.5)
    kill([job.ranks()[0]], signal.SIGUSR1)
    stopped_by(job)
    check((folder / "stops").read_text().startswith("3 Stop the run stops"), (folder / "stops").read_text())


@test
def an_installed_trainrt_finds_its_client():
    prefix = scratch("prefix")
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "Unspecified"], capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, f"cmake --install: {done.stdout}{done.stderr}")
    config = program_config(python("print('client', trainrt.__file__)\nctx.restore(trainrt.State())"))
    job = run([prefix / "bin/trainrt", "--config", config])
    check_exit(job, FINISHED)
    check(f"client {prefix}/lib/trainrt/python/trainrt/__init__.py" in job.out, "another client", job)


@test
def context_outside_of_a_run_is_an_error_that_names_how_to_start():
    alone = run([PYTHON, "-c", "import trainrt; trainrt.context()"], env={"PYTHONPATH": BUILD / "python"})
    equal(alone.code, 1, "exit", alone)
    check("trainrt -n 2 -- python3 train.py" in alone.err and "srun trainrt -- python3 train.py" in alone.err, "the message does not name both ways to start it", alone)


@test
def tensors_on_a_device_are_copied_to_the_host_and_back():
    """The fake device has no host memory: torch copies the tensor to the host and back."""
    text = """
import torch
class Device:
    type = "elsewhere"
class Remote(torch.Tensor):
    device = property(lambda self: Device())
    def numpy(self):
        raise TypeError("it is not on the host")
a = torch.Tensor._make_subclass(Remote, torch.arange(6.0).reshape(2, 3).t())
b = torch.Tensor._make_subclass(Remote, torch.arange(3).bfloat16())
state = trainrt.State()
state.tensor("a", a)
state.tensor("b", b)
state.tensor("empty", torch.Tensor._make_subclass(Remote, torch.zeros(0)))
if ctx.restore(state):
    assert a.tolist() == [[1, 4], [2, 5], [3, 6]] and b.tolist() == [1, 2, 3], (a, b)
else:
    for tensor in (a, b):
        torch.Tensor.add_(tensor, 1)
    c = torch.Tensor._make_subclass(Remote, torch.ones(4))
    assert ctx.all_reduce(c).tolist() == [2] * 4
    ctx.step()
    ctx.report({})
"""
    config = program_config(python(text))
    for number in range(2):  # more epochs continue a run that has finished
        check_exit(run_program(2, config, f"--loop.num_epochs={number}"), FINISHED)
    equal(len(attempts(run_dir_of(config))), 2, "attempts")


# ---- failures ------------------------------------------------------------------------------------------------------------------


@test
def an_exception_of_a_program_is_logged_with_rank_and_traceback_and_the_run_exits_with_70():
    config = program_config(python("""
def deep():
    raise LookupError("no such luck")
ctx.restore(trainrt.State())
for _ in range(3):
    ctx.step()
if ctx.world_rank == 1:
    deep()
while True:
    ctx.step()
"""))
    job = fails(config, "rank 1", "LookupError: no such luck", "Traceback (most recent call last)", "in deep", ranks=3)
    equal(job.err.count("Traceback (most recent call last)"), 1, "times that the traceback is printed", job)


@test
def an_exception_in_before_save_is_logged():
    for line, *words in (('raise OSError("no room for the optimizer")', "no room for the optimizer", "in save"),
                         ("ctx.step()", "step() was called while report() was running")):
        job = fails(program_config(python(f"""
state = trainrt.State()
@state.before_save
def save():
    {line}
ctx.restore(state)
ctx.step()
ctx.report({{}})
""")), *words)
        equal(job.err.count("Traceback (most recent call last)"), 1, "times that the traceback is printed", job)


def abrupt_end(text, *words):
    """The program of rank 1 runs `text` in step 3 while the others train. The run fails and names rank 1."""
    config = program_config(python("import os, signal, time\nctx.restore(trainrt.State())\nfor number in range(10**6):\n    ctx.step()\n"
                                   f"    if number == 3 and ctx.world_rank == 1:\n        {text}"))
    start = time.monotonic()
    fails(config, "rank 1", *words, ranks=3)
    check(time.monotonic() - start < 30, f"the end took {time.monotonic() - start:.0f} s")


add_test("a_program_killed_by_SIGKILL_ends_the_step_everywhere", abrupt_end, "os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL")
add_test("a_program_that_segfaults_ends_the_step_everywhere", abrupt_end, "os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV")
add_test("a_program_that_exits_with_3_ends_the_step_everywhere", abrupt_end, "os._exit(3)", "exited with 3")


@test
def a_program_that_exits_with_0_on_one_rank_alone_is_an_error_and_no_hang():
    config = program_config(python("ctx.restore(trainrt.State())\nwhile ctx.world_rank != 1:\n    ctx.step()"), failure={"hang_timeout": "4 s"})
    job = run_program(3, config, timeout=60)
    check(job.code not in (FINISHED, STOPPED), f"exit {job.code}", job)
    check("rank 1" in error_of(config), f"rank 1 is not named: {error_of(config)}", job)


@test
def a_program_that_hangs_is_named_and_ended():
    config = program_config(python("import time\nctx.restore(trainrt.State())\nwhile True:\n    ctx.step()\n"
                                   "    time.sleep(0.01)\n    if ctx.step_count > 5 and ctx.world_rank == 1:\n        time.sleep(1000)"), failure={"hang_timeout": "4 s"})
    start = time.monotonic()
    job = fails(config, "rank 1", ranks=2)
    check(time.monotonic() - start < 30, f"the end took {time.monotonic() - start:.0f} s", job)
    check("its program is in program.py, line 9 in <module>" in error_of(config), f"the line is not named: {error_of(config)}", job)
    check("for which the other ranks wait:" in job.err and job.err.count("(most recent call first)") == 1 and "trainrt/_client/" not in job.err,
          "the terminal shows another stack than that of the late rank", job)
    for rank, place in enumerate(("trainrt/_client/", "program.py\", line 9 in <module>")):
        report = (run_dir_of(config) / f"logs/hang-attempt-000001/rank-{rank:05}.txt").read_text()
        stacks = report.partition("stacks of the program\n")[2]
        check("most recent call first" in stacks and place in stacks, f"the stacks of the program of rank {rank}: {report[-2000:]}", job)
    check("waits_in: step() at program.py:6 at step" in (run_dir_of(config) / "logs/hang-attempt-000001/rank-00000.txt").read_text(), "the call in which rank 0 waits", job)


@test
def a_program_continues_after_its_stacks_were_logged():
    """A slow evaluation raises the hang alarm, which is withdrawn when the rank continues."""
    config = program_config(python("import time\nctx.restore(trainrt.State())\nfor step in range(12):\n    ctx.step()\n"
                                   "    time.sleep(3 if step == 6 and ctx.world_rank == 1 else 0.01)"), failure={"hang_timeout": "2 s"})
    job = run_program(2, config)
    check_exit(job, FINISHED)
    check("seemed to hang, but have continued" in job.err, "no alarm was raised", job)
    check("most recent call first" in (run_dir_of(config) / "logs/rank-00001.log").read_text(), "the stacks were not logged", job)


@test
def a_program_in_a_shell_script_is_stopped_and_ends_with_its_rank():
    """With `conda run python3 train.py`, for example, the program is not a child process of the rank."""
    wrapper = program_file(f"#!/bin/sh\n{PYTHON} {LINEAR}\ncode=$?\necho \"the program ended with $code\"\nexit $code\n", "wrapper.sh")
    config = program_config(wrapper, loop={**BY_STEPS, "step_pause": 0.01}, checkpoint=EVERY)
    for all_processes in (False, True):  # if all are signalled, the scripts die and the programs do not
        job = start_program(2, config, "--run.output=all")
        wait_for_reports(run_dir_of(config), report_count(run_dir_of(config)) + 2, job, 60)
        if all_processes:
            kill(programs(job).values(), signal.SIGTERM)
            time.sleep(0.2)
        kill(job.ranks().values(), signal.SIGTERM)
        stopped_by(job)
        check(all_processes or job.out.count("the program ended with 0") == 2, "the programs did not end well", job)
        check("Traceback" not in job.err, "a program failed", job)
    job = start_program(2, config)
    wait_for_reports(run_dir_of(config), report_count(run_dir_of(config)) + 2, job, 60)
    mine = [pid for pid in processes_with(job.token) if LINEAR.name in name_of_process(pid)]
    equal(len(mine), 2, "programs", job)
    kill(job.ranks().values())
    wait_until(lambda: not any(map(parent_of, mine)), 15, "the programs to exit", job)
    job.wait(30)
    check_like_undisturbed(2, config, BY_STEPS)


@test
def workers_of_multiprocessing_do_not_delay_a_stop():
    """The program has a pool and an own worker that waits for ever. Both are daemons, which end with their parent."""
    config = program_config(python("""
import multiprocessing, time
context = multiprocessing.get_context("fork")
worker = context.Process(target=time.sleep, args=(1000,), daemon=True)
worker.start()
ctx.restore(trainrt.State())
with context.Pool(2) as pool:
    while True:
        assert pool.map(abs, [-1, -2]) == [1, 2]
        time.sleep(0.02)
        ctx.step()
        if ctx.step_count % 5 == 0:
            ctx.report({})
"""))
    job = start_program(2, config)
    wait_for_reports(run_dir_of(config), 2, job, 60)
    start = time.monotonic()
    kill([*programs(job).values(), *job.ranks().values()], signal.SIGTERM)
    stopped_by(job)
    check(time.monotonic() - start < 15, f"{time.monotonic() - start:.0f} s until the end", job)
    check("killed" not in job.err, "a program was killed", job)


@test
def workers_of_a_torch_loader_survive_a_signal_to_all_processes():
    config = program_config(python("""
import time, torch
from torch.utils.data import DataLoader
ctx.restore(trainrt.State())
while True:
    for batch in DataLoader(torch.arange(400.0), batch_size=2, num_workers=2):
        time.sleep(0.02)
        ctx.step()
        if ctx.step_count % 10 == 0:
            ctx.report({})
"""))
    job = start_program(2, config)
    wait_for_reports(run_dir_of(config), 2, job, 60)
    ranks, mine = job.ranks(), programs(job)
    workers = [pid for pid in processes_with(job.token) if parent_of(pid) in mine.values()]
    equal(len(workers), 4, "workers", job)
    kill([*workers, *mine.values()], signal.SIGTERM)
    time.sleep(0.3)
    kill(ranks.values(), signal.SIGTERM)
    stopped_by(job)
    check("Traceback" not in job.err and "killed" not in job.err, "the program did not exit cleanly", job)


@test
def a_forked_process_cannot_use_the_client_of_its_parent():
    config = program_config(python("""
import os, sys
ctx.restore(trainrt.State())
child = os.fork()
if child == 0:
    try:
        ctx.step()
    except RuntimeError as error:
        os._exit(7 if "only the process that trainrt started" in str(error) else 8)
    os._exit(9)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
ctx.step()
"""))
    check_exit(run_program(1, config), FINISHED)


# ---- programs without the client ----------------------------------------------------------------------------------------------------


@test
def a_program_without_the_client_that_exits_with_0_is_a_finished_run():
    folder = scratch()
    config = program_config(f"/bin/sh -c 'echo $RANK/$WORLD_SIZE $LOCAL_RANK $TRAINRT_RUN_NAME > {folder}/$RANK; env | grep -c ^PMI >> {folder}/$RANK; true'")
    check_exit(run_program(3, config, "--program.env=none"), FINISHED)
    for rank in range(3):
        equal((folder / str(rank)).read_text(), f"{rank}/3 {rank} run\n0\n", f"environment of rank {rank}")
    equal(run_state(run_dir_of(config)), "finished", "state")


def silent_program_is_stopped(signal_name, whom):
    """The program gets the stop signal once and may save, even if the batch system signalled it as well."""
    folder = scratch()
    program = program_file(f"#!/bin/sh\ntrap 'echo stop >> {folder}/$RANK; sleep 1; echo saved >> {folder}/$RANK; exit 0' {signal_name}\n"
                     f"echo began > {folder}/$RANK\nwhile :; do sleep 0.1; done\n", "mute.sh")
    config = program_config(program, train={"stop_signal": signal_name})
    job = start_program(2, config)
    wait_until(lambda: len(list(folder.iterdir())) == 2 or job.ended(), 30, "the programs", job)
    kill([job.ranks()[1]] if whom == "rank" else job.ranks().values(), signal.SIGTERM)
    stopped_by(job, "SIGTERM")
    for rank in range(2):
        equal((folder / str(rank)).read_text(), "began\nstop\nsaved\n", f"actions of rank {rank}", job)


add_test("a_silent_program_gets_SIGTERM_once_and_can_save", silent_program_is_stopped, "TERM", "rank")
add_test("a_silent_program_gets_the_configured_signal", silent_program_is_stopped, "USR1", "all")


WORKERS = """import os, signal, sys, time
folder, rank = sys.argv[1], os.environ["RANK"]
stops = []
def stop(*_):
    stops.append(os.getpid())
    open(f"{folder}/stopped-{rank}-{os.getpid()}", "w").close()
signal.signal(signal.SIGTERM, stop)
workers = []
for _ in range(2):
    if (pid := os.fork()) == 0:
        while True:
            time.sleep(0.05)
    workers.append(pid)
open(f"{folder}/began-{rank}", "w").close()
while not stops:
    time.sleep(0.02)
time.sleep(0.3)
lost = [pid for pid in workers if os.waitpid(pid, os.WNOHANG)[0]]
for pid in workers:
    os.kill(pid, signal.SIGKILL)
with open(f"{folder}/saved-{rank}", "w") as file:
    file.write(f"{len(stops)} {len(lost)}")
"""


def workers_are_left_to_their_program(command):
    """Workers of a data loader inherit the program's signal handler. A signal to them, or their exit, would break the save at the stop."""
    folder = scratch()
    config = program_config(command.format(f"{PYTHON} {program_file(WORKERS)} {folder}"))
    job = start_program(2, config)
    wait_until(lambda: len(list(folder.glob("began-*"))) == 2 or job.ended(), 30, "the programs", job)
    kill([job.ranks()[0]], signal.SIGTERM)
    stopped_by(job, "SIGTERM")
    equal(len(list(folder.glob("stopped-*"))), 2, "number of programs that got the signal", job)
    for rank in range(2):
        equal((folder / f"saved-{rank}").read_text(), "1 0", f"number of signals and of lost workers of rank {rank}", job)


add_test("the_stop_signal_goes_to_the_program_and_not_to_its_workers", workers_are_left_to_their_program, "{}")
add_test("the_stop_signal_goes_to_a_program_in_a_shell_and_a_pipeline", workers_are_left_to_their_program, "/bin/sh -c '{} | cat; true'")


def silent_program_exits_at_the_signal(code):
    """The batch system signals all processes of a step, so the program exits before its rank reports the stop. The run still counts as stopped."""
    folder = scratch()
    program = program_file(f"#!/bin/sh\ntrap 'exit {code}' TERM\ntouch {folder}/$RANK\nwhile :; do sleep 0.02; done\n", "mute.sh")
    config = program_config(program)
    for _ in range(3):
        job = start_program(2, config)
        wait_until(lambda: len(list(folder.iterdir())) == 2 or job.ended(), 30, "the programs", job)
        for path in folder.iterdir():
            path.unlink()
        time.sleep(random.uniform(0.1, 0.8))
        kill([*wait_for_programs(job, 2).values(), *job.ranks().values()], signal.SIGTERM)
        stopped_by(job, "SIGTERM")


for code in (0, 1, 143):
    add_test(f"a_silent_program_that_ends_with_{code}_at_a_signal_to_all_processes_is_stopped_and_not_finished", silent_program_exits_at_the_signal, code)


@test
def a_program_that_ignores_the_stop_is_killed_after_stop_timeout():
    folder = scratch()
    program = program_file(f"#!/bin/sh\ntrap '' TERM\ntouch {folder}/began\nsleep 1000 & wait\n", "deaf.sh")
    config = program_config(program, train={"stop_timeout": 2})
    job = start_program(1, config)
    wait_until(lambda: (folder / "began").exists() or job.ended(), 30, "the program", job)
    start = time.monotonic()
    kill([job.ranks()[0]], signal.SIGTERM)
    stopped_by(job, "SIGTERM")
    check(1.9 < time.monotonic() - start < 12, f"{time.monotonic() - start:.1f} s until the end", job)
    check("stop_timeout" in job.err, "the kill is not logged", job)


@test
def a_stop_waits_only_for_the_process_group_of_the_program():
    """A daemon in its own session holds every descriptor that it could inherit. A helper in the program's group that ignores the signal
    has `train.stop_timeout` seconds to end."""
    for session, words in (("setsid ", "still running and are killed: "), ("", "did not exit within 2 s after the stop (train.stop_timeout): ")):
        folder = scratch()
        program = program_file(f"#!/bin/sh\n{session}sh -c 'trap \"\" TERM; touch {folder}/began; sleep 1000 & wait; wait' &\nexec sleep 1000\n", "daemon.sh")
        job = start_program(1, program_config(program, train={"stop_timeout": 20 if session else 2}))
        wait_until(lambda: (folder / "began").exists() or job.ended(), 30, "the program", job)
        start = time.monotonic()
        kill([job.ranks()[0]], signal.SIGTERM)
        stopped_by(job, "SIGTERM")
        check(time.monotonic() - start < 12, f"{time.monotonic() - start:.1f} s until the end", job)
        check("was ended by SIGTERM" in job.err and words in job.err and "(sh -c trap" in job.err, "the killed process is not named", job)
        wait_until(lambda: not processes_with(job.token), 10, "all processes to exit", job)


@test
def a_silent_program_that_dies_of_the_stop_signal_counts_as_stopped():
    """`sleep` is such a program. The batch system may also signal the programs before the ranks."""
    config = program_config("sleep 1000")
    for children_first in (False, True):
        job = start_program(2, config)
        children = wait_for_programs(job, 2)
        if children_first:
            kill(children.values(), signal.SIGTERM)
            time.sleep(0.3)
        kill(job.ranks().values(), signal.SIGTERM)
        stopped_by(job, "SIGTERM")


@test
def the_exit_code_of_a_failed_silent_program_is_named():
    fails(program_config("/bin/sh -c 'if [ $RANK = 1 ]; then exit 9; fi; sleep 1000'"), "rank 1", "exited with 9", ranks=3)


@test
def a_silent_program_among_programs_with_the_client_is_an_error():
    text = "import os, sys\nif os.environ['RANK'] == '1':\n    sys.exit(0)\nimport trainrt\nctx = trainrt.context()\nctx.restore(trainrt.State())\nctx.step()\n"
    fails(program_config(f"{PYTHON} {program_file(text)}"), "rank 1 left the program while ranks 0,2 wait in context() at program.py:5", ranks=3)


# ---- reports about programs without the client ----------------------------------------------------------


@test
def the_progress_of_a_silent_program_is_reported_as_unknown():
    """The record of the attempt and every message state this, also after a kill. The program's time counts as training; the goodput is unknown."""
    folder = scratch()
    config = program_config(f"/bin/sh -c 'touch {folder}/$RANK; while [ ! -e {folder}/go ]; do sleep 0.05; done'")
    run_dir = run_dir_of(config)
    job = start_program(2, config)
    wait_for_programs(job, 2)
    pulse = run_dir / "attempts/000001.pulse"
    wait_until(lambda: job.ended() or (pulse.exists() and json.loads(pulse.read_text())["timing"]["steps_s"] > 1), 60, "a heartbeat of its training", job)
    equal(json.loads(pulse.read_text()).get("silent"), True, "`silent` in the heartbeat", job)
    kill(job.ranks().values())
    job.wait(30)
    (folder / "go").touch()
    job = run_program(2, config)
    check_exit(job, FINISHED)
    check("does not report progress" in (job.out + job.err).splitlines()[-1] and "0 steps" not in job.out + job.err, "the last line", job)
    equal([(record["silent"], record["saved_step"]) for record in attempts(run_dir)], [(True, None)] * 2, "the records")
    shown = run([TRAINRT, "result", run_dir])
    for words in ("unknown: the program does not report progress", "not reported", "unknown", "The goodput is unknown"):
        check(words in shown.out, f"the result lacks {words!r}", shown)
    check("0 to 0" not in shown.out, "the result shows a range of steps", shown)
    found = json.loads(run([TRAINRT, "result", run_dir, "--json"]).out)
    equal((found["iterations"], found["time"]["goodput"], found["time"]["lost_s"]), (None, None, 0), "the run as JSON", shown)
    for attempt in found["attempts"]:
        equal((attempt["silent"], attempt["last_step"], attempt["time"]["goodput"]), (True, None, None), "the attempt as JSON", shown)
    check(found["attempts"][0]["time"]["productive_s"] > 1, "the time does not count as training", shown)
    check(re.search("run .* unknown", run([TRAINRT, "result", run_dir.parent]).out), "the table of runs", shown)
    inspected = run([TRAINRT, "inspect", run_dir])
    check("does not report progress" in inspected.err, "inspect promises a checkpoint", inspected)


@test
def a_program_with_the_client_counts_as_silent_until_its_first_message():
    config = linear_program(loop={"epochs": 4, "restore_pause": 3})
    job = start_program(2, config)
    pulse = run_dir_of(config) / "attempts/000001.pulse"
    wait_until(lambda: job.ended() or pulse.exists() and json.loads(pulse.read_text()).get("silent"), 60, "a heartbeat before the restore", job)
    check(not job.ended(), "the run ended before a heartbeat marked it as silent", job)
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    check("silent" not in attempts(run_dir_of(config))[0], f"the record: {attempts(run_dir_of(config))[0]}", job)
    check(json.loads(run([TRAINRT, "result", run_dir_of(config), "--json"]).out)["time"]["goodput"] > 0, "the goodput is 0", job)


@test
def a_silent_program_that_prints_is_no_hang_but_a_frozen_rank_is():
    config = program_config("/bin/sh -c 'for i in 1 2 3 4 5 6 7; do sleep 1; echo $i; done'", failure={"hang_timeout": "3 s"})
    check_exit(run_program(2, config), FINISHED)
    config = program_config("/bin/sh -c 'while sleep 1; do echo; done'", failure={"hang_timeout": "3 s"})
    job = start_program(2, config)
    wait_for_programs(job, 2)
    wait_until((run_dir_of(config) / "run.json").exists, 30, "the run", job)
    kill([job.ranks()[1]], signal.SIGSTOP)
    job.code = job.wait(60)
    check_exit(job, FAILED)
    check("hang: " in error_of(config) and "rank 1" in error_of(config), f"error.txt: {error_of(config)}", job)


# ---- which program failed first ---------------------------------------------------------------------------------------------------


def fails_first(config, folder, first, *words):
    """`first` ends rank 1's program; the others exit with 1 a moment later. The error names rank 1, and only once."""
    job = start_program(3, config)
    wait_until(lambda: all((folder / str(rank)).exists() for rank in range(3)) or job.ended(), 60, "the programs", job)
    first(programs(job)[1])
    time.sleep(0.3)
    (folder / "go").touch()
    job.code = job.wait(60)
    check_exit(job, FAILED)
    text = error_of(config)
    for word in ("rank 1 on ", *words):
        check(word in text.splitlines()[0], f"error.txt lacks {word!r}: {text}", job)
    check("rank 1" in attempts(run_dir_of(config))[0]["why"], f"the record: {attempts(run_dir_of(config))[0]}", job)


def silent_program_fails_first(ending, *words):
    folder = scratch()
    program = program_file(f"#!/bin/sh\ntrap 'exit 9' ALRM\ntouch {folder}/$RANK\nwhile [ ! -e {folder}/go ]; do sleep 0.02; done\nexit 1\n", "mute.sh")
    fails_first(program_config(program), folder, lambda pid: kill([pid], ending), *words)


add_test("the_silent_program_that_was_killed_first_is_named", silent_program_fails_first, signal.SIGKILL, "SIGKILL", "the programs of 2 other ranks failed afterwards")
add_test("the_silent_program_that_exited_first_is_named", silent_program_fails_first, signal.SIGALRM, "exited with 9", "the programs of 2 other ranks failed afterwards")


def client_program_fails_first(ending, *words):
    folder = scratch()
    text = f"""
import os, signal, time
signal.signal(signal.SIGALRM, lambda *_: os._exit(9))
ctx.restore(trainrt.State())
open(f"{folder}/{{ctx.world_rank}}", "w").close()
while not os.path.exists("{folder}/go"):
    time.sleep(0.02)
raise ConnectionResetError("connection reset by peer")
"""
    fails_first(program_config(python(text)), folder, lambda pid: kill([pid], ending), *words)


add_test("the_client_program_that_was_killed_first_is_named", client_program_fails_first, signal.SIGKILL, "SIGKILL")
add_test("the_client_program_that_exited_first_is_named", client_program_fails_first, signal.SIGALRM, "exited with 9")


def bad_usage(command, named):
    config = program_config(command)
    job = run_program(2, config)
    check_exit(job, USAGE)
    check(named in job.err, f"{named} is not named", job)
    check(not run_dir_of(config).exists(), "a run directory remains", job)
    checked = run([TRAINRT, "check", "--config", config])
    check_exit(checked, USAGE)


add_test("a_missing_program_is_bad_usage_and_creates_nothing", bad_usage, "no-such-program --fast", "'no-such-program' not found in the PATH")
add_test("a_missing_program_path_is_bad_usage_and_creates_nothing", bad_usage, "./no-such-program", "'./no-such-program' does not exist")
add_test("a_command_that_cannot_be_split_is_bad_usage_and_creates_nothing", bad_usage, "a\\d", "train.program: 'a\\d' cannot be split")


def large_arrays(backend):
    """The collective memory grows with the arrays; on one node the runtime's shared memory replaces the client's. Sums keep one fixed order."""
    text = """
ctx.restore()
for count in (20_000, 20_000, 300_000, 7, 20_000):
    parts = [numpy.random.default_rng(1000 * count + rank).standard_normal(count, numpy.float32) for rank in range(3)]
    mine = parts[ctx.world_rank]
    for _ in range(2):
        assert (ctx.all_reduce(mine.copy()) == (parts[0] + parts[1]) + parts[2]).all()
        assert all((found == part).all() for found, part in zip(ctx.all_gather(mine), parts))
        assert (ctx.broadcast(mine.copy(), 1) == parts[1]).all()
    assert (ctx._collective_memory.__class__.__name__ == "RuntimeMemory") == (%r == "node"), ctx._collective_memory
ctx.report({})
""" % backend
    check_exit(run_program(3, program_config(python(text), scaling={"backend": backend})), FINISHED)


for name in ("node", "mpi"):
    add_test(f"arrays_of_any_size_are_reduced_gathered_and_broadcast_over_{name}", large_arrays, name)


# ---- invalid messages ------------------------------------------------------------------------------------------------------------------------

RAW = """
import fcntl, json, os, socket
runtime = socket.socket(fileno=int(os.environ["TRAINRT_FD"]))
def send(line, *files):
    if not isinstance(line, bytes):
        line = json.dumps(line).encode()
    socket.send_fds(runtime, [line + b"\\n"], files)
    return json.loads(runtime.makefile("rb").readline())
def memory(size, seals=fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW):
    fd = os.memfd_create("m", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd
def restore(size, *files, **tensor):
    tensor = {"name": "w", "dtype": "f32", "shape": [4], "at": 0, "placement": "replicated", **tensor}
    return send({"op": "restore", "memory": size, "tensors": [tensor], "values": {}, "files": []}, *files)
assert "ok" in send({"op": "hello", "protocol": 1, "client": "raw"})
"""


def invalid_message(text, *words):
    """Sends an invalid message. The run ends with an error that contains all words."""
    config = program_config(f"{PYTHON} {program_file(RAW + text)}")
    job = run_program(1, config, timeout=30)
    check(job.code in (FAILED, USAGE), f"exit {job.code}", job)
    text = job.err + (error_of(config) if (run_dir_of(config) / "error.txt").exists() else "")
    for word in words:
        check(word in text, f"the error lacks {word!r}: {text}", job)


for name, text, *words in (
        ("text_that_is_no_JSON", "send(b'{not json')", "invalid message", "{not json"),
        ("text_that_is_no_UTF-8", "send(b'{\"op\": \"st\\xffep\"}')", "invalid message"),
        ("text_that_ends_in_the_middle_of_a_letter", "send(b'x' * 79 + b'\\xc3\\xbc')", "invalid message"),
        ("a_list_nested_a_million_times", "send(b'[' * 10**6)", "nested"),
        ("a_failure_in_a_number", "send({'op': 'failed', 'error': 3})", "'failed'", "\"error\""),
        ("a_traceback_in_a_number", "send({'op': 'failed', 'error': 'no luck', 'traceback': 3})", "\"traceback\""),
        ("a_reduction_with_a_number_as_name", "send({'op': 'all_reduce', 'dtype': 'f32', 'count': 4, 'reduce': 'sum', 'name': 3, 'memory': 64}, memory(64))", "\"name\""),
        ("a_file_for_perhaps_each_rank", "send({'op': 'restore', 'memory': 0, 'tensors': [], 'values': {}, 'files': [{'name': 'f', 'path': 'f', 'per_rank': 'perhaps'}]})", "per_rank"),
        ("a_sum_of_no_value", "send({'op': 'restore', 'memory': 0, 'tensors': [], 'values': {'v': 1}, 'sums': ['w'], 'files': []})", "\"sums\"", "may only contain names of"),
        ("a_sum_of_texts", "send({'op': 'restore', 'memory': 0, 'tensors': [], 'values': {'v': 'x'}, 'sums': ['v'], 'files': []})", "'v'", "numbers"),
        ("a_value_that_is_a_list", "send({'op': 'restore', 'memory': 0, 'tensors': [], 'values': {'v': [1]}, 'files': []})", "'v'"),
        ("a_tensor_that_is_a_number", "send({'op': 'restore', 'memory': 0, 'tensors': [3], 'values': {}, 'files': []})", "\"name\""),
        ("an_axis_that_is_not_there", "restore(64, memory(64), placement='sharded', axis=3, first=0, global_extent=4)", "'w'"),
        ("an_axis_of_more_than_32_bits", "restore(64, memory(64), placement='sharded', axis=2**32, first=0, global_extent=4)", "'w'"),
        ("a_slab_that_begins_at_the_largest_number", "restore(64, memory(64), placement='sharded', axis=0, first=2**63 - 1, global_extent=4)", "'w'"),
        ("a_slab_beyond_the_whole", "restore(64, memory(64), placement='sharded', axis=0, first=2, global_extent=4)", "'w'"),
        ("a_number_in_words", "send({'op': 'report', 'metrics': {'loss': {'float': 'many'}}})", "loss"),
        ("a_message_without_op", "send({'key': 1})", "invalid message"),
        ("an_unknown_op", "send({'op': 'dance'})", "dance", "restore"),
        ("a_signal_for_stacks_that_ends_programs", "send({'op': 'hello', 'protocol': 1, 'stacks_signal': 9})", "stacks_signal", "real-time"),
        ("another_protocol", "send({'op': 'hello', 'protocol': 99})", "99"),
        ("a_tensor_outside_of_the_memory", "restore(64, memory(64), at=56)", "'w'", "64"),
        ("a_tensor_of_negative_shape", "restore(64, memory(64), shape=[-4])", "'w'"),
        ("a_tensor_of_a_huge_shape", "restore(64, memory(64), shape=[2**62, 2**62])", "'w'"),
        ("a_tensor_of_an_unknown_type", "restore(64, memory(64), dtype='f33')", "f33", "bf16"),
        ("an_unaligned_tensor", "restore(64, memory(64), at=2)", "'w'"),
        ("an_unknown_placement", "restore(64, memory(64), placement='everywhere')", "everywhere", "per_rank"),
        ("memory_that_is_not_sealed", "restore(64, memory(64, 0))", "sealed"),
        ("memory_that_is_too_small", "restore(128, memory(64))", "128"),
        ("no_memory", "restore(64)", "memfd"),
        ("a_plain_file_as_memory", "restore(64, os.open('/dev/zero', os.O_RDWR))", "memfd"),
        ("a_bad_name", "restore(64, memory(64), name='../up')", "../up"),
        ("a_reduction_without_memory", "send({'op': 'all_reduce', 'dtype': 'f32', 'count': 4, 'reduce': 'sum'})", "all_reduce"),
        ("a_reduction_beyond_the_memory", "send({'op': 'all_reduce', 'dtype': 'f32', 'count': 40, 'reduce': 'sum', 'memory': 64}, memory(64))", "64"),
        ("an_unknown_reduction", "send({'op': 'all_reduce', 'dtype': 'f32', 'count': 4, 'reduce': 'xor', 'memory': 64}, memory(64))", "xor", "mean"),
        ("a_broadcast_of_no_shape", "send({'op': 'broadcast', 'dtype': 'f32', 'root': 0, 'memory': 64}, memory(64))", "\"shape\""),
        ("a_broadcast_from_nobody", "send({'op': 'broadcast', 'dtype': 'f32', 'shape': [4], 'root': 1, 'memory': 64}, memory(64))", "from rank 1", "ranks are 0 to 0"),
        ("a_broadcast_from_a_negative_rank", "send({'op': 'broadcast', 'dtype': 'f32', 'shape': [4], 'root': -1, 'memory': 64}, memory(64))", "\"root\""),
        ("a_broadcast_beyond_the_memory", "send({'op': 'broadcast', 'dtype': 'f32', 'shape': [40], 'root': 0, 'memory': 64}, memory(64))", "160", "64"),
        ("a_gather_of_a_huge_shape", "send({'op': 'all_gather', 'dtype': 'f32', 'shape': [2**62, 2**62], 'memory': 64}, memory(64))", "too large"),
        ("a_gather_without_memory", "send({'op': 'all_gather', 'dtype': 'f32', 'shape': [4]})", "all_gather", "memory of 0 bytes"),
        ("a_gather_of_an_unknown_type", "send({'op': 'all_gather', 'dtype': 'f33', 'shape': [4], 'memory': 64}, memory(64))", "f33"),
        ("a_share_of_more_than_was_brought", "send({'op': 'share', 'bytes': 4096})", "share 4096 bytes", "memory has 0"),
        ("a_share_of_less_than_nothing", "send({'op': 'share', 'bytes': -1})", "\"bytes\""),
        ("a_metric_that_is_a_list", "send({'op': 'report', 'metrics': {'loss': [1]}})", "loss"),
        ("a_second_restore", "restore(64, memory(64))\nrestore(64, memory(64))", "twice")):
    add_test(f"an_invalid_message_is_refused_with_its_reason_{name}", invalid_message, text, *words)


main()
