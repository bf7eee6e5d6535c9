"""A tree of Python modules for program.stage, its archives, and checks of the copies on the nodes."""
import subprocess
import tarfile

from harness import *  # noqa: F403

# Imports a module of the tree and writes, per rank, its path, its value and the variables of the environment.
IMPORTER = """import json, os, sys
import only_in_the_tree
with open(f"{sys.argv[1]}/{os.environ['RANK']}.json", "w") as file:
    json.dump({"file": only_in_the_tree.__file__, "value": only_in_the_tree.VALUE, "data": open(os.environ["TRAINRT_STAGE"] + "/data").read(),
               "stage": os.environ["TRAINRT_STAGE"], "node": os.environ.get("SLURMD_NODENAME", "")}, file)
"""


def tree(files=20, size=10_000):
    """Makes a folder of modules and returns it."""
    folder = scratch("tree") / "packages"
    folder.mkdir()
    (folder / "only_in_the_tree.py").write_text("VALUE = 42\n")
    (folder / "data").write_text("text")
    for number in range(files):
        (folder / f"module_{number}.py").write_text("#" * size)
    return folder


def tar_of(folder, mode="w:gz"):
    path = folder.parent / "tree.tar.any"
    with tarfile.open(path, mode) as tar:
        for entry in sorted(folder.iterdir()):
            tar.add(entry, entry.name)
    return path


def squashfs_of(folder):
    path = folder.parent / "tree.squashfs"
    if shutil.which("mksquashfs") is None:
        skip("mksquashfs not found (package squashfs-tools)")
    subprocess.run(["mksquashfs", folder, path, "-quiet", "-no-progress"], check=True, capture_output=True)
    return path


def staged_folders(local):
    """Returns the names that are left on the storage of the node."""
    return sorted(str(path.relative_to(local)) for path in Path(local).glob("trainrt-stage-*/*"))


def found_by(out, ranks, job):
    equal(sorted(path.name for path in out.iterdir()), [f"{rank}.json" for rank in range(ranks)], "files of the ranks", job)
    return [json.loads((out / f"{rank}.json").read_text()) for rank in range(ranks)]
