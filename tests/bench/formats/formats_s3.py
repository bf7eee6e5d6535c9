#!/usr/bin/python3
"""Bytes per second that a train function gets in the second epoch of a dataset in an object store on loopback: 400 MB of NPY, not kept in
memory. The peer is one curl that downloads the same object in ranges to /dev/null. Both use the same server, a small one in Python, which
limits both.

in order    batches of 4 MiB; peer: ranges of 4 MiB
shuffled    blocks of 1 MiB, shuffled; peer: equally many ranges of 1 MiB in the object's order. The ratio to ranges of 4 MiB is printed
"""
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench import BUILD, SOURCE, TRAINRT, Bench, need, ratio, with_file  # noqa: E402

LIBRARY = BUILD / "bench/data_loop.so"
ROWS, ROW_BYTES, BATCH, BLOCK = 100_000, 4096, 1024, 256


def start_server(bench):
    folder = bench.fresh("store")
    (folder / "data").mkdir()
    numpy.save(folder / "data/rows.npy", numpy.random.default_rng(1).integers(0, 256, (ROWS, ROW_BYTES), "u1"))
    port_file = bench.work / "port"
    server = subprocess.Popen([sys.executable, SOURCE / "tests/support/fakes/object_store.py", folder, port_file])
    limit = time.monotonic() + 60
    while not port_file.exists():
        if server.poll() is not None or time.monotonic() > limit:
            sys.exit("formats_s3: the server does not start")
        time.sleep(0.02)
    return server, port_file.read_text(), (folder / "data/rows.npy").stat().st_size


def bytes_by_trainrt(bench, url, label, **keys):
    data = "".join(f"{key} = {value}\n" for key, value in {"source": "s3://data/rows.npy", "memory": "64 MiB", **keys}.items())
    config = with_file(bench.work / "data.ini", f"[run]\nname = {label}\nstorage_path = {bench.fresh('runs')}\n[train]\nlibrary = {LIBRARY}\n"
                       f"[loop]\nbatch_size = {BATCH}\n[checkpoint]\nevery = off\n[data.train]\n{data}")
    output = bench.run(label, [TRAINRT, "--config", config], AWS_ENDPOINT_URL=url, NO_PROXY="*", AWS_SHARED_CREDENTIALS_FILE="/nonexistent")[1]
    return float(re.search(r"samples_per_s=([0-9]+)", output)[1]) * ROW_BYTES


def bytes_by_curl(bench, url, size, piece):
    words = []
    for begin in range(0, size, piece):
        words += (["--next"] if words else []) + ["-s", "-f", "--noproxy", "*", "-r", f"{begin}-{min(size, begin + piece) - 1}", "-o", "/dev/null",
                                                  f"{url}/data/rows.npy"]
    return size / bench.run(f"curl {piece >> 20} MiB", ["curl", *words])[0]


def main():
    need(TRAINRT, "trainrt")
    need(LIBRARY, "data_loop (target bench_modules)")
    bench = Bench("formats_s3", __doc__.strip())
    server, url, size = start_server(bench)
    try:
        figures = bench.interleaved(5, {
            "in order": lambda: bytes_by_trainrt(bench, url, "order"),
            "shuffled": lambda: bytes_by_trainrt(bench, url, "shuffled", shuffle="true", block=BLOCK, window=64),
            "curl 4 MiB": lambda: bytes_by_curl(bench, url, size, 4 << 20),
            "curl 1 MiB": lambda: bytes_by_curl(bench, url, size, BLOCK * ROW_BYTES)})
    finally:
        server.kill()
        server.wait()
    bench.claim("s3_in_order_vs_curl", ratio(figures["in order"], figures["curl 4 MiB"]), ">=", 0.9)
    bench.claim("s3_shuffled_vs_curl", ratio(figures["shuffled"], figures["curl 1 MiB"]), ">=", 0.9)
    print(f"# shuffled, compared with ranges of 4 MiB: {ratio(figures['shuffled'], figures['curl 4 MiB']):.2f}")
    bench.finish()


main()
