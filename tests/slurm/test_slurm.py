#!/usr/bin/python3
"""Tests on a real Slurm of three nodes: launches in different layouts, ranks that exit before they connect, and runs that Slurm requeues,
preempts and kills. They end with the same bits as an uninterrupted run in any layout of the ranks on the nodes."""
import json
import os
import signal
import sys
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from runs.fashion import fashion_config  # noqa: E402
from harness import *  # noqa: E402,F403
from runs.own_mpi import build_heat, build_own_trainer, install_library  # noqa: E402
from tools.sockets import listens_on  # noqa: E402

CLUSTER = Cluster("e2e")
UNEVEN = ["-n6", "-m", "arbitrary", "-w", "n1,n1,n1,n2,n2,n3"]  # 3+2+1; Slurm 24.11 rejects -N beside `arbitrary`
EVEN = ["-N3", "-n6", "--ntasks-per-node=2"]  # 2+2+2
ALLOCATION = ["-N3", "-n6", "-c1"]  # allocation of a batch job for a step in one of these layouts
IN_STEP = {"3+2+1": "-n6 -m arbitrary -w n1,n1,n1,n2,n2,n3", "2+2+2": "-n6 -N3 --ntasks-per-node=2"}
DATA = {"samples": 384, "features": 200}


def long_loop(ranks, **more):
    """Returns [loop] of a run that is long enough to be stopped, with fewer epochs if there are more ranks than cores."""
    epochs = {2: 150, 6: 24}[ranks]
    return {"epochs": epochs, "batch_size": 16, "dropout": 0.1, "optimizer": "adamw", "lr": 0.005, **more}


# ---- launches -------------------------------------------------------------------------------------------------------------


def launch(arguments, ranks, layout):
    config = linear_config(scratch(), "run", {"epochs": 2, "batch_size": 32}, DATA)
    job = CLUSTER.run_srun(arguments, config)
    check_exit(job, FINISHED)
    ranks_text = f"{ranks} rank{'s' if ranks > 1 else ''} on {len(layout)} node{'s' if len(layout) > 1 else ''}"
    equal(job.err.count(f"trainrt: {ranks_text} "), 1, f"lines with '{ranks_text}'", job)
    equal(job.err.count("trainrt: finished"), 1, "lines with 'trainrt: finished'", job)
    record = attempts(run_dir_of(config))
    equal([attempt["ranks"] for attempt in record], [ranks], "ranks of the attempts")
    equal(record[0]["nodes"], [f"n{number}" for number in layout], "nodes of the attempt")
    check_iterations(run_dir_of(config), 2)
    check_verifies(run_dir_of(config))


for shape, arguments, ranks, nodes in (("1x1", ["-N1", "-n1", "-wn1"], 1, (1,)), ("1x2", ["-N1", "-n2", "-wn1"], 2, (1,)),
                                       ("2x1", ["-N2", "-n2", "-wn1,n2"], 2, (1, 2)), ("3x2", EVEN, 6, (1, 2, 3)),
                                       ("3+2+1", UNEVEN, 6, (1, 2, 3))):
    add_test(f"srun_{shape}_forms_one_run", launch, arguments, ranks, nodes)


@test
def srun_with_pmi2_forms_one_run():
    launch(["--mpi=pmi2", "-N2", "-n3"], 3, (1, 2))


@test
def srun_without_mpi_is_refused_within_30_s():
    config = linear_config(scratch(), "run", {"epochs": 2})
    start = time.monotonic()
    job = CLUSTER.run_srun(["--mpi=none", "-N2", "-n2"], config, timeout=40)
    check(time.monotonic() - start < 30, "the step took longer than 30 s", job)
    check_exit(job, USAGE)
    equal(job.err.count("error: SLURM_STEP_NUM_TASKS=2 requests 2 ranks"), 1, "number of messages", job)
    check("srun --mpi=pmix" in job.err, "the hint is missing", job)
    check(not run_dir_of(config).exists(), "a run directory was left")


