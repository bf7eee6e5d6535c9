"""Configs, programs and checks for one kind of run each."""
