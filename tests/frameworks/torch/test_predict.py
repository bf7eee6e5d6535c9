#!/usr/bin/python3
"""trainrt predict writes the outputs of a trained model for each sample into one file, which is the same on any number of ranks and in each
format. Errors name the cause, and no stop, kill or error leaves files."""
import csv
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.training import *  # noqa: E402,F403

import h5py  # noqa: E402
import numpy  # noqa: E402

IMAGES = {"train": 1600, "test": 1333}  # 13 batches of 100, and one of 33
_data = None
_run = None  # run directory of fashion_mnist, trained on 2 ranks
PYTHON = "/usr/bin/python3"
EXPORTS = SOURCE / "tests/frameworks/scripts/torchscript_models.py"


def setup():
    global _data, _run
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built (package libtorch-dev)")
    _data = scratch("data")
    for part, count in IMAGES.items():
        write_images(_data, part, count)
    config = trained("fashion", "fashion_mnist", 2, epochs=6, batch_size=16, hidden=32, lr=0.05)
    _run = run_dir_of(config)


def trained(name, function, ranks, **loop):
    folder = scratch()
    config = write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs"}, "train": {"function": function}, "loop": {"eval_batch_size": 100, **loop},
        **image_sections(_data)})
    finish(ranks, config)
    return config


def predict(run_dir, output, *words, ranks=1, expected=FINISHED, **options):
    job = run([TRAINRT, "predict", run_dir, "-o", output, *(["-n", ranks] if ranks > 1 else []), *words], **options)
    check_exit(job, expected)
    return job


def refused(*words, says, code=USAGE, run_dir=None, ranks=(2,)):
    """Checks that the prediction fails with an error that contains `says` and leaves no files."""
    folder = scratch()
    for count in ranks:
        job = predict(run_dir or _run, folder / "out.h5", *words, ranks=count, expected=code)
        check(says in job.err, f"the error lacks {says!r}", job)
        equal(job.err.count("error:"), 1, "number of errors", job)
    equal(os.listdir(folder), [], "files in the folder")


def read_h5(path):
    with h5py.File(path) as file:
        return {name: file[name][()] for name in file}


def read_csv(path):
    header, *lines = path.read_text().splitlines()
    return header.split(","), [line.split(",") for line in lines]


@test
def the_file_is_the_same_on_any_number_of_ranks():
    folder = scratch()
    for ending in ("h5", "csv", "npz"):
        contents = set()
        for ranks in (1, 2, 3) if ending == "h5" else (1, 3):
            predict(_run, folder / f"{ranks}.{ending}", "--keep", "labels", ranks=ranks)
            contents.add((folder / f"{ranks}.{ending}").read_bytes())
        check(len(contents) == 1, f"the .{ending} files differ")
    command = [MPIEXEC, "-n", 2, TRAINRT, "predict", _run, "-o", folder / "mpi.csv", "--keep", "labels"]
    check_exit(run(command), FINISHED)
    equal((folder / "mpi.csv").read_bytes(), (folder / "1.csv").read_bytes(), "the file written by ranks of mpiexec")
    predict(_run, folder / "many.h5", "--keep", "labels", "--loop.eval_batch_size=1000", ranks=3)  # more ranks than batches
    equal(read_h5(folder / "many.h5")["label"].tolist(), read_h5(folder / "1.h5")["label"].tolist(), "labels with another batch size")
    equal([name for name in os.listdir(folder) if name.startswith(".")], [], "temporary files")


@test
def predictions_agree_with_the_evaluation():
    out = scratch() / "out.h5"
    predict(_run, out, "--keep", "labels=truth", ranks=2)
    found = read_h5(out)
    equal({name: (str(values.dtype), values.shape) for name, values in found.items()},
          {"logits": ("float32", (1333, 10)), "label": ("int64", (1333,)), "probability": ("float32", (1333,)), "truth": ("uint8", (1333,))}, "fields")
    accuracy = (found["label"] == found["truth"]).mean()
    reported = reports(_run)[-1]["test_accuracy"]
    check(abs(accuracy - reported) < 1e-12 and accuracy > 0.5, f"accuracy {accuracy}, reported {reported}")
    check((found["logits"].argmax(1) == found["label"]).all(), "a label is not the class of the largest logit")
    powers = numpy.exp(found["logits"].astype("f8"))
    check(numpy.allclose((powers / powers.sum(1, keepdims=True)).max(1), found["probability"], rtol=1e-5), "a probability is not softmax's")
    check((found["truth"] == numpy.frombuffer((_data / "test-labels").read_bytes()[8:], "u1")).all(), "the kept labels are not the dataset's")


