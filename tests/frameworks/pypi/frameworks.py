"""The frameworks of PyPI whose unchanged scripts are run. A new framework needs a row here, a script in ../scripts, and its pinned packages
in ../requirements."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Framework:
    name: str
    script: str  # file of ../scripts
    environment: str  # folder of its virtual environment; frameworks may share one
    requirements: tuple  # files of ../requirements, in the order of their installation
    package: str  # its version is shown
    words: tuple = ()  # arguments of the script
    saves: bool = False  # the script continues from its own checkpoints
    variables: dict = field(default_factory=dict)  # set by users of the framework


TORCH = ("torch", ("torch",))

FRAMEWORKS = [
    Framework("torch_DDP", "torch_ddp.py", *TORCH, "torch", saves=True),
    Framework("torch_FSDP2", "torch_fsdp2.py", *TORCH, "torch", saves=True),
    Framework("torch_DCP_in_the_run", "torch_dcp.py", *TORCH, "torch", saves=True),
    Framework("torch_FSDP2_over_trainrt", "torch_fsdp2.py", *TORCH, "torch", ("--backend", "trainrt"), saves=True),
    Framework("Lightning", "lightning_trainer.py", *TORCH, "lightning", saves=True),
    Framework("Transformers", "transformers_trainer.py", *TORCH, "transformers", saves=True, variables={"HF_HUB_OFFLINE": "1"}),
    Framework("Accelerate", "accelerate_loop.py", *TORCH, "accelerate"),
    Framework("DeepSpeed_ZeRO_2", "deepspeed_zero.py", "torch", ("torch", "deepspeed"), "deepspeed", ("--stage", 2)),
    Framework("DeepSpeed_ZeRO_3", "deepspeed_zero.py", "torch", ("torch", "deepspeed"), "deepspeed", ("--stage", 3)),
    Framework("JAX", "jax_distributed.py", *TORCH, "jax"),
    Framework("Keras_on_JAX", "keras_jax.py", *TORCH, "keras"),
    Framework("Keras_on_torch", "keras_torch.py", *TORCH, "keras"),
    Framework("TensorFlow_own_loop", "tensorflow_loop.py", "tensorflow", ("tensorflow", "tf_keras"), "tensorflow-cpu"),
    Framework("TensorFlow_fit", "tensorflow_fit.py", "tensorflow", ("tensorflow", "tf_keras"), "tf_keras"),
    Framework("XGBoost", "xgboost_collective.py", *TORCH, "xgboost-cpu"),
    Framework("LightGBM", "lightgbm_sockets.py", *TORCH, "lightgbm"),
    Framework("Horovod", "horovod_torch.py", "horovod", ("pybind11", "horovod"), "horovod"),
    Framework("mpi4py", "mpi4py_average.py", "mpi4py", ("mpi4py",), "mpi4py"),
]
