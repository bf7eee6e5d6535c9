"""Names of Ray Core: tasks, actors and objects in memory. trainrt has processes of one job instead."""

_ONE_JOB = "The ranks of a run are processes of one Slurm job: call functions in the train function, or start another job step with srun."
_VALUES = "Pass values by train_loop_config=, datasets by datasets=, and exchange values between ranks by trainrt.train.collective."

HOMES: dict = {}
ALIASES: dict = {}
UNSUPPORTED = {"": {
    "remote": _ONE_JOB,
    "get_actor": _ONE_JOB,
    "kill": _ONE_JOB,
    "cancel": _ONE_JOB,
    "method": _ONE_JOB,
    "get": _VALUES,
    "put": _VALUES,
    "wait": _VALUES,
    "nodes": "TrainContext.get_world_size(), get_node_rank() and get_local_world_size() describe the ranks; scontrol show job lists the nodes.",
    "timeline": "`trainrt result RUN_DIR` shows how much time the run has spent in each activity.",
    "serve": "`trainrt predict` computes predictions of a checkpoint for a dataset.",
    "rllib": "A train function may use any library for reinforcement learning.",
    "workflow": "Use dependent Slurm jobs; jobs/chains has scripts.",
}}
