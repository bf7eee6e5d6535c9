"""Private helpers that depend on no other part of the package: files, notes, pickling, side processes."""
