#!/usr/bin/python3
"""Recovery on one node with failure.recovery = live: the time from the kill -9 of a worker to the next completed step, and its cost.

    make bench-recovery ONLY=cpp          default: all parts

cpp      a rank of the train functions linear and fashion_mnist, with 2 and 4 ranks
numpy    a program with a State, and the process of a rank that runs such a program; 2 ranks
ddp      an unchanged script over gloo, 2 ranks; peer: torchrun, from the kill to the next completed step
kills    the time of a run with a kill every 5 s, divided by that of the undisturbed run
cost     a step of 10 ms with copies, divided by the step without copies; states of 400 kB and 64 MB
memory   memory (PSS) of a standby process

A step counts as completed when its copy is sealed, except in the part ddp, where the script writes the time of each step.
"""
import argparse
import re
import shutil
import sys
import time
from pathlib import Path

from bench import BUILD, TRAINRT, Bench, median, need

WORDS = sys.argv[2:]
sys.argv[1:] = [str(BUILD)]  # read by the harness of the tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import harness  # noqa: E402
from runs.fashion import fashion_config  # noqa: E402
from runs.memory_copies import Copies  # noqa: E402
from runs.program_runs import program_config, wait_for_programs  # noqa: E402

PYTHON = "/usr/bin/python3"
FOLDER = Path(__file__).resolve().parent / "programs"
ENDLESS = 1_000_000
LIVE = {"failure": {"recovery": "live", "max_failures": 100000}}
KILLS = 7
SETTLE_S = 1.5  # time between a recovery and the next kill, in which the standby starts


def wait_for(condition, label, job, timeout_s=60, poll_s=0.0005):
    """Waits like harness.wait_until(), but polls every half millisecond."""
    limit = time.monotonic() + timeout_s
    while not condition():
        harness.check(time.monotonic() < limit and not job.ended(), f"waited for {label}", job)
        time.sleep(poll_s)


def seconds_of_kills(job, victim, kills=KILLS):
    """Kills the process that `victim()` returns, `kills` times; returns the seconds from each kill to the next completed step."""
    copies, seconds = Copies(job), []
    wait_for(copies.is_in_use, "the first copy", job)
    for _ in range(kills):
        time.sleep(SETTLE_S)
        pid = victim()
        begin = time.monotonic()
        harness.kill([pid])
        wait_for(lambda: not copies.is_in_use(), "the restart", job)
        wait_for(copies.is_in_use, "the next step", job)
        seconds.append(time.monotonic() - begin)
    job.end()
    return seconds


def start(bench, name, ranks, config, *words, env=None):
    command = [TRAINRT, "-n", ranks, "--config", config, *words]
    bench.note_command(name, [str(word) for word in command])
    return harness.Job(command, env={"OMP_NUM_THREADS": "1", **(env or {})})


def linear(folder, **loop):
    return harness.linear_config(folder, "linear", {"epochs": ENDLESS, "batch_size": 16, "step_pause": 0.01, **loop}, {"samples": 512, "features": 64},
                                 {"every": "off"}, **LIVE)


def fashion(folder):
    return fashion_config(folder, "fashion", {"epochs": 1000}, checkpoint={"every": "off"}, **LIVE)


def cpp(bench):
    for ranks in (2, 4):
        for name, config in (("linear", linear), ("fashion_mnist", fashion)):
            try:
                job = start(bench, name, ranks, config(bench.fresh(name)))
            except harness.Skipped as reason:
                print(f"skipped: {name}: {reason}", flush=True)
                continue
            figures = bench.note({f"{name}_{ranks}_ranks_s": seconds_of_kills(job, lambda: job.wait_for_ranks(ranks)[1])})
            bench.claim(f"{name}_{ranks}_ranks_s", median(figures[f"{name}_{ranks}_ranks_s"]), "<=", 0.1)


def numpy(bench):
    victims = {"numpy_program_s": lambda job: wait_for_programs(job, 2)[1], "numpy_rank_s": lambda job: job.wait_for_ranks(2)[1]}
    for name, victim in victims.items():
        config = program_config(f"{PYTHON} {FOLDER / 'recovery_numpy.py'}", "numpy", folder=bench.fresh("numpy"), checkpoint={"every": "off"}, **LIVE)
        job = start(bench, "numpy", 2, config)
        figures = bench.note({name: seconds_of_kills(job, lambda: victim(job))})
        bench.claim(name, median(figures[name]), "<=", 0.3)


