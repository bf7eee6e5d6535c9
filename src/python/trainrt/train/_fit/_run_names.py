"""Default names of runs and sweeps. In a Slurm job, a restart or requeue gets the same name and continues the run. Outside of a job, each start is a
new run, as in Ray Train."""

import hashlib
import os
import sys
import time

from ..._support import _script

_uses: dict[str, int] = {}  # how often this process has used each name


def default_name(kind, storage):
    """Returns the default name of a run or sweep. `kind`: class of the Trainer or Tuner.

    In a Slurm job: the class, the script, the job, and a hash of the script's arguments if it has any, so that a start in the same job with other arguments
    is another run. Outside of a job: the class, date and time. A name that this process has used, or a dated one that exists in `storage`, gets -2, -3 and
    so on.
    """
    job = slurm_job()
    name = name_in_job(kind) or f"{kind}_{time.strftime('%Y-%m-%d_%H-%M-%S')}"
    while True:
        _uses[name] = _uses.get(name, 0) + 1
        numbered = name if _uses[name] == 1 else f"{name}-{_uses[name]}"
        if job or not os.path.lexists(os.path.join(storage, numbered)):
            return numbered


def continue_advice(name, has_default_name):
    """Returns how to continue the stopped run or sweep `name`."""
    if not has_default_name:
        return "run the same script again to continue"
    if slurm_job():
        return f"run the same script again to continue in this job or its requeue, or set RunConfig(name={name!r}) to continue in another job"
    return f"set RunConfig(name={name!r}) and run the script again to continue"


def name_in_job(kind):
    """Returns the first default name in this Slurm job, or `None` outside of a job."""
    job = slurm_job()
    if not job:
        return None
    script = _script.of_this_process()["path"]
    arguments = "\0".join(sys.argv[1:])
    name = f"{kind}_{os.path.splitext(os.path.basename(script))[0] if script else 'interactive'}-{job}"
    return name + (f"-{hashlib.sha256(arguments.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}" if arguments else "")


def slurm_job():
    """Returns the number of this Slurm job, in a job array with the task number; `None` outside of a job. A requeue keeps the number."""
    array = os.environ.get("SLURM_ARRAY_JOB_ID")
    return f"{array}_{os.environ.get('SLURM_ARRAY_TASK_ID')}" if array else os.environ.get("SLURM_JOB_ID")
