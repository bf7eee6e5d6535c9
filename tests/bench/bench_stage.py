#!/usr/bin/python3
"""Compares program.stage with `cp -r` by the program of every rank: an environment of 20,000 files, 500 MB, on the tests' Slurm with 2
nodes.

ready    from the start of srun until the program of the last rank has the tree on the storage of its node, 2 and 8 ranks
opens    average number of times that a file of the source is opened, counted by strace with a tree of 500 files

The source is in the page cache, and the storage of each node is a folder in /dev/shm (8 copies take 4 GB), so no disk is measured. A
shared file system takes much longer per open, and all readers share its rate.
"""
import os
import re
import shutil
import sys
import time
from pathlib import Path

from bench import BUILD, SOURCE, TRAINRT, Bench, need, ratio

sys.argv[1:] = [str(BUILD)]  # read by the harness of the tests
sys.path.insert(0, str(SOURCE / "tests/support"))
import cluster  # noqa: E402
import harness  # noqa: E402

NODES, FILES, FILE_BYTES = 2, 20_000, 25_000
TRACED_FILES = 500
NODE_STORAGE = Path(f"/dev/shm/trainrt-bench-{os.getpid()}")
LIMIT_S = 300
NOTES_THE_TIME = "date +%s.%N > $0/$RANK"
COPIES = "cp -r $1 $2/$RANK && " + NOTES_THE_TIME


def make_tree(folder, files):
    """Creates folders of 100 files, like Python packages; returns `folder`."""
    for number in range(files):
        path = folder / f"package_{number // 100}/module_{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"#" * FILE_BYTES)
    return folder


class Starts:
    """Starts programs that need the tree on their node, by program.stage or by copies."""

    def __init__(self, bench, nodes):
        self.bench, self.nodes = bench, nodes

    def run(self, way, ranks, source, prefix=()):
        """Returns the seconds until all ranks have the tree."""
        out, runs = self.bench.fresh("out"), self.bench.fresh("runs")
        NODE_STORAGE.mkdir()
        words = {"stage": [f"--program.stage={source}", f"--program.stage_dir={NODE_STORAGE}", "--", "/bin/sh", "-c", NOTES_THE_TIME, out],
                 "copies": ["--", "/bin/sh", "-c", COPIES, out, source, NODE_STORAGE]}[way]
        command = ["srun", f"-n{ranks}", f"-N{NODES}", "--overcommit", *prefix, TRAINRT, f"--run.storage_path={runs}", "--run.name=run", *words]
        self.bench.note_command(way, [str(word) for word in command])
        began = time.time()
        job = harness.Job(command, env=self.nodes.env)
        code = job.wait(LIMIT_S)
        harness.check(code == 0, f"{way}: exit {code}", job)
        times = [float(path.read_text()) for path in out.iterdir()]
        harness.equal(len(times), ranks, "ranks with the tree", job)
        shutil.rmtree(NODE_STORAGE)
        return max(times) - began

    def opens_of_a_file(self, way, ranks, source):
        """Returns how often a file is opened on average, counted over all processes of all ranks."""
        log = self.bench.fresh("trace") / "trace"
        trace = ["sh", "-c", "exec strace -ff -e trace=open,openat -e signal=none -o $0.$SLURM_PROCID \"$@\"", log]
        self.run(way, ranks, source, trace)
        opened = (re.findall(r'openat\([^,]*, "[^"]*module_\d+\.py", O_RDONLY', path.read_text()) for path in log.parent.iterdir())
        return sum(map(len, opened)) / TRACED_FILES


def main():
    need(TRAINRT, "trainrt")
    need(shutil.which("strace"), "strace")
    bench = Bench("stage", __doc__.strip())
    nodes = cluster.Cluster("stage")
    try:
        nodes.up(NODES)
        starts = Starts(bench, nodes)
        traced = make_tree(bench.fresh("traced"), TRACED_FILES)
        opens = bench.interleaved(1, {f"{way}_{ranks}_ranks_opens_of_a_file": lambda way=way, ranks=ranks: starts.opens_of_a_file(way, ranks, traced)
                                      for ranks in (2, 8) for way in ("stage", "copies")})
        source = make_tree(bench.fresh("source"), FILES)
        figures = bench.interleaved(3, {f"{way}_{ranks}_ranks_ready_s": lambda way=way, ranks=ranks: starts.run(way, ranks, source)
                                        for ranks in (2, 8) for way in ("stage", "copies")})
    except harness.Skipped as reason:
        print(f"skipped: {reason}", flush=True)
        return
    except harness.Failure as failure:
        sys.exit(f"stage: {failure}")
    finally:
        nodes.down()
        shutil.rmtree(NODE_STORAGE, ignore_errors=True)
    for ranks in (2, 8):
        bench.claim(f"stage_{ranks}_ranks_opens_of_a_file", opens[f"stage_{ranks}_ranks_opens_of_a_file"][0], "<=", 1)
    bench.claim("stage_8_ranks_vs_copies", ratio(figures["stage_8_ranks_ready_s"], figures["copies_8_ranks_ready_s"]), "<=", 1)
    bench.finish()


main()
