#!/usr/bin/python3
"""Flips some bits of the files of tests/attack/flips.py (`make attack` flips all of them). If the format has a checksum, a flipped bit in a
data file must be an error that names the file, or must not change any value."""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("attack", "support")]
import flips  # noqa: E402
from harness import *  # noqa: E402,F403

SEED = 36
BITS = 150  # per file


@test
def a_flipped_bit_protected_by_a_checksum_is_an_error_or_changes_no_value():
    results = flips.run(SEED, BITS)
    check(len(results) > 10, f"only {len(results)} files were flipped")
    missed = [f"{result.name}: {missed}" for result in results for missed in result.missed]
    check(not missed, "\n".join(missed[:20]))


@test
def bits_are_flipped_in_every_file_format():
    formats = set(re.findall(r"^data format (\w+):", run([TRAINRT, "list", "all"]).out, re.M))
    equal(sorted(formats - {"range", "synthetic"}), sorted(flips.FORMATS), "formats with files")


main()
