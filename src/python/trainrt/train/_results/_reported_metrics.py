"""ReportedMetrics: a report as a dict whose comparison ignores what trainrt added to it."""


class ReportedMetrics(dict):
    """Metrics of a report. `==` ignores the metrics in `added`, which trainrt added, if the other dict lacks them:
    `result.metrics == {"loss": 0.5}` is true if the train function reported only `loss`.

    Examples
    --------
    >>> from trainrt.train._results._reported_metrics import ReportedMetrics
    >>> metrics = ReportedMetrics({"loss": 0.5, "done": True}, added={"done"})
    >>> metrics == {"loss": 0.5}, metrics == {"loss": 0.5, "done": False}, metrics == {}
    (True, False, False)
    """

    def __init__(self, metrics=(), added=()):
        super().__init__(metrics)
        self.added = frozenset(added)

    def __eq__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        if self.keys() - other.keys() - self.added or other.keys() - self.keys() - getattr(other, "added", frozenset()):
            return False
        return all(self[name] is other[name] or self[name] == other[name] for name in self.keys() & other.keys())

    def __ne__(self, other):
        is_equal = self.__eq__(other)
        return is_equal if is_equal is NotImplemented else not is_equal

    __hash__ = None

    def copy(self):
        return ReportedMetrics(self, self.added)

    def with_more(self, more):
        """Returns a copy with further metrics, which count as reported."""
        return ReportedMetrics({**self, **more}, self.added - more.keys())
