#!/usr/bin/python3
"""Ranks that hang: the attempt ends by itself, in time, and says who is behind and where the others wait, with every rank's stack.
What only takes long is no false alarm."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from runs.trouble import *  # noqa: E402,F403

RANKS = 3
LIMIT = 4
FAILURE = {"hang_timeout": f"{LIMIT} s"}
SHIM = BUILD / "tests/fault_shim.so"


def hang_folders(config):
    return list((run_dir_of(config) / "logs").glob("hang-*"))


def hang_folder(config, job):
    folders = hang_folders(config)
    check(len(folders) == 1, f"folders of hangs: {folders}", job)
    return folders[0]


def check_named(config, job, folder, words):
    """In all the places where a person looks."""
    texts = {"verdict.txt": (folder / "verdict.txt").read_text(), "the output": job.err, "error.txt": (run_dir_of(config) / "error.txt").read_text(),
             "the attempt's record": attempts(run_dir_of(config))[-1]["why"]}
    for where, text in texts.items():
        for word in ("hang", *words):
            check(word in text, f"{where} lacks {word!r}: {text!r}", job)
    equal(attempts(run_dir_of(config))[-1]["exit_code"], FAILED, "exit code in the attempt's record", job)
    equal(run_state(run_dir_of(config)), "failed", "state", job)


@test
def a_rank_frozen_by_sigstop_is_named_and_the_attempt_ends():
    config = linear_config(scratch(), "run", {"epochs": 1000, "step_pause": 0.02, "report_every": 10}, checkpoint={"every": "off"}, failure=FAILURE)
    job = start_ranks(RANKS, config)
    wait_for_reports(run_dir_of(config), 2, job)
    kill([job.ranks()[1]], signal.SIGSTOP)
    start = time.monotonic()
    job.code = job.wait(LIMIT + 60)
    took = time.monotonic() - start
    check_exit(job, FAILED)
    check(took < LIMIT + 15, f"it took {took:.1f} s", job)
    folder = hang_folder(config, job)
    equal(sorted(path.name for path in folder.glob("rank-*")), ["rank-00000.txt", "rank-00002.txt"], "ranks that wrote where they are", job)
    check_named(config, job, folder, ("rank 1 on ", "did not answer", " in all_reduce"))
    for rank in (0, 2):
        text = (folder / f"rank-{rank:05}.txt").read_text()
        check(re.search(r"waits_in: \S+.* at step \d+, for rank [012]", text), f"no word of what it waits in: {text}")
        check("(trainrt)" in text and "#1 " in text, f"no stack: {text}")
    resumed = run_ranks(RANKS, config, "--loop.epochs=3", "--loop.step_pause=0", timeout=90)
    check_exit(resumed, FINISHED)


@test
def a_rank_frozen_in_a_checkpoint_is_named_too():
    config = linear_config(scratch(), "run", {"epochs": 1000, "step_pause": 0.02, "report_every": 10}, failure=FAILURE)
    job = start_ranks(RANKS, config, first_env={"TRAINRT_STOP_AT": "prepared:2"})
    wait_until(lambda: job.ended() or is_stopped(job.ranks().get(0, 0)), 60, "rank 0 to reach its second checkpoint", job)
    start = time.monotonic()
    job.code = job.wait(LIMIT + 60)
    check_exit(job, FAILED)
    check(time.monotonic() - start < LIMIT + 15, f"it took {time.monotonic() - start:.1f} s", job)
    check_named(config, job, hang_folder(config, job), ("rank 0 on ", "did not answer"))


@test
def a_rank_that_loops_for_ever_in_its_own_code_is_named_with_its_step_and_function():
    config = trouble_config({"trouble": "loop", "rank": 2, "at_step": 3}, failure=FAILURE)
    job = run_ranks(RANKS, config, timeout=90)
    check_exit(job, FAILED)
    folder = hang_folder(config, job)
    check_named(config, job, folder, ("rank 2 on ", "has been in its own code for", "at step 3 (training)", "ranks 0-1 wait in "))
    equal(len(list(folder.glob("rank-*"))), RANKS, "ranks that wrote where they are", job)
    text = (folder / "rank-00002.txt").read_text()
    for word in ("loops_for_ever", "train(trainrt::Context&)"):
        check(word in text, f"the stack lacks {word}: {text}")


@test
def one_rank_alone_that_loops_for_ever_is_ended_too():
    config = trouble_config({"trouble": "loop", "at_step": 2}, failure=FAILURE)
    job = run([TRAINRT, "--config", config], timeout=90)
    check_exit(job, FAILED)
    check_named(config, job, hang_folder(config, job), ("rank 0 on ", "at step 2 (training)"))


def is_no_false_alarm(loop, checkpoint=None, env=None):
    config = trouble_config({"trouble": "sleep", "rank": 1, **loop}, failure={"hang_timeout": "3 s"}, **({"checkpoint": checkpoint} if checkpoint else {}))
    start = time.monotonic()
    job = run_ranks(2, config, timeout=120, env=env)
    check_exit(job, FINISHED)
    equal(hang_folders(config), [], "alarms", job)
    return time.monotonic() - start


add_test("a_first_step_longer_than_the_limit_is_no_hang", is_no_false_alarm, {"at_step": 0, "seconds": 8})
add_test("an_evaluation_shorter_than_the_limit_is_no_hang", is_no_false_alarm, {"at_step": 3, "seconds": 2})


@test
def a_checkpoint_longer_than_the_limit_is_no_hang():
    if not SHIM.exists():
        skip("the library that injects faults was not built (it goes without the sanitizers)")
    took = is_no_false_alarm({"at_step": 3, "seconds": 0}, {"every": "4 steps", "async": False},
                             {"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": "fsync:slow=7000:shard-"})
    check(took > 7, f"the checkpoint was not slow: the run took {took:.1f} s")


@test
def ranks_that_are_suspended_for_longer_than_the_limits_go_on():
    config = linear_config(scratch(), "run", {"epochs": 1000, "step_pause": 0.02, "report_every": 10},
                           failure={"hang_timeout": "5 s", "collective_timeout": 4})
    job = start_ranks(2, config)
    wait_for_reports(run_dir_of(config), 2, job)
    ranks = job.wait_for_ranks(2)
    for rank in (1, 0):  # rank 0 waits for the other when it is stopped, and when it goes on
        kill([ranks[rank]], signal.SIGSTOP)
        time.sleep(0.5)
    time.sleep(8)
    for rank in (0, 1):
        kill([ranks[rank]], signal.SIGCONT)
        time.sleep(0.5)
    wait_for_reports(run_dir_of(config), report_count(run_dir_of(config)) + 2, job)
    equal(hang_folders(config), [], "alarms", job)
    kill([ranks[0]], signal.SIGTERM)
    job.code = job.wait(60)
    check_exit(job, STOPPED)


@test
def off_lets_a_rank_take_its_time():
    config = trouble_config({"trouble": "sleep", "rank": 1, "seconds": 6}, failure={"hang_timeout": "off"})
    check_exit(run_ranks(2, config, timeout=90), FINISHED)


main()
