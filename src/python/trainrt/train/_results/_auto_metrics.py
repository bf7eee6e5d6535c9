"""Metrics of Ray Tune in each report of a Result: times, counters, host and config. They are computed from the records of the run, and are not
stored in result.json."""

import time

from ._reported_metrics import ReportedMetrics

# The runtime adds these three metrics to each report.
_ITERATION, _TIME, _SECONDS = "_training_iteration", "_timestamp", "_time_this_iter_s"
NAMES = frozenset(("config", "date", "done", "episodes_total", "experiment_id", "experiment_tag", "hostname", "iterations_since_restore", "node_ip", "pid",
                   "should_checkpoint", "time_since_restore", "time_this_iter_s", "time_total_s", "timestamp", "timesteps_since_restore",
                   "timesteps_total", "training_iteration", "trial_id", "warmup_time"))


def is_added(name):
    """Returns whether `name` is a metric that trainrt adds to reports."""
    return is_of_runtime(name) or name in NAMES


def is_of_runtime(name):
    """Returns whether the runtime adds the metric. "_metric" is a number that a Tune function has returned without a name."""
    return name.startswith("_") and name != "_metric"


def completed(reports, run_id, config, is_finished, attempts=(), workers=(), checkpointed=()):
    """Returns the reports with the metrics of Ray Tune, as ReportedMetrics. A metric that the train function reported under the same name is kept.

    `attempts`: records of the run's attempts, oldest first. `workers`: host, address and process ID of rank 0 in each attempt, `worker["attempt"]`.
    `checkpointed`: iterations whose checkpoints are kept.
    """
    found, total_s = [], 0.0
    since_s, attempt = 0.0, None
    for number, report in enumerate(reports, 1):
        iteration, seconds = report.get(_ITERATION, number), report.get(_SECONDS) or 0.0
        of_report = _attempt_of(iteration, attempts)
        since_s = seconds if of_report is not attempt else since_s + seconds
        attempt, total_s = of_report, total_s + seconds
        first = (attempt or {}).get("first_iteration") or 0
        added = {**_constants(run_id, config), **_host(attempt, workers), "done": is_finished and number == len(reports),
                 "should_checkpoint": iteration in checkpointed, "time_this_iter_s": seconds, "time_total_s": total_s,
                 "time_since_restore": since_s, "iterations_since_restore": iteration - first, "training_iteration": iteration,
                 "timestamp": report.get(_TIME), "date": _date(report.get(_TIME)),
                 "warmup_time": ((attempt or {}).get("timing") or {}).get("startup_s")}
        added = {name: value for name, value in added.items() if name not in report}
        found.append(ReportedMetrics({**report, **added}, [*added, *filter(is_of_runtime, report)]))
    return found


def with_config(reports, config):
    """Replaces the metric `config` of each report by the argument `config` if the metric is an empty dict. Keeps a `config` that the train function
    reported."""
    for report in reports:
        if isinstance(report.get("config"), dict) and not report["config"]:
            report["config"] = {} if config is None else config


def flat(report):
    """Returns the report for a table: the values of its config are columns such as config/lr."""
    config = report.get("config")
    if not isinstance(config, dict):
        return report
    return {**{name: value for name, value in report.items() if name != "config"}, **_flat(config, "config")}


def _constants(run_id, config):
    return {"config": {} if config is None else config, "trial_id": run_id, "experiment_id": run_id, "experiment_tag": "0", "episodes_total": None,
            "timesteps_total": None, "timesteps_since_restore": 0}


def _attempt_of(iteration, attempts):
    """Returns the record of the newest attempt that made the report, or `None`. An attempt that failed before it was restored made no report, although its
    record has the first iteration 0. The record of a killed attempt may lack its last reports; these count for the newest attempt that began before them."""
    began = [each for each in reversed(attempts) if (each.get("first_iteration") or 0) < iteration]
    return next((each for each in began if not each.get("end") or iteration <= (each.get("iteration") or 0)), began[0] if began else None)


def _host(attempt, workers):
    for worker in workers:
        if attempt is None or worker.get("attempt") == attempt.get("attempt"):
            return {name: worker.get(name) for name in ("hostname", "node_ip", "pid")}
    attempt = attempt or {}
    return {"hostname": next(iter(attempt.get("nodes") or ()), None), "node_ip": attempt.get("address"), "pid": None}


def _date(timestamp):
    return time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(timestamp)) if timestamp else None


def _flat(values, prefix):
    found = {}
    for name, value in values.items():
        found.update(_flat(value, f"{prefix}/{name}") if isinstance(value, dict) and value else {f"{prefix}/{name}": value})
    return found
