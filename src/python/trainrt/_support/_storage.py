"""The default folder of runs."""

import os


def default_storage() -> str:
    """Returns $TRAINRT_STORAGE. If this variable is not set, returns the folder `runs` in the directory of submission or, outside of a job, in the working
    directory. `trainrt -- python3 train.py` uses the same folder. Raises FileNotFoundError if the working directory does not exist any more."""
    try:
        if os.environ.get("TRAINRT_STORAGE"):
            return os.path.abspath(os.environ["TRAINRT_STORAGE"])
        return os.path.join(os.environ.get("SLURM_SUBMIT_DIR") or os.getcwd(), "runs")
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, "the current folder no longer exists: change to another one, or use "
                                             "RunConfig(storage_path=...)") from None
