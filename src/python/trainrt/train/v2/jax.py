"""ray.train.v2.jax."""

from ..jax import JaxConfig, JaxTrainer

__all__ = ["JaxConfig", "JaxTrainer"]
