"""Ray Train's names for Hugging Face's libraries. Accelerate needs no such name: call Accelerator() in the train function of a TorchTrainer."""

from .accelerate import AccelerateTrainer
from .transformers import TransformersCheckpoint, TransformersTrainer

__all__ = ["AccelerateTrainer", "TransformersCheckpoint", "TransformersTrainer"]