def dead_rank(rank, arguments, ranks):
    """Lets `rank` exit before PMIx_Init; checks that all ranks exit, and that the error names the rank."""
    config = linear_config(scratch(), "run", {"epochs": 2})
    script = scratch() / "rank.sh"
    script.write_text(f'#!/bin/sh\n[ "$SLURM_PROCID" = {rank} ] && {{ sleep 0.5; exit 3; }}\nexec "$@"\n')
    script.chmod(0o755)
    start = time.monotonic()
    job = Job(["srun", "--kill-on-bad-exit=0", *arguments, script, TRAINRT, "--config", config, "--failure.launch_timeout=8"], env=CLUSTER.env)
    code = job.wait(60)
    took = time.monotonic() - start
    check(took < 30, f"the step took {took:.0f} s instead of at most 30 s", job)
    check(code not in (FINISHED, STOPPED), f"exit {code}", job)
    check(re.search(rf"rank {rank} of {ranks}", job.err), f"rank {rank}, which exited, is not named", job)
    check(not job.ranks(), "ranks are still running", job)
    check(not run_dir_of(config).exists(), "a run directory was left", job)
    check(not list(run_dir_of(config).parent.parent.glob(".trainrt*")), "files of the roll call were left", job)


add_test("a_rank_that_exits_before_PMIx_Init_is_named_and_all_ranks_exit", dead_rank, 1, ["-N2", "-n4"], 4)
add_test("the_only_rank_of_a_node_that_exits_before_PMIx_Init_is_named_and_all_ranks_exit", dead_rank, 5, UNEVEN, 6)


@test
def killing_one_rank_ends_the_step():
    config = linear_config(scratch(), "run", {"epochs": 100000})
    job = CLUSTER.srun(["--kill-on-bad-exit=0", "-N2", "-n4"], config)
    wait_for_reports(run_dir_of(config), 1, job)
    kill([job.ranks()[1]])
    code = job.wait(30)
    check(code not in (FINISHED, STOPPED), f"exit {code}", job)


# ---- ports ----------------------------------------------------------------------------------------------------------------


def ports(arguments, count, env=None):
    """Starts a step; returns the ports on which each rank listens."""
    config = linear_config(scratch(), "run", {"epochs": 100000, "step_pause": 0.01})
    job = CLUSTER.srun(arguments, config, env=env)
    job.wait_for(f"trainrt: {count} ranks on ", 60)
    found = {rank: listens_on(pid) for rank, pid in job.wait_for_ranks(count).items()}
    job.end()
    return found


@test
def ranks_listen_on_ports_only_between_nodes_and_on_the_interface_in_UCX_NET_DEVICES():
    if (os.readlink("/proc/self/ns/pid"), os.readlink("/proc/self/ns/ipc")) == ("pid:[4026531836]", "ipc:[4026531839]"):
        for arguments in (["-N1", "-n2"], ["--mpi=pmi2", "-N1", "-n2"]):
            equal(ports(arguments, 2), {0: [], 1: []}, f"ports on one node, {arguments}")
    for arguments in (["-N2", "-n2"], ["--mpi=pmi2", "-N2", "-n2"]):
        found = ports(arguments, 2, {"UCX_NET_DEVICES": "lo"})
        check(all(len(own) == 1 and own[0].startswith("127.0.0.1:") for own in found.values()), f"with UCX_NET_DEVICES=lo the ranks listen on {found}, {arguments}")


# ---- programs with their own MPI_Init ---------------------------------------------------------------------------------------

_heat = None


def heat(launcher, directory, steps, *more, env=None, timeout=60):
    global _heat
    _heat = _heat or build_heat(install_library())
    job = run([*launcher, _heat, directory, steps, "node", *more], env={**CLUSTER.env, **(env or {})}, timeout=timeout, trainrt=str(_heat))
    check(not job.ranks(), "ranks are still running", job)
    return job


@test
def a_program_with_its_own_MPI_Init_finds_its_ranks_under_every_launcher():
    directory = scratch() / "heat"
    launchers = ((["srun", "--mpi=pmix", "-N3", "-n3"], 3), (["srun", "--mpi=pmix", "-N1", "-n2"], 2), (["srun", "--mpi=pmi2", "-N2", "-n3"], 3), ([MPIEXEC, "-n", 2], 2), ([], 1))
    before = None
    for number, (launcher, ranks) in enumerate(launchers, 1):
        job = heat(launcher, directory, 10 * number)
        equal(job.code, 0, f"exit code of {launcher}", job)
        equal(job.out.count(f"step {10 * number} in "), 1, "lines about the last step", job)
        if before is not None:
            equal(job.out.count(f"restored step {10 * (number - 1)} of {before} ranks"), 1, "lines about the restored step", job)
        before = ranks


