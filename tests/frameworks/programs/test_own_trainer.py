#!/usr/bin/python3
"""Programs with their own main that call Trainer::fit() of the installed library, on one rank and on two: they are stopped, killed and
continued with the same bits. Also errors of use, and a library for another interface."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.own_mpi import install_library, must, pkg_config  # noqa: E402
from runs.training import *  # noqa: E402,F403

PREFIX = FITS = LINEAR = None


def compiled(source, name, *more):
    program = PREFIX / name
    must(["g++", "-O2", "-Wall", "-Wextra", "-Werror", *more, source, *pkg_config(PREFIX, "--cflags", "--libs"), "-o", program])
    return program


def setup():
    global PREFIX, FITS, LINEAR
    PREFIX = install_library()
    FITS = compiled(SOURCE / "tests/support/programs/fits.cpp", "fits")
    LINEAR = compiled(SOURCE / "jobs/cpp/linear.cpp", "linear")


def on_ranks(ranks, program, *words):
    if ranks == 1:
        return [program, *words]
    if MPIEXEC is None:
        skip("mpiexec.mpich is not installed (package mpich)")
    return [MPIEXEC, "-n", ranks, program, *words]


def fit(ranks, storage, name, *words):
    return run(on_ranks(ranks, FITS, storage, name, *words), trainrt=str(FITS))


def start_linear(ranks, storage, name, epochs=150):
    return Job(on_ranks(ranks, LINEAR, name, storage, epochs), trainrt=str(LINEAR))


def finish_linear(ranks, storage, name):
    job = start_linear(ranks, storage, name)
    job.code = job.wait(60)
    check_exit(job, FINISHED)


def fit_trains_and_returns_the_result(ranks):
    folder = scratch()
    job = fit(ranks, folder, "mine")
    check_exit(job, FINISHED)
    equal(job.out.count(f"mine: finished, 10 reports, 1 attempts, checkpoint {folder}/mine/checkpoint_000009, exit 0\n"), ranks, "results", job)
    check("SIGTERM" not in job.out, "the signal handlers are not restored", job)
    equal(run_state(folder / "mine"), "finished", "state")
    check_iterations(folder / "mine", 10)
    check_no_debris(folder / "mine")
    check_verifies(folder / "mine")


def a_stopped_run_exits_with_75_and_continues_with_the_same_bits(ranks):
    folder = scratch()
    finish_linear(ranks, folder, "whole")
    job = start_linear(ranks, folder, "broken")
    wait_for_reports(folder / "broken", 3, job)
    check(not job.ended(), "the run ended before it could be stopped", job)
    kill([job.wait_for_ranks(ranks)[ranks - 1]], signal.SIGUSR1)
    job.code = job.wait(30)
    check_exit(job, STOPPED)
    equal(run_state(folder / "broken"), "stopped", "state", job)
    finish_linear(ranks, folder, "broken")
    check_same_bits(folder / "broken", folder / "whole")
    check_iterations(folder / "broken", 150)


def a_killed_run_continues_with_the_same_bits(ranks):
    folder = scratch()
    finish_linear(ranks, folder, "whole")
    job = start_linear(ranks, folder, "broken")
    wait_for_reports(folder / "broken", 5, job)
    kill([job.wait_for_ranks(ranks)[0]])
    job.wait(30)
    finish_linear(ranks, folder, "broken")
    equal(len(attempts(folder / "broken")), 2, "attempts")
    check_same_bits(folder / "broken", folder / "whole")


def a_second_fit_in_the_process_trains_another_run(ranks):
    folder = scratch()
    job = fit(ranks, folder, "first", "then=second")
    check_exit(job, FINISHED)
    for name in ("first", "second"):
        equal(job.out.count(f"{name}: finished, 10 reports"), ranks, f"results of {name}", job)
        check_iterations(folder / name, 10)
    check_same_bits(folder / "second", folder / "first")


def a_different_number_of_workers_is_an_error_that_names_both_numbers(ranks):
    folder = scratch()
    job = fit(ranks, folder, "mine", "workers=7")
    check_exit(job, USAGE)
    said = f"caught: the program sets scaling.num_workers = 7, but {ranks} rank{' was' if ranks == 1 else 's were'} launched"
    equal(job.out.count(said), ranks, f"'{said}'", job)
    check(not (folder / "mine").exists(), "a run directory exists", job)


for ranks_of_test in (1, 2):
    for promise in (fit_trains_and_returns_the_result, a_stopped_run_exits_with_75_and_continues_with_the_same_bits, a_killed_run_continues_with_the_same_bits,
                    a_second_fit_in_the_process_trains_another_run, a_different_number_of_workers_is_an_error_that_names_both_numbers):
        add_test(f"{promise.__name__}_on_{ranks_of_test}", promise, ranks_of_test)


@test
def an_exception_on_the_only_rank_can_be_caught():
    folder = scratch()
    job = fit(1, folder, "mine", "throws=0")
    check_exit(job, FAILED)
    check("caught: no more data" in job.out, "the program does not catch it", job)
    text = (folder / "mine/error.txt").read_text()
    check("rank 0" in text and "no more data" in text, f"error.txt lacks the rank or the error: {text}")
    equal(run_state(folder / "mine"), "failed", "state")
    job = fit(1, folder, "mine")
    check_exit(job, FINISHED)
    check("mine: finished, 10 reports, 2 attempts" in job.out, "the run is not continued", job)


@test
def fit_continues_in_the_same_process_after_an_exception():
    folder = scratch()
    job = fit(1, folder, "mine", "throws=0", f"once={folder}/thrown")
    check_exit(job, FINISHED)
    check("again after: no more data" in job.out and "mine: finished, 10 reports, 2 attempts" in job.out, "the run is not continued", job)
    check_exit(fit(1, folder, "whole"), FINISHED)
    check_same_bits(folder / "mine", folder / "whole")


@test
def an_exception_on_one_of_two_ranks_ends_the_step():
    folder = scratch()
    job = fit(2, folder, "mine", "throws=1")
    check(job.code != 0, "the run exits with 0", job)
    check("caught" not in job.out and "no more data" in job.err, "the error is not logged, or the program caught it", job)
    logs = [(folder / f"mine/logs/rank-0000{rank}.log").read_text() for rank in (0, 1)]
    equal([log.count(f"rank {rank} is notified of rank 1: rank 1 on ") for rank, log in enumerate(logs)], [1, 1], "notifications of callbacks", job)
    text = (folder / "mine/error.txt").read_text()
    check("rank 1" in text, f"error.txt does not name the rank: {text}")
    check(re.search(r"thrown as std::runtime_error, at\n +#0 .*fits", text), f"error.txt lacks the location: {text}")


def watched(*words, ranks=2):
    """Runs the program with `trainrt -n`; the program itself is a rank."""
    return run([TRAINRT, "-n", ranks, "--program.has_trainer=true", *words], trainrt=str(FITS))


@test
def trainrt_n_restarts_the_program_from_its_last_checkpoint():
    folder = scratch()
    check_exit(fit(2, folder, "whole"), FINISHED)
    job = watched("--checkpoint.num_to_keep=3", "--", FITS, folder, "mine", "throws=1", f"once={folder}/thrown", "checkpoint.num_to_keep=5",
                  "checkpoint.async=false", "failures=2")
    check_exit(job, FINISHED)
    equal(job.out.count("mine: finished, 10 reports, 2 attempts"), 2, "results", job)
    check("restart 1 of 2" in job.err, "the failures that the program allows do not count", job)
    equal(attempts(folder / "mine")[1]["first_step"], 4, "first step of the second attempt", job)
    check("checkpoint.num_to_keep is '3' (command line); the program requests '5'" in job.err, "the difference is not reported", job)
    equal(len(checkpoints(folder / "mine")), 3, "number of kept checkpoints", job)
    check_same_bits(folder / "mine", folder / "whole")
    equal(sorted(path.name for path in folder.iterdir()), ["mine", "thrown", "whole"], "files in the storage path", job)


@test
def failures_beyond_max_failures_end_the_run():
    folder = scratch()
    job = watched("--", FITS, folder, "mine", "throws=1", "failures=1")
    check_exit(job, FAILED)
    check("given up after 2 failures (failure.max_failures = 1)" in job.err, "the end of the restarts is not reported", job)
    equal(len(attempts(folder / "mine")), 2, "attempts", job)


@test
def an_unnamed_run_gets_one_name_on_all_ranks_and_restarts():
    folder = scratch()
    job = watched("--", FITS, folder, "", "throws=1", f"once={folder.parent}/{folder.name}.thrown", "then=unnamed")
    check_exit(job, FINISHED)
    first, second = sorted(path.name for path in folder.iterdir())
    check(re.fullmatch(r"fits-\d{8}-\d{6}-\d{3}", first), f"the name is {first}", job)
    equal(second, first + "-2", "name of the second run", job)
    equal([len(attempts(folder / name)) for name in (first, second)], [2, 1], "attempts", job)
    job = run(on_ranks(2, FITS, folder, ""), trainrt=str(FITS))
    check_exit(job, FINISHED)
    third, = {path.name for path in folder.iterdir()} - {first, second}
    check(f"the run directory is {folder}/{third}. To resume" in job.err and f"variable TRAINRT_MADE_UP_NAME={third}" in job.err, "the log does not show how to resume the run", job)


@test
def a_program_with_a_trainer_in_a_run_is_restarted():
    folder = scratch()
    check_exit(fit(2, folder, "whole"), FINISHED)
    job = run([TRAINRT, "-n", 2, f"--run.storage_path={folder}/outer", "--", FITS, folder, "mine", "throws=1", f"once={folder}/thrown",
               "checkpoint.async=false"], trainrt=str(FITS))
    check_exit(job, FINISHED)
    check("restart 1 of 3" in job.err and len(attempts(folder / "mine")) == 2, "the program is not restarted", job)
    check_same_bits(folder / "mine", folder / "whole")


@test
def a_program_with_a_trainer_in_a_run_gets_an_error_that_names_has_trainer():
    folder = scratch()
    job = run([TRAINRT, f"--run.storage_path={folder}/outer", "--failure.max_failures=0", "--", FITS, folder, ""])
    check(job.code != 0, "the run exits with 0", job)
    check("--program.has_trainer=true" in job.out, "the output does not name the setting", job)


def is_refused(words, *said):
    job = fit(1, scratch(), *words)
    check_exit(job, USAGE)
    for text in ("caught: ", *said):
        check(text in job.out, f"the output lacks {text!r}", job)


@test
def settings_are_checked_like_a_config():
    is_refused(["mine", "checkpoint.evry=2"], "checkpoint.evry", "the program", "checkpoint.every")
    is_refused(["mine", "checkpoint.every=often"], "checkpoint.every", "the program", "often")
    is_refused(["mine", "train.program=true"], "train.program", "cannot be set, because the Trainer has a train function")
    is_refused(["mine", "run.name=other"], "run.name", "is set twice")


@test
def a_program_built_with_other_headers_is_an_error_that_names_the_interfaces():
    other = scratch("headers")
    shutil.copytree(PREFIX / "include/trainrt", other / "trainrt")
    header = other / "trainrt/train_function.hpp"
    text = re.sub(r"module_abi = (\d+);", lambda found: f"module_abi = {int(found[1]) + 1000};", header.read_text())
    header.write_text(text)
    program = compiled(SOURCE / "tests/support/programs/fits.cpp", "stale", "-I", other)
    job = run([program, scratch(), "mine"])
    check_exit(job, USAGE)
    for words in ("caught: this program was compiled with headers of trainrt for interface", "libtrainrt.so", "interface 10"):
        check(words in job.out, f"the output lacks {words!r}", job)


@test
def find_package_finds_the_library_of_a_moved_prefix():
    moved = scratch() / "elsewhere"
    shutil.copytree(PREFIX, moved, symlinks=True)
    project = scratch()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(mine CXX)\nfind_package(trainrt 0.1 REQUIRED)\n"
        f"add_executable(mine {SOURCE}/tests/support/programs/fits.cpp)\ntarget_link_libraries(mine PRIVATE trainrt::trainrt)\n")
    must(["cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={moved}"])
    must(["cmake", "--build", project / "build"])
    folder = scratch()
    check_exit(run([project / "build/mine", folder, "mine"]), FINISHED)
    check(str(moved) in must(["ldd", project / "build/mine"]), "another library is loaded")


@test
def pkg_config_finds_the_library_of_a_moved_prefix():
    moved = scratch() / "elsewhere"
    shutil.copytree(PREFIX, moved, symlinks=True)
    away = PREFIX.with_name(PREFIX.name + ".away")
    PREFIX.rename(away)
    try:
        flags = must(["pkg-config", "--cflags", "--libs", "trainrt"], env={**os.environ, "PKG_CONFIG_PATH": str(moved / "lib/pkgconfig")})
        program = scratch() / "mine"
        must(["g++", SOURCE / "tests/support/programs/fits.cpp", *flags.split(), "-o", program])
        check_exit(run([program, scratch(), "mine"]), FINISHED)
    finally:
        away.rename(PREFIX)


main(setup)
