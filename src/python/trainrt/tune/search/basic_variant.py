"""Module of Ray Tune that scripts import BasicVariantGenerator from."""

from . import BasicVariantGenerator

__all__ = ["BasicVariantGenerator"]
