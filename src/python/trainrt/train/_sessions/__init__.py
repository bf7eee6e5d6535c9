"""The session of a train function: context, report, datasets."""
