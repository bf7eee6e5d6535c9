"""Signals by which batch systems and users stop a run."""

import signal

STOP_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
