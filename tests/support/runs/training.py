"""Generated images for the tests of torch models, and runs that are stopped and killed in the middle of epochs."""
import random
import struct

from harness import *  # noqa: F403


def write_idx(path, type_code, item, shape, data):
    """Writes an IDX file: `type_code` as in LeCun's table, `item` the struct letter of that type, `data` a flat sequence."""
    path.write_bytes(struct.pack(f">4B{len(shape)}I", 0, 0, type_code, len(shape), *shape) + struct.pack(f">{len(data)}{item}", *data))


def write_images(folder, part, count):
    """Writes images of noise with two bright rows. The rows identify the class, so that a model learns it in a few hundred steps."""
    source = random.Random(count)
    labels = bytes(source.randrange(10) for _ in range(count))
    images = bytearray(source.randbytes(count * 784).translate(bytes(i // 2 for i in range(256))))
    for number, label in enumerate(labels):
        start = number * 784 + 56 * label
        images[start:start + 56] = bytes([220] * 56)
    write_idx(folder / f"{part}-images", 8, "B", (count, 28, 28), images)
    write_idx(folder / f"{part}-labels", 8, "B", (count,), labels)


def image_sections(folder, parts=("train", "test")):
    sections = {f"data.{part}": {"format": "idx", "source": folder / f"{part}-images", "labels": folder / f"{part}-labels"} for part in parts}
    sections["data.train"]["shuffle"] = True
    return sections


def start(ranks, config):
    return Job([TRAINRT, "--config", config]) if ranks == 1 else start_ranks(ranks, config)


def finish(ranks, config):
    job = start(ranks, config)
    job.code = job.wait(120)
    check_exit(job, FINISHED)
    return job


def interrupt(ranks, config, signal_of_all=None):
    """Starts or continues the run. After the next reports, in the middle of an epoch, stops it by SIGUSR1 to one rank, or kills all ranks."""
    before = report_count(run_dir_of(config))
    job = start(ranks, config)
    wait_for_reports(run_dir_of(config), before + random.randint(1, 2), job, 60)
    time.sleep(random.uniform(0.01, 0.04))
    check(not job.ended(), "the run ended before it could be stopped: make it longer", job)
    if signal_of_all:
        kill(job.ranks().values(), signal_of_all)
        job.wait(60)
    else:
        kill([job.ranks()[0]], signal.SIGUSR1)
        job.code = job.wait(60)
        check_exit(job, STOPPED)


def check_exact(ranks, whole, stopped, epochs, epoch_steps, stops):
    """Checks that the run `stopped`, which is stopped and killed that many times, ends with the bits of the undisturbed run `whole`."""
    finish(ranks, whole)
    steps = []
    for _ in range(stops):
        interrupt(ranks, stopped)
        steps.append(step_of(run_dir_of(stopped)))
        interrupt(ranks, stopped, signal_of_all=signal.SIGKILL)
    check(any(step % epoch_steps for step in steps), f"every stop came at the end of an epoch: {steps}")
    finish(ranks, stopped)
    check_same_bits(run_dir_of(stopped), run_dir_of(whole))
    check_iterations(run_dir_of(stopped), epochs)
