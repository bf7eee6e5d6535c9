#!/usr/bin/python3
"""A run with scaling.on_resize = same_bits keeps its number of ranks on any number of CPUs. It is killed on 1 and 2 CPUs and ends with the
bits of an undisturbed run."""
import os
import random
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


main()
