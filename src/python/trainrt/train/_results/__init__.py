"""What a run leaves: checkpoints, results, the run directory."""
