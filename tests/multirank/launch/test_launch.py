#!/usr/bin/python3
"""One to four ranks under mpiexec form one run, and a single process is a run of one rank. If the ranks of a launch cannot connect, the
launch is refused; it never becomes several runs of one rank. The same command continues a run, also on another number of ranks."""
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from tools.sockets import listens_on  # noqa: E402

SHORT = {"epochs": 2}


def ranks_form_one_world(ranks):
    config = linear_config(scratch(), "run", SHORT)
    job = run_ranks(ranks, config)
    check_exit(job, FINISHED)
    text = job.out + job.err
    words = f"trainrt: {ranks} ranks on 1 node" if ranks > 1 else "trainrt: 1 rank on 1 node"
    equal(text.count(words), 1, f"lines with '{words}'", job)
    equal(text.count("trainrt: finished"), 1, "lines with 'trainrt: finished'", job)
    equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [ranks], "ranks of the attempts")
    equal(len(list(checkpoints(run_dir_of(config))[-1].glob("shard-*.h5"))), 1, "number of shards, one per node")
    check_iterations(run_dir_of(config), 2)
    check_no_debris(run_dir_of(config), keep=2)
    check_verifies(run_dir_of(config))


for count in (1, 2, 3, 4):
    add_test(f"{count}_ranks_under_mpiexec_form_one_world", ranks_form_one_world, count)


@test
def a_single_process_is_a_run_of_one_rank():
    config = linear_config(scratch(), "run", SHORT)
    job = run([TRAINRT, "--config", config])
    check_exit(job, FINISHED)
    check("1 rank on 1 node (alone, self)" in job.err, "the number of ranks and the launcher are not printed", job)
    check_iterations(run_dir_of(config), 2)


@test
def one_rank_has_the_same_bits_with_and_without_mpiexec():
    folder = scratch()
    alone, launched = (linear_config(folder, name, SHORT) for name in ("alone", "launched"))
    check_exit(run([TRAINRT, "--config", alone]), FINISHED)
    check_exit(run_ranks(1, launched), FINISHED)
    check_same_bits(run_dir_of(launched), run_dir_of(alone))


def incomplete_launch_is_refused(env, words):
    config = linear_config(scratch(), "run", SHORT)
    job = run([TRAINRT, "--config", config], timeout=30, env=env)
    check_exit(job, USAGE)
    for word in words:
        check(word in job.err, f"the message lacks {word!r}", job)
    equal(job.err.count("error:"), 1, "number of messages", job)
    check(not run_dir_of(config).exists(), "a run directory was left", job)


for variable, size in (("PMI_SIZE", 3), ("SLURM_STEP_NUM_TASKS", 4), ("OMPI_COMM_WORLD_SIZE", 2)):
    add_test(f"a_single_process_with_{variable}_of_{size}_is_refused", incomplete_launch_is_refused, {variable: size},
             (f"{variable}={size}", "requests"))
add_test("a_start_in_the_batch_shell_of_several_tasks_is_refused", incomplete_launch_is_refused, {"SLURM_JOB_ID": 17, "SLURM_NTASKS": 4},
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
    check(not run_dir_of(config).exists(), "a run directory was left", job)


@test
def the_mpiexec_of_another_mpi_is_refused_or_forms_the_world():
    other = shutil.which("mpiexec.openmpi")
    if other is None:
        skip("mpiexec.openmpi is not installed (package openmpi-bin)")
    config = linear_config(scratch(), "run", SHORT)
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}
    job = run([other, "--oversubscribe", "-n", "2", TRAINRT, "--config", config], timeout=45, env=allow)
    if job.code == FINISHED:
        equal((job.out + job.err).count("trainrt: 2 ranks"), 1, "lines with '2 ranks'", job)
        equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [2], "ranks of the attempts")
    else:
        check(not run_dir_of(config).exists(), "a run directory was left", job)
        check("error:" in job.err, "the start failed without a message", job)


# ---- ports and shared memory of MPI ----------------------------------------------------------------------------------


LONG = {"epochs": 100000, "step_pause": 0.01}


def in_container():
    """Returns whether this process is in a container: there, MPI uses the loopback device, because each rank may have its own container."""
    return (os.readlink("/proc/self/ns/pid"), os.readlink("/proc/self/ns/ipc")) != ("pid:[4026531836]", "ipc:[4026531839]")


def ports_of_a_run(command, count):
    """Starts a run, and returns the ports on which each rank listens."""
    job = Job(command)
    job.wait_for("trainrt: .* rank.* on 1 node", 60)
    ports = {rank: listens_on(pid) for rank, pid in job.wait_for_ranks(count).items()}
    job.end()
    return ports