@test
def csv_npz_and_h5_hold_the_same_values():
    folder = scratch()
    for ending in ("h5", "csv", "npz"):
        predict(_run, folder / f"out.{ending}", "--keep", "labels")
    h5, npz = read_h5(folder / "out.h5"), numpy.load(folder / "out.npz", allow_pickle=False)
    equal(sorted(npz), sorted(h5), "arrays")
    for name in npz:
        check(npz[name].dtype == h5[name].dtype and (npz[name] == h5[name]).all(), f"{name} differs")
    header, lines = read_csv(folder / "out.csv")
    equal(header, [*(f"logits_{i}" for i in range(10)), "label", "probability", "labels"], "columns")
    table = numpy.array(lines)
    check((table[:, :10].astype("f4") == h5["logits"]).all() and (table[:, 11].astype("f4") == h5["probability"]).all(), "reals of the .csv have other bits")
    check((table[:, 10].astype(int) == h5["label"]).all() and (table[:, 12].astype(int) == h5["labels"]).all(), "integers differ")


NOTES = ["a", "", 'b, "quoted"', "two\nlines", "\u00e4\u20ac" * 9]


def table_run(notes):
    """Returns the run directory of a run of `linear` on a table with a string in each row."""
    folder = scratch()
    with open(folder / "table.jsonl", "w") as file:
        file.writelines(json.dumps({"x": [i % 7, i % 5], "y": i % 3, "note": note}) + "\n" for i, note in enumerate(notes))
    table = {"source": folder / "table.jsonl", "types": "x:f32, y:f32"}
    config = write_config(folder / "table.ini", {
        "run": {"name": "table", "storage_path": folder / "runs"}, "train": {"function": "linear"}, "loop": {"epochs": 1, "batch_size": 10},
        "data.train": {**table, "columns": "x, y"}, "data.test": table})
    finish(1, config)
    return run_dir_of(config)


@test
def strings_in_csv_and_h5_are_the_same_on_any_number_of_ranks():
    notes = [NOTES[i % len(NOTES)] for i in range(103)]
    run_dir, folder = table_run(notes), scratch()
    for ending in ("h5", "csv"):
        contents = set()
        for ranks in (1, 3):
            predict(run_dir, folder / f"{ranks}.{ending}", "--keep", "note,y=truth", ranks=ranks)
            contents.add((folder / f"{ranks}.{ending}").read_bytes())
        check(len(contents) == 1, f"the .{ending} files differ")
    check_exit(run([TRAINRT, "verify", folder / "3.h5"]), FINISHED)
    with h5py.File(folder / "3.h5") as file:
        equal([text.decode() for text in file["note"][()]], notes, "texts of the .h5")
        equal(h5py.check_string_dtype(file["note"].dtype).encoding, "utf-8", "their encoding")
        equal(file["note"].attrs["source"].decode(), "dataset: note", "the attribute `source` of the field")
    with open(folder / "3.csv", newline="") as file:
        equal([row["note"] for row in csv.DictReader(file)], notes, "texts of the .csv")
    refused_npz = predict(run_dir, folder / "out.npz", "--keep", "note", ranks=2, expected=USAGE)
    check("--keep note: the field holds texts" in refused_npz.err and "Write .csv or .h5" in refused_npz.err, "the error names no format for strings", refused_npz)


@test
def a_string_that_cannot_be_kept_is_an_error_that_names_it():
    folder = scratch()
    run_dir = table_run(["good"] * 20 + ["bad\0"] + ["good"] * 9)
    job = predict(run_dir, folder / "out.h5", "--keep", "note", ranks=2, expected=USAGE)
    check("--keep note: the text of sample 20 of [data.test] contains a NUL" in job.err, "the error lacks the field or the sample", job)
    equal(os.listdir(folder), [], "files in the folder")


