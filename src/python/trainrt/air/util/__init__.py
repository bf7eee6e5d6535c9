"""Helpers of Ray AIR."""
