#!/usr/bin/python3
"""Writes the Arrow files beside this script, which tests/contract/formats.cpp reads: files of 0, 1 and 12 samples with the column x (f32). Sample i holds
i + 0.5, but sample 2 NaN. Run it with a Python that has pyarrow: build/arrow-python/bin/python tests/golden/formats/make_arrow.py"""
import math
from pathlib import Path

import pyarrow as pa

for count in (0, 1, 12):
    values = pa.array([math.nan if number == 2 else number + 0.5 for number in range(count)], pa.float32(), from_pandas=False)
    table = pa.table({"x": values})
    with pa.OSFile(str(Path(__file__).with_name(f"{count}.arrow")), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
