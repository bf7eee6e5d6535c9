"""Imports XGBoost, or raises ImportError with the command that installs it."""

try:
    import xgboost
except ImportError as error:
    raise ImportError(f"trainrt.train.xgboost needs XGBoost (pip install xgboost-cpu, or Debian's python3-xgboost): {error}") from None

__all__ = ["xgboost"]