@test
def a_program_whose_MPI_finds_no_other_ranks_fails_with_a_hint_and_saves_nothing():
    directory = scratch() / "heat"
    for launcher, env, advice in ((["srun", "--mpi=pmix", "-N2", "-n3"], {"HEAT_UNPREPARED": 1}, "call trainrt::prepare_mpi() before MPI_Init"),
                                  (["srun", "--mpi=none", "-N2", "-n3"], {}, "srun --mpi=pmi2")):
        job = heat(launcher, directory, 10, env=env)
        equal(job.code, 1, f"exit code of {launcher}", job)
        check("SLURM_STEP_NUM_TASKS=3 requests 3 ranks, but MPI_COMM_WORLD has only 1 rank" in job.err and advice in job.err, "the error or the hint is missing", job)
        check(not directory.exists(), "a checkpoint was saved", job)


@test
def MPI_Abort_of_a_program_ends_its_step_with_its_code():
    start = time.monotonic()
    job = heat(["srun", "--mpi=pmix", "--kill-on-bad-exit=0", "-N2", "-n3"], scratch() / "heat", 100000, 5, 2)
    equal(job.code, 9, "exit code of srun", job)
    check(time.monotonic() - start < 30, "the step took longer than 30 s", job)


@test
def fit_of_a_program_finds_its_ranks_under_every_launcher():
    program = build_own_trainer(install_library(), SOURCE / "tests/support/programs/fits.cpp", "fits")
    launchers = ((["srun", "--mpi=pmix", "-N3", "-n3"], 3), (["srun", "--mpi=pmi2", "-N2", "-n3"], 3), ([MPIEXEC, "-n", 2], 2), ([], 1))
    for launcher, ranks in launchers:
        folder = scratch()
        job = run([*launcher, program, folder, "one", "then=two", f"workers={ranks}"], env=CLUSTER.env, trainrt=str(program))
        equal(job.code, 0, f"exit code of {launcher}", job)
        for name in ("one", "two"):
            equal(job.out.count(f"{name}: finished, 10 reports"), ranks, f"results of {name} under {launcher}", job)
        check(not job.ranks(), "ranks are still running", job)


# ---- doctor ----------------------------------------------------------------------------------------------------------------


@test
def doctor_measures_the_network_between_the_nodes_of_a_step():
    folder = scratch()
    job = run(["srun", "-N2", "-n2", TRAINRT, "doctor", "--json", "--storage", folder], env=CLUSTER.env)
    check_exit(job, FINISHED)
    report = json.loads(job.out)
    equal((report["ranks"], report["nodes"]), (2, 2), "ranks and nodes", job)
    found = {each["name"]: each for each in report["checks"]}
    equal(found["launcher"]["figures"]["launcher"], "pmix", "launcher", job)
    equal([node["ranks"] for node in found["ranks"]["figures"]["nodes"]], [1, 1], "ranks of the nodes", job)
    between = found["all_reduce_between_nodes"]["figures"]
    equal(between["nodes"], 2, "number of measured nodes", job)
    check(between["bytes_per_second"] > 1e6 and 1e-7 < between["latency_seconds"] < 1, f"unlikely: {between}", job)
    equal(len(found["storage_rate"]["figures"]["nodes"]), 2, "nodes that wrote", job)
    check("Slurm job" in found["job"]["text"], f"the job is not recognized: {found['job']}", job)
    equal(os.listdir(folder), [], "remaining files", job)


@test
def doctor_without_mpi_prints_the_command_to_use():
    job = run(["srun", "--mpi=none", "-N2", "-n2", TRAINRT, "doctor"], env=CLUSTER.env, timeout=40)
    check_exit(job, FAILED)
    check(re.search("error +launcher .*srun --mpi=pmix", job.out), "the hint is missing", job)
    equal(len(re.findall(r"^error +(?!container|\s)", job.out, re.M)), 1, "number of findings", job)  # in a container, another error names the container


