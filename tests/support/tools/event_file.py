"""Reads event files of TensorBoard without TensorBoard: the frames with a CRC-32C from its polynomial, the messages from their wire format."""
import struct
from pathlib import Path


def _masked_crc(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    value ^= 0xffffffff
    return ((value >> 15 | value << 17) + 0xa282ead8) & 0xffffffff


def _varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def _fields(data):
    """Yields (number, value) of each field of a message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
        else:
            size, at = (8, at) if key & 7 == 1 else (4, at) if key & 7 == 5 else _varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def _reals(data):
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def events_of(path):
    """Yields (step, tag, value) in order: a number for a scalar, a dict like HistogramProto for a histogram. Texts are omitted."""
    data, at = Path(path).read_bytes(), 0
    while at < len(data):
        size, check = struct.unpack_from("<QI", data, at)
        body = data[at + 12:at + 12 + size]
        assert _masked_crc(data[at:at + 8]) == check and _masked_crc(body) == struct.unpack_from("<I", data, at + 12 + size)[0], f"checksum at byte {at}"
        at += 16 + size
        event = dict(_fields(body))
        for _, value in _fields(event.get(5, b"")):
            value = dict(_fields(value))
            if 2 in value:
                yield event.get(2, 0), value[1].decode(), struct.unpack("<f", value[2])[0]
            elif 5 in value:
                histogram = dict(_fields(value[5]))
                names = {1: "min", 2: "max", 3: "num", 4: "sum", 5: "sum_squares"}
                yield event.get(2, 0), value[1].decode(), {
                    **{name: _reals(histogram.get(key, bytes(8)))[0] for key, name in names.items()},
                    "bucket_limit": _reals(histogram[6]), "bucket": _reals(histogram[7])}
