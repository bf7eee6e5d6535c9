#!/usr/bin/python3
"""Scripts of jobs/python and of README.md under `trainrt -n 2`: each learns, and continues after a stop or a kill."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.program_runs import *  # noqa: E402,F403
from tools.guides import block  # noqa: E402

SCRIPTS = SOURCE / "jobs/python"
FASHION = Path("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz")


def setup():
    require_torch()


def start_script(folder, script, *words):
    command = [TRAINRT, "-n", 2, f"--run.name={Path(script).stem}", f"--run.storage_path={folder}", "--failure.max_failures=0", "--", PYTHON, SCRIPTS / script]
    return Job([*command, *words], env=ONE_THREAD, cwd=folder)


def finished(folder, script, *words):
    job = start_script(folder, script, *words)
    job.code = job.wait(120)
    check_exit(job, FINISHED)
    check("last report: {" in job.out, "fit() returned no Result", job)
    return reports(folder / Path(script).stem)


def killed_after(count, folder, script, *words):
    job = start_script(folder, script, *words)
    run_dir = folder / Path(script).stem
    wait_for_reports(run_dir, count, job, 60)
    kill(job.ranks().values(), signal.SIGKILL)
    job.wait(60)
    check(run_state(run_dir) != "finished", "the run ended before it could be killed", job)


def learns(rows, by):
    check(rows[-1]["loss"] < by * rows[0]["loss"], f"the loss stays high: {rows[0]['loss']} to {rows[-1]['loss']}")


@test
def the_quick_start_learns_and_ends_with_the_same_bits_after_a_kill():
    whole, broken = scratch(), scratch()
    learns(finished(whole, "torch_quick_start.py"), 0.5)
    killed_after(3, broken, "torch_quick_start.py")
    finished(broken, "torch_quick_start.py")
    check_same_bits(broken / "torch_quick_start", whole / "torch_quick_start")


@test
def the_guide_to_data_learns_and_ends_with_the_same_bits_after_a_kill():
    whole, broken = scratch(), scratch()
    words = ("--epochs", 60)
    learns(finished(whole, "torch_datasets.py", *words), 0.2)
    killed_after(3, broken, "torch_datasets.py", *words)
    finished(broken, "torch_datasets.py", *words)
    check_same_bits(broken / "torch_datasets", whole / "torch_datasets")


@test
def the_linear_example_learns_and_continues_from_its_directory_after_a_kill():
    whole, broken = scratch(), scratch()
    rows = finished(whole, "torch_linear.py")
    learns(rows, 0.5)
    check(list(whole.glob("torch_linear/checkpoint_*/files/model.pt")), "no checkpoint has the model")
    killed_after(3, broken, "torch_linear.py")
    again = finished(broken, "torch_linear.py")
    equal([row["epoch"] for row in again], [row["epoch"] for row in rows], "epochs")
    equal(again[-1]["loss"], rows[-1]["loss"], "the last loss")


@test
def the_benchmark_on_FashionMNIST_learns():
    if not FASHION.exists():
        skip("FashionMNIST is not installed (package dataset-fashion-mnist)")
    rows = finished(scratch(), "torch_fashion_mnist.py", "--images", 6000, "--epochs", 3, "--lr", 0.1)
    learns(rows, 0.9)
    check(rows[-1]["accuracy"] > 0.5, f"accuracy {rows[-1]['accuracy']}")


def readme_script(folder, stop_at):
    """Writes the script of README.md, on fewer samples: 2 steps per epoch on 2 ranks. A file names each step that is completed. Before it completes
    step `stop_at` for the first time, rank 0 stops the run."""
    text = block("python", "save_point").replace("4096", "128")
    stop = f"""        if not at and dist.get_rank() == 0 and len(list(pathlib.Path('steps').iterdir())) == {stop_at - 1}: os.kill(os.getppid(), signal.SIGUSR1)
        pathlib.Path(f'steps/{{os.environ["RANK"]}}.{{time.time()}}').touch() if dist.get_rank() == 0 else None
"""
    (folder / "steps").mkdir()
    (folder / "train.py").write_text("import os, pathlib, signal, time\n" + re.sub(r"^        save_point\(", stop + r"\g<0>", text, flags=re.M))
    return [TRAINRT, "-n", 2, "--run.name=readme", f"--run.storage_path={folder}", "--failure.max_failures=0", "--", PYTHON, "train.py"]


@test
def the_script_of_the_readme_continues_with_the_same_bits_after_a_stop_at_any_step():
    """At the last step of an epoch, the restarted script finds no batch of this epoch."""
    reference = scratch()
    check_exit(run(readme_script(reference, 0), env=ONE_THREAD, cwd=reference), FINISHED)
    for step in (3, 4):  # the ranks agree on the stop at this step or at the next
        folder = scratch()
        command = readme_script(folder, step)
        check_exit(run(command, env=ONE_THREAD, cwd=folder), STOPPED)
        check_exit(run(command, env=ONE_THREAD, cwd=folder), FINISHED)
        check_same_bits(folder / "readme", reference / "readme")
        equal([row["loss"] for row in reports(folder / "readme")], [row["loss"] for row in reports(reference / "readme")], "losses")


main(setup)
