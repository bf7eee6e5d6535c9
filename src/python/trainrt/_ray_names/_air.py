"""Names of ray.air: those that Ray itself has moved to ray.train, and those of Ray's internal management of resources."""

_RESOURCES = "Slurm allocates the resources: use ScalingConfig(num_workers=, resources_per_worker=) or options of sbatch."
_BATCHES = "Batches are dicts of NumPy arrays; iter_batches(batch_format=\"pandas\") gives frames."

HOMES = {
    "air.checkpoint": "train",
    "air.result": "train",
    "data.util.data_batch_conversion": "air.util.data_batch_conversion",
}
ALIASES = {f"{path}.ResourceRequest": "air.ResourceRequest" for path in ("air.execution", "air.execution.resources", "air.execution.resources.request")}
UNSUPPORTED = {
    "air": {"AcquiredResources": _RESOURCES, "DataBatchType": _BATCHES},
    "air.execution": {name: _RESOURCES for name in ("AcquiredResources", "FixedResourceManager", "PlacementGroupResourceManager", "ResourceManager")},
    "air.execution.resources": {name: _RESOURCES for name in ("AcquiredResources", "FixedResourceManager", "PlacementGroupResourceManager",
                                                              "ResourceManager")},
}
