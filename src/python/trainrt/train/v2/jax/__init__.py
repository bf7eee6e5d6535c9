"""Has the same path as the module train.v2.jax of Ray Train, from which scripts for Ray import JaxTrainer."""

from ...jax import JaxConfig, JaxTrainer

__all__ = ["JaxConfig", "JaxTrainer"]
