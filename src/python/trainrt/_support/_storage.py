"""The default folder of runs."""

import os


def default_storage() -> str:
    """Returns the folder `runs` in the folder that the job was submitted from, else in the current one, as `trainrt -- python3 train.py` uses
    it. Raises FileNotFoundError if the current folder does not exist any more."""
    try:
        return os.path.join(os.environ.get("SLURM_SUBMIT_DIR") or os.getcwd(), "runs")
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, "the current folder no longer exists: change to another one, or use "
                                             "RunConfig(storage_path=...)") from None
