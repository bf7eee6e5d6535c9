"""Leaves of a checkpoint for variables of TensorFlow. For a variable that a strategy distributes over the workers, only the part of this worker is read."""

from ..._support._host_leaf import HostLeaf


def tensorflow_leaves(name, variable):
    """Returns the HostLeafs of a variable.

    A mirrored variable is equal on all ranks. A variable that is synchronized when it is read (moving averages, metrics) is a part of a sum if it is summed,
    and otherwise a value of the rank; it has a leaf per replica. Raises ValueError if the shape of the variable is not fixed.
    """
    components = list(getattr(variable, "values", None) or [variable])
    if not _is_synchronized_on_read(variable):
        return [_leaf(name, components[0], components)]
    placement = "part_of_sum" if _is_sum(variable) and variable.dtype.is_floating else "per_rank"
    if len(components) == 1:
        return [_leaf(name, components[0], components, placement)]
    return [_leaf(f"{name}/replica_{number}", component, [component], placement) for number, component in enumerate(components)]


def _leaf(name, component, targets, placement=None):
    """Returns a leaf that is read from `component` and restored into all `targets`."""

    def write(array):
        for each in targets:
            each.assign(array)

    dtype = component.dtype.as_numpy_dtype
    if component.shape.rank is None or any(extent is None for extent in component.shape):
        raise ValueError(f"the variable '{name}' has the shape {component.shape}; a checkpoint needs a fixed shape")
    return HostLeaf(name, component.shape.as_list(), dtype, component.numpy, write, placement=placement)


def _is_synchronized_on_read(variable):
    import tensorflow
    return getattr(variable, "values", None) is not None and variable.synchronization == tensorflow.VariableSynchronization.ON_READ


def _is_sum(variable):
    import tensorflow
    return variable.aggregation == tensorflow.VariableAggregation.SUM
