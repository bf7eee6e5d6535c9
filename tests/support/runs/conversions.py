"""Calls of `trainrt data` with an expected exit code, and conversions that are slow enough to be killed before they end."""
from harness import *  # noqa: F401,F403


def tool(*words, code=FINISHED, **options):
    job = run([TRAINRT, "data", *map(str, words)], **options)
    check(job.code == code, f"trainrt data {' '.join(map(str, words))}: exit {job.code}, expected {code}", job)
    return job


def refused(*words, message=(), **options):
    """Checks that the call exits with 64 and prints one error that contains all words of `message`."""
    job = tool(*words, code=USAGE, **options)
    equal(job.err.count("error:"), 1, "number of messages", job)
    for word in message:
        check(word in job.err, f"the message lacks {word!r}", job)
    return job


def nothing_left(folder):
    equal([path.name for path in Path(folder).iterdir() if ".part" in path.name or ".tmp." in path.name], [], "remaining temporary files")


def noted(output):
    """Returns the note next to an output file that is being written, or {} if there is no readable note."""
    try:
        return json.loads((output.parent / f".{output.name}.part.json").read_text())
    except (OSError, ValueError):
        return {}


def parts_noted(output):
    return noted(output).get("parts", 0)


def start_convert(*words, slow="pwrite:slow=50:.part", env=None):
    """Starts `convert` on slow storage, so that it can be killed before it ends."""
    faults = {"LD_PRELOAD": str(BUILD / "tests/fault_shim.so"), "TRAINRT_FAULTS": slow}
    return subprocess.Popen([str(TRAINRT), "data", "convert", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **(env or {}), **faults})


def kill_once(is_time, job):
    """Kills the job as soon as `is_time()` returns true. A job that ends before that is a failure."""
    while job.poll() is None and not is_time():
        time.sleep(0.005)
    job.kill()
    _, err = job.communicate()
    check(is_time() and job.returncode != FINISHED, f"the conversion ended before the kill: exit {job.returncode}: {err}")


def kill_after_first_note(output, *words, slow="pwrite:slow=50:.part", env=None):
    """Starts `convert` with `words`, which writes `output`, and kills it after its first note of finished parts, while the second note
waits for its rename. The noted parts thus do not depend on the speed of the machine."""
    second_note = f"rename:slow=600000:.{output.name}.part.json:2"  # skips two notes: one without parts, and that of the first parts

    def waits_for_its_name():
        return parts_noted(output) > 0 and any(output.parent.glob(f"*.{output.name}.part.json.tmp.*"))

    kill_once(waits_for_its_name, start_convert(*words, slow=f"{slow},{second_note}", env=env))
    check(not output.exists(), "the conversion ended before it was killed")


def begun(output, *words, **options):
    """Makes a conversion to `output` that is killed after its first parts."""
    kill_after_first_note(output, *words, "-o", output, **options)
