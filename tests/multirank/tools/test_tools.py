#!/usr/bin/python3
"""Compares `trainrt inspect`, `export` and `verify` with independent readers: h5py, NumPy, and a short reader of safetensors below."""
import json
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

_runs = {}


def a_run(name, *words, ranks=2):
    """Returns the directory of a finished run, which is created once per `name`. A test that changes it must copy it first."""
    if name not in _runs:
        config = linear_config(scratch(), name, {"optimizer": "adamw"}, {"features": 3000}, {"num_to_keep": 2})
        job = run_ranks(ranks, config, *words)
        check_exit(job, FINISHED)
        _runs[name] = run_dir_of(config)
    return _runs[name]


def both_layouts():
    return [a_run("ranks", "--checkpoint.layout=rank"), a_run("single", "--checkpoint.layout=single")]


def copy_of(run_dir):
    copy = scratch() / run_dir.name
    shutil.copytree(run_dir, copy)
    return copy


def commands():
    return re.findall(r"^.{14}(\w+) {2,}", run([TRAINRT, "help"]).out, re.M)


def tool(*words, code=FINISHED):
    job = run([TRAINRT, *words])
    check(job.code == code, f"trainrt {' '.join(map(str, words))}: exit {job.code}, expected {code}", job)
    return job


def expected(checkpoint):
    """Returns every tensor and value of the checkpoint, read by h5py from state.h5."""
    import h5py
    found = {}

    def walk(group, prefix):  # visititems does not follow links to other files
        for name in group:
            item = group[name]
            if isinstance(item, h5py.Group):
                walk(item, f"{prefix}{name}/")
            else:
                found[prefix + name] = item[()]

    with h5py.File(checkpoint / "state.h5", "r") as file:
        walk(file, "")
    return found


def compare(found, checkpoint):
    import numpy
    wanted = expected(checkpoint)
    check("model/weights" in wanted and wanted["model/weights"].size == 3001, "state.h5 contains no model")
    for name, array in wanted.items():
        check(name in found, f"'{name}' is missing: {sorted(found)}")
        array = numpy.asarray(array)
        if array.dtype.kind in "SO":
            continue
        equal(found[name].shape, array.shape, f"shape of '{name}'")
        equal(found[name].dtype, array.dtype, f"type of '{name}'")
        equal(found[name].tobytes(), array.tobytes(), f"bytes of '{name}'")


def read_safetensors(path):
    """Reads a file as the format is described (README of github.com/huggingface/safetensors): length, JSON header, bytes of the tensors."""
    import numpy
    types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    check(length % 8 == 0 and data[8:9] == b"{", "the header is invalid")
    metadata = header.pop("__metadata__")
    check(all(isinstance(text, str) for text in metadata.values()), "a value of the metadata is not a string")
    spans = sorted(item["data_offsets"] for item in header.values())
    equal([begin for begin, _ in spans] + [len(data) - 8 - length], [0] + [end for _, end in spans], "spans without gaps")
    tensors = {}
    for name, item in header.items():
        begin, end = item["data_offsets"]
        tensors[name] = numpy.frombuffer(data[8 + length + begin:8 + length + end], types[item["dtype"]]).reshape(item["shape"])
    return tensors, metadata


@test
def inspect_shows_the_same_tensors_and_values_as_h5py():
    for run_dir in both_layouts():
        newest = checkpoints(run_dir)[-1]
        found = json.loads(tool("inspect", run_dir, "--json").out)
        equal(found["directory"], str(newest.resolve()), "the newest checkpoint of a run")
        check(found["ranks"] == 2 and found["iteration"] == 3 and found["step"] > 0, f"{found}")
        check("loss" in found["metrics"] and found["created"].startswith("20"), f"{found['metrics']}")
        equal(len(found["shards"]), len(list(newest.glob("shard-*.h5"))), "shards")
        wanted = expected(newest)
        names = [item["name"] for item in found["tensors"]] + [item["name"] for item in found["values"]]
        equal(sorted(names), sorted(wanted), "names")
        for item in found["tensors"]:
            equal(tuple(item["shape"]), wanted[item["name"]].shape, item["name"])
            equal(item["bytes"], wanted[item["name"]].nbytes, item["name"])
        for item in found["values"]:
            if item["dtype"] != "string":
                equal(item["value"], wanted[item["name"]].item(), item["name"])
        text = tool("inspect", newest).out
        for word in ("model/weights", "[3001]", "per_rank", "epoch", "shard-00000.h5", "loss"):
            check(word in text, f"'{word}' is not shown:\n{text}")


