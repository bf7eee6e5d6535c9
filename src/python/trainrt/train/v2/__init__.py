"""Package of Ray Train's second version, for scripts that import from it."""
