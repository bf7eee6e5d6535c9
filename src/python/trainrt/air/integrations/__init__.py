"""Callbacks and functions for trackers and Keras, under the module names of Ray AIR."""
