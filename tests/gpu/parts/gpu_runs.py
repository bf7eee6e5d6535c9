"""Runs the train functions of the torch module on one GPU, for the scripts of the part `correct`."""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from runs.training import image_sections, write_idx, write_images  # noqa: E402

ON_CPU = "TRAINRT_PARTS_ON_CPU" in os.environ  # for trying the parts without a GPU; tests that need one are skipped
GPU = {"gpus_per_worker": 0 if ON_CPU else 1}
SHARED = {"gpus_per_worker": 0 if ON_CPU else 0.5}
START_SECONDS = 300 if ON_CPU else 90  # PyTorch's libraries take long to load the first time


def need_gpu():
    if ON_CPU:
        skip("no GPU")


def claim(name, value, relation, target):
    """Prints a row that is compared with a target. On the CPU the row is a figure without a target."""
    print(f"figure {name} {value:.4f} -" if ON_CPU else f"claim {name} {value:.4f} {relation} {target}")


def epochs_of(many):
    """Returns `many` epochs, so that a run on a GPU takes seconds, or 4 on the CPU."""
    return 4 if ON_CPU else many


def image_run(folder, name, function="fashion_mnist", loop=None, images=4096, scaling=None, checkpoint=None, **sections):
    if ON_CPU and function == "resnet18":
        images = min(images, 1024)
    if not (folder / "train-images").exists():
        write_images(folder, "train", images)
        write_images(folder, "test", 500)
    defaults = {"fashion_mnist": {"epochs": epochs_of(30), "hidden": 256, "dropout": 0.1, "lr": 0.05, "batch_size": 64},
                "resnet18": {"epochs": epochs_of(6), "width": 16, "batch_size": 64}}
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 3}, "train": {"function": function},
        "loop": {**defaults[function], **(loop or {})}, **image_sections(folder),
        "scaling": scaling or GPU, "checkpoint": {"num_to_keep": 2, **(checkpoint or {})}, **sections})


def token_run(folder, name, loop=None, scaling=None, checkpoint=None, **sections):
    windows = folder / "tokens"
    if not windows.exists():
        source = random.Random(7)
        write_idx(windows, 12, "i", (256, 65), [source.randrange(211) for _ in range(256 * 65)])
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 3}, "train": {"function": "gpt"},
        "loop": {"epochs": epochs_of(20), "batch_size": 8, "vocab_size": 211, "block_size": 64, "n_layer": 2, "n_head": 4, "n_embd": 64, "dropout": 0.1, **(loop or {})},
        "data.train": {"format": "idx", "source": windows, "shuffle": True},
        "scaling": scaling or GPU, "checkpoint": {"num_to_keep": 2, **(checkpoint or {})}, **sections})


def command(config, ranks=1, *words):
    return [TRAINRT, *(["-n", ranks] if ranks > 1 else []), "--config", config, *words]


def finish(config, ranks=1, *words, code=FINISHED, timeout=START_SECONDS):
    job = run(command(config, ranks, *words), timeout)
    check_exit(job, code)
    return job


def kill_in_epoch(config, ranks=1, signal_number=signal.SIGKILL, code=None):
    """Starts or continues the run and signals its ranks within an epoch that follows a report of this attempt."""
    before = report_count(run_dir_of(config))
    job = Job(command(config, ranks))
    wait_for_reports(run_dir_of(config), before + 1, job, START_SECONDS)
    check(not job.ended(), "the run ended before it could be stopped", job)
    if ranks > 1 and signal_number == signal.SIGKILL:  # the launcher would restart the ranks
        kill([job.process.pid], signal_number)
    kill(job.ranks().values(), signal_number)
    job.code = job.wait(START_SECONDS)
    if code is not None:
        check_exit(job, code)
    return job
