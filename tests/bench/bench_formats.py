#!/usr/bin/python3
"""Compares data formats and tools with other libraries; each part is a program, formats/formats_PART.py.

    make bench-formats ONLY='parquet fit'     default: all parts

parquet   samples per second of Parquet files; peer: pyarrow's scan of the same columns
images    decoded images per core and second; peers: libjpeg-turbo alone, Pillow. Samples per second of tar archives; peer: WebDataset
convert   CSV to HDF5 by `trainrt data convert`; peer: pandas and h5py
fit       StandardScaler's fit over a CSV file, including reading; peer: pandas and scikit-learn
s3        a dataset in an object store on loopback; peer: a plain download in ranges
"""
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "formats"
PARTS = ("parquet", "images", "convert", "fit", "s3")


def main():
    wanted = [word for word in sys.argv[1:] if word in PARTS] or PARTS
    build = next((word for word in sys.argv[1:] if word not in PARTS), str(FOLDER.parents[2] / "build"))
    codes = [subprocess.run(["/usr/bin/python3", str(FOLDER / f"formats_{part}.py"), build]).returncode for part in wanted]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