@test
def inspect_shows_the_shard_and_offset_of_each_slab_of_a_tensor():
    run_dir, single = both_layouts()
    for directory, shards in ((run_dir, {"shard-00000.h5", "shard-00001.h5"}), (single, {"shard-00000.h5"})):
        found = json.loads(tool("inspect", directory, "--tensor", "sums/*", "--json").out)
        equal([item["name"] for item in found["tensors"]], ["sums/loss", "sums/seen"], "tensors that match the pattern")
        for item in found["tensors"]:
            equal({slab["shard"] for slab in item["slabs"]}, shards, "shards of its slabs")
            equal([slab["offset"] for slab in sorted(item["slabs"], key=lambda slab: slab["rank"])], [[0, 0], [1, 0]], "offsets")
        check("shard-00000.h5" in tool("inspect", directory, "--tensor", "model/weights").out, "the shard is not shown")


@test
def statistics_equal_those_of_numpy():
    import numpy
    for run_dir in both_layouts():
        wanted = expected(checkpoints(run_dir)[-1])
        found = json.loads(tool("inspect", run_dir, "--stats", "--json").out)
        for item in found["tensors"]:
            array = wanted[item["name"]].astype(numpy.float64)
            statistics = item["statistics"]
            equal(statistics["count"], array.size, "count")
            equal((statistics["min"], statistics["max"]), (array.min(), array.max()), f"minimum and maximum of {item['name']}")
            check(numpy.isclose(statistics["mean"], array.mean(), rtol=1e-12, atol=0), f"mean of {item['name']}: {statistics}")
            check(numpy.isclose(statistics["std"], array.std(), rtol=1e-10, atol=0), f"standard deviation of {item['name']}: {statistics}, {array.std()}")
            equal((statistics["nan"], statistics["infinite"], statistics["zero"]), (0, 0, int((array == 0).sum())), item["name"])
        check(" std " in tool("inspect", run_dir, "--stats", "--tensor", "model/*").out, "the table has no statistics")


def compared(first, second, *words, code=FINISHED):
    return json.loads(tool("inspect", first, "--compare", second, "--json", *words, code=code).out)


@test
def checkpoints_with_equal_bits_are_equal_also_in_different_shard_files():
    ranks, single = both_layouts()
    found = compared(ranks, single)
    wanted = expected(checkpoints(ranks)[-1])
    equal((found["equal"], found["tensors"] + found["values"], found["differences"]), (True, len(wanted), []), "comparison")
    text = tool("inspect", ranks, "--compare", single).out
    check("equal bit by bit" in text, text)


@test
def a_comparison_shows_each_difference_that_numpy_finds():
    import numpy
    first, second = checkpoints(both_layouts()[0])[-2:]
    mine, others = expected(first), expected(second)
    found = compared(first, second, code=FAILED)
    texts = {each["name"]: each["text"] for each in found["differences"]}
    equal(set(texts), {name for name in mine if mine[name].tobytes() != others[name].tobytes()}, "names that differ")
    distance = numpy.abs(mine["model/weights"] - others["model/weights"])
    differ = numpy.flatnonzero(distance)
    check(texts["model/weights"].startswith(f"{len(differ)} of 3001 elements differ, by at most {distance.max():.3g}; the first is [{differ[0]}]: "), f"{texts}")
    equal(texts["epoch"], f"{mine['epoch']} and {others['epoch']}", "values")
    found = compared(first, second, "--tensor", "model/*", code=FAILED)
    equal((found["tensors"], found["values"], len(found["differences"])), (1, 0, 1), "with a pattern")


@test
def checkpoints_of_different_numbers_of_ranks_differ_in_the_shapes_of_per_rank_tensors():
    found = compared(both_layouts()[0], a_run("one", ranks=1), "--tensor", "sums/*", code=FAILED)
    equal({each["text"] for each in found["differences"]}, {"f64 [2, 1] and f64 [1, 1]"}, "differences")
    job = tool("inspect", both_layouts()[0], "--compare", scratch() / "missing", code=USAGE)
    check("missing' does not exist" in job.err, "the path is not named", job)


