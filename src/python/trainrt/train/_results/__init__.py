"""Reads run directories: checkpoints, reports and the Result of a run."""
