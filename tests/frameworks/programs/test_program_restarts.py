#!/usr/bin/python3
"""A program that fails ends the programs of the other ranks, and the ranks restart all of them at once, from a clean state."""
import json
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import *  # noqa: E402,F403
from runs.training import *  # noqa: E402,F403

# Trains as plain_ddp.py does, and saves after each step. argv[2] is the step at which it waits for a signal, at its first start.
SAVING_DDP = """import json, os, sys, time
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
out, pause_at = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo")
rank, starts = dist.get_rank(), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
torch.manual_seed(1)
model = DistributedDataParallel(torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
done = 0
if os.path.exists(f"{out}/saved.pt"):
    saved = torch.load(f"{out}/saved.pt")
    done = saved["done"]
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
with open(f"{out}/start-{rank}-{starts}.json", "w") as file:
    json.dump({"at": time.time(), "done": done, "port": os.environ["MASTER_PORT"], "most": os.environ["TORCHELASTIC_MAX_RESTARTS"]}, file)
for step in range(done, 20):
    if step == pause_at and starts == 0:
        open(f"{out}/paused-{rank}", "w").close()
        while rank == 1:
            time.sleep(0.01)
    inputs = torch.randn(16, 8, generator=torch.Generator().manual_seed(1000 * step + rank))
    optimizer.zero_grad()
    model(inputs).square().mean().backward()
    optimizer.step()
    if rank == 0:
        torch.save({"done": step + 1, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, f"{out}/saving.pt")
        os.replace(f"{out}/saving.pt", f"{out}/saved.pt")
    dist.barrier()
with open(f"{out}/end-{rank}.json", "w") as file:
    json.dump(model.module.weight.tolist(), file)
"""


def programs_of(job):
    """Returns the process ids of the programs by rank."""
    ranks = set(job.ranks().values())
    return {int(environment_of(pid)["RANK"]): pid for pid in processes_with(job.token) if parent_of(pid) in ranks and is_program(pid)}


def is_program(pid):
    return b"saving_ddp.py" in Path(f"/proc/{pid}/cmdline").read_bytes()


def environment_of(pid):
    return dict(entry.split("=", 1) for entry in Path(f"/proc/{pid}/environ").read_text().split("\0") if "=" in entry)


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def saving_ddp(pause_at, **sections):
    return plain_config(f"{PYTHON} {program_file(SAVING_DDP, 'saving_ddp.py')} {{out}} {pause_at}", **sections)


def starts_of(out, ranks):
    return [[json.loads((out / f"start-{rank}-{number}.json").read_text()) for rank in range(ranks)]
            for number in range(len(list(out.glob("start-0-*.json"))))]


def weights_of(out, ranks, job):
    weights = [json.loads((out / f"end-{rank}.json").read_text()) for rank in range(ranks)]
    equal(weights, weights[:1] * ranks, "weights of the ranks", job)
    return weights[0]


@test
def after_a_kill_all_programs_restart_and_end_with_the_same_weights():
    require_torch()
    config, undisturbed = saving_ddp(-1)
    whole = run_ranks(2, config, timeout=120)
    check_exit(whole, FINISHED)
    config, out = saving_ddp(7)
    job = start_ranks(2, config)  # with 3 ranks, gloo sums in another order in the first step after a start
    wait_until(lambda: (out / "paused-1").exists() or job.ended(), 90, "the programs", job)
    before = programs_of(job)
    ranks = job.ranks()
    equal(sorted(before), [0, 1], "programs", job)
    kill([before[1]])
    killed_at = time.time()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in before.values()), 20, "the end of all programs", job)
    ended_s = time.time() - killed_at
    wait_until(lambda: len(programs_of(job)) == 2, 20, "new programs", job)
    equal(job.ranks(), ranks, "the same rank processes", job)
    job.code = job.wait(120)
    check_exit(job, FINISHED)
    check(ended_s < 5, f"the other programs ended {ended_s:.1f} s after the kill", job)
    first, second = starts_of(out, 2)
    check(second[0]["done"] >= 7 and {each["done"] for each in second} == {second[0]["done"]}, f"first steps: {second}", job)
    check(first[0]["port"] != second[0]["port"], "the port of the rendezvous was reused", job)
    equal({each["most"] for each in first}, {"3"}, "TORCHELASTIC_MAX_RESTARTS", job)
    equal(weights_of(out, 2, job), weights_of(undisturbed, 2, whole), "weights", job)
    equal([record["exit_code"] for record in attempts(run_dir_of(config))], [FAILED, 0], "attempts", job)
    check("rank 1" in attempts(run_dir_of(config))[0]["why"] and "SIGKILL" in attempts(run_dir_of(config))[0]["why"], "the cause", job)
    check("restart 1 of 3 (failure.max_failures)" in job.err, "the restart is not logged", job)


@test
def programs_that_ignore_signals_are_ended_after_a_failure():
    """Programs of JAX do so: they would wait for the failed program for ever."""
    folder = scratch()
    text = ("import os, signal, sys, time\nfor number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):\n    signal.signal(number, signal.SIG_IGN)\n"
            f"if os.environ['TORCHELASTIC_RESTART_COUNT'] == '1':\n    sys.exit()\nopen('{folder}/' + os.environ['RANK'], 'w').close()\n"
            f"while os.environ['RANK'] != '1' or len(os.listdir('{folder}')) < 3:\n    time.sleep(0.01)\nos._exit(4)\n")
    config, _ = plain_config(f"{PYTHON} {program_file(text)}")
    job = run_ranks(3, config, timeout=60)
    check_exit(job, FINISHED)
    check("exited with 4" in job.err and "restart 1 of 3" in job.err, "the message", job)


@test
def a_stop_during_the_pause_before_a_restart_ends_the_run():
    config, out = plain_config("/bin/sh -c 'echo >> {out}/starts; exit 3'", failure={"max_failures": 100})
    job = start_ranks(2, config)
    wait_until(lambda: "in 4 s, restart 4" in job.err or job.ended(), 60, "the fourth failure", job)
    kill(job.ranks().values(), signal.SIGUSR1)
    job.code = job.wait(20)
    check_exit(job, STOPPED)
    equal(len((out / "starts").read_text().splitlines()), 8, "starts of programs", job)


@test
def a_program_that_always_fails_ends_the_run_with_the_number_of_failures():
    config, out = plain_config("/bin/sh -c 'echo >> {out}/starts; exit 3'", failure={"max_failures": 1})
    job = run_ranks(2, config, timeout=60)
    check_exit(job, FAILED)
    check("given up after 2 failures (failure.max_failures = 1)" in job.err, "the message", job)
    equal(len((out / "starts").read_text().splitlines()), 4, "starts of programs", job)
    equal(len(attempts(run_dir_of(config))), 2, "attempts", job)


main()
