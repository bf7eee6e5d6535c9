"""Helpers without a public name: files, notes, pickling, side processes."""