@test
def an_unknown_tensor_is_an_error_that_suggests_the_nearest_name():
    job = tool("inspect", both_layouts()[0], "--tensor", "model/weight", code=USAGE)
    check("did you mean 'model/weights'" in job.err, "the suggestion is missing", job)
    job = tool("export", both_layouts()[0], "-o", scratch() / "a.npz", "--tensors", "model/*,optimiser/first", code=USAGE)
    check("did you mean 'optimizer/first'" in job.err, "the suggestion is missing", job)


@test
def an_hdf5_export_is_one_file_without_links_and_virtual_datasets():
    import h5py
    for run_dir in both_layouts():
        newest = checkpoints(run_dir)[-1]
        path = scratch() / "state.h5"
        tool("export", newest, "-o", path)
        with h5py.File(path, "r") as file:
            found = {}
            file.visititems(lambda name, item: found.__setitem__(name, item[()]) if isinstance(item, h5py.Dataset) else None)
            layouts = {file[name].id.get_create_plist().get_layout() for name in found}
            equal(layouts, {h5py.h5d.CONTIGUOUS}, "layouts")
            equal(json.loads(file.attrs["checkpoint"])["step"], int(found["trainrt/step"]), "step of the manifest")
        compare(found, newest)
        equal([entry.name for entry in path.parent.iterdir()], ["state.h5"], "files of the folder")


@test
def an_hdf5_export_contains_a_record_of_any_length():
    import h5py
    program = program_file("""import trainrt
ctx = trainrt.context()
state = trainrt.State()
state["epoch"] = 0
ctx.restore(state)
ctx.report({f"metric_with_a_long_name_{i}": i / 7 for i in range(3000)})
ctx.save()
""")
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder}, "train": {"program": f"/usr/bin/python3 {program}"}})
    check_exit(run([TRAINRT, "--config", config]), FINISHED)
    tool("export", folder / "run", "-o", folder / "run.h5")
    with h5py.File(folder / "run.h5") as f:
        record = json.loads(f.attrs["checkpoint"])
    equal(len(record["metrics"]), 3000, "metrics")
    equal(record["metrics"]["metric_with_a_long_name_2999"], 2999 / 7, "the last metric")


@test
def a_safetensors_export_obeys_the_description_of_the_format():
    for run_dir in both_layouts():
        path = scratch() / "state.safetensors"
        tool("export", run_dir, f"--output={path}")
        found, metadata = read_safetensors(path)
        texts = {name: text for name, text in metadata.items() if "/" in name}  # strings are stored as metadata
        check("trainrt/stop/end_reason" in texts, f"a string value is missing: {metadata}")
        compare({**found, **texts}, checkpoints(run_dir)[-1])
        equal(metadata["format"], "pt", "the format that transformers requires")
        equal(json.loads(metadata["trainrt"])["ranks"], 2, "ranks of the manifest")


