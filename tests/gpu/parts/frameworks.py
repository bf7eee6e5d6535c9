#!/usr/bin/env python3
"""Runs PyTorch scripts on one GPU under `trainrt -- python3`: DDP and FSDP with NCCL, and trainrt.train.torch."""
from gpu_runs import *  # noqa: F403

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def program_command(folder, script, *words, keys=()):
    return [TRAINRT, f"--run.storage_path={folder}/runs", "--run.name=program", f"--scaling.gpus_per_worker={GPU['gpus_per_worker']}", *keys, "--", sys.executable, SCRIPTS / script, *words]


def digest_of(job):
    found = re.findall(r"weights ([0-9a-f]{64})", job.out + job.err)
    check(found, "the script printed no digest of its weights", job)
    return found[-1]


def undisturbed_digest(script, *words):
    folder = scratch()
    job = run(program_command(folder, script, *([folder] if script != "prepared.py" else []), *words), START_SECONDS * 2)
    check_exit(job, FINISHED)
    return digest_of(job)


def killed_program_ends_with_the_same_bits(script, pattern):
    expected = undisturbed_digest(script)
    folder = scratch()
    words = [folder] if script != "prepared.py" else []
    broken = Job(program_command(folder, script, *words))
    if pattern:
        broken.wait_for(pattern, START_SECONDS)
    else:
        wait_for_reports(folder / "runs/program", 1, broken, START_SECONDS)
    broken.end()
    job = run(program_command(folder, script, *words), START_SECONDS)
    check_exit(job, FINISHED)
    equal(digest_of(job), expected, "digest of the weights", job)


add_test("an unchanged DDP script with NCCL that is killed ends with the same bits", killed_program_ends_with_the_same_bits, "ddp.py", "epoch 0 done")
add_test("an unchanged FSDP script with NCCL that is killed ends with the same bits", killed_program_ends_with_the_same_bits, "fsdp.py", "epoch 0 done")
add_test("a training by trainrt.train.torch that is killed ends with the same bits", killed_program_ends_with_the_same_bits, "prepared.py", None)

main()
