#!/usr/bin/python3
"""Images and tar archives: values compared with those of Pillow and tarfile, positions after stops, and damaged files."""
import io
import os
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

sys.path.insert(0, str(BUILD / "python"))
os.environ.pop("TRAINRT_FD", None)
os.environ["TRAINRT_EXECUTABLE"] = str(TRAINRT)
import numpy  # noqa: E402
from trainrt import data  # noqa: E402

try:
    from PIL import Image, ImageOps
except ImportError:
    Image = None

NUMBERS = numpy.random.default_rng(1)
JPEG_LEVELS = 2  # maximum difference between builds of libjpeg


def needs_pillow(function):
    def checked():
        if Image is None:
            skip("Pillow is not installed (package python3-pil)")
        function()
    checked.__name__ = function.__name__
    return test(checked)


def picture(height, width, channels=3):
    y, x = numpy.mgrid[0:height, 0:width]
    smooth = numpy.stack([x * 255 / width, y * 255 / height, (x + y) * 255 / (width + height), 255 - x * 200 / width], -1)[..., :channels]
    return numpy.clip(smooth + NUMBERS.normal(0, 15, smooth.shape), 0, 255).astype("u1").squeeze()


def encoded(image, ending, **options):
    buffer = io.BytesIO()
    image.save(buffer, {"jpg": "JPEG", "png": "PNG", "webp": "WEBP"}[ending], **({"lossless": True, "exact": True} if ending == "webp" else {}), **options)
    return buffer.getvalue()


def kinds():
    """Yields name, image and options of save() for each kind of image."""
    rgb, gray = Image.fromarray(picture(37, 53)), Image.fromarray(picture(37, 53, 1))
    for quality in (30, 95):
        for subsampling in (0, 1, 2):
            yield f"q{quality}s{subsampling}.jpg", rgb, {"quality": quality, "subsampling": subsampling}
    yield "progressive.jpg", rgb, {"progressive": True}
    yield "gray.jpg", gray, {}
    yield "cmyk.jpg", rgb.convert("CMYK"), {"quality": 95}
    yield "rgb.png", rgb, {}
    yield "gray.png", gray, {}
    yield "bits.png", gray.convert("1"), {}
    yield "palette.png", rgb.quantize(40), {}
    yield "alpha.png", Image.fromarray(picture(37, 53, 4), "RGBA"), {}
    yield "rgb.webp", rgb, {}
    yield "alpha.webp", Image.fromarray(picture(37, 53, 4), "RGBA"), {}


def image_folder(size=None):
    folder = scratch("images")
    for number, (name, image, options) in enumerate(kinds()):
        (folder / f"class{number % 3}").mkdir(exist_ok=True)
        (folder / f"class{number % 3}" / name).write_bytes(encoded(image, name.rsplit(".", 1)[1], **options))
    return folder


def column(dataset, name):
    return numpy.concatenate([batch[name].copy() for batch in dataset.iter_batches(batch_size=5, remainder="uneven")])


def compare(found, path, expected, mode):
    expected = numpy.asarray(expected).reshape(found.shape)
    levels = JPEG_LEVELS if path.suffix == ".jpg" else 0
    check(numpy.abs(found.astype(int) - expected.astype(int)).max() <= levels, f"{path.name} as {mode} differs by more than {levels} levels")


@needs_pillow
def images_have_the_values_that_pillow_decodes():
    folder = image_folder()
    paths = sorted(folder.rglob("*.*"))
    for mode in ("RGB", "RGBA"):
        dataset = data.read_images(folder, mode=mode, include_paths=True)
        found, names, labels = (column(dataset, name) for name in ("image", "path", "label"))
        equal([Path(name) for name in names], paths, "paths")
        equal(labels.tolist(), [int(path.parent.name[-1]) for path in paths], "labels")
        for values, path in zip(found, paths):
            compare(values, path, Image.open(path).convert(mode), mode)
    for values, path in zip(column(data.read_images(folder, mode="L"), "image"), paths):
        if path.suffix != ".jpg" or path.name == "gray.jpg":  # the gray value of a coloured JPEG is its luma, and not computed from RGB
            compare(values, path, Image.open(path).convert("L"), "L")


