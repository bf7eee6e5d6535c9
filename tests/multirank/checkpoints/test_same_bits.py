#!/usr/bin/python3
"""A run with scaling.on_resize = same_bits keeps its number of ranks on any number of CPUs. It is killed on 1 and 2 CPUs and ends with the
bits of an undisturbed run."""
import glob
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

WORKERS = 4
LOOP = {"epochs": 12, "batch_size": 16, "report_every": 7, "lr": 0.02}
DATA = {"samples": 480, "features": 50}
SAME_BITS = {"on_resize": "same_bits"}
CPUS = sorted(os.sched_getaffinity(0))


def start_on(cpus, config, *words, ranks=WORKERS, **options):
    """Starts ranks that share the first `cpus` CPUs of this machine."""
    return Job(["taskset", "-c", ",".join(map(str, CPUS[:cpus])), TRAINRT, "-n", ranks, "--config", config, *words], **options)


def run_on(cpus, config, *words, code=FINISHED, **options):
    job = start_on(cpus, config, *words, **options)
    job.code = job.wait(90)
    check_exit(job, code)
    return job


def kill_on(cpus, config):
    """Runs the ranks on `cpus` CPUs and kills all of them some steps after their next report."""
    job = start_on(cpus, config, "--loop.step_pause=0.01", "--failure.max_failures=0")
    wait_for_reports(run_dir_of(config), report_count(run_dir_of(config)) + 2, job, 60)
    time.sleep(random.uniform(0, 0.1))
    check(not job.ended(), "the run ended before it could be killed: make it longer", job)
    kill(job.ranks().values())
    job.wait(60)
    return job


def linear(name, **scaling):
    return linear_config(scratch(), name, LOOP, DATA, scaling={**SAME_BITS, **scaling})


def numpy_program(name):
    return linear_program(name, loop={"epochs": 6}, scaling=SAME_BITS)


def killed_and_resized(config_of):
    if len(CPUS) < 2:
        skip("needs 2 CPUs")
    whole, config = config_of("whole"), config_of("run")
    job = run_on(2, whole)
    check("same bits: 4 workers on 2 CPUs of 1 node (2 workers per CPU)" in job.err, "the CPUs are not printed", job)
    kill_on(2, config)
    job = kill_on(1, config)
    check("same bits: 4 workers on 1 CPU of 1 node (4 workers per CPU)" in job.err, "the CPUs are not printed", job)
    job = run_on(2, config)
    check("bits may differ" not in job.err, "an unjustified warning", job)
    check_same_bits(run_dir_of(config), run_dir_of(whole))
    equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [WORKERS] * 3, "ranks of the attempts")


add_test("a_run_of_linear_that_is_killed_on_2_and_1_CPUs_has_the_bits_of_an_undisturbed_run", killed_and_resized, linear)
add_test("a_numpy_program_that_is_killed_on_2_and_1_CPUs_has_the_bits_of_an_undisturbed_run", killed_and_resized, numpy_program)


@test
def another_number_of_ranks_is_refused_with_the_command_to_use():
    config = linear("run")
    kill_on(1, config)
    before = {path: path.read_bytes() for path in run_dir_of(config).rglob("*") if path.is_file()}
    job = run_on(1, config, ranks=2, code=USAGE)
    check("has 4 workers, but 2 ranks were launched" in job.err and "start 4 ranks: trainrt -n 4" in job.err, "the advice is missing", job)
    equal({path: path.read_bytes() for path in run_dir_of(config).rglob("*") if path.is_file()}, before, "files of the run")


@test
def fewer_CPUs_than_min_workers_are_refused():
    job = run_on(1, linear("run", min_workers=2), code=USAGE)
    check("scaling.min_workers = 2, but the ranks have 1 CPU" in job.err, "the reason is missing", job)


@test
def check_shows_how_the_workers_would_share_the_CPUs():
    config = linear("run")
    run_on(1, config, "--loop.epochs=1")
    job = run(["taskset", "-c", CPUS[0], TRAINRT, "check", "--config", config])
    check_exit(job, FINISHED)
    check("workers         4 workers on 1 CPU of 1 node (4 workers per CPU), on this machine; a worker has used up to" in job.out, "the line is missing", job)


@test
def the_number_of_threads_of_a_program_stays_that_of_the_first_attempt():
    """The second attempt has fewer CPUs, so a new run would get fewer threads."""
    if len(CPUS) < 2:
        skip("needs 2 CPUs")
    seen = scratch() / "threads"
    body = f"import os\nopen({str(seen)!r}, 'a').write(os.environ['OMP_NUM_THREADS'] + ' ')\nos._exit(3)\n"
    config = program_config(python(body), scaling=SAME_BITS, failure={"max_failures": 0})
    run_on(2, config, ranks=1, code=FAILED)
    job = run_on(1, config, ranks=1, code=FAILED)
    equal(seen.read_text().split(), ["2", "2"], "numbers of threads", job)
    check("bits may differ from those of attempt 1: the number of threads of rank 0 was 2 and is 2 on 1 CPU" in job.err, "the warning is missing", job)
    job = run_on(2, config, "--scaling.require_same_bits=true", ranks=1, code=USAGE)
    check("the number of threads of rank 0 was 2 on 1 CPU and is 2" in job.err and "scaling.require_same_bits" in job.err, "the reason is missing", job)
    job = run_on(1, config, env={"OMP_NUM_THREADS": 7}, ranks=1, code=FAILED)
    equal(seen.read_text().split(), ["2", "2", "2"], "numbers of threads", job)
    check("OMP_NUM_THREADS = 7 is replaced by 2" in job.err, "the change is not reported", job)