@test
def the_h5_file_keeps_its_schema_and_names_its_origin():
    out = scratch() / "out.h5"
    predict(_run, out, "--keep", "labels")
    check_exit(run([TRAINRT, "verify", out]), FINISHED)
    with h5py.File(out) as file:
        attributes = dict(file.attrs)
        equal(file["labels"].attrs["source"].decode(), "dataset: labels", "`source` of labels")
        equal(file["label"].attrs["source"].decode(), "predicted", "`source` of label")
    equal({name: attributes[name] for name in ("format", "train_function", "dataset", "checkpoint")},
          {"format": "trainrt predictions", "train_function": "fashion_mnist", "dataset": "test", "checkpoint": str(checkpoints(_run)[-1].resolve())}, "attributes")


@test
def datasets_without_labels_can_be_predicted():
    folder = scratch()
    predict(_run, folder / "whole.h5")
    predict(_run, folder / "bare.h5", "--data.new.format=idx", f"--data.new.source={_data / 'test-images'}")
    equal(read_h5(folder / "bare.h5")["label"].tolist(), read_h5(folder / "whole.h5")["label"].tolist(), "labels without labels")
    predict(_run, folder / "some.h5", "--data.test.subset=5:25")
    equal(read_h5(folder / "some.h5")["label"].tolist(), read_h5(folder / "whole.h5")["label"].tolist()[5:25], "rows of the dataset")
    predict(_run, folder / "train.h5", "--dataset", "train", "--keep", "labels")  # which training shuffles
    labels = (_data / "train-labels").read_bytes()[8:]
    equal(read_h5(folder / "train.h5")["labels"].tobytes(), labels, "the order of a dataset that training shuffles")


@test
def a_copied_checkpoint_can_predict():
    folder = scratch()
    shutil.copytree(checkpoints(_run)[-1], folder / "checkpoint_000001")
    out = folder / "out.csv"
    job = predict(folder / "checkpoint_000001", out, "--data.new.format=idx", f"--data.new.source={_data / 'test-images'}", expected=USAGE)
    check("--train.function=NAME" in job.err, "the error does not name the missing key", job)
    predict(folder / "checkpoint_000001", out, "--train.function=fashion_mnist", "--loop.hidden=32", "--loop.eval_batch_size=100",
            "--data.new.format=idx", f"--data.new.source={_data / 'test-images'}")
    predict(_run, folder / "whole.csv")
    equal(out.read_bytes(), (folder / "whole.csv").read_bytes(), "the predictions")


@test
def a_prediction_does_not_change_the_run():
    def listing():
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in Path(_run).rglob("*")}
    before = listing()
    predict(_run, scratch() / "out.h5", ranks=2)
    equal(listing(), before, "the run directory")


@test
def an_existing_file_is_replaced_only_with_force():
    out = scratch() / "out.csv"
    out.write_text("mine")
    job = predict(_run, out, expected=USAGE)
    check("exists already; --force replaces it" in job.err, "the error does not name --force", job)
    equal(out.read_text(), "mine", "the file")
    predict(_run, out, "--force")
    check(out.read_text().startswith("logits_0,"), "the file was not replaced")


@test
def a_file_of_the_dataset_is_never_replaced():
    folder = scratch()
    new, rows, link = folder / "new.npz", folder / "rows.csv", folder / "link.npz"
    numpy.savez(new, images=numpy.zeros((4, 28, 28), "u1"))
    rows.write_text("0:2")
    link.hardlink_to(new)
    before = new.read_bytes()
    for output, says in ((new, "which is a source of [data.new]"), (link, "which is a source of [data.new]"),
                         (rows, "which a key of [data.new] names")):
        for ranks in (1, 2):
            job = predict(_run, output, "--force", f"--data.new.source={new}", f"--data.new.subset=@{rows}", ranks=ranks, expected=USAGE)
            check(output.name in job.err and says in job.err, "the error lacks the file", job)
    equal((new.read_bytes(), rows.read_text()), (before, "0:2"), "the files")
    equal(sorted(os.listdir(folder)), ["link.npz", "new.npz", "rows.csv"], "files in the folder")
    predict(_run, folder / "out.npz", f"--data.new.source={new}")
    predict(_run, folder / "out.npz", "--force", f"--data.new.source={new}", ranks=2)
    equal(numpy.load(folder / "out.npz")["label"].shape, (4,), "labels")