def ddp_s(bench, launcher):
    """Returns the seconds from the kill of the script's rank 1 to the next step of both ranks."""
    out = bench.fresh("ddp")
    command = [*launcher, FOLDER / "recovery_ddp.py", out]
    bench.note_command(f"ddp {Path(str(launcher[0])).name}", [str(word) for word in command])
    job = harness.Job(command, env={"OMP_NUM_THREADS": "1"}, cwd=out)

    def steps_after(begin):
        files = [out / str(rank) for rank in range(2)]
        return all(each.exists() for each in files) and all(float((each.read_text().split("\n")[-2:-1] or ["0"])[0]) > begin for each in files)

    wait_for(lambda: steps_after(0), "the first steps", job, 120, 0.005)
    time.sleep(SETTLE_S)
    (victim,) = [pid for pid in harness.processes_with(job.token) if harness.environment_of(pid).get("RANK") == "1" and
                 "recovery_ddp" in harness.name_of_process(pid)]
    harness.kill([victim])
    begin = time.monotonic()
    wait_for(lambda: steps_after(begin + 0.1), "the next step", job, 120, 0.005)
    took = time.monotonic() - begin
    job.end()
    return took


def ddp(bench):
    try:
        bench.run("torch", [PYTHON, "-c", "import torch.distributed"])
    except SystemExit:
        print("skipped: ddp: torch cannot be imported", flush=True)
        return
    launchers = {"ddp_s": [TRAINRT, "-n", 2, "--failure.recovery=live", "--", PYTHON]}
    if torchrun := shutil.which("torchrun"):
        # Without the last two options, torchrun of torch 1.13 fails with Python 3.11.
        launchers["ddp_torchrun_s"] = [torchrun, "--nproc_per_node=2", "--max_restarts=3", "--redirects=1", "--tee=1"]
    figures = bench.interleaved(5, {name: lambda launcher=launcher: ddp_s(bench, launcher) for name, launcher in launchers.items()})
    bench.claim("ddp_s", median(figures["ddp_s"]), "<=", 1.5)


def kills(bench):
    def run_s(kill_every_s):
        job = start(bench, "kills", 2, linear(bench.fresh("kills"), epochs=140))  # 16 steps per epoch: about 23 s
        begin = next_kill = time.monotonic()
        while not job.ended():
            time.sleep(0.01)
            if kill_every_s and time.monotonic() > next_kill + kill_every_s:
                next_kill += kill_every_s
                harness.kill([job.wait_for_ranks(2)[1]])
        harness.check(job.wait() == harness.FINISHED, "the run did not finish", job)
        return time.monotonic() - begin

    figures = bench.interleaved(3, {"undisturbed_s": lambda: run_s(0), "kill_every_5_s_s": lambda: run_s(5)})
    bench.claim("kill_every_5_s", median(figures["kill_every_5_s_s"]) / median(figures["undisturbed_s"]), "<=", 1.1)


def cost(bench):
    def step_us(recovery, floats):
        config = harness.write_config(bench.fresh("cost") / "cost.ini", {
            "run": {"name": "cost", "storage_path": bench.work / "cost/runs"}, "train": {"library": BUILD / "bench/recovery_loop.so"},
            "loop": {"steps": 600, "step_s": 0.01, "floats": floats}, "checkpoint": {"every": "off"},
            "failure": {"recovery": recovery, "memory": "1 GiB"}})
        job = start(bench, f"cost {recovery}", 2, config)
        harness.check(job.wait() == harness.FINISHED, "the run did not finish", job)
        return float(re.search(r"step_us=([0-9.]+)", job.out)[1])

    for name, floats in (("400_kB", 100_000), ("64_MB", 16_000_000)):
        figures = bench.interleaved(5, {f"{recovery}_{name}_step_us": lambda recovery=recovery: step_us(recovery, floats) for recovery in ("restart", "live")})
        with_copies, without = (median(figures[f"{recovery}_{name}_step_us"]) for recovery in ("live", "restart"))
        print(f"# copies of {name}: {with_copies - without:.0f} us per step", flush=True)
        bench.claim(f"step_with_copies_of_{name}", with_copies / without, "<=", 1.02)


def memory(bench):
    job = start(bench, "memory", 2, linear(bench.fresh("memory")))
    wait_for(Copies(job).is_in_use, "the first copy", job)
    time.sleep(SETTLE_S)
    waiting = [pid for pid in harness.processes_with(job.token) if harness.is_standby(pid)]
    harness.check(len(waiting) == 2, f"{len(waiting)} processes wait", job)
    figures = bench.note({"standby_pss_mb": [int(re.search(r"^Pss: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1]) * 1024 / 1e6
                                             for pid in waiting]})
    bench.claim("standby_pss_mb", median(figures["standby_pss_mb"]), "<=", 30)
    job.end()


def main():
    parts = {"cpp": cpp, "numpy": numpy, "ddp": ddp, "kills": kills, "cost": cost, "memory": memory}
    arguments = argparse.ArgumentParser(prog="bench_recovery.py BUILD")
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    chosen = arguments.parse_args(WORDS).parts
    if unknown := set(chosen) - set(parts):
        arguments.error(f"unknown part {', '.join(sorted(unknown))}; valid parts: {', '.join(parts)}")
    need(TRAINRT, "trainrt")
    bench = Bench("recovery", __doc__.strip())
    try:
        for name, measure in parts.items():
            if name in chosen or not chosen:
                measure(bench)
    except harness.Failure as failure:
        sys.exit(f"recovery: {failure}")
    bench.finish()


main()
