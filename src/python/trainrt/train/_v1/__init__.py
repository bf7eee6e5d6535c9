"""Names of Ray Train V1."""
