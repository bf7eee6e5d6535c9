"""States of a run, attempt or trial. They are the names of `rundir::RunState`, in the same order; the guide of src/view describes each."""

WORDS = WAITING, STARTING, RUNNING, PAUSED, FINISHED, STOPPED, FAILED, KILLED = (
    "waiting", "starting", "running", "paused", "finished", "stopped", "failed", "killed")
