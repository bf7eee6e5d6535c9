"""Callbacks under the module names of Ray AIR."""
