"""Validation functions, run in side processes."""