@test
def a_safetensors_export_can_be_loaded_into_torch():
    try:
        import torch
    except ImportError:
        skip("torch is not installed (package python3-torch)")
    path = scratch() / "model.safetensors"
    tool("export", a_run("ranks", "--checkpoint.layout=rank"), "-o", path, "--tensors", "model/*")
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    equal(set(header), {"__metadata__", "model/weights"}, "tensors that match the pattern")
    begin, end = header["model/weights"]["data_offsets"]
    weights = torch.frombuffer(data, dtype=torch.float32, offset=8 + length + begin, count=(end - begin) // 4)
    equal(weights.numpy().tobytes(), expected(checkpoints(_runs["ranks"])[-1])["model/weights"].tobytes(), "weights")


@test
def an_npz_export_is_read_by_numpy_without_pickle():
    import numpy
    for run_dir in both_layouts():
        path = scratch() / "state.npz"
        tool("export", run_dir, "-o", path)
        with numpy.load(path, allow_pickle=False) as archive:
            compare({name: archive[name] for name in archive.files}, checkpoints(run_dir)[-1])


@test
def every_export_format_writes_one_file_that_only_force_replaces():
    run_dir = both_layouts()[0]
    for extension in listed("export formats"):
        path = scratch() / f"state.{extension}"
        tool("export", run_dir, "-o", path)
        first = path.read_bytes()
        check(len(first) > 1000, f"{path.name} has only {len(first)} bytes")
        job = tool("export", run_dir, "-o", path, code=USAGE)
        check("--force" in job.err and path.read_bytes() == first, "the file was replaced, or --force is not named", job)
        tool("export", run_dir, "-o", path, "--force")
        equal([entry.name for entry in path.parent.iterdir()], [path.name], "files of the folder")


@test
def every_command_has_help_and_refuses_unknown_options():
    for name in commands():
        check(tool(name, "--help").out.startswith(f"trainrt {name}: "), f"trainrt {name} --help does not begin with its definition")
        equal(tool("help", name).out, tool(name, "--help").out, f"trainrt help {name}")
        job = tool(name, "--no-such-switch", code=USAGE)
        check("no-such-switch" in job.err, "the switch is not named", job)


@test
def an_existing_target_is_replaced_only_by_force():
    import numpy
    run_dir = both_layouts()[0]
    path = scratch() / "model.npz"
    path.write_text("precious")
    job = tool("export", run_dir, "-o", path, code=USAGE)
    check("--force" in job.err and path.read_text() == "precious", "the file was replaced, or --force is not named", job)
    tool("export", run_dir, "-o", path, "--force", "--tensors", "model/*")
    with numpy.load(path) as archive:
        equal(archive.files, ["model/weights"], "names")
    tool("export", run_dir, "-o", path.with_suffix(".pt"), code=USAGE)
    tool("export", run_dir, code=USAGE)
    tool("export", scratch(), "-o", path, code=USAGE)


def flip_a_byte(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)


@test
def export_and_statistics_of_a_damaged_checkpoint_name_the_file_and_leave_no_output():
    import h5py
    for original in both_layouts():
        run_dir = copy_of(original)
        newest = checkpoints(run_dir)[-1]
        for shard in sorted(newest.glob("shard-*.h5")):
            with h5py.File(shard, "r") as file:
                at = file["model/weights"].id.get_offset() if "model/weights" in file else None
            if at:
                flip_a_byte(shard, at + 100)
                damaged = shard
        for extension in listed("export formats"):
            path = scratch() / f"state.{extension}"
            job = tool("export", newest, "-o", path, code=FAILED)
            check(str(damaged) in job.err, "the file is not named", job)
            equal(list(path.parent.iterdir()), [], "remaining files")
            path.write_text("precious")
            tool("export", newest, "-o", path, "--force", code=FAILED)
            equal(path.read_text(), "precious", "the existing file")
        for words in (["--stats"], ["--compare", original]):
            job = tool("inspect", newest, *words, code=FAILED)
            check(str(damaged) in job.err, "the file is not named", job)
        job = tool("verify", run_dir, code=FAILED)
        check(f"DAMAGED   {newest.resolve()}" in job.out and str(damaged.resolve()) in job.out, "verify does not name the damaged file", job)
        check(f"ok        {checkpoints(run_dir)[0].resolve()}" in job.out, "verify does not report the other checkpoint as ok", job)


@test
def an_export_to_a_full_disk_leaves_no_file():
    if not Path("/dev/shm").is_dir() or os.geteuid() != 0:
        skip("mounting a small tmpfs needs root")
    folder = scratch()
    mount = run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder])
    if mount.code != 0:
        skip("this machine does not allow mounting a tmpfs")
    try:
        for extension in listed("export formats"):
            job = tool("export", both_layouts()[0], "-o", folder / f"state.{extension}", code=FAILED)
            check("No space left" in job.err, "the reason is not printed", job)
            equal(list(folder.iterdir()), [], "remaining files")
    finally:
        run(["umount", folder])


@test
def killed_commands_that_cannot_be_resumed_leave_no_file():
    run_dir, folder = a_run("ranks", "--checkpoint.layout=rank"), scratch()
    (folder / "in.csv").write_text("x\n" + "1\n" * 1000)
    slow = {"LD_PRELOAD": BUILD / "tests/fault_shim.so", "TRAINRT_FAULTS": "pwrite:slow=30000:.tmp.,pwrite:slow=30000:.part"}
    for words in (["export", run_dir, "-o", "out.npz"], ["export", run_dir, "-o", "out.h5"], ["export", run_dir, "-o", "out.safetensors"],
                  ["predict", run_dir, "-o", "out.csv", "--dataset", "train"], ["predict", run_dir, "-o", "out.h5", "--dataset", "train"],
                  ["plot", run_dir, "-o", "out.svg"], ["report", run_dir, "-o", "out.html"],
                  ["data", "convert", "in.csv", "-o", "out.jsonl"], ["data", "convert", "in.csv", "-o", "out.h5", "--compress", "gzip"]):
        job = Job([TRAINRT, *words], cwd=folder, env=slow)
        left = lambda: sorted(path.name for path in folder.iterdir() if path.name != "in.csv")
        wait_until(lambda: left() or job.ended(), 30, "a file to be created", job)
        check(not job.ended(), "the command ended before it was killed", job)
        os.kill(job.process.pid, signal.SIGKILL)
        wait_until(lambda: not left(), 10, f"{' '.join(map(str, words))} to leave nothing: {left()}", job)
        job.end()


