"""Ray's module ray.data.context."""

from ._context import DataContext, ExecutionOptions, ExecutionResources

__all__ = ["DataContext", "ExecutionOptions", "ExecutionResources"]
