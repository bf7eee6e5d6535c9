#!/usr/bin/python3
"""Tests the runner of the GPU parts without a GPU: it names the reason why a GPU cannot be used, a part that hangs or fails does not stop the
others, and the tables are always written."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

PARTS = Path(__file__).resolve().parent / "parts"
sys.path.insert(0, str(PARTS))
import machine  # noqa: E402
import results  # noqa: E402
PACK = PARTS.parent / "pack"

GOOD = {"name": "NVIDIA H100", "driver_version": "580.1", "memory.total": "81559", "memory.free": "81000", "compute_mode": "Default", "mig.mode.current": "Disabled"}
MACHINE = {"system": "Debian", "kernel": "6", "cores": 2, "memory_gib": 4, "gpus": [], "refused_system_calls": {"pidfd_open": "EPERM"}, "why_no_gpu": ""}


def reason_for(**changes):
    return machine.why_no_gpu([{**GOOD, **{name.replace("_free", ".free").replace("mig_mode", "mig.mode.current"): text for name, text in changes.items()}}])


@test
def the_reason_why_a_gpu_cannot_be_used_is_one_line():
    equal(reason_for(), "", "reason for a good GPU")
    check("no GPU" in machine.why_no_gpu([]), machine.why_no_gpu([]))
    for words, changes in (("550.54 580", {"driver_version": "550.54"}), ("Exclusive_Process DEFAULT", {"compute_mode": "Exclusive_Process"}),
                           ("MIG", {"mig_mode": "Enabled"}), ("100 8192", {"memory_free": "100"})):
        reason = reason_for(**changes)
        check(reason and "\n" not in reason, f"no single line for {changes}: {reason!r}")
        for word in words.split():
            check(word in reason, f"{changes}: the reason lacks {word!r}: {reason}")


@test
def the_output_of_parts_becomes_rows_and_a_table():
    rows = results.rows_of("ok it holds (1.5 s)\nFAILED it breaks: after 2 s: why\nskipped: it waits: no GPU\nfigure a copy 12.5 GB/s\n"
                           "claim ours over theirs 1.200 <= 1.1\nratio step_vs_pytorch 0.99 <= 1 ok\n# gpt_step_ms: median 3.5 of 3.5\nnote any words\nother\n")
    equal([row["kind"] for row in rows], ["ok", "failed", "skipped", "figure", "claim", "claim", "figure", "note"], "kinds of rows")
    equal([row["met"] for row in rows if row["kind"] == "claim"], [False, True], "claims that are met")
    table = results.table_of(MACHINE, {"correct": {"end": "done", "seconds": 1, "rows": rows}})
    for words in ("no GPU", "pidfd_open (EPERM)", "| it breaks | **failed**: after 2 s: why |", "1.2 (**short**: <= 1.1)"):
        check(words in table, f"the table lacks {words!r}:\n{table}")


def parts_folder(**scripts):
    """Returns a copy of the runner with these scripts as parts. A part called `hangs` has a limit of 6 seconds, others have a minute."""
    folder = scratch("parts") / "tests/gpu/parts"
    folder.mkdir(parents=True)
    for name in ("machine.py", "results.py"):
        shutil.copy(PARTS / name, folder)
    text = (PARTS / "run_parts.py").read_text()
    first, last = text.index("PARTS = {"), text.index("}\n", text.index("PARTS = {")) + 2
    table = "PARTS = {" + ", ".join(f"'{name}': ({6 if name == 'hangs' else 60}, ('{name}',))" for name in scripts) + "}\n"
    (folder / "run_parts.py").write_text(text[:first] + table + text[last:])
    for name, script in scripts.items():
        (folder / f"{name}.py").write_text(script)
    return folder


@test
def a_part_that_hangs_or_fails_keeps_its_rows_and_does_not_stop_the_others():
    folder = parts_folder(hangs="import time\nprint('figure before the end 1.0 s', flush=True)\ntime.sleep(60)\n", fails="raise SystemExit('broken')\n",
                          works="print('ok it holds (0.1 s)')\n")
    out = scratch("out")
    job = run([sys.executable, folder / "run_parts.py", "--out", out], env={"TRAINRT_PARTS_ON_CPU": 1})
    check_exit(job, 0)
    parts = json.loads((out / "results.json").read_text())["parts"]
    check(parts["hangs"]["seconds"] < 50 and "stopped after 6 s" in parts["hangs"]["end"] and parts["hangs"]["rows"], f"the part that hangs: {parts['hangs']}", job)
    check("exited with 1" in parts["fails"]["end"], f"the part that fails: {parts['fails']}", job)
    equal(parts["works"]["end"], "done", "end of the last part", job)
    check("broken" in (out / "log.txt").read_text(), "the log lacks the output of the failed part", job)


@test
def without_a_gpu_all_parts_are_skipped_and_an_unknown_part_is_an_error():
    folder, out = parts_folder(works="print('ok it holds (0.1 s)')\n"), scratch("out")
    if machine.gpus():
        skip("this machine has a GPU")
    check_exit(run([sys.executable, folder / "run_parts.py", "--out", out]), 0)
    check("skipped: no GPU" in (out / "results.md").read_text(), "the table does not show that the part was skipped")
    job = run([sys.executable, folder / "run_parts.py", "--out", out, "--only", "wroks"])
    check(job.code == 1 and "wroks" in job.err and "works" in job.err, "the error does not name the part and the valid ones", job)


@test
def only_accepts_all_parts_and_all_scripts_of_the_part_with_several():
    names = ("correct", "cases", "programs", "restarts", "frameworks", "train")
    job = run([sys.executable, PARTS / "run_parts.py", "--out", scratch("out"), "--only", ",".join(names), "--time", 1])
    check_exit(job, 0)
    for name in names:
        check(f"{name}: skipped" in job.out, f"'{name}' was not reported as skipped", job)


@test
def the_words_of_parts_select_each_test_of_the_restarts_once():
    text = (PARTS / "run_parts.py").read_text()
    words = [line.split()[1:] for line in re.findall(r'"(restarts [^"]*)"', text)]
    names = re.findall(r"^def (\w+)\(\):|^add_test\(\"([^\"]*)\"", re.sub(r"^def same_bits_after.*", "", (PARTS / "restarts.py").read_text(), flags=re.M), re.M)
    for name in (function or title for function, title in names):
        times = sum(any(word in name for word in each) for each in words)
        equal(times, 1, f"runs of '{name}' with the words of PARTS")


def unpacked(program, at, libraries=()):
    """Returns a packed folder with one program and with empty files as libraries."""
    folder = scratch("unpacked")
    (folder / at).parent.mkdir(parents=True)
    (folder / "lib").mkdir()
    shutil.copy(program, folder / at)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    for name in libraries:
        (folder / "lib" / name).touch()
    return folder


def libraries_of(program):
    return re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout)


@test
def the_error_for_a_missing_library_names_the_packed_file_and_the_library():
    program = BUILD / "modules/h5_examiner"
    job = run(["bash", PACK / "needed.sh", unpacked(program, "some/folder/h5_examiner")])
    check(job.code == 1, "a missing library was accepted", job)
    check("some/folder/h5_examiner needs lib" in job.out, "the file and its library are not named", job)
    check_exit(run(["bash", PACK / "needed.sh", unpacked(program, "some/folder/h5_examiner", libraries_of(program))]), 0)
    check_exit(run(["bash", PACK / "needed.sh", unpacked(PACK / "needed.sh", "no/program")]), 1)


def verdict_of(skipped, tried):
    folder = scratch("verdict")
    for name, parts in (("skipped", skipped), ("tried", tried)):
        (folder / f"{name}.json").write_text(json.dumps({"parts": parts}))
    return run([sys.executable, PACK / "verdict.py", folder / "skipped.json", folder / "tried.json"])


@test
def a_rehearsal_fails_if_a_part_failed_was_stopped_printed_nothing_or_ran_without_a_gpu():
    skipped = {"correct": {"end": "skipped: no GPU: nvidia-smi is missing", "seconds": 0, "rows": []}}
    row = {"kind": "ok", "name": "it holds", "seconds": "1"}
    tried = lambda end="done", rows=(row,): {"correct": {"end": end, "seconds": 1, "rows": list(rows)}}  # noqa: E731
    job = verdict_of(skipped, tried())
    check_exit(job, 0)
    check("correct" in job.out and "done" in job.out, "the table lacks the part", job)
    for why, bad in (("it breaks: why", (skipped, tried(rows=(row, {"kind": "failed", "name": "it breaks", "why": "why"})))),
                     ("stopped after 3 s", (skipped, tried("stopped after 3 s: correct"))), ("no result", (skipped, tried(rows=()))),
                     ("there is no GPU", (tried(), tried())), ("no part ran", (skipped, {}))):
        job = verdict_of(*bad)
        check(job.code == 1 and why in job.out, f"no failure that names '{why}'", job)


main()
