"""Fakes of services and libraries that a test machine does not have."""
