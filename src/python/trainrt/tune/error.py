"""Errors of tune.run()."""


class TuneError(Exception):
    """Raised by `tune.run()` if trials have failed."""


__all__ = ["TuneError"]
