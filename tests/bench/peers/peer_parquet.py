"""Prints rows per second of pyarrow's scan of argv[1] (columns argv[2], separated by commas), in batches of argv[3] rows, in one thread."""
import sys
import time

import pyarrow.dataset

path, columns, batch_rows = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
for _ in range(2):  # the first pass warms up
    begin = time.monotonic()
    scanner = pyarrow.dataset.dataset(path).scanner(columns=columns, batch_size=batch_rows, use_threads=False)
    rows = sum(batch.num_rows for batch in scanner.to_batches())
    seconds = time.monotonic() - begin
print(f"rows_per_s={rows / seconds:.0f}")