@test
def duplicate_column_names_are_refused_before_the_prediction():
    folder = scratch()
    job = predict(_run, folder / "out.csv", "--keep", "labels=logits_3", ranks=2, expected=USAGE)
    check("the fields 'logits' and 'logits_3' both make a column 'logits_3'" in job.err and "--keep FIELD=NAME" in job.err, "the error lacks the fields", job)
    equal(os.listdir(folder), [], "files in the folder")
    predict(_run, folder / "out.npz", "--keep", "labels=logits_3")


@test
def missing_fields_files_and_datasets_are_named():
    refused("--keep", "lables", says="[data.test] has no field of this name (did you mean 'labels'?); its fields: images, labels")
    refused("--keep", "labels=label", says="fashion_mnist predicts a field of this name")
    refused(says="does not exist", run_dir="/no/such/run")
    refused("--dataset", "tset", says="the run has no [data.tset] (did you mean 'test'?)")
    refused("--data.test.source=/no/file", says="/no/file")
    refused("--data.test.on_error=skip", says="predictions need each sample exactly once")
    refused("--loop.hiden=3", says="hidden")
    refused("--loop.hidden=33", says="'model/fc1/weight' is a tensor of f32 [32, 784] in the checkpoint")
    plain = scratch() / "plain.npz"
    numpy.savez(plain, pictures=numpy.zeros((4, 28, 28), "u1"))
    refused(f"--data.new.source={plain}", says="[data.new] has no images; it must have a u8 field 'images'")
    job = run([TRAINRT, "predict", _run, "-o", "/no/folder/out.h5"])
    check_exit(job, USAGE)
    check("does not exist" in job.err, "the error lacks the missing file", job)
    job = run([TRAINRT, "predict", _run, "-o", scratch() / "out.txt"])
    check_exit(job, USAGE)
    check("valid extensions are .csv, .h5, .npz" in job.err, "the error lacks the formats", job)


@test
def a_full_disk_is_named_and_leaves_nothing():
    folder = scratch()
    job = run([*own_mount(folder, "size=64k"), "sh", "-c", f"{TRAINRT} predict {_run} -n 2 -o {folder}/out.h5; code=$?; ls -A {folder}; exit $code"])
    check_exit(job, FAILED)
    check("No space left" in job.err, "the full disk is not named", job)
    equal(job.out, "", "remaining files")


