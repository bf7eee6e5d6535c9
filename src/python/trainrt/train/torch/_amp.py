"""accelerate(), prepare_optimizer(), backward(): mixed precision by the names of Ray Train 1."""

import torch

_enabled = False
_scaler = None


def accelerate(amp=False):
    """amp=True: models of prepare_model() compute in mixed precision from now on, and losses are scaled on GPUs; call it first."""
    global _enabled, _scaler
    _enabled = bool(amp)
    _scaler = torch.cuda.amp.GradScaler() if amp and torch.cuda.is_available() else None


def autocast_forward(model, device):
    if _enabled:
        model.forward = torch.autocast(device.type)(model.forward)


def backward(tensor):
    """loss.backward(), of the scaled loss if accelerate(amp=True) has asked for it."""
    (_scaler.scale(tensor) if _scaler is not None else tensor).backward()


def prepare_optimizer(optimizer):
    """The optimizer, whose steps undo the scaling of backward()."""
    return ScaledOptimizer(optimizer, _scaler) if _scaler is not None else optimizer


class ScaledOptimizer(torch.optim.Optimizer):
    """A view of an optimizer: only step() is another."""

    def __init__(self, optimizer, scaler):  # pylint: disable=super-init-not-called
        self.__dict__.update(optimizer.__dict__)
        self.optimizer, self.scaler = optimizer, scaler

    def zero_grad(self, *args, **kwargs):
        self.optimizer.zero_grad(*args, **kwargs)

    def step(self, closure=None):
        if closure is not None:
            raise ValueError("a step with a closure cannot be scaled: call step() without one, or prepare no optimizer")
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def add_param_group(self, param_group):
        self.optimizer.add_param_group(param_group)

    def state_dict(self):
        return self.optimizer.state_dict()

    def load_state_dict(self, state_dict):
        self.optimizer.load_state_dict(state_dict)
        self.__dict__.update({name: getattr(self.optimizer, name) for name in ("state", "param_groups")})