@test
def on_one_node_no_rank_listens_on_a_port():
    if MPIEXEC is None:
        skip("mpiexec.mpich is not installed (package mpich)")
    for count, command in ((1, [TRAINRT]), (2, [MPIEXEC, "-n", "2", TRAINRT])):
        config = linear_config(scratch(), "run", LONG)
        ports = ports_of_a_run([*command, "--config", config], count)
        beyond = {rank: [port for port in found if not (in_container() and port.startswith("127.0.0.1:"))] for rank, found in ports.items()}
        equal(beyond, {rank: [] for rank in range(count)}, f"open ports of a run of {count} rank(s)")


@test
def the_test_of_ports_detects_open_ports():
    """With the default transports of UCX each rank listens, so the test above would fail."""
    config = linear_config(scratch(), "run", LONG)
    ports = ports_of_a_run(["env", "UCX_TLS=all", *ranks_command(2, config)], 2)
    check(all(ports.values()), f"no open port was found on a rank: {ports}")


def finishes_with_an_unusable_dev_shm(options, words):
    config = linear_config(scratch(), "run", SHORT)
    job = run([*own_mount("/dev/shm", options), *ranks_command(2, config)])
    check_exit(job, FINISHED)
    for word in (*words, "System V shared memory", "UCX_POSIX_DIR"):
        equal(job.err.count(word), 1, f"lines with {word!r}", job)
    check("UCX  ERROR" not in job.out + job.err, "UCX printed an error", job)
    check_iterations(run_dir_of(config), 2)


add_test("a_run_with_a_dev_shm_of_64_KiB_finishes_with_a_warning", finishes_with_an_unusable_dev_shm, "size=64k", ("/dev/shm has 0.1 MiB free",))
add_test("a_run_with_a_read_only_dev_shm_finishes_with_a_warning", finishes_with_an_unusable_dev_shm, "ro", ("/dev/shm cannot be written: Read-only file system",))


@test
def the_error_of_ucx_tls_that_needs_more_dev_shm_explains_what_to_do():
    config = linear_config(scratch(), "run", SHORT)
    job = run(["env", "UCX_TLS=self,posix", *own_mount("/dev/shm", "size=64k"), *ranks_command(2, config)])
    check(job.code not in (FINISHED, STOPPED), f"exit {job.code}", job)
    check("UCX_TLS=self,posix is set in the environment" in job.err and "--shm-size" in job.err, "the hint is missing", job)


@test
def programs_do_not_inherit_the_variables_that_trainrt_sets_for_mpi():
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"program": "sh -c 'env > " + str(folder) + "/env-$RANK'"}})
    check_exit(run_ranks(2, config), FINISHED)
    for rank in (0, 1):
        lines = [line for line in (folder / f"env-{rank}").read_text().splitlines() if line.startswith("UCX_")]
        equal(lines, [], f"variables of UCX in the program of rank {rank}")


# ---- starts after the first one -----------------------------------------------------------------------------------------------------


@test
def a_start_of_a_finished_run_reports_that_it_has_finished():
    config = linear_config(scratch(), "run", SHORT)
    check_exit(run_ranks(2, config), FINISHED)
    before = {path.name: path.read_bytes() for path in run_dir_of(config).glob("*.*") if path.is_file()}
    again = run_ranks(2, config)
    check_exit(again, FINISHED)
    equal((again.out + again.err).count("has finished already"), 1, "lines with 'has finished already'", again)
    equal({path.name: path.read_bytes() for path in run_dir_of(config).glob("*.*") if path.is_file()}, before, "files of the run")
    equal(len(attempts(run_dir_of(config))), 1, "number of attempts")


@test
def more_epochs_continue_a_finished_run():
    folder = scratch()
    config, whole = linear_config(folder, "run", SHORT), linear_config(folder, "whole", {"epochs": 5})
    check_exit(run_ranks(2, config), FINISHED)
    more = run_ranks(2, config, "--loop.epochs=5")
    check_exit(more, FINISHED)
    check("epochs was '2' and is '5'" in more.err, "the change is not printed", more)
    equal(json.loads((run_dir_of(config) / "run.json").read_text())["changes"],
          [{"attempt": 2, "key": "loop.epochs", "from": "2", "to": "5"}], "changes in run.json")
    check_exit(run_ranks(2, whole), FINISHED)
    check_iterations(run_dir_of(config), 5)
    check_same_bits(run_dir_of(config), run_dir_of(whole))


@test
def a_run_continues_with_other_numbers_of_ranks():
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
    check("saved by 3 ranks and is loaded by 1" in last.err, "the changed number of ranks is not printed", last)
    check_iterations(run_dir_of(config))
    equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [2, 3, 1], "ranks of the attempts")
    check(0 < steps[0] < steps[1] < step_of(run_dir_of(config)), f"steps do not increase: {steps}")
    check_verifies(run_dir_of(config))


@test
def killing_one_rank_ends_all_ranks():
    config = linear_config(scratch(), "run", {"epochs": 100000})
    job = start_ranks(3, config)
    wait_for_reports(run_dir_of(config), 2, job)
    kill([job.ranks()[1]])
    code = job.wait(30)
    check(code not in (FINISHED, STOPPED), f"exit {code} after a rank was killed", job)


main()
