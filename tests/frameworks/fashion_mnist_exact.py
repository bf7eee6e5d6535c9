#!/usr/bin/python3
"""fashion_mnist, stopped in the middle of epochs and continued, ends with the same bits and metrics as the run never stopped.

1 and 2 ranks; SGD with momentum and AdamW, dropout and shuffling on; images made here, so no data set is needed. Run by
`make test`; the build directory is $TRAINRT_BUILD, else `build` of this checkout. Prints a line a promise; ends with 1 where
one is broken, and with `skipped: reason` where it cannot run.
"""
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

BUILD = Path(os.environ.get("TRAINRT_BUILD", Path(__file__).resolve().parents[2] / "build")).resolve()
MPIEXEC = shutil.which("mpiexec.mpich") or shutil.which("mpiexec")
EPOCHS, TRAIN_IMAGES, TEST_IMAGES, BATCH = 3, 3210, 333, 16  # none divides another: padding and uneven ends are met
STOPPED = 75


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(0)


def write_images(folder, part, count, seed):
    """Noise with a bright row pair that tells the class: learnable in a few hundred steps."""
    source = random.Random(seed)
    labels = bytes(source.randrange(10) for _ in range(count))
    images = bytearray(source.randbytes(count * 784).translate(bytes(i // 2 for i in range(256))))
    for number, label in enumerate(labels):
        start = number * 784 + 56 * label
        images[start:start + 56] = bytes([220] * 56)
    (folder / f"{part}-images").write_bytes(struct.pack(">BBBB3I", 0, 0, 8, 3, count, 28, 28) + images)
    (folder / f"{part}-labels").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, count) + labels)


def write_config(folder, name, optimizer):
    path = folder / f"{name}.ini"
    sections = "".join(f"[data.{part}]\nformat = idx\nsource = {folder}/{part}-images\nlabels = {folder}/{part}-labels\n"
                       f"shuffle = {'true' if part == 'train' else 'false'}\n" for part in ("train", "test"))
    path.write_text(f"[run]\nname = {name}\nstorage_path = {folder}/runs\nseed = 7\n[train]\nfunction = fashion_mnist\n"
                    f"[loop]\nepochs = {EPOCHS}\nbatch_size = {BATCH}\nhidden = 64\ndropout = 0.2\n{optimizer}\n{sections}")
    return path


def run(config, ranks, stop_after_s=None):
    """Runs to the end, or sends SIGUSR1 some time after the train function began. Returns exit code and output."""
    program = [str(BUILD / "trainrt"), "--config", str(config)]
    command = program if ranks == 1 else [MPIEXEC, "-n", str(ranks), *program]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "TRAINRT_TIMING": "1", "OMP_NUM_THREADS": "1"})
    lines = []
    for line in process.stdout:
        lines.append(line)
        if stop_after_s is not None and "train_function_started_s" in line:
            threading.Timer(stop_after_s, process.send_signal, [signal.SIGUSR1]).start()
    return process.wait(), "".join(lines)


def expect(code, wanted, output):
    if code != wanted:
        sys.exit(f"FAILED: exit {code}, expected {wanted}:\n{output[-3000:]}")


def last_checkpoint(run_dir):
    return sorted(run_dir.glob("checkpoint_*"))[-1]


def tensors_of(checkpoint):
    """Every dataset of its shards by name, as bytes."""
    import h5py
    found = {}
    for shard in sorted(checkpoint.glob("shard-*.h5")):
        with h5py.File(shard, "r") as file:
            file.visititems(lambda name, item: found.__setitem__((shard.name, name), item[()].tobytes())
                            if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiub" else None)
    return found


def metrics_of(run_dir):
    """The reported metrics without the times."""
    rows = [json.loads(line) for line in (run_dir / "result.json").read_text().splitlines()]
    return [{key: value for key, value in row.items() if not key.startswith("_")} for row in rows]


def check(promise, kept, detail=""):
    print(f"{'ok' if kept else 'FAILED'}: {promise}{'' if kept else ': ' + detail}", flush=True)
    return kept


def stop_and_continue(config, ranks, delays):
    """Stops and continues the run; the number of stops that came before the end."""
    stops = 0
    for delay in delays:
        code, output = run(config, ranks, delay)
        if "finished:" in output:
            return stops
        if "stopped by SIGUSR1" not in output or ranks == 1:  # MPICH's mpiexec sometimes ends with 0 after a signal
            expect(code, STOPPED, output)
        stops += 1
    code, output = run(config, ranks)
    expect(code, 0, output)
    return stops


def same_bits(folder, ranks, name, optimizer):
    whole = write_config(folder, f"{name}_{ranks}_whole", optimizer)
    stopped = write_config(folder, f"{name}_{ranks}_stopped", optimizer)
    code, output = run(whole, ranks)
    expect(code, 0, output)
    stops = stop_and_continue(stopped, ranks, (0.15, 0.3, 0.2))
    runs = folder / "runs"
    expected, found = (tensors_of(last_checkpoint(runs / config.stem)) for config in (whole, stopped))
    differing = [key for key in expected if found.get(key) != expected[key]]
    reference, metrics = metrics_of(runs / whole.stem), metrics_of(runs / stopped.stem)
    kept = [check(f"{name}, {ranks} rank(s): {stops} stops leave the same {len(expected)} tensors",
                  stops > 0 and len(expected) > 6 and not differing and found.keys() == expected.keys(), f"differing: {differing}"),
            check(f"{name}, {ranks} rank(s): the same metrics in {len(reference)} reports",
                  reference == metrics and len(metrics) == EPOCHS, f"{reference} and {metrics}"),
            check(f"{name}, {ranks} rank(s): it learns", reference[-1]["test_accuracy"] > 0.9, f"{reference[-1]}")]
    return all(kept)


def main():
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built")
    if MPIEXEC is None:
        skip("no mpiexec")
    try:
        import h5py  # noqa: F401
    except ImportError:
        skip("h5py is not there (package python3-h5py)")
    folder = Path(tempfile.mkdtemp(prefix="trainrt-fashion-"))
    try:
        write_images(folder, "train", TRAIN_IMAGES, 1)
        write_images(folder, "test", TEST_IMAGES, 2)
        kept = [same_bits(folder, ranks, name, optimizer)
                for ranks in (1, 2)
                for name, optimizer in (("sgd", "optimizer = sgd\nlr = 0.05\nmomentum = 0.9"),
                                        ("adamw", "optimizer = adamw\nlr = 0.001\nweight_decay = 0.01"))]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if all(kept) else 1)


main()
