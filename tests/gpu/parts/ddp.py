#!/usr/bin/env python3
"""Compares an unchanged DDP script with NCCL and one rank under trainrt and under torchrun: the time of a step and the time from start to end."""
from gpu_runs import *  # noqa: F403

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
REPETITIONS = 2


def by_torchrun(folder):
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1", SCRIPTS / "ddp.py", folder]


def by_trainrt(folder):
    return [TRAINRT, f"--run.storage_path={folder}/runs", f"--scaling.gpus_per_worker={GPU['gpus_per_worker']}", "--", sys.executable, SCRIPTS / "ddp.py", folder]


def times_of(command_for):
    start = time.monotonic()
    job = run(command_for(scratch()), START_SECONDS)
    seconds = time.monotonic() - start
    check_exit(job, 0)
    found = re.search(r"size 1 step ([\d.]+) weights (\w+)", job.out + job.err)
    check(found, "the script printed no times", job)
    return float(found[1]), seconds, found[2]


@test
def a_ddp_script_takes_as_long_as_under_torchrun_and_has_the_same_bits():
    rows = {"trainrt": [], "torchrun": []}
    for _ in range(REPETITIONS):
        rows["trainrt"].append(times_of(by_trainrt))
        rows["torchrun"].append(times_of(by_torchrun))
    middle = {name: [sorted(row[i] for row in each)[len(each) // 2] for i in (0, 1)] for name, each in rows.items()}
    for name, (step, seconds) in middle.items():
        print(f"figure DDP by {name} - step {1e3 * step:.4f} ms")
        print(f"figure DDP by {name} - start to end {seconds:.3f} s")
    claim("DDP step by trainrt over torchrun", middle["trainrt"][0] / middle["torchrun"][0], "<=", 1.05)
    claim("DDP start to end by trainrt over torchrun", middle["trainrt"][1] / middle["torchrun"][1], "<=", 1.05)
    equal(len({row[2] for each in rows.values() for row in each}), 1, "number of different final weights")


@test
def a_training_by_trainrt_train_torch_runs_on_the_gpu():
    folder = scratch()
    job = run([TRAINRT, f"--run.storage_path={folder}/runs", f"--scaling.gpus_per_worker={GPU['gpus_per_worker']}", "--", sys.executable, SCRIPTS / "prepared.py"], START_SECONDS)
    check_exit(job, FINISHED)
    found = re.search(r"size 1 step ([\d.]+)", job.out + job.err)
    check(found, "the script printed no times", job)
    check(f"device {'cpu' if ON_CPU else 'cuda'}" in job.out + job.err, "the script trained on another device", job)
    print(f"figure a step of prepare_model() {1e3 * float(found[1]):.4f} ms")


main()
