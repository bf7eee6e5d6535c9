"""Mixed precision with the functions of Ray Train 1: accelerate(), prepare_optimizer() and backward()."""

from __future__ import annotations

from typing import Any

import torch

_enabled = False
_scaler: Any = None


def accelerate(amp: bool = False) -> None:
    """Switches mixed precision on or off for later calls of prepare_model(), prepare_optimizer() and backward(). On GPUs, backward() then scales losses.

    Examples
    --------
    >>> from trainrt.train.torch import accelerate
    >>> accelerate(amp=False)
    """
    global _enabled, _scaler
    _enabled = bool(amp)
    _scaler = torch.cuda.amp.GradScaler() if amp and torch.cuda.is_available() else None


def autocast_forward(model: torch.nn.Module, device: torch.device) -> None:
    """Makes forward() of the model use mixed precision, if accelerate(amp=True) was called."""
    if _enabled:
        model.forward = torch.autocast(device.type)(model.forward)


def backward(tensor: torch.Tensor) -> None:
    """Calls backward() of `tensor`. After accelerate(amp=True) on a GPU, scales the loss `tensor` first.

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import backward
    >>> weight = torch.ones(1, requires_grad=True)
    >>> backward(3 * weight.sum())
    >>> weight.grad
    tensor([3.])
    """
    (_scaler.scale(tensor) if _scaler is not None else tensor).backward()


def prepare_optimizer(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """Returns an optimizer with a step() that reverses the scaling of backward(). Returns `optimizer` itself if losses are not scaled.

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import prepare_optimizer
    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    >>> prepare_optimizer(optimizer) is optimizer
    True
    """
    return ScaledOptimizer(optimizer, _scaler) if _scaler is not None else optimizer


class ScaledOptimizer(torch.optim.Optimizer):
    """Forwards all calls to `optimizer`. step() first divides the gradients by the factor by which backward() has scaled the loss."""

    def __init__(self, optimizer, scaler):  # pylint: disable=super-init-not-called
        self.__dict__.update(optimizer.__dict__)
        self.optimizer, self.scaler = optimizer, scaler

    def zero_grad(self, *args, **kwargs):
        self.optimizer.zero_grad(*args, **kwargs)

    def step(self, closure=None):
        if closure is not None:
            raise ValueError("step() with a closure does not support scaled gradients: call step() without one, or do not use prepare_optimizer()")
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def add_param_group(self, param_group):
        self.optimizer.add_param_group(param_group)

    def state_dict(self):
        return self.optimizer.state_dict()

    def load_state_dict(self, state_dict):
        self.optimizer.load_state_dict(state_dict)
        self.__dict__.update({name: getattr(self.optimizer, name) for name in ("state", "param_groups")})
