#!/usr/bin/python3
"""Time from the kill -9 of a rank to the first report after the restart in the same allocation: jobs/train.sbatch on the tests' Slurm
with 2 nodes and one rank per node. Slurm's PMIx plugin does not report the killed rank there, so `trainrt supervise` ends the step.

The time includes 3 s in which a step may end on its own, 1 s before the restart, the start of srun and MPI, the load, and the steps
until the first report.
"""
import sys
import time
from pathlib import Path

from bench import BUILD, TRAINRT, Bench, median, need

sys.argv[1:] = [str(BUILD)]  # read by the harness of the tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import cluster  # noqa: E402
import harness  # noqa: E402


def seconds_to_restart(nodes, folder, number):
    """Kills a rank of a new run after some reports; returns the seconds until the first report of the next attempt."""
    config = harness.linear_config(folder, f"run{number}", {"epochs": 100000, "batch_size": 16, "step_pause": 0.001}, {"samples": 512, "features": 64},
                                   {"every": "2 reports"})
    run_dir = harness.run_dir_of(config)
    job = nodes.sbatch(["-N2", "-n2", "-c1"], config)
    harness.wait_until(lambda: harness.report_count(run_dir) >= 10, 60, "10 reports", job)
    start, wall = time.monotonic(), time.time()
    harness.kill([job.ranks()[1]])
    # Waits for a report that was made after the kill. It must be one of the second attempt, because the surviving rank of the first attempt
    # makes no report.
    harness.wait_until(lambda: len(harness.attempts(run_dir)) == 2 and any(row["_timestamp"] > wall + 0.5 for row in harness.reports(run_dir)[-3:]), 90,
                       "a report of the second attempt", job)
    took = time.monotonic() - start
    job.cancel()
    harness.wait_until(lambda: not job.ranks() and job.state() not in ("RUNNING", "COMPLETING"), 60, "the job to end", job)
    return took


def main():
    need(TRAINRT, "trainrt")
    bench = Bench("restart", __doc__.strip())
    nodes = cluster.Cluster("restart")
    bench.note_command("restart", ["sbatch", "-N2", "-n2", "-c1", "jobs/train.sbatch", "run.ini"])
    try:
        nodes.up(2)
        count = iter(range(100))
        figures = bench.interleaved(5, {"death_to_first_report_s": lambda: seconds_to_restart(nodes, bench.fresh("runs"), next(count))})
    except harness.Skipped as reason:
        print(f"skipped: {reason}", flush=True)
        return
    except harness.Failure as failure:
        sys.exit(f"restart: {failure}")
    finally:
        nodes.down()
    bench.claim("death_to_first_report_s", median(figures["death_to_first_report_s"]), "<=", 10)
    bench.finish()


main()