def cpus_of_programs(ranks, *words, **variables):
    """Starts programs on 2 CPUs; returns the CPUs of each rank's program."""
    if len(CPUS) < 2:
        skip("needs 2 CPUs")
    folder = scratch()
    body = f"import os\nopen({str(folder)!r} + '/' + os.environ['RANK'], 'w').write(repr(sorted(os.sched_getaffinity(0))))\n"
    job = run_on(2, program_config(python(body), scaling=SAME_BITS), *words, ranks=ranks, env=variables)
    if os.cpu_count() == 2:  # with more CPUs, the warning that taskset binds the ranks to 2 of them is true
        check("CPUs of this node" not in job.err, "a warning about the binding", job)
    return [eval((folder / str(rank)).read_text()) for rank in range(ranks)]


@test
def ranks_that_share_CPUs_are_bound_to_consecutive_ones_in_equal_numbers():
    first, second = CPUS[:2]
    equal(cpus_of_programs(4), [[first], [first], [second], [second]], "CPUs of 4 ranks on 2 CPUs")
    equal(cpus_of_programs(2), [[first, second]] * 2, "CPUs of 2 ranks on 2 CPUs, which need not share one")
    equal(cpus_of_programs(4, OMP_NUM_THREADS=2), [[first, second]] * 4, "CPUs of 4 ranks with 2 threads each on 2 CPUs")


@test
def another_kernel_choice_of_the_BLAS_is_named_and_refused_if_the_same_bits_are_required():
    config = numpy_program("run")
    run_on(1, config, "--loop.epochs=3")
    manifest = json.loads((checkpoints(run_dir_of(config))[-1] / "manifest.json").read_text())
    check("C math library" in manifest["bits"]["libraries"] and "NumPy" in manifest["bits"]["libraries"], f"libraries: {manifest['bits']}")
    other = {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": 1}
    job = run_on(1, config, "--scaling.require_same_bits=true", env=other, code=USAGE)
    name = checkpoints(run_dir_of(config))[-1].name
    check(f"bits may differ from those of {name}: OPENBLAS_CORETYPE of rank 0 was " in job.err and " and is Nehalem" in job.err, "the difference is missing", job)
    check("OPENBLAS_NUM_THREADS of rank 0 was not set and is 1" in job.err and "scaling.require_same_bits = false" in job.err, "the advice is missing", job)
    job = run_on(1, config, env=other)
    check(f"bits may differ from those of {name}: OPENBLAS_CORETYPE" in job.err, "the warning is missing", job)


@test
def another_build_of_a_library_is_named_and_refused_if_the_same_bits_are_required():
    """The library is a copy of one of two libraries of the system, which the program loads."""
    folder = scratch()
    library, script = folder / "libblis.so.4", folder / "program.py"
    builds = [path for path in map(Path, glob.glob("/lib*/**/libutil.so.1") + glob.glob("/lib*/**/libdl.so.2"))]
    if len(builds) < 2:
        skip("needs the files libutil.so.1 and libdl.so.2")
    script.write_text(f"import ctypes, runpy\nctypes.CDLL({str(library)!r})\nrunpy.run_path({str(LINEAR)!r}, run_name='__main__')\n")
    config = program_config(f"{PYTHON} {script}", "run", {**BY_EPOCHS, "epochs": 6}, EVERY, scaling=SAME_BITS, folder=folder)
    shutil.copy(builds[0], library)
    run_on(1, config, "--loop.epochs=3")
    newest = checkpoints(run_dir_of(config))[-1].name
    library.unlink()
    shutil.copy(builds[-1], library)
    job = run_on(1, config, "--scaling.require_same_bits=true", code=USAGE)
    check(f"bits may differ from those of {newest}: BLIS of rank 0 was libblis.so.4 (build " in job.err, "the difference is missing", job)
    job = run_on(1, config)
    check("bits may differ" in job.err and "BLIS of rank 0" in job.err, "the warning is missing", job)


@test
def result_shows_the_fixed_number_of_workers_and_their_CPUs():
    config = linear("run")
    job = run_on(1, config, "--loop.epochs=1")
    check("; all attempts have 4 workers" in job.err, "the start does not name the number", job)
    job = run([TRAINRT, "result", run_dir_of(config)])
    check("workers     4 in every attempt (scaling.on_resize = same_bits); attempt 1: 4 workers on 1 CPU of 1 node (4 workers per CPU)" in job.out, "the line is missing", job)


main()
