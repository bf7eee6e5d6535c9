#!/usr/bin/python3
"""If a rank hangs, the attempt ends within the time limit, names that rank and the call in which the others wait, and writes the stacks
of all ranks that respond. A slow operation is not reported as a hang."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.trouble import *  # noqa: E402,F403

RANKS = 3
LIMIT = 4
FAILURE = {"hang_timeout": f"{LIMIT} s"}
SHIM = BUILD / "tests/fault_shim.so"


def hang_folders(config):
    return list((run_dir_of(config) / "logs").glob("hang-*"))


def hang_folder(config, job):
    folders = hang_folders(config)
    check(len(folders) == 1, f"hang folders: {folders}", job)
    return folders[0]


def check_named(config, job, folder, words):
    """Checks that the report, the output, error.txt and the record of the attempt all contain `words`."""
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
    check(took < LIMIT + 15, f"the run ended only after {took:.1f} s", job)
    folder = hang_folder(config, job)
    equal(sorted(path.name for path in folder.glob("rank-*")), ["rank-00000.txt", "rank-00002.txt"], "ranks that wrote their stacks", job)
    check_named(config, job, folder, ("rank 1 on ", "did not answer", " in all_reduce"))
    for rank in (0, 2):
        text = (folder / f"rank-{rank:05}.txt").read_text()
        check(re.search(r"waits_in: \S+.* at step \d+, for rank [012]", text), f"the call in which the rank waits is missing: {text}")
        check("(trainrt)" in text and "#1 " in text, f"the stack is missing: {text}")
    resumed = run_ranks(RANKS, config, "--loop.epochs=3", "--loop.step_pause=0", timeout=90)
    check_exit(resumed, FINISHED)


@test
def a_rank_frozen_while_it_saves_a_checkpoint_is_named():
    config = linear_config(scratch(), "run", {"epochs": 1000, "step_pause": 0.02, "report_every": 10}, failure=FAILURE)
    job = start_ranks(RANKS, config, first_env={"TRAINRT_STOP_AT": "prepared:2"})
    wait_until(lambda: job.ended() or is_stopped(job.ranks().get(0, 0)), 60, "rank 0 to reach its second checkpoint", job)
    start = time.monotonic()
    job.code = job.wait(LIMIT + 60)
    check_exit(job, FAILED)
    check(time.monotonic() - start < LIMIT + 15, f"the run ended only after {time.monotonic() - start:.1f} s", job)
    check_named(config, job, hang_folder(config, job), ("rank 0 on ", "did not answer"))


@test
def a_rank_in_an_endless_loop_is_named_with_its_step_and_function():
    config = trouble_config({"trouble": "loop", "rank": 2, "at_step": 3}, failure=FAILURE)
    job = run_ranks(RANKS, config, timeout=90)
    check_exit(job, FAILED)
    folder = hang_folder(config, job)
    check_named(config, job, folder, ("rank 2 on ", "has been in its own code for", "at step 3 (training)", "ranks 0-1 wait in "))
    equal(len(list(folder.glob("rank-*"))), RANKS, "ranks that wrote their stacks", job)
    text = (folder / "rank-00002.txt").read_text()
    for word in ("loops_for_ever", "train(trainrt::Context&)"):
        check(word in text, f"the stack lacks {word}: {text}")


@test
def a_single_rank_in_an_endless_loop_is_ended():
    config = trouble_config({"trouble": "loop", "at_step": 2}, failure=FAILURE)
    job = run([TRAINRT, "--config", config], timeout=90)
    check_exit(job, FAILED)
    check_named(config, job, hang_folder(config, job), ("rank 0 on ", "at step 2 (training)"))


def is_no_false_alarm(loop, checkpoint=None, env=None):
    config = trouble_config({"trouble": "sleep", "rank": 1, **loop}, failure={"hang_timeout": "3 s"}, **({"checkpoint": checkpoint} if checkpoint else {}))
    start = time.monotonic()
    job = run_ranks(2, config, timeout=120, env=env)
    check_exit(job, FINISHED)
    equal(hang_folders(config), [], "reported hangs", job)
    return time.monotonic() - start


add_test("a_first_step_longer_than_the_limit_is_not_a_hang", is_no_false_alarm, {"at_step": 0, "seconds": 8})
add_test("an_evaluation_shorter_than_the_limit_is_not_a_hang", is_no_false_alarm, {"at_step": 3, "seconds": 2})


@test
def a_save_longer_than_the_limit_is_not_a_hang():
    if not SHIM.exists():
        skip("the library that injects faults was not built (builds with sanitizers leave it out)")
    took = is_no_false_alarm({"at_step": 3, "seconds": 0}, {"every": "4 steps", "async": False},
                             {"LD_PRELOAD": SHIM, "TRAINRT_FAULTS": "fsync:slow=7000:shard-"})
    check(took > 7, f"the save was not slow: the run took {took:.1f} s")


@test
def ranks_that_are_suspended_longer_than_the_limits_continue():
    config = linear_config(scratch(), "run", {"epochs": 1000, "step_pause": 0.02, "report_every": 10},
                           failure={"hang_timeout": "5 s", "collective_timeout": 4})
    job = start_ranks(2, config)
    wait_for_reports(run_dir_of(config), 2, job)
    ranks = job.wait_for_ranks(2)
    for rank in (1, 0):  # rank 0 is suspended and resumed while it waits for rank 1
        kill([ranks[rank]], signal.SIGSTOP)
        time.sleep(0.5)
    time.sleep(8)
    for rank in (0, 1):
        kill([ranks[rank]], signal.SIGCONT)
        time.sleep(0.5)
    wait_for_reports(run_dir_of(config), report_count(run_dir_of(config)) + 2, job)
    equal(hang_folders(config), [], "reported hangs", job)
    kill([ranks[0]], signal.SIGTERM)
    job.code = job.wait(60)
    check_exit(job, STOPPED)


@test
def hang_timeout_off_allows_a_slow_rank():
    config = trouble_config({"trouble": "sleep", "rank": 1, "seconds": 6}, failure={"hang_timeout": "off"})
    check_exit(run_ranks(2, config, timeout=90), FINISHED)


main()
