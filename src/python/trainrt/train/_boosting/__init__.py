"""Shared by XGBoostTrainer and LightGBMTrainer: reports, tables of datasets, boosting rounds and arguments."""
