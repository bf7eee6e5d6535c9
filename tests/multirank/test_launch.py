#!/usr/bin/python3
"""One to four ranks find each other under mpiexec, one alone is a run too, and a launch that did not form what it promised is
refused, never so many lonely runs. A run continues by the same command: finished, with more epochs, on other numbers of ranks."""
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

SHORT = {"epochs": 2}


def ranks_form_one_world(ranks):
    config = linear_config(scratch(), "run", SHORT)
    job = run_ranks(ranks, config)
    check_exit(job, FINISHED)
    text = job.out + job.err
    words = f"trainrt: {ranks} ranks on 1 node" if ranks > 1 else "trainrt: 1 rank on 1 node"
    equal(text.count(words), 1, f"times that the output says '{words}'", job)
    equal(text.count("trainrt: finished"), 1, "times that the output says 'finished'", job)
    equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [ranks], "ranks of the attempts")
    equal(len(list(checkpoints(run_dir_of(config))[-1].glob("shard-*.h5"))), 1, "number of shards, one a node")
    check_iterations(run_dir_of(config), 2)
    check_no_debris(run_dir_of(config), keep=2)
    check_verifies(run_dir_of(config))


for count in (1, 2, 3, 4):
    add_test(f"{count}_ranks_under_mpiexec_form_one_world", ranks_form_one_world, count)


@test
def one_process_alone_is_a_run():
    config = linear_config(scratch(), "run", SHORT)
    job = run([TRAINRT, "--config", config])
    check_exit(job, FINISHED)
    check("1 rank on 1 node (alone, self)" in job.err, "it does not say who it is", job)
    check_iterations(run_dir_of(config), 2)


@test
def alone_and_under_mpiexec_one_rank_computes_the_same_bits():
    folder = scratch()
    alone, launched = (linear_config(folder, name, SHORT) for name in ("alone", "launched"))
    check_exit(run([TRAINRT, "--config", alone]), FINISHED)
    check_exit(run_ranks(1, launched), FINISHED)
    check_same_bits(run_dir_of(launched), run_dir_of(alone))


def lonely_start_is_refused(env, words):
    config = linear_config(scratch(), "run", SHORT)
    job = run([TRAINRT, "--config", config], timeout=30, env=env)
    check_exit(job, USAGE)
    for word in words:
        check(word in job.err, f"the message lacks {word!r}", job)
    equal(job.err.count("error:"), 1, "number of messages", job)
    check(not run_dir_of(config).exists(), "a run directory is left behind", job)


for variable, size in (("PMI_SIZE", 3), ("SLURM_STEP_NUM_TASKS", 4), ("OMPI_COMM_WORLD_SIZE", 2)):
    add_test(f"a_single_process_with_{variable}_of_{size}_is_refused", lonely_start_is_refused, {variable: size},
             (f"{variable}={size}", "promised"))
add_test("a_start_in_the_batch_shell_of_several_tasks_is_refused", lonely_start_is_refused, {"SLURM_JOB_ID": 17, "SLURM_NTASKS": 4},
         ("start it with srun", "17"))


@test
def a_batch_shell_of_one_task_may_run_alone():
    config = linear_config(scratch(), "run", SHORT)
    check_exit(run([TRAINRT, "--config", config], env={"SLURM_JOB_ID": 17, "SLURM_NTASKS": 1}), FINISHED)


@test
def ranks_that_cannot_reach_their_launcher_are_refused():
    config = linear_config(scratch(), "run", SHORT)
    job = run([MPIEXEC, "-n", "2", "env", "-u", "PMI_FD", "-u", "PMI_PORT", TRAINRT, "--config", config], timeout=30)
    check_exit(job, USAGE)
    equal(job.err.count("error:"), 1, "number of messages", job)
    check(not run_dir_of(config).exists(), "a run directory is left behind", job)


@test
def the_mpiexec_of_another_mpi_is_refused_or_forms_the_world():
    other = shutil.which("mpiexec.openmpi")
    if other is None:
        skip("mpiexec.openmpi is not there (package openmpi-bin)")
    config = linear_config(scratch(), "run", SHORT)
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}
    job = run([other, "--oversubscribe", "-n", "2", TRAINRT, "--config", config], timeout=45, env=allow)
    if job.code == FINISHED:
        equal((job.out + job.err).count("trainrt: 2 ranks"), 1, "times that it says '2 ranks'", job)
        equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [2], "ranks of the attempts")
    else:
        check(not run_dir_of(config).exists(), "a run directory is left behind", job)
        check("error:" in job.err, "it failed without a message", job)


@test
def a_finished_run_started_again_says_so():
    config = linear_config(scratch(), "run", SHORT)
    check_exit(run_ranks(2, config), FINISHED)
    before = {path.name: path.read_bytes() for path in run_dir_of(config).glob("*.*") if path.is_file()}
    again = run_ranks(2, config)
    check_exit(again, FINISHED)
    equal((again.out + again.err).count("has finished already"), 1, "times that it says so", again)
    equal({path.name: path.read_bytes() for path in run_dir_of(config).glob("*.*") if path.is_file()}, before, "files of the run")
    equal(len(attempts(run_dir_of(config))), 1, "number of attempts")


@test
def more_epochs_continue_a_finished_run():
    folder = scratch()
    config, whole = linear_config(folder, "run", SHORT), linear_config(folder, "whole", {"epochs": 5})
    check_exit(run_ranks(2, config), FINISHED)
    more = run_ranks(2, config, "--loop.epochs=5")
    check_exit(more, FINISHED)
    check("epochs was '2', is '5'" in more.err, "the change is not printed", more)
    equal(json.loads((run_dir_of(config) / "run.json").read_text())["changes"],
          [{"attempt": 2, "key": "loop.epochs", "from": "2", "to": "5"}], "changes in run.json")
    check_exit(run_ranks(2, whole), FINISHED)
    check_iterations(run_dir_of(config), 5)
    check_same_bits(run_dir_of(config), run_dir_of(whole))


@test
def a_run_goes_on_with_other_numbers_of_ranks():
    config = linear_config(scratch(), "run", {"epochs": 300}, scaling={"on_resize": "keep_batch"})
    steps = []
    for ranks in (2, 3):
        before = report_count(run_dir_of(config))
        job = start_ranks(ranks, config)
        wait_for_reports(run_dir_of(config), before + 5, job)
        kill([job.ranks()[0]], signal.SIGUSR1)
        job.code = job.wait()
        check_exit(job, STOPPED)
        check_iterations(run_dir_of(config))
        steps.append(step_of(run_dir_of(config)))
    last = run([TRAINRT, "--config", config, f"--loop.epochs={report_count(run_dir_of(config)) + 5}"])
    check_exit(last, FINISHED)
    check("saved by 3 ranks and is loaded by 1" in last.err, "the change of ranks is not said", last)
    check_iterations(run_dir_of(config))
    equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [2, 3, 1], "ranks of the attempts")
    check(0 < steps[0] < steps[1] < step_of(run_dir_of(config)), f"steps do not grow: {steps}")
    check_verifies(run_dir_of(config))


@test
def a_rank_that_is_killed_takes_the_others_with_it():
    config = linear_config(scratch(), "run", {"epochs": 100000})
    job = start_ranks(3, config)
    wait_for_reports(run_dir_of(config), 2, job)
    kill([job.ranks()[1]])
    code = job.wait(30)
    check(code not in (FINISHED, STOPPED), f"exit {code} after a rank was killed", job)


main()