# ---- signals and exit codes of a step --------------------------------------------------------------------------------------


@test
def a_signal_to_a_step_stops_all_its_ranks_with_75():
    config = linear_config(scratch(), "run", {"epochs": 100000})
    for number, name in enumerate(("USR1", "TERM", "USR2", "INT")):
        job = CLUSTER.srun(["--kill-on-bad-exit=0", "-N2", "-n2"], config)
        wait_for_reports(run_dir_of(config), report_count(run_dir_of(config)) + 2, job)
        kill([job.ranks()[number % 2]], getattr(signal, f"SIG{name}"))
        job.code = job.wait(30)
        check_exit(job, STOPPED)
    check_iterations(run_dir_of(config))
    check_no_debris(run_dir_of(config), keep=2)


# ---- bits ------------------------------------------------------------------------------------------------------------------

_references = {}


def reference(ranks, every="2 reports"):
    """Returns the directory of an uninterrupted run of `ranks` ranks in one layout."""
    if ranks not in _references:
        config = linear_config(scratch(), "whole", long_loop(ranks), DATA, {"every": every})
        job = CLUSTER.run_srun(UNEVEN if ranks == 6 else ["-N2", "-n2"], config, timeout=120)
        check_exit(job, FINISHED)
        _references[ranks] = run_dir_of(config)
    return _references[ranks]


@test
def different_layouts_of_the_same_number_of_ranks_give_the_same_bits():
    for ranks, layouts in ((2, (["-N1", "-n2"],)), (6, (EVEN,))):
        for number, arguments in enumerate(layouts):
            config = linear_config(scratch(), f"other{number}", long_loop(ranks), DATA, {"every": "2 reports"})
            check_exit(CLUSTER.run_srun(arguments, config, timeout=120), FINISHED)
            check_same_bits(run_dir_of(config), reference(ranks))


@test
def mpiexec_and_srun_give_the_same_bits():
    config = linear_config(scratch(), "run", long_loop(2), DATA, {"every": "2 reports"})
    check_exit(run_ranks(2, config), FINISHED)
    check_same_bits(run_dir_of(config), reference(2))


# ---- requeue -----------------------------------------------------------------------------------------------------------------


def steps_run(run_dir):
    """Returns the number of steps in the records of all attempts, and the first step of each attempt."""
    records = attempts(run_dir)
    return sum(record["last_step"] - record["first_step"] for record in records), [record["first_step"] for record in records]


def check_ended_like(run_dir, whole, job):
    check_iterations(run_dir)
    check_same_bits(run_dir, whole)
    check_verifies(run_dir)
    check_no_debris(run_dir, keep=2)
    equal(job.text.count("trainrt: finished"), 1, "lines with 'trainrt: finished' in the output of the job", job)


def running(job, run_dir, more=2):
    """Waits until the run has made `more` more reports."""
    count = report_count(run_dir)
    wait_until(lambda: report_count(run_dir) >= count + more, 60, f"{more} more reports", job)


def check_continued(job, times):
    """Checks that the run continued `times` times, each time from a step > 0; returns these steps."""
    steps = [int(step) for step in re.findall(r"continuing from \S+ \(step (\d+),", job.text)]
    check(len(steps) == times and min(steps, default=0) > 0, f"expected {times} restarts from a step > 0: {steps}", job)
    check("Run the same command" not in job.text, "the ranks give advice about a job that is requeued", job)
    return steps


def end(job):
    state = job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", timeout=150)
    check(state == "COMPLETED", f"the job ended as {state}", job)


