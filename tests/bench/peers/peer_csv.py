"""Prints rows per second of pandas.read_csv(argv[1])."""
import sys
import time

import pandas

pandas.read_csv(sys.argv[1], nrows=1000)
begin = time.monotonic()
rows = len(pandas.read_csv(sys.argv[1]))
print(f"rows_per_s={rows / (time.monotonic() - begin):.0f}")
