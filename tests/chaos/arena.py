"""The environment of the plans: a cluster of three nodes, a small disk, and the undisturbed runs with which all others are compared."""
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
    """Writes a config. All configs of a model train the same: only settings without an effect on the bits may differ."""
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
    """Writes three HDF5 files with 384 samples in all; returns a section that reads them ahead from the files, shuffled in blocks."""
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
    """Call up() before the first plan, and down() in any case."""

    def __init__(self, name, kept):
        self.kept = Path(kept)  # folder for the run directories of failed plans
        self.cluster = Cluster(name)
        self.disk = None
        self._name = name
        self._clusters = 0
        self._quiet = {}
        self._images = None

    def up(self):
        self._images = scratch("images")
        self.small_disk()  # must be mounted before the nodes start: a node with its own /tmp sees only earlier mounts
        self.cluster.up(3, "--kill-wait", "5")

    def renew(self):
        """Replaces the cluster after a failed plan, which may have left it in any state."""
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
        """Returns the directory of the undisturbed run of the plan's model and number of ranks."""
        key = (plan.model, plan.ranks)
        if key not in self._quiet:
            config = self.config(plan, scratch("quiet"), "quiet", checkpoint={"every": "10 reports"})
            check_exit(run_ranks(plan.ranks, config, timeout=180, env=ONE_THREAD), FINISHED)
            self._quiet[key] = run_dir_of(config)
        return self._quiet[key]

    def small_disk(self):
        """Returns a folder on its own small disk, or None if it cannot be mounted."""
        if self.disk is None and os.geteuid() == 0:
            folder = scratch("disk")
            if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "trainrt-chaos", folder], capture_output=True).returncode == 0:
                self.disk = folder
        return self.disk

    def settle(self, timeout=60):
        """Waits until the cluster has no job and every node is idle; restarts nodes that are down."""
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
        """Saves the files of a failed plan; returns their folder."""
        target = self.kept / f"{plan.seed}-{plan.number}"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for source in {Path(run_dir), Path(folder)}:
            if source.exists():
                shutil.copytree(source, target / source.name, symlinks=True, ignore_dangling_symlinks=True, dirs_exist_ok=True)
        logs = Path(self.cluster.env.get("SLURM_CONF", "/nonexistent")).parent / "log"
        if logs.exists():
            shutil.copytree(logs, target / "cluster-log")
        (target / "plan.json").write_text(plan.as_json() + "\n")
        return target
