#!/usr/bin/python3
"""Formats and tools of data, beside the libraries that users know; a program each, formats_PART.py.

    make bench-formats ONLY='parquet fit'     without ONLY all parts

parquet   samples a second of Parquet files, beside pyarrow's scan of the same columns
images    images a core decodes, beside libjpeg-turbo alone and Pillow; samples a second of tar archives, beside WebDataset
convert   CSV to HDF5 by `trainrt data convert`, beside pandas and h5py
fit       StandardScaler's fit over a CSV file, beside pandas and scikit-learn, reading included
s3        an object of a store on loopback read as a dataset, beside a plain ranged download
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
