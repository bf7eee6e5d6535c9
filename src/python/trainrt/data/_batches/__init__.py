"""Batches of a rank: the processes that read and map them, and the iterators."""
