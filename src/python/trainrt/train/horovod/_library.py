"""Imports Horovod, or raises ImportError with the command that installs it."""

try:
    import horovod
except ImportError as error:
    raise ImportError(f"trainrt.train.horovod needs Horovod (HOROVOD_WITH_GLOO=1 pip install horovod): {error}") from None

__all__ = ["horovod"]
