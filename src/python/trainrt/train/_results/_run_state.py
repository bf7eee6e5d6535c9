"""State of a run, attempt or trial: the names of `rundir::RunState`, in the same order. The guide of src/view describes each."""

WORDS = WAITING, STARTING, RUNNING, PAUSED, FINISHED, STOPPED, FAILED, KILLED = (
    "waiting", "starting", "running", "paused", "finished", "stopped", "failed", "killed")