@test
def an_export_ended_by_a_file_size_limit_names_the_limit_and_leaves_no_file():
    folder = scratch()
    for extension in listed("export formats"):
        job = run(["prlimit", "--fsize=1024", TRAINRT, "export", both_layouts()[0], "-o", folder / f"state.{extension}"])
        check_exit(job, FAILED)
        check("File too large" in job.err and "ulimit -f" in job.err, "the reason is not printed", job)
        equal(list(folder.iterdir()), [], "remaining files")


@test
def verify_reports_each_intact_and_each_damaged_part_of_a_run():
    run_dir = copy_of(both_layouts()[0])
    job = tool("verify", run_dir, "--threads", "3")
    for name in ("checkpoint_", "run.json", "result.json", "attempts", "metrics.h5"):
        check(re.search(rf"^ok        .*{name}", job.out, re.M), f"{name} is not checked", job)
    check("DAMAGED" not in job.out, "an undamaged file is reported as damaged", job)
    tool("verify", checkpoints(run_dir)[0])
    tool("verify", run_dir / "metrics.h5")
    tool("verify", run_dir / "run.json", code=USAGE)
    tool("verify", run_dir, "--threads", "none", code=USAGE)

    (checkpoints(run_dir)[0] / "stray").write_text("x")
    job = tool("verify", run_dir)
    check("note: " in job.out and "stray" in job.out, "no note about a file that is not listed", job)

    with open(run_dir / "result.json", "a") as log:
        log.write('{"_training_iteration": 4, "lo')
    check("note: line 4" in tool("verify", run_dir).out, "no note about an incomplete last line")

    def damaged(name, change):
        copy = copy_of(run_dir)
        change(copy / name)
        found = tool("verify", copy, code=FAILED)
        check(re.search(rf"^DAMAGED   .*{name.split('/')[0]}", found.out, re.M), f"{name} is not named", found)

    damaged("run.json", lambda path: path.write_text("{}"))
    damaged("result.json", lambda path: path.write_text("\n".join(reversed(path.read_text().splitlines()[:3])) + "\n"))
    damaged("attempts/000001.json", lambda path: path.write_text("nothing"))
    damaged("metrics.h5", lambda path: path.write_bytes(b"nothing"))
    damaged(f"{checkpoints(run_dir)[-1].name}/manifest.json", lambda path: path.write_text(path.read_text().replace("loss", "lost", 1)))
    damaged(f"{checkpoints(run_dir)[-1].name}/manifest.json", lambda path: path.unlink())


@test
def every_command_fails_if_its_output_cannot_be_written():
    run_dir = a_run("ranks", "--checkpoint.layout=rank")
    config = run_dir.parent.parent / "ranks.ini"
    lines = [[], ["--help"], ["--version"], ["help"], ["list"], ["result", run_dir], ["result", run_dir, "--json"], ["inspect", run_dir],
             ["verify", run_dir], ["check", "--config", config], ["doctor"], *([name, "--help"] for name in commands())]
    for words in lines:
        quoted = " ".join(f"'{word}'" for word in (TRAINRT, *words))
        for target in ("> /dev/full", ">&-"):
            job = run(["sh", "-c", f"{quoted} {target}"])
            equal(job.code, USAGE if not words else FAILED, f"exit code of trainrt {words} {target}", job)
            equal(job.err.count("the output could not be written"), 1, f"messages of trainrt {words} {target}", job)


@test
def a_run_whose_progress_cannot_be_printed_finishes():
    config = linear_config(scratch(), "run", {})
    job = run(["sh", "-c", f"'{TRAINRT}' --config '{config}' > /dev/full"])
    check_exit(job, FINISHED)
    check_verifies(run_dir_of(config))