@test
def sigusr1_stops_the_tasks_and_the_script_requeues_the_job_twice():
    """Slurm sends this signal with --signal=USR1@120. No work is lost."""
    config = linear_config(scratch(), "run", long_loop(2), DATA, {"every": "2 reports"})
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], config)
    for restart in (1, 2):
        running(job, run_dir)
        CLUSTER.call("scancel", "--signal=USR1", f"{job.id}.{0}")
        job.wait_for_restart(restart)
    end(job)
    check_ended_like(run_dir, reference(2), job)
    steps = check_continued(job, 2)
    check(steps[1] > steps[0], f"the second attempt made no step: {steps}", job)
    equal(job.text.count("trainrt: stopped by SIGUSR1"), 2, "lines that name the signal", job)
    equal(job.text.count("stopped by SIGUSR1 (exit 75): requeueing"), 2, "lines of supervise about the requeue", job)
    total, firsts = steps_run(run_dir)
    whole, _ = steps_run(reference(2))
    equal(total, whole, f"steps of all attempts, which began at {firsts}", job)


@test
def a_run_stops_before_the_time_limit_without_a_signal():
    """The limit is one minute, and the run stops 45 s before its end."""
    config = linear_config(scratch(), "run", long_loop(2, step_pause=0.012), DATA, {"every": "2 reports"}, failure={"stop_before_end": "45 s"})
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1", "--time=1"], config)
    running(job, run_dir)
    job.wait_for_restart(1, timeout=60)
    end(job)
    first = attempts(run_dir)[0]
    equal(first["why"], "stopped by the end of the job's time", "reason of the first attempt", job)
    known = datetime.strptime(first["job_end"], "%Y-%m-%dT%H:%M:%SZ") - datetime.strptime(first["start"], "%Y-%m-%dT%H:%M:%SZ")
    check(50 <= known.total_seconds() <= 62, f"the recorded end is not a minute after the start of the attempt: {first}", job)
    check(first["expected"] > first["iteration"], f"the expected number of iterations is missing: {first}", job)
    check_ended_like(run_dir, reference(2), job)
    check_continued(job, len(attempts(run_dir)) - 1)  # on a slow machine, the second minute may not suffice either
    total, firsts = steps_run(run_dir)
    equal(total, steps_run(reference(2))[0], f"steps of all attempts, which began at {firsts}", job)


def requeued_by_hand(layouts):
    """Requeues a run of 6 ranks by scontrol, each time with another layout."""
    config = linear_config(scratch(), "run", long_loop(6), DATA, {"every": "2 reports"})
    run_dir = run_dir_of(config)
    layout_file = scratch() / "layout"
    wrapper = scratch() / "srun"  # a wrapper of srun that reads the layout of each start
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("srun")} $(cat {layout_file}) "$@"\n')
    wrapper.chmod(0o755)
    layout_file.write_text(IN_STEP[layouts[0]])
    job = CLUSTER.sbatch([*ALLOCATION, f"--export=ALL,PATH={wrapper.parent}:{os.environ['PATH']}"], config)
    for restart, layout in enumerate(layouts[1:], 1):
        running(job, run_dir)
        layout_file.write_text(IN_STEP[layout])
        CLUSTER.call("scontrol", "requeue", job.id)
        job.wait_for_restart(restart)
    end(job)
    check_ended_like(run_dir, reference(6), job)
    steps = check_continued(job, len(layouts) - 1)
    total, firsts = steps_run(run_dir)
    whole, _ = steps_run(reference(6))
    interval = 2 * 4  # two reports of an epoch of 4 steps
    repeated = sum(interval for _ in layouts[1:])
    check(total <= whole + repeated, f"{total} steps were run instead of {whole}; a requeue may repeat {interval}", job)
    check(max(steps) <= whole, f"steps {steps} of {whole}")


add_test("requeued_by_hand_from_3+2+1_to_2+2+2_and_back_leaves_the_same_bits", requeued_by_hand, ("3+2+1", "2+2+2", "3+2+1"))


@test
def kill_9_of_all_ranks_loses_at_most_one_interval_and_the_save_in_progress():
    config = linear_config(scratch(), "run", long_loop(2), DATA, {"every": "2 reports"})
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], config)
    running(job, run_dir, more=6)  # so that there are at least 2 checkpoints
    reported = report_count(run_dir)
    kill(job.ranks().values())
    end(job)
    equal(job.restarts(), 0, "requeues", job)
    check_ended_like(run_dir, reference(2), job)
    step, = check_continued(job, 1)
    epoch = 12  # steps with 2 ranks
    # The newest due checkpoint may be incomplete at the requeue. Its save began after the previous one, 2 reports older, was committed.
    check(step >= (reported - 4) * epoch, f"continued from step {step}, although report {reported} (step {reported * epoch}) had been made", job)
    first, second = attempts(run_dir)
    check(re.fullmatch(r"killed: rank \d on n\d by SIGKILL \(srun exit 137\)", first["why"]), f"another reason of the first attempt: {first['why']}")
    # The last heartbeat may be slightly older than the last commit.
    check(0 < first["saved_step"] <= second["first_step"] == step and first["last_step"] >= first["saved_step"], f"inconsistent steps: {first}, {second}")


