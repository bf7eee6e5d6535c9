"""Calls train.report() with ten metrics argv[1] times, then barrier() as often; rank 0 prints the median microseconds of each."""
import statistics
import sys
import time

from trainrt import train
from trainrt.train import DataParallelTrainer, collective

WARM_CALLS = 100


def median_us(call, count):
    took = []
    for number in range(WARM_CALLS + count):
        start = time.perf_counter()
        call(number)
        took.append(time.perf_counter() - start)
    return 1e6 * statistics.median(took[WARM_CALLS:])


def train_function():
    metrics = {f"metric_{name}": 0.1 for name in "abcdefghij"}

    def report(number):
        metrics["metric_a"] = number / 3
        train.report(metrics)

    figures = {"report_us": median_us(report, int(sys.argv[1])), "barrier_us": median_us(lambda _: collective.barrier(), int(sys.argv[1]))}
    if train.get_context().get_world_rank() == 0:
        print(*(f"{name} {value:.2f}" for name, value in figures.items()), flush=True)


DataParallelTrainer(train_function).fit()