@test
def the_command_that_a_run_prints_at_its_end_works_in_a_shell():
    folder = scratch() / "my runs, it's $HOME"
    config = linear_config(folder.parent, "run", {}, storage=str(folder).replace("$", "$$"))
    job = run([TRAINRT, "--config", config])
    check_exit(job, FINISHED)
    command = re.search(r"Results: (trainrt result .*)$", job.err, re.M)[1]
    shown = run(["sh", "-c", command], env={"PATH": f"{BUILD}:{os.environ['PATH']}"})
    check_exit(shown, FINISHED)
    check(str(folder / "run") in shown.out, "the command shows another directory", shown)


@test
def export_best_uses_the_score_of_the_run():
    folder = scratch()
    config = linear_config(folder, "run", {"epochs": 4}, None, {"score_attribute": "loss", "score_order": "max"})
    check_exit(run([TRAINRT, "--config", config]), FINISHED)
    run_dir = run_dir_of(config)
    losses = {}
    for checkpoint in checkpoints(run_dir):
        losses[checkpoint.name] = json.loads((checkpoint / "manifest.json").read_text())["metrics"]["loss"]
    best = max(losses, key=losses.get)
    check(best != checkpoints(run_dir)[-1].name, "the newest checkpoint is also the best, so the test proves nothing")
    job = tool("export", run_dir, "--best", "-o", folder / "best.npz")
    check(f"/{best}," in job.out, f"the exported checkpoint is not {best}", job)
    tool("export", run_dir / best, "-o", folder / "same.npz")
    equal((folder / "best.npz").read_bytes(), (folder / "same.npz").read_bytes(), "bytes of the export")
    without = a_run("ranks", "--checkpoint.layout=rank")
    job = tool("export", without, "--best", "-o", folder / "no.npz", code=USAGE)
    check("name a metric with --best=METRIC:max or --best=METRIC:min. Its checkpoints have: epoch, loss" in job.err, "the remedy", job)


@test
def the_best_checkpoint_by_a_named_metric_is_exported():
    run_dir = a_run("ranks", "--checkpoint.layout=rank")
    folder = scratch()
    losses = {}
    for checkpoint in checkpoints(run_dir):
        losses[checkpoint.name] = json.loads((checkpoint / "manifest.json").read_text())["metrics"]["loss"]
    for order, best in (("min", min(losses, key=losses.get)), ("max", max(losses, key=losses.get))):
        job = tool("export", run_dir, f"--best=loss:{order}", "-o", folder / f"{order}.npz")
        check(f"/{best}," in job.out and "warning" not in job.err, f"not {best}", job)
    job = tool("export", run_dir, "--best=loss", "-o", folder / "default.npz")
    check("use --best=loss:min if lower is better" in job.err, "no warning", job)
    for value, part in (("none:min", "the metric 'none'"), (":min", "the form is"), ("", "--best= has no value")):
        job = tool("export", run_dir, f"--best={value}", "-o", folder / "no.npz", code=USAGE)
        check(part in job.err, f"--best={value} lacks {part!r}", job)


@test
def a_file_of_pytorch_is_not_written_and_safetensors_is_offered():
    job = tool("export", both_layouts()[0], "-o", scratch() / "best.pt", code=USAGE)
    check("cannot write .pt files. Write '" in job.err and "best.safetensors'" in job.err and "did you mean" not in job.err, "the remedy", job)


@test
def only_a_run_has_a_best_checkpoint_and_result_names_its_order():
    folder = scratch()
    config = linear_config(folder, "run", {"epochs": 2}, None, {"score_attribute": "loss"})
    warning = "checkpoint.score_attribute = loss with the default score_order = max keeps the checkpoints with the highest loss; " \
              "set score_order = min if lower is better"
    for words in (["check"], ["-n", 2]):
        job = run([TRAINRT, *words, "--config", config])
        check_exit(job, FINISHED)
        equal(job.err.count(warning), 1, f"warnings of {words} in\n{job.err}")
        job = run([TRAINRT, *words, "--config", config, "--checkpoint.score_order=max"])
        check(warning not in job.err, "a warning of a given order", job)
    run_dir = run_dir_of(config)
    check("best by loss (max), iteration 1\n" in tool("result", run_dir).out, "the order", tool("result", run_dir))
    best = checkpoints(run_dir)[0].name
    check("run directory" in tool("export", run_dir / best, "--best", "-o", folder / "no.npz", code=USAGE).err, "why not")


