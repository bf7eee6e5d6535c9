"""Readers of files and pages, and installers, that tests and make targets use."""
