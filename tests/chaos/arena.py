"""Where plans are carried out: a cluster of three nodes, a disk that can be filled, and the quiet runs that all others must equal."""
import os
import shutil
import subprocess
import time
from pathlib import Path

from cluster import Cluster
from runs.fashion import fashion_config
from harness import BUILD, FINISHED, SOURCE, check_exit, linear_config, processes_with, run_dir_of, run_ranks, scratch, wait_until, write_config
from plans import REPORTS

ONE_THREAD = {"OMP_NUM_THREADS": 1}
DISK_MIB = 48


def config_of(plan_model, folder, name, images, storage=None, checkpoint=None, step_pause=0.0, failure=None):
    """The same training each time: only what does not change a bit may differ."""
    sections = {"checkpoint": {"num_to_keep": 2, **(checkpoint or {})}, "scaling": {"on_resize": "keep_batch"}, **({"failure": failure} if failure else {})}
    if plan_model == "program":
        return write_config(Path(folder) / f"{name}.ini", {
            "run": {"name": name, "storage_path": storage or Path(folder) / "runs", "seed": 5},
            "train": {"program": f"/usr/bin/python3 {SOURCE / 'tests/support/programs/program_linear.py'}"},
            "loop": {"epochs": REPORTS, "samples": 192, "step_pause": step_pause}, **sections})
    if plan_model == "linear":
        return linear_config(folder, name, {"epochs": REPORTS, "dropout": 0.1, "optimizer": "adamw", "lr": 0.005, "step_pause": step_pause},
                             linear_data(images), storage=storage, **sections)
    loop = {"epochs": REPORTS, "hidden": 64, "lr": 0.02}
    return fashion_config(folder, name, loop, images=8192, storage=storage, data_folder=images, **sections)


def linear_data(folder):
    """Three HDF5 files of 384 samples together, read where their rows lie, ahead of the steps, and shuffled in blocks."""
    import h5py
    import numpy
    numbers = numpy.random.default_rng(7)
    weights = numbers.standard_normal(200)
    for part in range(3):
        path = Path(folder) / f"linear-{part}.h5"
        x = numbers.standard_normal((128, 200)).astype("f4")
        if not path.exists():
            with h5py.File(path, "w") as file:
                file["x"], file["y"] = x, (x @ weights).astype("f4")
    return {"format": "hdf5", "source": Path(folder) / "linear-*.h5", "memory": "64 KiB", "block": 4, "window": 16}


class Arena:
    """`up` before the first plan; `down` in any case."""

    def __init__(self, name, kept):
        self.kept = Path(kept)  # run directories of plans that failed
        self.cluster = Cluster(name)
        self.disk = None
        self._name = name
        self._clusters = 0
        self._quiet = {}
        self._images = None

    def up(self):
        self._images = scratch("images")
        self.small_disk()  # nodes with a /tmp of their own see what is mounted there when they start
        self.cluster.up(3, "--kill-wait", "5")

    def renew(self):
        """A new cluster, after a plan that may have left anything behind."""
        self.cluster.down()
        self._clusters += 1
        self.cluster = Cluster(f"{self._name}{self._clusters}x")
        self.cluster.up(3, "--kill-wait", "5")

    def down(self):
        self.cluster.down()
        if self.disk is not None:
            subprocess.run(["umount", "-l", self.disk], capture_output=True)
            self.disk = None

    def config(self, plan, folder, name="run", **options):
        return config_of(plan.model, folder, name, self._images, **options)

    def quiet(self, plan):
        """The run directory of the run that nothing happened to."""
        key = (plan.model, plan.ranks)
        if key not in self._quiet:
            config = self.config(plan, scratch("quiet"), "quiet", checkpoint={"every": "10 reports"})
            check_exit(run_ranks(plan.ranks, config, timeout=180, env=ONE_THREAD), FINISHED)
            self._quiet[key] = run_dir_of(config)
        return self._quiet[key]

    def small_disk(self):
        """A folder on a disk of its own; None if one cannot be made."""
        if self.disk is None and os.geteuid() == 0:
            folder = scratch("disk")
            if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "trainrt-chaos", folder], capture_output=True).returncode == 0:
                self.disk = folder
        return self.disk

    def settle(self, timeout=60):
        """Until the cluster is as new: no job, every node idle."""
        asked = [0.0]

        def idle():
            if time.monotonic() > asked[0] + 2:
                asked[0] = time.monotonic()
                down = self.cluster.call("sinfo", "-h", "-N", "-p", "main", "-t", "down,drain", "-o", "%N").split()
                for node in set(down):
                    self.cluster.start_node(node)
                    self.cluster.call("scontrol", "update", f"NodeName={node}", "State=RESUME")
            states = self.cluster.call("sinfo", "-h", "-N", "-p", "main", "-o", "%t").split()
            time.sleep(0.1)
            return states == ["idle"] * 3

        wait_until(idle, timeout, "all nodes to be idle")

    def keep(self, plan, run_dir, folder):
        """Saves what a failed plan left; returns where."""
        place = self.kept / f"{plan.seed}-{plan.number}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for source in {Path(run_dir), Path(folder)}:
            if source.exists():
                shutil.copytree(source, place / source.name, symlinks=True, ignore_dangling_symlinks=True, dirs_exist_ok=True)
        logs = Path(self.cluster.env.get("SLURM_CONF", "/nonexistent")).parent / "log"
        if logs.exists():
            shutil.copytree(logs, place / "cluster-log")
        (place / "plan.json").write_text(plan.as_json() + "\n")
        return place
