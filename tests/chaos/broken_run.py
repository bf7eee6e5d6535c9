"""One run under jobs/train.sbatch that a plan disturbs. A simulated user starts it again if Slurm does not."""
import os
import re
import shutil
import signal
import time
from dataclasses import dataclass

from cluster import BatchJob
from harness import Failure, checkpoints, is_stopped, kill, name_of_process, report_count, run_dir_of, run_state, scratch
from plans import LAYOUTS

STEP_PAUSE = 0.004  # seconds per step of `linear`, so that a run lasts several seconds
LONGER_PAUSE = {"time_limit": 0.05, "kill_node": 0.015}  # Slurm checks limits every 30 s; an isolated node keeps working during the next attempt
FAILURE = {"max_failures": 8, "max_no_progress": 8}  # a plan may end more attempts than the defaults allow
HANG_TIMEOUT = "8 s"
PLAN_LIMIT_S = 240
BY_HAND_LIMIT = 6
ENDED_BADLY = ("FAILED", "NODE_FAIL", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "PREEMPTED")


@dataclass
class Event:
    """A disturbance that was carried out, and the state of the run before it."""
    time: float      # seconds since the Unix epoch
    disturbance: object
    text: str
    attempts: int    # number of attempts with a record
    safe_step: int   # step of the newest undamaged committed checkpoint, else 0


