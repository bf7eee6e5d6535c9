#!/usr/bin/python3
"""Shells that are Slurm job steps (`srun --pty bash`, salloc with use_interactive_step), and the standard input of programs started by srun,
on a real Slurm of two nodes."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from tools.notebooks import *  # noqa: E402,F403

CLUSTER = Cluster("shells")
IN_TERMINAL = [PYTHON, "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"]
SHELLS = {"srun": ["srun", "-N2", "-n2", "--pty"],
          "one_task": ["srun", "-N1", "-n1", "--pty"],
          "part_of_salloc": ["salloc", "-N2", "-n2", "srun", "-n1", "--pty"],
          "salloc": ["salloc", "-N2", "-n2", "srun", "--interactive", "--preserve-env", "--pty"]}  # like use_interactive_step starts a shell


def in_shell(kind, *command, env=None, timeout=90):
    """Runs a command in an interactive bash; returns the job, with the exit code of the command."""
    commands = scratch("shell") / "commands"
    words = " ".join(shlex.quote(str(word)) for word in command)
    commands.write_text(f"[ $SLURM_PROCID = 0 ] || exit 0 # other tasks have no terminal, and run no command\n{words}\nexit $?\n")
    job = Job([*IN_TERMINAL, *SHELLS[kind], "bash", "--rcfile", commands, "-i"], env={**CLUSTER.env, **(env or {})})
    job.code = job.wait(timeout)
    return job


def ranks_run_on_this_node(kind):
    config = linear_config(scratch(), "run")
    job = in_shell(kind, TRAINRT, "-n", 2, "--config", config)
    check_exit(job, FINISHED)
    check("2 ranks on 1 node" in job.out, "the run does not have 2 ranks on 1 node", job)
    check("this run uses" not in job.out, "a warning about unused tasks is printed", job)


def supervise_uses_all_tasks(kind):
    config = linear_config(scratch(), "run")
    job = in_shell(kind, TRAINRT, "supervise", "--config", config)
    check_exit(job, FINISHED)
    check("2 ranks on 2 nodes" in job.out, "the run does not have 2 ranks on 2 nodes", job)


def a_start_without_a_number_names_the_command_for_all_tasks(kind):
    config = linear_config(scratch(), "run")
    job = in_shell(kind, TRAINRT, "--config", config)
    check_exit(job, FINISHED)
    check(re.search(rf"this run uses 1 rank, but job \d+ has 2 tasks\. To use all of them: trainrt supervise --config {config}", job.out), "the warning is missing", job)
    equal([attempt["ranks"] for attempt in attempts(run_dir_of(config))], [1], "ranks", job)


def fit_starts_its_ranks(kind, nodes):
    script = Script(FIT)
    job = in_shell(kind, PYTHON, script.path, env=script.env())
    check_exit(job, FINISHED)
    check(f"2 ranks on {nodes} node" in job.out, "the run has another number of ranks or nodes", job)


def a_sweep_uses_all_tasks(kind):
    config = linear_config(scratch(), "sweep", tune={"metric": "loss", "mode": "min", "num_samples": 2}, **{"tune.space": {"lr": "loguniform(1e-4, 0.3)"}})
    job = in_shell(kind, TRAINRT, "tune", "--config", config)
    check_exit(job, FINISHED)
    check("2 at the same time" in job.out, "the sweep does not run 2 trials at the same time", job)


for kind in ("srun", "part_of_salloc", "salloc"):
    add_test(f"supervise_in_a_shell_uses_all_tasks_of_the_job_{kind}", supervise_uses_all_tasks, kind)
    add_test(f"a_start_in_a_shell_with_unused_tasks_names_the_command_for_all_tasks_{kind}", a_start_without_a_number_names_the_command_for_all_tasks, kind)
for kind, nodes in (("srun", 2), ("one_task", 1), ("salloc", 2)):
    add_test(f"local_ranks_start_in_a_shell_{kind}", ranks_run_on_this_node, kind)
    add_test(f"fit_in_a_shell_starts_its_ranks_{kind}", fit_starts_its_ranks, kind, nodes)
add_test("a_sweep_in_a_shell_uses_all_tasks_of_the_job", a_sweep_uses_all_tasks, "srun")


@test
def srun_with_a_terminal_starts_all_ranks():
    config = linear_config(scratch(), "run")
    job = Job([*IN_TERMINAL, "srun", "-N2", "-n2", "--pty", TRAINRT, "--config", config], env=CLUSTER.env)
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    check("2 ranks on 2 nodes" in job.out and "this run uses" not in job.out, "the run does not have 2 ranks on 2 nodes", job)


def with_input(text, *command):
    """Runs a command with `text` as its standard input, through a pipe."""
    path = scratch("input") / "text"
    path.write_text(text)
    job = Job(["sh", "-c", 'input=$1; shift; cat "$input" | "$@"', "sh", path, *command], env=CLUSTER.env, cwd=scratch())
    job.code = job.wait(60)
    return job


@test
def rank_0_of_a_step_gets_large_standard_input():
    """The input is larger than the buffers of srun and slurmstepd."""
    text = "x" * 4000000
    job = with_input(text, "srun", "-N2", "-n2", TRAINRT, "--run.output=all", "--", "sh", "-c", 'echo "rank $RANK has $(wc -c)"')
    check_exit(job, FINISHED)
    check(f"rank 0 has {len(text)}" in job.out and "rank 1 has 0" in job.out, "the ranks got other input", job)


@test
def all_ranks_of_a_step_run_a_script_from_standard_input():
    job = with_input("import os\nprint('rank', os.environ['RANK'])\n", "srun", "-N2", "-n2", TRAINRT, "--run.output=all", "--", PYTHON, "-")
    check_exit(job, FINISHED)
    check("rank 0" in job.out and "rank 1" in job.out, "a rank did not run the script", job)


@test
def supervise_passes_its_input_to_the_program_also_after_a_restart():
    text = "import os, sys\nif not os.path.exists('again'):\n    open('again', 'w')\n    os.kill(os.getppid(), 9)\nprint('rank', os.environ['RANK'])\n"
    for command in ([PYTHON, "-"], ["sh", "-c", 'cat > "script.$RANK.py"; cd . && exec ' + PYTHON + ' "script.$RANK.py"']):
        job = with_input(text, "salloc", "-N1", "-n1", TRAINRT, "supervise", "--", *command)
        check_exit(job, FINISHED)
        check("restart 1 of" in job.err and "rank 0" in job.out, "there was no restart, or the program got no input", job)


main(setup=lambda: CLUSTER.up(2), teardown=CLUSTER.down)
