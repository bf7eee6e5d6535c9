"""Checks of a run after its plan."""
import calendar
import re
import time

from harness import (FINISHED, STOPPED, TRAINRT, Failure, attempts, check, check_iterations, check_no_debris, check_same_bits, checkpoints, equal, name_of_process, run, run_state,
                     wait_until)
from plans import REPORTS

# Patterns of "why" in the record of an attempt, for each kind of disturbance that may end it.
NO_END = r"^killed: it wrote no end"  # written by the next attempt
KILLED = (r"^killed: rank", r"^killed by SIGKILL", r"^failed: .*(has exited|has ended)")
HUNG = r"^failed: .*did not answer"


def _by_slurm(cause):
    return rf"^(stopped by SIG\w+ \(|ended by Slurm: ).*({cause})"


REQUEUED = (NO_END, _by_slurm("requeue"))
WHY = {"kill_rank": KILLED, "kill_step": KILLED, "kill_srun": (*KILLED, r"^stopped by SIGUSR1"), "kill_script": (*KILLED, NO_END, r"^stopped by SIGTERM", _by_slurm("killed with its job|cancelled")),
       "kill_node": (*KILLED, r"^lost node", r"^srun could not start", *REQUEUED, _by_slurm("node fail|killed with its job")),
       "freeze": (HUNG,), "preempt": (NO_END, _by_slurm("preemption|requeue")), "requeue": REQUEUED, "relayout": REQUEUED, "resize": REQUEUED,
       "cancel": (NO_END, _by_slurm("cancelled")), "time_limit": (r"^stopped by SIGUSR1", r"^stopped by the end of the job's time", _by_slurm("time limit")),
       "fill_disk": (r"^failed: .*No space left", r"not saved$", r"^ended with exit 70", NO_END, *KILLED),
       "corrupt": (r"^failed: cannot restore from .*all its checkpoints are damaged",)}


def _needs_user(event):
    """Returns whether the user may have to start the job again after this event."""
    kind, options = event.disturbance.kind, event.disturbance.options
    if kind == "signal":
        return options == {"name": "INT", "to": "script"}  # like Ctrl-C at a terminal: the run is not started again
    return kind in ("kill_script", "cancel", "fill_disk") or kind == "kill_node" and options["node"] == 0 and options["with_processes"]


def _seconds(utc):
    return calendar.timegm(time.strptime(utc, "%Y-%m-%dT%H:%M:%SZ"))


def _patterns(event):
    if event.disturbance.kind == "signal":
        passed_on = "|USR1" if event.disturbance.options["to"] == "script" else ""  # supervise forwards the signal as SIGUSR1
        return (rf"^stopped by SIG({event.disturbance.options['name']}{passed_on})\b",)
    return WHY[event.disturbance.kind]


def check_attempts(broken):
    """Checks that the attempts are numbered without a gap, and that a disturbance explains the end of each unfinished attempt."""
    records = attempts(broken.run_dir)
    equal([record["attempt"] for record in records], list(range(1, len(records) + 1)), "numbers of the attempts")
    last = records[-1]
    equal((last["why"], last["exit_code"]), ("finished", FINISHED), f"end of attempt {last['attempt']}")
    for index, record in enumerate(records[:-1]):
        since = _seconds(records[index - 1]["start"]) - 1 if index else 0
        until = _seconds(records[index + 1]["start"]) + 1
        near = [event for event in broken.events if since <= event.time <= until]
        why = record["why"] or ""
        check(any(re.search(pattern, why) for event in near for pattern in _patterns(event)),
              f"attempt {record['attempt']} ended with {why!r}; disturbances at that time: {[event.text for event in near]}")
        if why.startswith("stopped") and "not saved" not in why:
            equal(record["exit_code"], STOPPED, f"exit code of attempt {record['attempt']}, which {why}")


def check_lost_work(broken):
    """Checks that later attempts begin at or after the newest checkpoint committed before a disturbance, unless a checkpoint was damaged
    before them."""
    records = attempts(broken.run_dir)
    damages = [event.attempts for event in broken.events if event.disturbance.kind == "corrupt"]
    for event in broken.events:
        for index, record in enumerate(records[event.attempts:], event.attempts):
            damaged = any(before <= index + 1 for before in damages)  # the newest attempt may not have loaded its checkpoint yet
            ran = record["exit_code"] in (FINISHED, STOPPED) and record["last_step"] > 0  # otherwise it was stopped before it loaded a checkpoint
            if ran and not damaged:
                check(record["first_step"] >= event.safe_step, f"attempt {record['attempt']} began at step {record['first_step']}, but the checkpoint of step "
                                                               f"{event.safe_step} had been committed before: {event.text}")


def check_by_hand(broken):
    """Checks that the user had to start the job only if the plan explains it."""
    explained = any(map(_needs_user, broken.events)) or bool(broken.accepts)
    check(not broken.by_hand or explained, f"the job ended as {broken.by_hand}, which the plan does not explain")
    if broken.accepts and not any(map(_needs_user, broken.events)):
        equal([end.split()[-1] for end in broken.by_hand], ["64:0"], "exit codes after which the user was needed")


def check_verified(broken):
    """Checks the run with `trainrt verify`: only checkpoints that the plan damaged may be damaged."""
    job = run([TRAINRT, "verify", str(broken.run_dir)])
    blamed = set(re.findall(r"checkpoint_\d{6}", "\n".join(line for line in (job.out + job.err).splitlines() if "DAMAGED" in line)))
    kept = {directory.name for directory in checkpoints(broken.run_dir)} & set(broken.damaged)
    check(blamed <= kept, f"verify blames {sorted(blamed - kept)}", job)
    check(job.code == FINISHED or (kept and blamed), f"trainrt verify: exit {job.code}", job)


def check_nothing_runs(broken):
    def running():
        time.sleep(0.05)
        return [name_of_process(pid) for job in broken.jobs for pid in job.processes()]

    wait_until(lambda: not running(), 30, f"the processes of the job to end: {running()}")


def check_plan(broken):
    check_nothing_runs(broken)
    equal(run_state(broken.run_dir), "finished", "state in run.json")
    if broken.state() == "COMPLETED":
        equal(broken.shown.get("ExitCode"), "0:0", "exit code of the job")
    else:
        check(any(event.disturbance.kind == "time_limit" for event in broken.events), f"the job is {broken.state()}, which the plan does not explain")
    check_attempts(broken)
    check_lost_work(broken)
    check_by_hand(broken)
    check_iterations(broken.run_dir, REPORTS)
    check_verified(broken)
    check_no_debris(broken.run_dir, keep=2 + len(broken.damaged))
    if broken.plan.keeps_ranks():
        check_same_bits(broken.run_dir, broken.arena.quiet(broken.plan))
