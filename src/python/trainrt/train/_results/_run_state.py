"""The states of a run, an attempt and a trial: the words of rundir::RunState, in its order. The guide of src/view explains each."""

WORDS = WAITING, STARTING, RUNNING, PAUSED, FINISHED, STOPPED, FAILED, KILLED = (
    "waiting", "starting", "running", "paused", "finished", "stopped", "failed", "killed")
