"""Writes the time of its first line into a file of its rank, argv[1]/RANK, and stays for argv[2] seconds."""
import time

began = time.time()
import os  # noqa: E402
import sys  # noqa: E402

with open(f"{sys.argv[1]}/{os.environ['RANK']}", "a") as file:
    file.write(f"{began!r}\n")
time.sleep(float(sys.argv[2]))
