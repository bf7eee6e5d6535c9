"""Runs of [train] program: programs that use the Python client, and the linear regression of program_linear.py."""
from runs.training import *  # noqa: F403

PYTHON = "/usr/bin/python3"
LINEAR = SOURCE / "tests/support/programs/program_linear.py"
ONE_THREAD = {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1}
BY_STEPS = {"epochs": 12, "report_every": 7}
BY_EPOCHS = {"epochs": 16}
EVERY = {"every": "2 reports"}


def program_config(command, name="run", loop=None, checkpoint=None, train=None, folder=None, **sections):
    """Returns the config of a run that is not restarted, unless `failure` sets max_failures."""
    folder = folder or scratch()
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 5}, "train": {"program": command, **(train or {})},
        "loop": loop or {}, "checkpoint": {"num_to_keep": 2, **(checkpoint or {})}, **sections,
        "failure": {"max_failures": 0, **sections.get("failure", {})}})


def linear_program(name="run", loop=None, **sections):
    return program_config(f"{PYTHON} {LINEAR}", name, {**BY_STEPS, **(loop or {})}, EVERY, **sections)


def start_program(ranks, config, *words, **options):
    env = {**ONE_THREAD, **options.pop("env", {})}
    if ranks == 1:
        return Job([TRAINRT, "--config", config, *words], env=env, **options)
    return start_ranks(ranks, config, *words, env=env, **options)


def run_program(ranks, config, *words, timeout=90, **options):
    job = start_program(ranks, config, *words, **options)
    job.code = job.wait(timeout)
    return job


def programs(job):
    """Returns the pid, by rank, of the programs that the ranks started."""
    ranks = set(job.ranks().values())
    return {int(environment_of(pid).get("RANK", -1)): pid for pid in processes_with(job.token) if parent_of(pid) in ranks and pid not in ranks}


def wait_for_programs(job, ranks):
    wait_until(lambda: len(programs(job)) == ranks or job.ended(), 60, f"{ranks} programs", job)
    return programs(job)


def python(text):
    """Returns a command that runs the lines in Python with a connected client `ctx`."""
    return f"{PYTHON} {program_file('import numpy, trainrt' + chr(10) + 'ctx = trainrt.context()' + chr(10) + text)}"


def error_of(config):
    return (run_dir_of(config) / "error.txt").read_text()


SHIM = BUILD / "tests/fault_shim.so"


def faults(rules):
    """Returns the environment in which system calls fail by these rules of fault_shim."""
    if not SHIM.exists():
        skip("the library that injects faults is not built (it does not work with sanitizers)")
    return {"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": rules}
