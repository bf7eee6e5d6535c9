"""Note about sums of torch.distributed whose bits differ after a restart."""

from __future__ import annotations

import sys

from .._support import _notes


def note_sums_of_gloo() -> None:
    """Prints a note if the default group of torch.distributed is gloo with 3 or more ranks. Does not import torch.

    DistributedDataParallel rebuilds its buckets after its first backward pass (Reducer::rebuild_buckets in PyTorch's reducer.cpp), so the first step after
    a restart has other buckets than the same step without a restart. The order in which gloo adds the values of 3 or more ranks depends on the position of
    the values in the bucket.
    """
    torch = sys.modules.get("torch.distributed")
    if torch is None or not torch.is_available() or not torch.is_initialized():
        return
    ranks = torch.get_world_size()
    if ranks >= 3 and "gloo" in str(torch.get_backend()):
        _notes.say(f"torch.distributed uses gloo with {ranks} ranks: in the first step after a restart, DistributedDataParallel over gloo adds gradients in "
                   f"another order, so that the bits may differ from those of an uninterrupted run. For equal bits, use prepare_model(), or "
                   f"import trainrt.train.torch and init_process_group(\"trainrt\")")
