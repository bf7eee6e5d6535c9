"""A training program for [train] program: linear regression on data generated here, by SGD with momentum in NumPy, data-parallel, with
dropout. Its state has one of each kind: weights, optimizer, running sums, the position in the data, and a file.

[loop] keys: epochs, steps (in all; 0: all of the epochs), batch_size (per rank), report_every (steps; 0: epochs), step_pause,
restore_pause and pieces (of an evaluation before each report) with piece_pause, in seconds. PROGRAM_IMPORT_PAUSE: seconds before it
imports trainrt. TEST_SCRATCH: a folder that the test removes.
"""
import os
import time

time.sleep(float(os.environ.get("PROGRAM_IMPORT_PAUSE", 0)))

import numpy  # noqa: E402
import trainrt  # noqa: E402

ctx = trainrt.context()
EPOCHS, STEPS, BATCH, REPORT_EVERY = (ctx.config(key, default) for key, default in (("epochs", 4), ("steps", 0), ("batch_size", 16), ("report_every", 0)))
STEP_PAUSE, RESTORE_PAUSE, PIECE_PAUSE = (ctx.config(key, 0.0) for key in ("step_pause", "restore_pause", "piece_pause"))
PIECES = ctx.config("pieces", 0)
SAMPLES, FEATURES, DROPOUT = ctx.config("samples", 384), ctx.config("features", 24), 0.1
RANK, RANKS = ctx.world_rank, ctx.world_size


def make_data():
    source = numpy.random.default_rng([ctx.seed, 1])
    x = source.standard_normal((SAMPLES, FEATURES), dtype=numpy.float32)
    return x, x @ source.standard_normal(FEATURES, dtype=numpy.float32) + 0.1 * source.standard_normal(SAMPLES, dtype=numpy.float32)


X, Y = make_data()
weights = numpy.zeros(FEATURES, numpy.float32)
velocity = numpy.zeros(FEATURES, numpy.float32)
sums = numpy.zeros(2)  # losses and samples of this rank since the last report
ROWS = 12  # rows of a table that is sharded over the ranks
first_row, end_row = RANK * ROWS // RANKS, (RANK + 1) * ROWS // RANKS
largest = numpy.zeros((end_row - first_row, FEATURES), numpy.float32)  # largest gradients that this rank has computed, per row
last_kept = numpy.zeros(FEATURES, bool)  # inputs that the dropout of this rank kept in the last batch
history = []  # epochs that this rank has completed, kept in a file
folder = os.path.join(os.environ["TEST_SCRATCH"], f"program-linear-{os.getpid()}")
os.makedirs(folder, exist_ok=True)
history_path = os.path.join(folder, "history")

state = trainrt.State()
state.tensor("model/weights", weights)
state.tensor("optimizer/velocity", velocity)
state.tensor("sums/loss", sums, part_of_sum=True)
state.tensor("largest", largest, sharded=(0, first_row, ROWS))
state.tensor("last_kept", last_kept, per_rank=True)
state["epoch"], state["batch"], state["steps_since_report"] = 0, 0, 0
state["best"], state["name"], state["warm"] = float("inf"), "linear", False
state.file("history", history_path, per_rank=True)


@state.before_save
def write_history():
    with open(history_path, "w") as file:
        file.writelines(f"{line}\n" for line in history)


time.sleep(RESTORE_PAUSE)
if ctx.restore(state):
    with open(history_path) as file:
        history.extend(file.read().split())
ctx.checkpoint_metadata({"features": FEATURES})
if not REPORT_EVERY:
    ctx.expect_iterations(EPOCHS)


def batch_of(epoch, batch):
    order = numpy.random.default_rng([ctx.seed, 2, epoch]).permutation(SAMPLES)
    first = (batch * RANKS + RANK) * BATCH
    chosen = order[first:first + BATCH]
    return X[chosen], Y[chosen]


def train_step():
    x, y = batch_of(state["epoch"], state["batch"])
    last_kept[:] = numpy.random.default_rng([ctx.step_seed]).random(FEATURES) >= DROPOUT
    x = x * last_kept / numpy.float32(1 - DROPOUT)
    error = x @ weights - y
    gradient = 2 * (x.T @ error) / numpy.float32(BATCH)
    numpy.maximum(largest, abs(gradient), out=largest)
    sums[:] += (float(numpy.sum(error * error, dtype=numpy.float64)), len(y))
    ctx.all_reduce(gradient, "mean")
    velocity[:] = numpy.float32(0.9) * velocity + gradient
    weights[:] -= numpy.float32(0.01) * velocity
    state["steps_since_report"] += 1
    state["warm"] = True
    advance()
    time.sleep(STEP_PAUSE)
    ctx.step()


def advance():
    """Moves the position to the next batch. The end of an epoch is stored as the beginning of the next one."""
    state["batch"] += 1
    if state["batch"] >= SAMPLES // (BATCH * RANKS):
        history.append(str(state["epoch"]))
        state["epoch"] += 1
        state["batch"] = 0


def evaluate():
    for _ in range(PIECES):
        time.sleep(PIECE_PAUSE)
        ctx.stop_point()
    return float(numpy.mean((X @ weights - Y) ** 2, dtype=numpy.float64))


def report_if_due():
    due = state["steps_since_report"] == REPORT_EVERY if REPORT_EVERY else state["steps_since_report"] > 0 and state["batch"] == 0
    if not due:
        return
    quality = evaluate()  # it may stop the run, so no state is changed before it
    loss, seen = sums
    sums[:] = 0
    state["steps_since_report"] = 0
    state["best"] = min(state["best"], quality)
    ctx.report({"loss": trainrt.ratio(loss, seen), "quality": numpy.float32(quality), "best": state["best"], "epoch": state["epoch"]})


report_if_due()  # makes a report that was due when the run stopped in step()
while state["epoch"] < EPOCHS and not (STEPS and ctx.step_count >= STEPS):
    train_step()
    report_if_due()
ctx.save()
