"""A tensor of a framework whose arrays NumPy can show: how a checkpoint copies it, and puts it back."""

# The runtime's name of an element type, and the type of NumPy in which its bits travel. Unsigned integers keep their bits.
_DTYPES = {"float64": ("f64", "f8"), "float32": ("f32", "f4"), "float16": ("f16", "f2"), "bfloat16": ("bf16", "u2"), "float8_e4m3fn": ("f8e4m3", "u1"),
           "float8_e5m2": ("f8e5m2", "u1"), "int64": ("i64", "i8"), "int32": ("i32", "i4"), "int16": ("i16", "i2"), "int8": ("i8", "i1"),
           "uint64": ("i64", "u8"), "uint32": ("i32", "u4"), "uint16": ("i16", "u2"), "uint8": ("u8", "u1"), "bool": ("bool", "?"),
           "complex64": ("f32", "f4"), "complex128": ("f64", "f8")}


class HostLeaf:
    """`read()` gives the array as it is now, of always the same shape and type; `write(array)` takes one that is its own. It is what
    trainrt.State takes in place of an array. box: (offset, shape of the whole) of a part of a tensor; the parts of one are numbered."""

    def __init__(self, name, shape, dtype, read, write, *, placement=None, box=None):
        import numpy
        self.name = name
        self._read, self._write = read, write
        self._placement = {placement: True} if placement else {}
        self._kind = numpy.dtype(dtype)
        if self._kind.name not in _DTYPES:
            raise TypeError(f"tensor '{name}' has elements of the type {self._kind.name}; a checkpoint takes {', '.join(_DTYPES)}")
        self.dtype, self._bits = _DTYPES[self._kind.name]
        pair = [2] if self._kind.kind == "c" else []
        self._given = list(shape)
        self.shape = [*map(int, shape), *pair]
        self._box = None if box is None else ([*box[0], *(0 for _ in pair)], [*box[1], *pair])
        self.nbytes = int(numpy.prod(self.shape, dtype=numpy.int64)) * numpy.dtype(self._bits).itemsize

    def add_to(self, state):
        """Names it in a State of the runtime."""
        if self._box is None:
            state.tensor(self.name, self, **self._placement)
        else:
            state.slab(self.name, self, *self._box)

    def write_to(self, memory):
        import numpy
        array = numpy.asarray(self._read())
        if list(array.shape) != self._given or array.dtype != self._kind:
            raise ValueError(f"tensor '{self.name}' is {array.dtype} of shape {list(array.shape)} now, and was {self._kind} of shape {self._given} when "
                             f"it was named: type and shape must stay")
        if self.nbytes:
            numpy.frombuffer(memory, self._bits).reshape(self.shape)[...] = self._as_bits(array)

    def read_from(self, memory):
        import numpy
        bits = numpy.frombuffer(memory, self._bits).copy() if self.nbytes else numpy.empty(0, self._bits)
        self._write(bits.view(self._kind).reshape(self._given))

    def _as_bits(self, array):
        import numpy
        return numpy.ascontiguousarray(array).reshape(-1).view(self._bits).reshape(self.shape)