@needs_pillow
def resized_images_have_the_values_that_pillow_resizes():
    folder = scratch("images")
    for number, (height, width) in enumerate(((30, 70), (71, 33), (224, 224), (8, 9), (40, 40))):
        Image.fromarray(picture(height, width)).save(folder / f"{number}.png")
        Image.fromarray(picture(height, width)).save(folder / f"{number}.jpg")
    for mode, resized in (("stretch", lambda image: image.resize((31, 40), Image.BILINEAR)), ("crop", lambda image: ImageOps.fit(image, (31, 40), Image.BILINEAR))):
        found = column(data.read_images(folder, size=(40, 31), resize_mode=mode), "image")
        planar = column(data.read_images(folder, size=(40, 31), resize_mode=mode, layout="planar", dtype="f32"), "image")
        equal((found.shape, planar.shape, planar.dtype), ((10, 40, 31, 3), (10, 3, 40, 31), numpy.dtype("f4")), "shapes")
        check(numpy.array_equal(planar, found.transpose(0, 3, 1, 2).astype("f4") / numpy.float32(255)), "the layouts differ")
        for values, path in zip(found, sorted(folder.iterdir())):
            compare(values, path, resized(Image.open(path)), mode)
        changed = column(data.read_images(folder, size=(40, 31), resize_mode=mode).options(resize="image: 17x60"), "image")
        for values, before, path in zip(changed, found, sorted(folder.iterdir())):
            compare(values, path, Image.fromarray(before).resize((60, 17), Image.BILINEAR), "resize")


@needs_pillow
def images_of_different_sizes_are_arrays_of_their_own_shapes():
    folder = scratch("images")
    sizes = [(30, 70), (7, 5), (7, 5), (40, 40), (2, 9)]
    for number, (height, width) in enumerate(sizes):
        Image.fromarray(picture(height, width)).save(folder / f"{number}.png")
    images = [numpy.asarray(Image.open(folder / f"{number}.png")) for number in range(5)]
    for options, expected in (({}, lambda image: image), ({"layout": "planar", "dtype": "f32"}, lambda image: image.transpose(2, 0, 1).astype("f4") / numpy.float32(255))):
        dataset = data.read_images(folder, include_paths=True, **options)
        rows = dataset.take_all()
        for number, (row, image) in enumerate(zip(rows, images)):
            equal(row["path"], str(folder / f"{number}.png"), "path")
            check(row["image"].dtype == expected(image).dtype and numpy.array_equal(row["image"], expected(image)), f"image {number} differs: {row['image'].shape}")
    resized = dataset.map_batches(lambda batch: {**batch, "mean": [image.mean() for image in batch["image"]]}).map(lambda row: {"mean": row["mean"], "rows": row["image"].shape[1]})
    equal(column(resized, "rows").tolist(), [height for height, _ in sizes], "heights in map functions")
    raises(TypeError, "the column 'image' has arrays of different shapes", "read_images(size=(height, width))", of=lambda: next(iter(dataset.iter_torch_batches())))
    raises(TypeError, "the column 'image' has arrays of different shapes", of=lambda: next(iter(dataset.iterator().to_torch(feature_columns="image"))))
    kept = dataset.map(lambda row: row).materialize().take_all()
    check(all(numpy.array_equal(row["image"], before["image"]) for row, before in zip(kept, rows)), "materialize() changed an image")
    equal(column(data.read_images(folder, size=(4, 4)), "image").shape, (5, 4, 4, 3), "shape with a size")
    equal(data.read_images(folder / "[12].png").schema().types[:1], ["uint8[7, 5, 3]"], "type of images of one size")
    raises(ValueError, "image", of=lambda: dataset.options(random_flip="image: horizontal").take(1))


