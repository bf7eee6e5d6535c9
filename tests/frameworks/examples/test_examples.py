#!/usr/bin/python3
"""The examples of jobs/examples and the README's function and config are built as their first lines say, against an installed trainrt, and
trained on 2 ranks. A run that was stopped and continued ends with the bits of an undisturbed run."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from tools.guides import block  # noqa: E402
from runs.own_mpi import build_own_main, build_own_trainer, install_library, must, pkg_config  # noqa: E402
from runs.training import *  # noqa: E402,F403

EXAMPLES = SOURCE / "jobs/examples"
ONE_THREAD = {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1}
PREFIX = None


def setup():
    global PREFIX
    PREFIX = install_library()


def config_of(text, name, **keys):
    """Writes a config of the guides to a new folder. Returns its path and the arguments that override keys."""
    path = scratch() / f"{name}.ini"
    path.write_text(text)
    return path, [f"--run.name={name}", f"--run.storage_path={path.parent}/runs", *(f"--{key.replace('__', '.')}={value}" for key, value in keys.items())]


def finished(config, words, cwd=None):
    job = start_ranks(2, config, *words, env=ONE_THREAD, cwd=cwd)
    job.code = job.wait(120)
    check_exit(job, FINISHED)


def stopped(config, words, cwd=None):
    """Starts the run and stops it by a signal after two reports."""
    job = start_ranks(2, config, *words, env=ONE_THREAD, cwd=cwd)
    wait_for_reports(run_dir_of(config), 2, job, 60)
    check(not job.ended(), "the run ended before it could be stopped: make it longer", job)
    kill([job.ranks()[1]], signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)


def learns_and_continues(text, cwd=None, **keys):
    """A stopped and an undisturbed run of the config end with the same bits, and the loss decreases. Returns the directory of the latter."""
    whole, whole_words = config_of(text, "whole", **keys)
    finished(whole, whole_words, cwd)
    rows = reports(run_dir_of(whole))
    check(rows[-1]["loss"] < 0.5 * rows[0]["loss"], f"the loss stays high: {rows[0]['loss']} to {rows[-1]['loss']}")
    broken, broken_words = config_of(text, "broken", **keys)
    stopped(broken, broken_words, cwd)
    finished(broken, broken_words, cwd)
    check_same_bits(run_dir_of(broken), run_dir_of(whole))
    return run_dir_of(whole)


def plugin(source, flags):
    library = scratch() / "libmine.so"
    must(["g++", "-shared", "-fPIC", "-Wall", "-Werror", source, *flags, "-o", library])
    return library


@test
def the_function_of_the_README_is_built_checked_and_run_with_its_config():
    source = scratch() / "mine.cpp"
    source.write_text(block("cpp", "TRAINRT_TRAIN_FUNCTION"))
    library = plugin(source, ["-Wno-unused", *pkg_config(PREFIX, "--cflags")])
    config, words = config_of(block("ini", "libmine.so"), "first")
    shutil.copy(library, config.parent)
    job = run([TRAINRT, "check", "--config", config, words[1]], cwd=config.parent)
    check_exit(job, FINISHED)
    finished(config, words, config.parent)
    check_iterations(run_dir_of(config), 10)


@test
def the_quick_start_trains_and_prints_its_result():
    if not Path("/usr/share/datasets/fashion-mnist").exists():
        skip("FashionMNIST not found (package dataset-fashion-mnist)")
    job = run([SOURCE / "jobs/quickstart.sh", BUILD, 2, "--loop.epochs=2", "--data.train.subset=0:2000", "--data.test.subset=0:500"],
              env={**ONE_THREAD, "TRAINRT_STORAGE": scratch()})
    check_exit(job, FINISHED)
    check("quickstart: iteration 1 " in job.out + job.err and "test_accuracy" in job.out and re.search(r"^state +finished$", job.out, re.M), "the result", job)


@test
def the_config_of_the_linear_regression_trains():
    config, words = config_of((SOURCE / "jobs/linear.ini").read_text(), "linear", loop__epochs=2)
    finished(config, words)


@test
def the_train_function_learns_and_continues():
    library = plugin(EXAMPLES / "train_function.cpp", ["-O2", "-Wextra", *pkg_config(PREFIX, "--cflags")])
    text = (EXAMPLES / "train_function.ini").read_text()
    config, words = config_of(text, "checked")
    check_exit(run([TRAINRT, "check", "--config", config, *words, f"--train.library={library}"]), FINISHED)
    run_dir = learns_and_continues(text, train__library=library, loop__epochs=60)
    table = run_dir.parent / "predictions.csv"
    check_exit(run([TRAINRT, "predict", run_dir, "-n", 2, "-o", table, "--dataset", "train", "--keep", "y", f"--train.library={library}"]), FINISHED)
    header, *rows = table.read_text().splitlines()
    equal(header, "prediction,y", "the header of the predictions")
    pairs = [[float(value) for value in row.split(",")] for row in rows]
    loss = sum((prediction - y) ** 2 for prediction, y in pairs) / len(pairs)
    check(loss <= 1.1 * reports(run_dir)[-1]["loss"], f"the loss of the predictions is higher than in training: {loss}")


@test
def the_torch_model_learns_and_continues():
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built (package libtorch-dev)")
    must(["cmake", "--install", BUILD, "--prefix", PREFIX, "--component", "torch"])
    flags = must(["pkg-config", "--cflags", "--libs", "trainrt-torch"], env={**os.environ, "PKG_CONFIG_PATH": str(PREFIX / "lib/pkgconfig")})
    library = plugin(EXAMPLES / "torch_model.cpp", flags.split())
    learns_and_continues((EXAMPLES / "train_function.ini").read_text(), train__library=library, loop__epochs=12)


def program_learns_and_continues(name, module):
    if run(["/usr/bin/python3", "-c", f"import {module}"]).code != 0:
        skip(f"python3 has no {module}")
    learns_and_continues((EXAMPLES / "program.ini").read_text(), EXAMPLES, train__program=f"/usr/bin/python3 {name}", loop__epochs=20)


add_test("the_program_in_numpy_learns_and_continues", program_learns_and_continues, "numpy_program.py", "numpy")
add_test("the_program_in_torch_learns_and_continues", program_learns_and_continues, "torch_program.py", "torch")


def own_trainer(name):
    return build_own_trainer(PREFIX, SOURCE / f"jobs/cpp/{name}.cpp", name)


@test
def the_linear_regression_with_its_own_main_learns_and_is_not_run_twice():
    program, folder = own_trainer("linear"), scratch()
    output = must([MPIEXEC, "-n", 2, program, "linear", folder])
    rows = reports(folder / "linear")
    check(len(rows) == 20 and rows[-1]["loss"] < 0.01 * rows[0]["loss"], f"the loss stays high: {rows[0]['loss']} to {rows[-1]['loss']}")
    last = output.splitlines()[-1]
    check(last.startswith("loss ") and str(folder / "linear/checkpoint_0000") in last, f"the output is {output!r}")
    check(last in must([program, "linear", folder]), "the second start has another result")
    equal(len(attempts(folder / "linear")), 1, "attempts")


@test
def the_callback_receives_the_reports_of_each_rank():
    folder = scratch()
    output = must([MPIEXEC, "-n", 2, own_trainer("callback"), "callback", folder])
    for text in (f"attempt 1 in {folder}/callback", "rank 0: best loss 0.", "rank 1: best loss", f"the newest checkpoint is {folder}/callback/checkpoint_000009"):
        check(text in output, f"missing: {text}\n{output}")


def rows_of(run_dir):
    """Returns {name: text} of the files in the newest checkpoint."""
    newest = max(run_dir.glob("checkpoint_*"))
    return {path.name: path.read_text() for path in (newest / "files").iterdir()}


@test
def a_program_that_saves_files_continues_from_them_after_a_kill():
    program, folder = own_trainer("checkpoint_files"), scratch()
    output = must([MPIEXEC, "-n", 2, program, "whole", folder, 60])
    check(f"{folder}/whole/checkpoint_000059/files/rows-rank=1.txt" in output, f"the output is {output!r}")
    job = Job([MPIEXEC, "-n", 2, program, "broken", folder, 60], trainrt=str(program))
    wait_for_reports(folder / "broken", 3, job, 60)
    check(not job.ended(), "the run ended before it could be killed", job)
    kill([job.wait_for_ranks(2)[1]])
    job.wait(60)
    must([MPIEXEC, "-n", 2, program, "broken", folder, 60])
    equal(len(attempts(folder / "broken")), 2, "attempts")
    check_iterations(folder / "broken", 60)
    equal(rows_of(folder / "broken"), rows_of(folder / "whole"), "files of the last checkpoint")


@test
def the_results_are_read_and_a_new_run_starts_from_the_best_checkpoint():
    output = must([own_trainer("results"), scratch()])
    for text in ("results: finished, accuracy 0.333333 after 1 attempts\n 0.25 0.33 0.50 1.00 0.50 0.33\n", 'kept: accuracy 1.00, {"trained_by":"results.cpp"}',
                 "results-resumed starts from weight 4", "results-resumed: finished, accuracy 0.5 after 1 attempts\n 0.50\n"):
        check(text in output, f"missing: {text}\n{output}")


@test
def the_programs_of_jobs_cpp_are_short():
    for path in (SOURCE / "jobs/cpp").glob("*.cpp"):
        check(len(path.read_text().splitlines()) <= 80, f"{path.name} has more than 80 lines")


@test
def the_program_with_its_own_main_continues_on_another_number_of_ranks_with_the_same_bits():
    program = build_own_main(PREFIX, EXAMPLES / "own_main.cpp", "heat")
    folder = scratch()
    must([program, folder / "whole", 1000])
    must([MPIEXEC, "-n", 2, program, folder / "broken", 400])
    output = must([MPIEXEC, "-n", 3, program, folder / "broken", 1000])
    check("continuing from step 400, saved by 2 ranks" in output, f"the output is {output!r}")
    check(state_of(folder / "broken") == state_of(folder / "whole"), "different bits")


main(setup)