@test
def the_result_of_a_folder_compares_its_runs():
    folder = scratch()
    for name, lr in (("fast", 0.05), ("slow", 0.001)):
        check_exit(run([TRAINRT, "--config", linear_config(folder, name, {"lr": lr, "epochs": 2})]), FINISHED)
    (folder / "runs/notes").mkdir()
    job = tool("result", folder / "runs")
    title, *rows, common = job.out.splitlines()
    check("loop.lr" in title and "loop.epochs" not in title and "loss" in title, "other columns", job)
    check(common.startswith("the same in all runs: ") and "loop.epochs = 2" in common and "loop.lr" not in common, "other common values", job)
    equal([row.split()[:3] for row in rows], [["fast", "finished", "2"], ["slow", "finished", "2"]], "rows", job)
    check("0.05" in rows[0] and "0.001" in rows[1], "the learning rates are not shown", job)
    equal([one["name"] for one in json.loads(tool("result", folder / "runs", "--json").out)], ["fast", "slow"], "JSON")
    (folder / "runs/slow/run.json").write_text("nothing")
    job = tool("result", folder / "runs", code=FAILED)
    check("fast" in job.out and "slow" not in job.out and "slow" in job.err, "the unreadable run is not named, or the other one is not shown", job)
    check("neither" in tool("result", folder / "runs/notes", code=USAGE).err, "a folder without runs gives another error")


@test
def version_lists_the_libraries():
    lines = tool("--version").out.splitlines()
    check(re.fullmatch(r"trainrt \d+\.\d+\.\d+", lines[0]), f"the first line: {lines[0]}")
    equal([line.split()[0] for line in lines[1:]], ["MPI", "PMIx", "HDF5", "CUDA", "NCCL", "Boost"], "libraries")
    check(all(len(line.split()) > 1 for line in lines), f"a library without a version: {lines}")


@test
def a_long_build_prints_its_remaining_time():
    """The test runs the build script of `make quickstart` on a project with steps that sleep."""
    if shutil.which("ninja") is None:
        skip("ninja is not installed (package ninja-build)")
    folder = scratch()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(slow NONE)\nforeach(i RANGE 1 20)\n"
        "  add_custom_command(OUTPUT out${i} COMMAND sleep 0.1 COMMAND ${CMAKE_COMMAND} -E touch out${i})\n"
        "  list(APPEND outs ${CMAKE_CURRENT_BINARY_DIR}/out${i})\nendforeach()\nadd_custom_target(slow DEPENDS ${outs})\n")
    build = folder / "build"
    check_exit(run(["cmake", "-G", "Ninja", "-S", folder, "-B", build]), FINISHED)
    command = [SOURCE / "src/build_with_estimate.sh", build, "1", "slow"]
    job = run(command, env={"FIRST_ESTIMATE_S": "1"})
    check_exit(job, FINISHED)
    check(re.search(r"build: \d+ of 2\d steps in \d+ s; about 1 min left", job.err), "the estimate is missing", job)
    check("build: " not in run(command).err, "an estimate for a build without steps")
    (build / "out7").unlink()
    (folder / "CMakeLists.txt").write_text((folder / "CMakeLists.txt").read_text().replace("sleep 0.1", "false"))
    check(run(command).code != 0, "a failed build exits with 0")


@test
def result_warns_of_a_checkpoint_that_will_be_purged_from_the_storage():
    config = linear_config(scratch(), "run")
    check_exit(run([TRAINRT, "--config", config, "--storage.purge_days=60"]), FINISHED)
    run_dir = run_dir_of(config)
    check("WARNING" not in tool("result", run_dir).out, "a warning about a new run")
    old = time.time() - 54 * 86400
    os.utime(checkpoints(run_dir)[-1] / "manifest.json", (old, old))
    job = tool("result", run_dir)
    for word in ("WARNING", checkpoints(run_dir)[-1].name, "54 days old", "60 days old", "storage.purge_days", "checkpoint.mirror"):
        check(word in job.out, f"the warning lacks {word!r}", job)
    check("54 days" in json.loads(tool("result", run_dir, "--json").out)["purge_warning"], "the warning is not in the JSON")


main()