@needs_pillow
def a_run_over_images_of_different_sizes_that_is_stopped_at_each_step_ends_with_the_same_sum():
    folder = scratch("images")
    for number in range(12):
        Image.fromarray(picture(3 + number, 8 - number % 3)).save(folder / f"{number:02}.png")
    places_after_stops({"source": folder, "shuffle": True, "sizes": "any"}, "image", numbers_of_ranks=(2,))


def archive(path, samples, **options):
    """Writes a tar archive of (name, bytes) with tarfile."""
    with tarfile.open(path, "w", **options) as tar:
        for name, content in samples:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def samples_of(count, first=0, image=True):
    for number in range(first, first + count):
        key = f"part/{'long' * (40 if number % 5 == 0 else 1)}{number:04}"
        if image:
            yield f"{key}.png", encoded(Image.fromarray(picture(9, 7)), "png")
        array = io.BytesIO()
        numpy.save(array, NUMBERS.normal(size=(2, 3)).astype(">f4"))
        yield f"{key}.npy", array.getvalue()
        yield f"{key}.cls", str(number % 7 - 3).encode()
        yield f"{key}.json", f'{{"n": {number}, "text": "ü"}}'.encode()


@needs_pillow
def archives_have_the_values_that_tarfile_finds():
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        folder = scratch("archives")
        for shard in range(3):
            archive(folder / f"{shard}.tar", samples_of(11, 11 * shard), format=form)
        expected = {}
        for path in sorted(folder.iterdir()):
            with tarfile.open(path) as tar:
                for member in tar:
                    key, ending = member.name.split(".", 1)
                    expected.setdefault(key, {})[ending] = tar.extractfile(member).read()
        for memory in ("256 MiB", "1 B"):
            dataset = data.read_webdataset(folder, fields=["__key__", "png", "npy", "cls", "json"]).options(memory=memory)
            rows = dataset.take_all()
            equal([row["__key__"] for row in rows], list(expected), "keys")
            for row in rows:
                entries = expected[row["__key__"]]
                check(numpy.array_equal(row["png"], numpy.asarray(Image.open(io.BytesIO(entries["png"])))), "an image differs")
                check(numpy.array_equal(row["npy"], numpy.load(io.BytesIO(entries["npy"]))), "an array differs")
                equal((row["cls"], row["json"]), (int(entries["cls"]), entries["json"].decode()), "label and text")


# The sum covers every value of every batch, in the order of the global batches.
PROGRAM = """import numpy, os, time, trainrt
ctx = trainrt.context()
state = trainrt.State()
total = numpy.zeros(1, numpy.int64)
state.tensor("total", total)
state["epoch"] = state["steps"] = 0
ctx.restore(state)
shard = ctx.dataset("train")
while state["epoch"] < 1:
    for batch in shard.iter_batches(batch_size=4 // ctx.world_size, epoch=state["epoch"]):
        images = [image.astype(numpy.int64).reshape(-1) for image in batch[os.environ["IMAGE"]]]
        share = numpy.array([sum(int((image * numpy.arange(1, image.size + 1)).sum()) for image in images)])
        ctx.all_reduce(share)
        total[0] = 7 * total[0] + share[0] & 0xFFFFFFFF
        state["steps"] += 1
        if state["steps"] == int(os.environ.get("STOP_AT", 0)):
            os.kill(os.getppid(), 10)  # SIGUSR1 to its rank, as Slurm sends it before the time limit
            time.sleep(0.1)
        ctx.step()
    state["epoch"] += 1
    ctx.report({"total": int(total[0])})
"""


def places_after_stops(section, image, numbers_of_ranks=(1, 2)):
    totals = []
    for ranks in numbers_of_ranks:
        config = lambda name: program_config(f"{PYTHON} {program_file(PROGRAM)}", f"{name}-{ranks}", **{"data.train": section})
        whole = config("whole")
        check_exit(run_program(ranks, whole, env={"IMAGE": image}), FINISHED)
        expected = [row["total"] for row in reports(run_dir_of(whole))]
        for stops in ((1, 3), (2,)):  # the stop takes effect at the next step
            stopped = config(f"stopped-{stops[0]}")
            for step in stops:
                check_exit(run_program(ranks, stopped, env={"STOP_AT": step, "IMAGE": image}), STOPPED)
            check_exit(run_program(ranks, stopped, env={"IMAGE": image}), FINISHED)
            equal([row["total"] for row in reports(run_dir_of(stopped))], expected, f"sums on {ranks} ranks of a run that was stopped at the steps {stops}")
        totals.append(expected)
    equal(totals[0], totals[-1], "sums on 1 and on 2 ranks")