class BrokenRun:
    """`events` holds the disturbances that were carried out, `late` those that came after the end of the run."""

    def __init__(self, arena, plan):
        self.arena, self.plan, self.cluster = arena, plan, arena.cluster
        self.folder = scratch("plan")
        kinds = {each.kind for each in plan.disturbances}
        disk = arena.small_disk() if "fill_disk" in kinds else None
        self.on_small_disk = disk is not None
        pause = max(LONGER_PAUSE.get(kind, STEP_PAUSE) for kind in kinds)
        failure = {**FAILURE, **({"hang_timeout": HANG_TIMEOUT} if any(each.only_the_run_notices() for each in plan.disturbances) else {})}
        name = f"run{plan.number}"
        self.config = arena.config(plan, self.folder, name, storage=disk, checkpoint=plan.checkpoint, step_pause=pause, failure=failure)
        self.run_dir = disk / name if disk else run_dir_of(self.config)
        self.events, self.late, self.skipped = [], [], []
        self.damaged = []      # names of checkpoints that the plan damaged
        self.accepts = []      # options that the user adds after the run reports that all its checkpoints are damaged
        self.by_hand = []      # state of the job each time that the user started it again
        self.frozen = set()    # pids that must stay stopped
        self.old_ranks = set()  # pids of attempts that a disturbance should have ended
        self.cancelled = False
        self.jobs = []
        self.shown = {}
        self._undos = []       # (ready(), undo(), whether the user waits for it)
        self._asked = 0.0
        self._scanned = 0.0
        self._limit = time.monotonic() + PLAN_LIMIT_S
        self.lay_out(LAYOUTS[plan.ranks][plan.layout])
        self._write_wrapper()

    def safe_step(self):
        """Returns the step of the newest committed checkpoint that the plan has not damaged, which no disturbance may lose; else 0."""
        for directory in reversed(checkpoints(self.run_dir)):
            try:
                if directory.name not in self.damaged:
                    return int(re.search(r'"step": (\d+)', (directory / "manifest.json").read_text())[1])
            except FileNotFoundError:
                continue  # deleted meanwhile
        return 0

    # ---- starts ----

    def _write_wrapper(self):
        """Writes a wrapper of srun that reads the layout, and the phase to stop in, at each start."""
        wrapper = self.folder / "bin/srun"
        wrapper.parent.mkdir()
        stop_at = self.folder / "stop_at"
        wrapper.write_text(f"#!/bin/sh\nif [ -s {stop_at} ]; then TRAINRT_STOP_AT=$(cat {stop_at}); export TRAINRT_STOP_AT; rm -f {stop_at}; fi\n"
                           f'exec {shutil.which("srun")} --overcommit $(cat {self.folder}/layout) "$@"\n')
        wrapper.chmod(0o755)

    def lay_out(self, words):
        (self.folder / "layout").write_text(words)

    def stop_next_start_in(self, when):
        if "phase" in when:
            (self.folder / "stop_at").write_text(f"{when['phase']}:{when['times']}")

    def submit(self):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        job = self.cluster.sbatch(["-N2", "-n2", "--ntasks-per-node=1", "-c1", f"--export=ALL,PATH={path}"], self.config, *self.accepts)
        self.jobs.append(job)
        self.cancelled = False

    @property
    def job(self) -> BatchJob:
        return self.jobs[-1]

    # ---- waiting ----

    def state(self):
        return self.shown.get("JobState", "")

    def over(self):
        """Returns whether the run is over. If the time of the job ends together with the run, Slurm reports TIMEOUT for a finished run."""
        return self.state() == "COMPLETED" or (self.state() == "TIMEOUT" and self.has_finished())

    def has_finished(self):
        try:
            return run_state(self.run_dir) == "finished"
        except (FileNotFoundError, ValueError):
            return False  # before the first attempt, or on a full disk

    def wait(self, condition, timeout, what):
        """Waits until the condition holds or the run is over, and calls tend() meanwhile. Raises Failure after `timeout` seconds."""
        limit = min(time.monotonic() + timeout, self._limit)
        while not condition():
            self.tend()
            if self.over():
                return
            if time.monotonic() > limit:
                raise Failure(f"HANG: waited {timeout:.0f} s for {what}, or the plan took longer than {PLAN_LIMIT_S} s; job {self.job.id} is {self.state()}")
            time.sleep(0.01)

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.tend()
            time.sleep(0.005)

    def later(self, seconds, undo):
        when = time.monotonic() + seconds
        self.when(lambda: time.monotonic() >= when, undo)

    def when(self, ready, undo, user_waits=True):
        self._undos.append((ready, undo, user_waits))

    def undo_all(self, at_once=False):
        for entry in list(self._undos):
            if at_once or entry[0]():
                self._undos.remove(entry)
                entry[1]()

    def tend(self, every=0.4):
        """Ends disturbances that are due, speeds up a job that waits, and starts a failed job again."""
        self.undo_all()
        if time.monotonic() < self._asked + every:
            return
        self._asked = time.monotonic()
        self.shown = self.job.show()
        if self.state() == "PENDING" and self.shown.get("Reason") == "BeginTime":
            self.job.hurry()
        elif self.state() in ENDED_BADLY and not self.over() and not any(waits for _, _, waits in self._undos):  # the user does not start a run on a full disk
            self.start_by_hand()
        if any("phase" in each.when for each in self.plan.disturbances[:len(self.events) + len(self.late)]):
            kill([pid for pid in self.ranks().values() if pid not in self.frozen and is_stopped(pid)], signal.SIGCONT)

    # ---- the user ----

    def start_by_hand(self):
        state = self.state()
        if len(self.by_hand) >= BY_HAND_LIMIT:
            raise Failure(f"started by hand {len(self.by_hand)} times, after {', '.join(self.by_hand)}, and the job is {state} again")
        if not self.events:
            raise Failure(f"the job is {state} before the first disturbance")
        self.by_hand.append(f"{state} {self.shown.get('ExitCode', '')}")
        if self.damaged and not self.accepts and "all its checkpoints are damaged" in self.job.text:
            self.accepts = ["--run.missing_checkpoints=accept"]
            self.submit()
        elif self.cancelled or self.cluster.call("scontrol", "requeue", self.job.id).strip():
            self.submit()

    # ---- processes ----

    def ranks(self):
        return self.job.ranks()

    def processes(self, name):
        """Returns the pids of the job's processes with this name of program or script."""
        return [pid for pid in self.job.processes() if name in map(os.path.basename, name_of_process(pid).split()[:2])]

    def nodes(self):
        """Returns the nodes of the job, that of the batch script first."""
        text = self.job.show()
        found = self.cluster.call("scontrol", "show", "hostnames", text.get("NodeList", "")).split() if text.get("NodeList", "(null)") != "(null)" else []
        return sorted(found, key=lambda node: node != text.get("BatchHost"))

    # ---- the plan ----

    def wait_for_moment(self, when):
        """Waits for the moment of a disturbance; returns False if the run ended before."""
        if "after" in when:
            self.pause(when["after"])
        elif "phase" in when:
            self.wait(lambda: any(is_stopped(pid) for pid in self.new_ranks()), 90, f"a rank to enter {when['phase']} {when['times']} time(s)")
        else:
            self.wait(self.new_ranks, 90, "ranks to run (again)")
            if "running" in when:
                self.pause(when["running"])
            else:
                self.wait(lambda: report_count(self.run_dir) >= when["reports"], 90, f"report {when['reports']}")
        return not self.over()

    def new_ranks(self):
        if time.monotonic() < self._scanned + 0.05:  # the scan reads all of /proc
            return []
        self._scanned = time.monotonic()
        return [pid for pid in self.ranks().values() if pid not in self.old_ranks]

    def finish(self):
        """Waits until the job has completed, and ends all disturbances."""
        self.wait(self.over, 150, "the job to complete")
        self.undo_all(at_once=True)

    def tear_down(self):
        for undo in list(self._undos):
            try:
                undo[1]()
            except Failure:
                pass  # the cluster is replaced after a failure
        self._undos.clear()
        for job in self.jobs:
            job.cancel()

    def clear(self):
        """Removes all files of the run."""
        shutil.rmtree(self.run_dir, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def output(self):
        return "\n".join(f"--- output of job {job.id}: {job.show()}\n{job.text}" for job in self.jobs)
