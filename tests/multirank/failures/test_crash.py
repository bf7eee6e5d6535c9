#!/usr/bin/python3
"""After a train function crashes or throws, the files of the run name the rank, its host, the reason and the function, and the exit
code matches the signal or error."""
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.trouble import *  # noqa: E402,F403

HOST = socket.gethostname()


def check_has(words, text, where, job):
    for word in words:
        check(word in text, f"{where} lacks {word!r}:\n{text}", job)


def crashes(trouble, died_of, function, words=()):
    config = trouble_config({"trouble": trouble, "rank": 1})
    run_dir = run_dir_of(config)
    job = run_ranks(2, config, timeout=60)
    # mpiexec kills the other rank; if it also sees that rank exit, it returns the bitwise OR of both codes.
    check(job.code in (died_of, died_of | signal.SIGKILL), f"exit code of mpiexec: {job.code}", job)
    name = signal.Signals(died_of).name
    report = run_dir / "logs/crash-attempt-000001-rank-00001.txt"
    check(report.exists(), f"{report} is missing", job)
    for path in (report, run_dir / "error.txt"):
        check_has((f"rank 1 on {HOST} died of {name}", "at step 3 (training)", function, "libtrouble.so", *words), path.read_text(), path, job)
    check_has((f"trainrt: error: rank 1 on {HOST} died of {name}", *words), job.err, "the output", job)
    equal([path.name for path in (run_dir / "logs").glob("crash-*")], [report.name], "crash reports", job)
    resumed = run_ranks(2, config, "--loop.trouble=none", timeout=60)
    check_exit(resumed, FINISHED)
    check_has((f"rank 1 on {HOST} died of {name}",), attempts(run_dir)[0]["why"] or "", "the record of the attempt that crashed", resumed)


for trouble, died_of, function, words in (("segfault", signal.SIGSEGV, "writes_to_nowhere", ("address 0x0",)),
                                          ("overflow", signal.SIGSEGV, "calls_itself", ()),
                                          ("divide", signal.SIGFPE, "divides_by_zero", ()),
                                          ("abort", signal.SIGABRT, "calls_abort", ()),
                                          ("terminate", signal.SIGABRT, "throws_where_none_may_leave", ("std::runtime_error: no such luck",))):
    add_test(f"{trouble}_leaves_a_report_with_rank_host_signal_and_function", crashes, trouble, died_of, function, words)


def repeats(trouble, words):
    """A mistake ends the run after the second attempt, although `failure.max_failures` allows more."""
    job = run([TRAINRT, "-n", "2", "--config", trouble_config({"trouble": trouble, "rank": 1}), "--failure.max_failures=5"], timeout=90)
    check_exit(job, FAILED)
    for each in words:
        check(each in job.err, f"the output lacks {each!r}", job)
    check("failed twice in the same way" in job.err and "restart 2 of" not in job.err, "the number of attempts", job)


add_test("an_index_beyond_the_end_in_cpp_is_a_mistake_that_is_not_repeated", repeats, "index", ["std::out_of_range"])
add_test("replicated_tensors_that_differ_again_are_a_mistake_that_is_not_repeated", repeats, "differ", ["replicated tensors differ", "'weight' on"])


@test
def a_single_rank_that_crashes_exits_by_the_signal():
    config = trouble_config({"trouble": "segfault"})
    job = run([TRAINRT, "--config", config], timeout=60)
    equal(job.code, -signal.SIGSEGV, "exit code", job)
    check_has(("rank 0", "SIGSEGV", "writes_to_nowhere"), (run_dir_of(config) / "error.txt").read_text(), "error.txt", job)


def throws(trouble, function, words, not_on_terminal=()):
    config = trouble_config({"trouble": trouble, "rank": 1})
    job = run_ranks(2, config, timeout=60)
    check_exit(job, FAILED)
    text = (run_dir_of(config) / "error.txt").read_text()
    check_has(("rank 1 on " + HOST, "at step 3", function, "train(trainrt::Context&)", *words, *not_on_terminal), text, "error.txt", job)
    for word in not_on_terminal:
        check(word not in job.err, f"the output contains {word!r}", job)
    check_has((words[0],), attempts(run_dir_of(config))[-1]["why"], "the attempt's record", job)
    equal(logs_besides_signs(run_dir_of(config)), [], "crash reports", job)


add_test("error_txt_has_the_type_and_stack_of_an_exception", throws, "throw", "throws_an_error()", ("no such luck", "std::runtime_error"),
         ("second line",))
add_test("error_txt_has_the_type_and_stack_of_a_thrown_int", throws, "strange", "throws_a_number()",
         ("not a std::exception: int",))

main()