@test
def a_preempted_job_saves_stops_and_is_requeued():
    # Slurm needs a second or two to preempt a job; the run must not end before.
    config = linear_config(scratch(), "run", long_loop(2, step_pause=0.005), DATA, {"every": "2 reports"})
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], config)
    running(job, run_dir)
    other = run(["sbatch", "--parsable", "-p", "high", "--exclusive", "-N3", "--output=/dev/null", "--wrap", "sleep 2"], env=CLUSTER.env,
                submits=True)
    equal(other.code, 0, "exit of sbatch", other)
    job.wait_for_restart(1, timeout=90)
    end(job)
    # Checks the record instead of the output: srun also gets SIGTERM, and may exit before it has printed the last line of the ranks.
    equal(attempts(run_dir)[0]["why"], "stopped by SIGTERM (preemption)", "reason of the first attempt", job)
    check_ended_like(run_dir, reference(2), job)
    check_continued(job, 1)
    total, firsts = steps_run(run_dir)
    equal(total, steps_run(reference(2))[0], f"steps of all attempts, which began at {firsts}", job)


@test
def a_cancelled_job_is_not_requeued():
    config = linear_config(scratch(), "run", {"epochs": 100000}, DATA, {"every": "50 reports"})
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], config)
    running(job, run_dir)
    job.cancel()
    wait_until(lambda: not job.ranks() and job.state() not in ("RUNNING", "COMPLETING"), 40, "the job to end", job)
    time.sleep(3)
    equal(job.state(), "CANCELLED", "state of the job", job)
    equal(job.restarts(), 0, "number of restarts", job)
    equal(attempts(run_dir)[-1]["why"], "stopped by SIGTERM (cancelled)", "reason of the attempt", job)
    equal(run_state(run_dir), "stopped", "state of the run", job)
    check_iterations(run_dir)


@test
def a_second_job_on_the_same_run_is_refused_while_the_first_runs():
    config = linear_config(scratch(), "run", {"epochs": 100000}, DATA)
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], config)
    running(job, run_dir)
    second = CLUSTER.run_srun(["-N1", "-n2"], config, timeout=60)
    check_exit(second, USAGE)
    check(f"job {job.id}" in second.err, "the job that owns the run is not named", second)
    running(job, run_dir)
    equal(len(attempts(run_dir)), 1, "number of attempts")
    job.cancel()
    wait_until(lambda: not job.ranks(), 40, "the job to end", job)


# ---- a long run of fashion_mnist -------------------------------------------------------------------------------------------


@test
def a_requeued_fashion_mnist_on_3_2_1_ranks_has_the_same_bits_as_an_uninterrupted_one_on_2_2_2():
    folder = scratch()
    whole, config = fashion_config(folder, "whole"), fashion_config(folder, "run")
    one = {"OMP_NUM_THREADS": 1}
    reference_job = CLUSTER.run_srun(EVEN, whole, timeout=150, env=one)
    check_exit(reference_job, FINISHED)
    run_dir = run_dir_of(config)
    job = CLUSTER.sbatch(ALLOCATION, config, srun_args=IN_STEP["3+2+1"])
    running(job, run_dir, more=1)
    CLUSTER.call("scancel", "--signal=USR1", f"{job.id}.0")
    job.wait_for_restart(1)
    end(job)
    check_ended_like(run_dir, run_dir_of(whole), job)
    check_continued(job, 1)
    accuracy = reports(run_dir)[-1]["test_accuracy"]
    check(accuracy > 0.3, f"the model does not learn: test accuracy {accuracy}")


main(setup=CLUSTER.up, teardown=CLUSTER.down)
