"""Default names of runs. A restart or requeue of the same job gets the same name, and continues the run."""

import hashlib
import os
import sys

from ..._support import _script

_uses: dict[str, int] = {}  # number of uses in this process, by name


def default_name(trainer):
    """Returns the name of a run without RunConfig(name=...): the Trainer's class and the script, in Slurm with the job. Later runs of this process
    with the same name get -2, -3 and so on."""
    name = name_in_job(trainer.default_name(_script.of_this_process()["path"]))
    _uses[name] = _uses.get(name, 0) + 1
    return name if _uses[name] == 1 else f"{name}-{_uses[name]}"


def name_in_job(name):
    """Returns `name`, in a Slurm job followed by the job and a hash of the script's arguments, if it has any. So a start in the same job with
    other arguments is another run."""
    job = slurm_job()
    if not job:
        return name
    arguments = "\0".join(sys.argv[1:])
    return f"{name}-{job}" + (f"-{hashlib.sha256(arguments.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}" if arguments else "")


def slurm_job():
    """Returns the number of this Slurm job, which requeues keep, with the task of a job array, or `None` outside of a job."""
    array = os.environ.get("SLURM_ARRAY_JOB_ID")
    return f"{array}_{os.environ.get('SLURM_ARRAY_TASK_ID')}" if array else os.environ.get("SLURM_JOB_ID")
