"""Callbacks for trials of a Tuner, under the module names of Ray Tune. They are those of trainrt.train."""