@test
def a_damaged_checkpoint_is_refused():
    folder = scratch()
    shutil.copytree(_run, folder / "run")
    shard = next(checkpoints(folder / "run")[-1].glob("shard-*.h5"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    refused(run_dir=folder / "run", says="shard-00000.h5", ranks=(1, 2))
    (checkpoints(folder / "run")[-1] / "manifest.json").write_text("{}")
    refused(run_dir=folder / "run", says="manifest.json", code=FAILED)


@test
def a_function_that_cannot_predict_is_an_error():
    folder = scratch()
    script = program_file("#!/usr/bin/python3\n")
    check_exit(run([TRAINRT, "--run.name=program", f"--run.storage_path={folder}/runs", "--", script]), FINISHED)
    (folder / "runs/program/checkpoint_000000").mkdir()
    job = run([TRAINRT, "predict", folder / "runs/program", "-o", folder / "out.h5"])
    check_exit(job, USAGE)
    check("ran a program" in job.err, "the error lacks the reason", job)


def linear_run():
    folder = scratch()
    config = linear_config(folder, "linear", {"epochs": 1}, {"samples": 64})
    check_exit(run([TRAINRT, "--config", config]), FINISHED)
    return run_dir_of(config)


def interrupted_prediction(send, code):
    """Interrupts a prediction of many samples by `send`. Returns its folder and the job."""
    folder = scratch()
    job = Job([TRAINRT, "predict", linear_run(), "-n", 3, "-o", folder / "out.h5", "--data.train.samples=300000000"])
    wait_until(lambda: any(name.startswith(".out.h5") for name in os.listdir(folder)) or job.ended(), 30, "the first rows", job)
    time.sleep(0.2)
    send(job)
    equal(job.wait(60), code, "exit code", job)
    check(not (folder / "out.h5").exists(), "an output file exists", job)
    return folder, job


@test
def a_stop_signal_ends_all_ranks_and_leaves_nothing():
    folder, job = interrupted_prediction(lambda job: kill([job.process.pid], signal.SIGTERM), FAILED)
    check("stopped by SIGTERM: no output was written" in job.err, "the stop is not reported", job)
    # A rank that is ended because another rank has exited may leave temporary files. The next prediction removes them.
    predict(_run, folder / "out.h5")
    equal(os.listdir(folder), ["out.h5"], "files in the folder")


@test
def a_killed_rank_ends_the_others():
    folder, job = interrupted_prediction(lambda job: kill([job.ranks()[1]]), 128 + signal.SIGKILL)
    predict(_run, folder / "out.h5")
    equal(os.listdir(folder), ["out.h5"], "files in the folder")


@test
def resnet18_predicts_the_same_on_any_number_of_ranks():
    config = trained("resnet", "resnet18", 2, epochs=1, batch_size=100, width=2)
    folder = scratch()
    for ranks in (1, 2):
        predict(run_dir_of(config), folder / f"{ranks}.h5", "--data.test.subset=0:333", ranks=ranks)
    equal((folder / "1.h5").read_bytes(), (folder / "2.h5").read_bytes(), "the files")


@test
def gpt_predicts_the_loss_of_each_window():
    folder = scratch()
    source = random.Random(1)
    tokens = numpy.array([[source.randrange(16) for _ in range(9)] for _ in range(70)], "i4")
    numpy.savez(folder / "tokens.npz", tokens=tokens)
    data = {"source": folder / "tokens.npz"}
    loop = {"epochs": 1, "batch_size": 10, "vocab_size": 16, "block_size": 8, "n_layer": 1, "n_head": 2, "n_embd": 8}
    config = write_config(folder / "gpt.ini", {"run": {"name": "gpt", "storage_path": folder / "runs"}, "train": {"function": "gpt"}, "loop": loop,
                                               "data.train": data, "data.test": data})
    finish(1, config)
    predict(run_dir_of(config), folder / "out.h5", ranks=2)
    losses = read_h5(folder / "out.h5")["loss"]
    equal((losses.dtype, losses.shape), (numpy.dtype("f4"), (70,)), "type and shape")
    reported = reports(run_dir_of(config))[-1]["test_loss"]
    check(abs(losses.astype("f8").mean() - reported) < 1e-5, f"the mean loss is {losses.mean()}, reported {reported}")


IN_PYTHON = """
import sys, torch, h5py, numpy
run, data, out = sys.argv[1:]
torch.set_num_threads(1)
model = torch.jit.load("Classifier.pt").eval()
with h5py.File(run + "/state.h5") as file, torch.no_grad():
    for name, tensor in list(model.named_parameters()) + list(model.named_buffers()):
        value = torch.from_numpy(numpy.array(file["model/" + name.replace(".", "/")][()]))
        tensor.copy_(value[0] if value.dim() > tensor.dim() else value)
    images = torch.frombuffer(bytearray(open(data, "rb").read()[16:]), dtype=torch.uint8).reshape(-1, 28, 28)
    expected = torch.cat([model(part) for part in images.split(100)]).numpy()
with h5py.File(out) as file:
    found = file["output"][()]
print(found.dtype, found.shape, numpy.abs(found - expected).max())
"""


@test
def torchscript_predicts_like_python():
    require_torch()
    folder = scratch()
    check_exit(run([PYTHON, EXPORTS], cwd=folder), FINISHED)
    config = trained("script", "torchscript", 2, model=folder / "Classifier.pt", epochs=2)
    model = f"--loop.model={folder / 'Classifier.pt'}"
    refused(says="is not loaded: it is code", run_dir=run_dir_of(config), ranks=(1, 2))
    for ranks in (1, 3):
        predict(run_dir_of(config), folder / f"{ranks}.h5", model, ranks=ranks)
    equal((folder / "1.h5").read_bytes(), (folder / "3.h5").read_bytes(), "the files")
    job = run([PYTHON, "-c", IN_PYTHON, checkpoints(run_dir_of(config))[-1], _data / "test-images", folder / "1.h5"], cwd=folder)
    check_exit(job, FINISHED)
    kind, *_, difference = job.out.split()
    check(kind == "float32" and float(difference) < 1e-5, f"Python computes other outputs: {job.out}", job)
    predict(run_dir_of(config), folder / "bare.h5", model, "--data.new.format=idx", f"--data.new.source={_data / 'test-images'}")
    equal(read_h5(folder / "bare.h5")["output"].tobytes(), read_h5(folder / "1.h5")["output"].tobytes(), "the outputs without a target")


main(setup)
