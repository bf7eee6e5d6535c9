"""Libraries that only PyPI has, for tests that load one while they run: files of a wheel in BUILD/wheels, downloaded once, without installation."""
import sys
import zipfile

from harness import *  # noqa: F403

PYTHON = "/usr/bin/python3"
FETCH_LIMIT_S = 60


def wheel(name, version):
    """Returns a folder with the packages of the wheel, in the layout of site-packages. Skips the test, with pip's last line, if PyPI cannot be reached."""
    folder = BUILD / "wheels" / f"{name}-{version}"
    if folder.exists():
        return folder
    unpacked = scratch("wheel")
    pip = run([PYTHON, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--retries", "0", "--timeout", "15",
               "--disable-pip-version-check", "-d", unpacked, f"{name}=={version}"], timeout=FETCH_LIMIT_S)
    files = list(unpacked.glob("*.whl"))
    if pip.code != 0 or not files:
        lines = pip.err.strip().splitlines()
        skip(f"{name} {version} cannot be downloaded from PyPI: {lines[-1] if lines else 'no wheel for this machine'}")
    (BUILD / "wheels").mkdir(exist_ok=True)
    with zipfile.ZipFile(files[0]) as archive:
        archive.extractall(unpacked / "files")
    try:
        shutil.copytree(unpacked / "files", made := folder.with_name(f"{folder.name}.{os.getpid()}"))
        made.rename(folder)
    except OSError:  # another test made it first
        check(folder.exists(), f"{folder} was not created")
    return folder


def import_from(folder, module):
    sys.path.insert(0, str(folder))
    return __import__(module)
