"""Searchers and schedulers that decide in the script of a Tuner."""
