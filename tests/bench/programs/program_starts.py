"""Appends the time of its start to the file argv[1]/RANK, and sleeps for argv[2] seconds."""
import time

began = time.time()
import os  # noqa: E402
import sys  # noqa: E402

with open(f"{sys.argv[1]}/{os.environ['RANK']}", "a") as file:
    file.write(f"{began!r}\n")
time.sleep(float(sys.argv[2]))
