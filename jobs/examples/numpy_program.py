"""Linear regression by SGD with momentum in NumPy, data-parallel: the gradient is averaged over the ranks.

    mpiexec.mpich -n 2 trainrt --config program.ini --train.program='python3 numpy_program.py'
"""
import numpy
import trainrt  # the runtime adds this package to PYTHONPATH

SAMPLES, FEATURES, BATCH = 4096, 8, 32

ctx = trainrt.context()  # called early, because the runtime handles signals from here on
generator = numpy.random.default_rng(ctx.seed)  # the same data on every rank
x = generator.standard_normal((SAMPLES, FEATURES), numpy.float32)
y = x @ generator.standard_normal(FEATURES, numpy.float32)
weights = numpy.zeros(FEATURES, numpy.float32)
velocity = numpy.zeros(FEATURES, numpy.float32)
loss_sum = numpy.zeros(1)  # this rank's sum since the last report

state = trainrt.State()  # everything that later steps and reports depend on
state.tensor("model/weights", weights)
state.tensor("optimizer/velocity", velocity)
state.tensor("loss_sum", loss_sum, part_of_sum=True)
state["epoch"] = state["batch"] = 0
ctx.restore(state)  # loads the last checkpoint, if there is one

per_step = BATCH * ctx.world_size
while state["epoch"] < ctx.config("epochs", 4):
    order = numpy.random.default_rng([ctx.seed, state["epoch"]]).permutation(SAMPLES)  # the same on every rank
    steps = SAMPLES // per_step
    while state["batch"] < steps:  # after a restart: from the next batch on
        first = state["batch"] * per_step + ctx.world_rank * BATCH
        mine = order[first:first + BATCH]
        error = x[mine] @ weights - y[mine]
        gradient = 2 * (error @ x[mine]) / BATCH
        ctx.all_reduce(gradient, "mean")  # in place; the same bits on every rank
        velocity *= 0.9  # in place: the State refers to this memory
        velocity += gradient
        weights -= 0.01 * velocity
        loss_sum += numpy.square(error).mean()
        state["batch"] += 1
        ctx.step()  # the state is consistent: the run may stop here
    loss = loss_sum[0] / steps
    loss_sum[0] = 0
    state["batch"] = 0
    state["epoch"] += 1  # the state is complete before it is reported
    ctx.report({"loss": float(loss)})  # mean over the ranks; a checkpoint if one is due
ctx.save()
