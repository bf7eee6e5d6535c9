"""Session of a train function: context, reports, checkpoints and dataset shards."""
