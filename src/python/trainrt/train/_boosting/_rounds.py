"""Divides boosting rounds at checkpoints, so that a restarted run computes the same trees."""


def mixed_seed(seed, number):
    """Returns a hash of `seed` and `number` with 31 bits: the finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
    generators, 2014)."""
    mask = 2**64 - 1
    mixed = (seed * 0x9E3779B97F4A7C15 + number + 1) & mask
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = ((mixed ^ (mixed >> shift)) * factor) & mask
    return (mixed ^ (mixed >> 31)) >> 33


def segments(done, rounds, frequency):
    """Returns [(first, end)] of the remaining rounds, divided at the checkpoints. Each segment starts from the model alone, as a restart does, so
    that a run computes the same trees whether or not it was stopped. `done`: rounds of the checkpoint; `frequency`: rounds per checkpoint, or 0."""
    ends = [*range((done // frequency + 1) * frequency, rounds, frequency), rounds] if frequency else [rounds]
    return list(zip([done, *ends[:-1]], ends)) if done < rounds else []
