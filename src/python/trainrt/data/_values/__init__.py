"""Columns of samples, and checks of arguments."""
