"""Names of ray.air, which Ray itself has moved to ray.train, and of its internal management of resources."""

_RESOURCES = "Slurm allocates the resources: use ScalingConfig(num_workers=, resources_per_worker=) or options of sbatch."
_BATCHES = "Batches are dicts of NumPy arrays; iter_batches(batch_format=\"pandas\") gives frames."

HOMES = {
    "air.checkpoint": "train",
    "air.result": "train",
}
ALIASES: dict = {}
UNSUPPORTED = {
    "air": {"AcquiredResources": _RESOURCES, "DataBatchType": _BATCHES, "ResourceRequest": _RESOURCES},
    "air.execution": {name: _RESOURCES for name in ("AcquiredResources", "FixedResourceManager", "PlacementGroupResourceManager", "ResourceManager",
                                                    "ResourceRequest")},
    "air.execution.resources": {name: _RESOURCES for name in ("AcquiredResources", "FixedResourceManager", "PlacementGroupResourceManager",
                                                              "ResourceManager", "ResourceRequest")},
    "air.util.data_batch_conversion": {"BatchFormat": _BATCHES, "BlockFormat": _BATCHES, "convert_batch_type_to_pandas": _BATCHES,
                                       "convert_pandas_to_batch_type": _BATCHES},
}
