"""Backend and BackendConfig: what a framework needs set up around the train function."""

from contextlib import nullcontext


class Backend:
    """Hooks that every rank runs, in this order: on_start, on_training_start, the train function, on_shutdown. What Ray Train lets a
    driver do to its workers, each rank does here together with the others: `worker_group.execute(f)` runs f on all ranks."""

    share_cuda_visible_devices = False

    def on_start(self, worker_group, backend_config):
        """Before the session: get_context() answers, report() does not."""

    def on_training_start(self, worker_group, backend_config):
        """Right before the train function."""

    def on_shutdown(self, worker_group, backend_config):
        """After the train function has returned on all ranks; not after one that failed, since the others may hang."""


class BackendConfig:
    """The arguments of a Backend; `backend_cls` names it."""

    @property
    def backend_cls(self):
        return Backend

    @property
    def train_func_context(self):
        """What makes a context manager around the train function."""
        return nullcontext
