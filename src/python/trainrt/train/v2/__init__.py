"""Package that scripts for Ray Train V2 import from."""