@needs_pillow
def a_run_over_images_that_is_stopped_at_each_step_ends_with_the_same_sum():
    folder = image_folder()
    places_after_stops({"format": "images", "source": folder, "size": "24x24", "shuffle": True, "random_resized_crop": "image: 16x16", "color_jitter": "image: 0.4 0.4 0.4 0.2",
                        "random_flip": "image: horizontal", "random_erasing": "image: 0.5"}, "image")


@test
def a_rotated_hue_agrees_with_the_standard_library():
    import colorsys
    images = numpy.random.default_rng(3).integers(0, 256, (24, 8, 8, 3), dtype="u1")  # 24 images, so that angles of both signs occur
    images[:, 0, 0] = (200, 40, 90)  # the pixel from which the test computes the angle
    images[:, 0, 1] = (77, 77, 77)
    for given, scale in ((images, 255), ((images / 255).astype("f4"), 1)):
        turned = column(data.from_numpy({"image": given}).options(color_jitter="image: 0 0 0 0.4"), "image") * (255 / scale)
        angles = []
        for before, after in zip(images, turned):
            hue, saturation, value = colorsys.rgb_to_hsv(*before[0, 0] / 255)
            angle = colorsys.rgb_to_hsv(*after[0, 0] / 255)[0] - hue
            angles.append((angle + 0.5) % 1 - 0.5)
            for old, new in zip(before.reshape(-1, 3), after.reshape(-1, 3)):
                hue, saturation, value = colorsys.rgb_to_hsv(*old / 255)
                expected = numpy.array(colorsys.hsv_to_rgb((hue + angle) % 1, saturation, value)) * 255
                check(abs(expected - new).max() <= 1.5, f"{old} became {new}, and not {expected}")
        check(max(map(abs, angles)) <= 0.41 and max(angles) > 0.05 > -0.05 > min(angles), f"rotations by {angles}")


@needs_pillow
def a_run_over_archives_that_is_stopped_at_each_step_ends_with_the_same_sum():
    folder = scratch("archives")
    for shard in range(2):
        archive(folder / f"{shard}.tar", samples_of(8, 8 * shard))
    places_after_stops({"source": folder, "shuffle": True, "random_crop": "png: 2", "memory": "1 B"}, "png")


@needs_pillow
def damaged_images_are_an_error_or_skipped():
    folder = scratch("images")
    for number in range(20):
        (folder / f"{number:02}.jpg").write_bytes(encoded(Image.fromarray(picture(20, 20)), "jpg")[:300 if number in (7, 13) else None])
    whole = data.read_images(folder, size=(20, 20))
    raises(Exception, "07.jpg", "damaged JPEG", of=lambda: column(whole, "image"))
    equal(len(column(data.read_images(folder, size=(20, 20)).options(on_error="skip"), "image")), 18, "images that can be read")
    Image.new("1", (20000, 20000)).save(folder / "07.jpg", "PNG")  # 50 kB, 1.2 GB when decoded
    raises(Exception, "07.jpg", "20000 x 20000", "max_pixels", of=lambda: column(data.read_images(folder, size=(20, 20)), "image"))


@test
def wrong_arguments_are_named():
    folder = scratch("images")
    raises(ValueError, "size=5", of=lambda: data.read_images(folder, size=5))
    raises(ValueError, "mode='CMYK'", of=lambda: data.read_images(folder, mode="CMYK"))
    raises(ValueError, "decoder", of=lambda: data.read_webdataset(folder, decoder=lambda sample: sample))


main()
