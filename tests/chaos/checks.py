"""What must be true of a run when its plan is over."""
import calendar
import re
import time

from harness import (FINISHED, STOPPED, TRAINRT, Failure, attempts, check, check_iterations, check_no_debris, check_same_bits, checkpoints, equal, name_of_process, run, run_state,
                     wait_until)
from plans import REPORTS

# How an attempt may end after each kind: patterns of its record's "why".
NO_END = r"^killed: it wrote no end"  # nobody was left to write it down but the next attempt
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
    """After this the job may not come back by itself."""
    kind, options = event.disturbance.kind, event.disturbance.options
    if kind == "signal":
        return options == {"name": "INT", "to": "script"}  # as Ctrl-C of somebody at the terminal: it stops for good
    return kind in ("kill_script", "cancel", "fill_disk") or kind == "kill_node" and options["node"] == 0 and options["with_processes"]


def _seconds(utc):
    return calendar.timegm(time.strptime(utc, "%Y-%m-%dT%H:%M:%SZ"))


def _patterns(event):
    if event.disturbance.kind == "signal":
        passed_on = "|USR1" if event.disturbance.options["to"] == "script" else ""  # by supervise
        return (rf"^stopped by SIG({event.disturbance.options['name']}{passed_on})\b",)
    return WHY[event.disturbance.kind]


def check_attempts(broken):
    """Numbers without a gap; each that did not finish ended in a way that something done to it explains."""
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
              f"attempt {record['attempt']} ended with {why!r}; what was done to it is {[event.text for event in near]}")
        if why.startswith("stopped") and "not saved" not in why:
            equal(record["exit_code"], STOPPED, f"exit code of attempt {record['attempt']}, which {why}")


def check_lost_work(broken):
    """What was committed before a disturbance is where later attempts begin, or further; but for those before which a checkpoint was
    damaged."""
    records = attempts(broken.run_dir)
    damages = [event.attempts for event in broken.events if event.disturbance.kind == "corrupt"]
    for event in broken.events:
        for index, record in enumerate(records[event.attempts:], event.attempts):
            damaged = any(before <= index + 1 for before in damages)  # the newest attempt may not have loaded yet
            ran = record["exit_code"] in (FINISHED, STOPPED) and record["last_step"] > 0  # else it was stopped before it had loaded
            if ran and not damaged:
                check(record["first_step"] >= event.safe_step, f"attempt {record['attempt']} began at step {record['first_step']}, and the checkpoint of step "
                                                               f"{event.safe_step} had been committed before: {event.text}")


def check_by_hand(broken):
    """The user was needed only if the plan explains it."""
    explained = any(map(_needs_user, broken.events)) or bool(broken.accepts)
    check(not broken.by_hand or explained, f"the job had ended as {broken.by_hand}, and nothing of the plan explains it")
    if broken.accepts and not any(map(_needs_user, broken.events)):
        equal([end.split()[-1] for end in broken.by_hand], ["64:0"], "exit codes after which the user was needed")


def check_verified(broken):
    """Whole, but for what the plan itself damaged and the run still keeps."""
    job = run([TRAINRT, "verify", str(broken.run_dir)])
    blamed = set(re.findall(r"checkpoint_\d{6}", "\n".join(line for line in (job.out + job.err).splitlines() if "DAMAGED" in line)))
    kept = {directory.name for directory in checkpoints(broken.run_dir)} & set(broken.damaged)
    check(blamed <= kept, f"verify blames {sorted(blamed - kept)}", job)
    check(job.code == FINISHED or (kept and blamed), f"trainrt verify: exit {job.code}", job)


def check_nothing_runs(broken):
    def running():
        time.sleep(0.05)
        return [name_of_process(pid) for job in broken.jobs for pid in job.processes()]

    wait_until(lambda: not running(), 30, f"the processes of the job to be gone: {running()}")


def check_plan(broken):
    check_nothing_runs(broken)
    equal(run_state(broken.run_dir), "finished", "state in run.json")
    if broken.state() == "COMPLETED":
        equal(broken.shown.get("ExitCode"), "0:0", "exit code of the job")
    else:
        check(any(event.disturbance.kind == "time_limit" for event in broken.events), f"the job is {broken.state()}, and nothing of the plan explains it")
    check_attempts(broken)
    check_lost_work(broken)
    check_by_hand(broken)
    check_iterations(broken.run_dir, REPORTS)
    check_verified(broken)
    check_no_debris(broken.run_dir, keep=2 + len(broken.damaged))
    if broken.plan.keeps_ranks():
        check_same_bits(broken.run_dir, broken.arena.quiet(broken.plan))
