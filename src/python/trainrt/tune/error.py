"""Errors of tune.run()."""


class TuneError(Exception):
    """Raised by `tune.run()` if trials have failed.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.TuneError("1 of 2 trials failed")
    TuneError('1 of 2 trials failed')
    """


__all__ = ["TuneError"]
