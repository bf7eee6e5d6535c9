#!/usr/bin/python3
"""train.function = torchscript: exported models learn as they do in Python; runs that are stopped and killed within epochs end with the same
bits; each loss equals PyTorch's; and invalid models and fields are errors."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.training import *  # noqa: E402,F403

IMAGES = {"train": 310, "test": 33}
LOOP = {"epochs": 40, "batch_size": 2, "lr": 0.01, "momentum": 0.5}  # an epoch takes 50 ms, so that a stop comes within an epoch and before the end
STOPS = 2
PYTHON = "/usr/bin/python3"
EXPORTS = SOURCE / "tests/frameworks/scripts/torchscript_models.py"
# The same loop in Python. Prints the final parameters of Line as hexadecimal bytes.
REFERENCE = """
import sys, torch, numpy
loss, optimizer = sys.argv[1:]
torch.set_num_threads(1)
torch._C._set_graph_executor_optimize(False)
model = torch.jit.load("Line.pt")
x, y = torch.from_numpy(numpy.load("x.npy")), torch.from_numpy(numpy.load("y.npy"))
make = {"sgd": lambda p: torch.optim.SGD(p, 0.05, momentum=0.5), "adam": lambda p: torch.optim.Adam(p, 0.05), "adamw": lambda p: torch.optim.AdamW(p, 0.05, weight_decay=0)}
steps = make[optimizer]([p for p in model.parameters() if p.requires_grad])
function = getattr(torch.nn.functional, {"bce_with_logits": "binary_cross_entropy_with_logits"}.get(loss, loss + "_loss"))
for epoch in range(3):
    for first in range(0, 64, 16):
        steps.zero_grad()
        function(model(x[first:first + 16]), y[first:first + 16].reshape(-1, 1)).backward()
        steps.step()
for name, p in model.named_parameters():
    print(name.replace(".", "/"), p.detach().numpy().astype("<f4").tobytes().hex())
"""
_data = None


def setup():
    global _data
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built (package libtorch-dev)")
    require_torch()
    _data = scratch("data")
    for part, count in IMAGES.items():
        write_images(_data, part, count)
    check_exit(run([PYTHON, EXPORTS], cwd=_data), FINISHED)
    source = random.Random(3)
    rows = [[source.gauss(0, 1) for _ in range(3)] for _ in range(64)]
    lines = [f"{a:.6f},{b:.6f},{c:.6f},{float(a + b * c > 0)}" for a, b, c in rows]
    (_data / "lines.csv").write_text("a,b,c,y\n" + "\n".join(lines) + "\n")
    arrays = "import numpy; t = numpy.loadtxt('lines.csv', delimiter=',', skiprows=1, dtype='f4'); numpy.save('x', t[:, :3]); numpy.save('y', t[:, 3])"
    check_exit(run([PYTHON, "-c", arrays + "; numpy.savez('lines.npz', x=t[:, :3].copy(), y=t[:, 3].copy())"], cwd=_data), FINISHED)


def config_of(name, model, data, **loop):
    folder = scratch()
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 7}, "train": {"function": "torchscript"},
        "loop": {"model": _data / f"{model}.pt", **loop}, **data})


def classifier(name, **loop):
    return config_of(name, "Classifier", image_sections(_data), **{**LOOP, **loop})


def line(name, **loop):
    return config_of(name, loop.pop("file", "Line"), {"data.train": {"source": _data / "lines.npz"}}, **{"target": "y", "batch_size": 16, "lr": 0.05, **loop})


def exact(ranks):
    whole, stopped = classifier("whole"), classifier("stopped")
    check_exact(ranks, whole, stopped, LOOP["epochs"], -(-IMAGES["train"] // (ranks * LOOP["batch_size"])), STOPS)
    last = reports(run_dir_of(whole))[-1]
    check(last["test_accuracy"] > 0.5 and last["test_loss"] < 1.6, f"the metrics do not improve: {last}")


for ranks in (1, 2):
    add_test(f"a_model_stopped_and_killed_within_epochs_on_{ranks}_ranks_ends_with_the_same_bits", exact, ranks)


def as_in_python(loss, optimizer):
    if optimizer != "sgd" and not run([PYTHON, "-c", "import torch; print(torch.__version__)"]).out.startswith("1."):
        skip("Adam of torch 2 computes other bits in Python than in C++")
    config = line("line", loss=loss, optimizer=optimizer, epochs=3, momentum=0.5, weight_decay=0)
    finish(1, config)
    done = run([PYTHON, "-c", REFERENCE, loss, optimizer], cwd=_data)
    check_exit(done, FINISHED)
    expected = dict(text.split() for text in done.out.splitlines())
    equal(sorted(expected), ["first/bias", "first/weight", "frozen", "last/bias", "last/weight"], "parameters")
    state = state_of(run_dir_of(config))
    for name, bits in expected.items():
        equal(state["model/" + name][2].hex(), bits, f"the bits of {name}")


for loss in ("mse", "l1", "smooth_l1", "huber", "bce_with_logits"):
    add_test(f"{loss}_learns_the_bits_that_python_learns", as_in_python, loss, "sgd")
for optimizer in ("adam", "adamw"):
    add_test(f"{optimizer}_learns_the_bits_that_python_learns", as_in_python, "mse", optimizer)


@test
def a_model_may_take_several_fields_and_return_its_loss():
    config = line("own", file="TwoInputs", loss="model", inputs="x, y", epochs=4)
    finish(2, config)
    losses = [row["loss"] for row in reports(run_dir_of(config))]
    check(losses[-1] < 0.7 * losses[0], f"the loss stays high: {losses}")


@test
def a_model_is_trained_without_python():
    """The run opens neither python3 nor torch's Python package; libtorch is enough."""
    config = line("alone", loss="mse", epochs=1)
    done = run(["strace", "-f", "-e", "trace=execve,openat", "-o", _data / "calls", TRAINRT, "--config", config]) if shutil.which("strace") else skip(
        "strace is not installed")
    check_exit(done, FINISHED)
    calls = (_data / "calls").read_text()
    check("libtorch_cpu" in calls, "libtorch was not seen", done)
    check("libpython" not in calls and "/python3" not in calls, "Python was used", done)


def refused(config, *words):
    job = run([TRAINRT, "--config", config])
    for each in words:
        check(each in job.err, f"the error lacks '{each}'", job)
    check_exit(job, USAGE)


@test
def invalid_models_and_fields_are_errors_that_name_them():
    (_data / "broken.pt").write_bytes(b"PK nothing")
    refused(line("missing", file="nowhere"), "nowhere.pt", "cannot load")
    refused(line("broken", file="broken"), "broken.pt", "cannot load")
    refused(line("field", inputs="z"), "[data.train] has no field 'z'; it has: x, y")
    refused(line("target", target="z"), "[data.train] has no field 'z'; it has: x, y")
    refused(line("size", loss="mse", target="x", inputs="x"), "output has shape [16, 1] and the target has shape [16, 3]", "mse")
    refused(line("two", file="Pair", loss="mse"), "forward()", "returns (Tensor, Tensor)", "must return a Tensor")
    refused(line("shape", loss="mse", inputs="y"), "failed with the input fields 'y'")
    refused(line("more", loss="mse", inputs="x, y"), "failed with the input fields 'x, y': Expected at most 2")
    refused(line("loss", loss="model", inputs="x"), "returns 16 numbers")
    refused(line("classes"), "the target contains class 1; the model's output has 1 classes")
    refused(line("name", loss="cross_entropies"), "cross_entropies", "bce_with_logits")


main(setup)
