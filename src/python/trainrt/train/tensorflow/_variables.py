"""Variables of TensorFlow as leaves of a checkpoint. Of one that a strategy distributes over the workers, the part of this worker is taken: nothing is
read from the others."""

from ..._support._host_leaf import HostLeaf


def tensorflow_leaves(name, variable):
    """Mirrored variables are the same on all ranks. What each replica has its own of (on_read: moving averages, metrics) is a part of a sum, if it is read
    as one, else the rank's own."""
    components = list(getattr(variable, "values", None) or [variable])
    if not _is_on_read(variable):
        return [_leaf(name, components[0], components)]
    placement = "part_of_sum" if _is_sum(variable) and variable.dtype.is_floating else "per_rank"
    if len(components) == 1:
        return [_leaf(name, components[0], components, placement)]
    return [_leaf(f"{name}/replica_{number}", component, [component], placement) for number, component in enumerate(components)]


def _leaf(name, component, all_of_it, placement=None):
    def write(array):
        for each in all_of_it:
            each.assign(array)

    dtype = component.dtype.as_numpy_dtype
    if component.shape.rank is None or any(extent is None for extent in component.shape):
        raise ValueError(f"the variable '{name}' has the shape {component.shape}, and a checkpoint needs one that is fixed")
    return HostLeaf(name, component.shape.as_list(), dtype, component.numpy, write, placement=placement)


def _is_on_read(variable):
    import tensorflow
    return getattr(variable, "values", None) is not None and variable.synchronization == tensorflow.VariableSynchronization.ON_READ


def _is_sum(variable):
    import tensorflow
    return variable.aggregation == tensorflow.VariableAggregation.SUM
