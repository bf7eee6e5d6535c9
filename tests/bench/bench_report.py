#!/usr/bin/python3
"""Time that report() of three metrics without a checkpoint takes: median of 2000 calls, on 1 and 2 local ranks."""
import re
import sys

from bench import BUILD, MPIEXEC, TRAINRT, Bench, median, need, with_file

LIBRARY = BUILD / "bench/report_loop.so"


def report_microseconds(bench, ranks):
    path = with_file(bench.work / "report.ini", f"[run]\nname = report\nstorage_path = {bench.fresh('runs')}\n"
                     f"[train]\nlibrary = {LIBRARY}\n[loop]\nreports = 2000\n[checkpoint]\nevery = off\n")
    _, output = bench.run(f"{ranks} ranks", [MPIEXEC, "-n", ranks, TRAINRT, "--config", path])
    found = re.search(r"report_median_us=([0-9.e+-]+)", output)
    if not found:
        sys.exit(f"report: no figure in the output:\n{output[-2000:]}")
    return float(found.group(1))


def main():
    need(TRAINRT, "trainrt")
    need(LIBRARY, "report_loop.so")
    need(MPIEXEC, "mpiexec")
    bench = Bench("report", __doc__.strip())
    figures = bench.interleaved(5, {"report_1_rank_us": lambda: report_microseconds(bench, 1),
                                    "report_2_ranks_us": lambda: report_microseconds(bench, 2)})
    bench.claim("report_median_us_1_rank", median(figures["report_1_rank_us"]), "<=", 200)
    bench.claim("report_median_us_2_ranks", median(figures["report_2_ranks_us"]), "<=", 200)
    bench.finish()


main()
