"""Ray's older places of callbacks."""
