"""Evaluates checkpoints in side processes during the training."""
