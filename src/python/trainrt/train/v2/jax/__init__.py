"""Module of Ray Train that scripts import JaxTrainer from."""

from ...jax import JaxConfig, JaxTrainer

__all__ = ["JaxConfig", "JaxTrainer"]
