"""Configurations that a user passes to a trainer."""
