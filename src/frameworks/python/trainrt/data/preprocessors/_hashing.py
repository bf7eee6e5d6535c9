"""Where a text hashes to."""

import hashlib

from .._whole_number import whole_number

_MOST_FEATURES = 1 << 20  # the runtime's own limit


def checked_width(name, num_features):
    """`num_features` of the preprocessor `name`."""
    return whole_number(f"{name}(num_features=...)", num_features, 1, _MOST_FEATURES)


def hashed_feature(text, features):
    """Ray's: SHA-256 as a number, modulo `features`."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % features
