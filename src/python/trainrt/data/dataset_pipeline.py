"""Ray's module ray.data.dataset_pipeline."""

from ._dataset import DatasetPipeline

__all__ = ["DatasetPipeline"]
