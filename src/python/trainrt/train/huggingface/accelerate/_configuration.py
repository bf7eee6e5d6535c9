"""The configuration of Accelerate: its file, and the environment variables that `accelerate launch` would set for it."""

import importlib
import json
import os
import tempfile

from ...._client.values import kind_of

_PREFIXES = ("ACCELERATE_", "FSDP_", "MEGATRON_LM_", "PARALLELISM_CONFIG_")
_OF_THE_LAUNCH = ("ACCELERATE_USE_CPU", "ACCELERATE_TORCH_DEVICE", "ACCELERATE_CPU_AFFINITY")  # trainrt chooses devices and CPUs
_TOPOLOGY = ("num_machines", "num_processes", "machine_rank", "gpu_ids", "num_cpu_threads_per_process", "main_process_ip", "main_process_port",
             "same_network", "cpu", "use_cpu", "rdzv_backend", "main_training_function", "enable_cpu_affinity")


def read(config):
    """Returns the configuration as a dict, {} if no configuration exists. `config`: a dict, the path of a file, or `None` for Accelerate's default file. Raises
    TypeError, FileNotFoundError or ValueError."""
    if config is None:
        config = importlib.import_module("accelerate.commands.config.config_args").default_config_file
        if not os.path.isfile(config):
            return {}
    if isinstance(config, dict):
        return dict(config)
    if not isinstance(config, (str, os.PathLike)):
        raise TypeError(f"accelerate_config={config!r}: must be a dict or the path of a file, not {kind_of(config)}")
    path = os.path.abspath(os.path.expanduser(os.fspath(config)))
    yaml = importlib.import_module("yaml")
    try:
        with open(path, encoding="utf-8") as file:
            content = yaml.safe_load(file)
    except FileNotFoundError:
        raise FileNotFoundError(f"accelerate_config={os.fspath(config)!r}: the file {path} does not exist; `accelerate config --config_file {path}` writes "
                                f"it") from None
    except yaml.YAMLError as error:
        raise ValueError(f"accelerate_config={os.fspath(config)!r}: {path} is not valid YAML: {error}") from None
    if not isinstance(content or {}, dict):
        raise ValueError(f"accelerate_config={os.fspath(config)!r}: {path} has {kind_of(content)}; it must have keys and values")
    return content or {}


def variables(config):
    """Returns the environment variables for a configuration. Raises ValueError if Accelerate rejects it."""
    if not config:
        return {}
    launch, settings = (importlib.import_module(f"accelerate.{name}") for name in ("commands.launch", "utils.launch"))
    args = launch.launch_command_parser().parse_args(["--main_process_port", "0", "script"])
    with tempfile.TemporaryDirectory(prefix="trainrt_accelerate_") as folder:
        args.config_file = os.path.join(folder, "config.json")
        with open(args.config_file, "w", encoding="utf-8") as file:
            json.dump(_complete(config), file)
        try:
            args = launch._validate_launch_command(args)[0]
            args.deepspeed_fields_from_accelerate_config = ",".join([*config.get("deepspeed_config", ()), *({"mixed_precision"} & set(config))])
            found = settings.prepare_deepspeed_cmd_env(args)[1] if args.use_deepspeed else settings.prepare_multi_gpu_env(args)
        except (TypeError, ValueError, KeyError) as error:
            raise ValueError(f"accelerate_config={config!r}: Accelerate rejects the configuration: {error}") from None
    return {name: value for name, value in found.items()
            if name.startswith(_PREFIXES) and name not in _OF_THE_LAUNCH and os.environ.get(name) != value}


def _complete(config):
    """Returns the configuration with the keys that Accelerate requires, for one process: the launch has started the others."""
    kind = "DEEPSPEED" if config.get("deepspeed_config") else "FSDP" if config.get("fsdp_config") else "NO"
    kept = {name: value for name, value in config.items() if name not in _TOPOLOGY}
    return {"compute_environment": "LOCAL_MACHINE", "distributed_type": kind, "mixed_precision": "no", "debug": False, **kept,
            "num_processes": 1, "num_machines": 1, "machine_rank": 0, "use_cpu": False}
