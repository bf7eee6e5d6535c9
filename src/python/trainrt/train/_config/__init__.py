"""Configs of a Trainer, and their translation into keys of trainrt's config."""
