"""Names of ray.air.session: the functions that a train function calls."""

from ..train import get_checkpoint, get_context, get_dataset_shard, report

__all__ = ["get_checkpoint", "get_dataset_shard", "get_experiment_name", "get_local_rank", "get_local_world_size", "get_node_rank",
           "get_trial_dir", "get_trial_id", "get_trial_name", "get_trial_resources", "get_world_rank", "get_world_size", "report"]

get_experiment_name = get_context().get_experiment_name
get_local_rank = get_context().get_local_rank
get_local_world_size = get_context().get_local_world_size
get_node_rank = get_context().get_node_rank
get_trial_dir = get_context().get_trial_dir
get_trial_id = get_context().get_trial_id
get_trial_name = get_context().get_trial_name
get_trial_resources = get_context().get_trial_resources
get_world_rank = get_context().get_world_rank
get_world_size = get_context().get_world_size
