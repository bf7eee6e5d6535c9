#!/usr/bin/python3
"""Two ranks with bad input print one clear message in all (not one per rank), exit with 64 and leave no directory."""
import gzip
import shutil
import signal
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403
from runs.trouble import trouble_config  # noqa: E402

RANKS = 2
INTEGER = "a whole number"  # the type of a key in messages
SHORT = {"epochs": 2}
LONG = {"epochs": 100000}


def check_refused(job, config, words):
    """Checks that the job exited with 64 and printed one error, which contains all `words`."""
    check_exit(job, USAGE)
    equal(job.err.count("error:"), 1, "number of messages", job)
    for word in words:
        check(word in job.err, f"the message lacks {word!r}", job)


def refused(config, words, *overrides, storage=None, **options):
    """Starts the run, and checks that it is refused and creates neither a storage directory nor a run directory."""
    storage = Path(storage) if storage else run_dir_of(config).parent
    was_there = storage.exists()
    job = run_ranks(RANKS, config, *overrides, **options)
    check_refused(job, config, words)
    check(not (storage / Path(config).stem).exists(), "a run directory was left", job)
    if was_there:
        equal([path.name for path in storage.iterdir()], [], "entries left in storage_path", job)
    else:
        check(not storage.exists(), "a storage directory was left", job)
    return job


def with_lines(config, *lines):
    """Appends lines to the config; returns the config and the number of its last line."""
    text = config.read_text() + "".join(line + "\n" for line in lines)
    config.write_text(text)
    return config, len(text.splitlines())


# ---- GPUs ----------------------------------------------------------------------------------------------------------------


@test
def nccl_without_a_gpu_is_refused_with_the_reason():
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # hides the GPUs of a machine that has some
    refused(linear_config(scratch(), "run", SHORT), ("the backend 'nccl' cannot be used", "no GPU can be used", "scaling.backend = auto"),
            "--scaling.backend=nccl")


@test
def a_request_for_missing_gpus_is_refused_with_a_hint():
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    refused(linear_config(scratch(), "run", SHORT), ("1 GPU per worker requested", "sees no GPU", "set scaling.gpus_per_worker to auto", "to 0 to train on the CPU", "ScalingConfig(use_gpu=False)"),
            "--scaling.gpus_per_worker=1")


@test
def check_and_run_refuse_an_unknown_backend_and_list_the_valid_ones():
    config = linear_config(scratch(), "run", SHORT)
    for command in ([TRAINRT, "check"], [TRAINRT]):
        job = run([*command, "--config", config, "--scaling.backend=gloo"])
        check_exit(job, USAGE)
        names = sorted([*listed("communicator backends"), *listed("communicator backends for GPUs")])
        check(f"unknown backend 'gloo'; valid backends: auto, {', '.join(names)}; set scaling.backend" in job.err, "the valid backends are not listed", job)


# ---- the config ----------------------------------------------------------------------------------------------------------


@test
def an_unknown_key_is_refused_with_the_nearest_name_and_its_line():
    config, line = with_lines(linear_config(scratch(), "run", SHORT), "num_to_kep = 3")
    refused(config, ("unknown key 'checkpoint.num_to_kep'", "did you mean 'checkpoint.num_to_keep'", f"{config}:{line}"))


@test
def an_unknown_section_is_refused():
    config, line = with_lines(linear_config(scratch(), "run", SHORT), "[chekpoint]", "num_to_keep = 3")
    refused(config, (f"{config}:{line - 1}: unknown section [chekpoint] (did you mean [checkpoint]?)",))


@test
def an_error_of_a_value_names_the_line_that_sets_it():
    folder = scratch()
    for section, line, words in (("checkpoint", "mirror = s4://x", "no such storage: 's4'"), ("scaling", "backend = mpii", "scaling.backend: unknown backend 'mpii' (did you mean 'mpi'"), ("data.test", "subset = x", "missing key 'format' in [data.test]"), ("data.train", "subset = x", "[data.train]: subset: 'x' is not a range"),
                                 ("metrics", "sinks = cvs", "did you mean 'csv'"), ("run", "callbacks = comand", "did you mean 'command'"),
                                 ("run", "resume_from_checkpoint = nowhere", "cannot load from"), ("train", "library = no.so", "cannot load the library"),
                                 ("program", "stage = nowhere", "program.stage"), ("data.test", "source = nowhere.csv", "[data.test]: source 'nowhere.csv' does not"),
                                 ("sink.foo", "interval = 1", "no such sink"), ("callback.foo", "x = 1", "no such callback")):
        config, number = with_lines(linear_config(folder, "run", SHORT), f"[{section}]", line)
        check_refused(run([TRAINRT, "check", "--config", config]), config, (f"error: {config}:{number}: ", words))
    config, number = with_lines(linear_config(folder, "run", SHORT), "[scaling]", "num_workers = 3")
    check_refused(run([TRAINRT, "-n", "2", "--config", config]), config, (f"{config}:{number}: scaling.num_workers = 3, but 2 ranks were launched",))
    job = run([TRAINRT, "check", "--config", linear_config(folder, "run", SHORT), "--train.function=linaer"])
    check_refused(job, config, ("error: command line: train.function: unknown train function 'linaer' (did you mean 'linear'?)",))


@test
def a_score_attribute_that_is_not_reported_is_a_warning_at_the_first_save():
    config, _ = with_lines(linear_config(scratch(), "run", SHORT, None, {}), "score_attribute = losss")
    job = run_ranks(RANKS, config)
    check_exit(job, FINISHED)
    warning = "checkpoint.score_attribute is 'losss', but the report has no number of that name; its numbers: epoch, loss"
    equal(job.err.count(warning), 1, "warnings", job)
    check("did you mean 'loss'" in job.err, "the warning lacks the nearest name", job)


@test
def an_unknown_key_on_the_command_line_is_refused():
    refused(linear_config(scratch(), "run", SHORT), ("checkpoint.evry", "did you mean 'checkpoint.every'", "command line"),
            "--checkpoint.evry=2 steps")


@test
def an_unknown_key_of_a_dataset_is_refused():
    refused(linear_config(scratch(), "run", SHORT, {"sampels": 64}), ("sampels", "did you mean 'samples'", "run.ini:"))


@test
def a_repeated_key_is_refused_with_both_lines():
    config, line = with_lines(linear_config(scratch(), "run", SHORT), "num_to_keep = 3")
    first = [number for number, text in enumerate(config.read_text().splitlines(), 1) if text.startswith("num_to_keep")][0]
    refused(config, ("checkpoint.num_to_keep", "set twice", f"{config}:{line}", f"{config}:{first}"))


@test
def a_repeated_key_in_a_repeated_section_is_refused():
    config, line = with_lines(linear_config(scratch(), "run", SHORT), "[loop]", "epochs = 3")
    refused(config, ("loop.epochs", "set twice", f"{config}:{line}"))


@test
def a_repeated_key_on_the_command_line_is_refused():
    refused(linear_config(scratch(), "run", SHORT), ("loop.epochs", "twice"), "--loop.epochs=1", "--loop.epochs=2")


BAD_VALUES = (("checkpoint.num_to_keep", "many", INTEGER), ("checkpoint.num_to_keep", "-1", "0 or more"),
              ("checkpoint.score_order", "best", "max, min"), ("checkpoint.every", "3 apples", "steps"),
              ("failure.launch_timeout", "0", "from 0.001"),
              ("failure.hang_timeout", "1e-320 s", "from 0.001"), ("checkpoint.every", "1e300 steps", "steps"),
              ("scaling.num_workers", "4294967297", "to 2147483647"), ("metrics.detailed", "maybe", "true or false"),
              ("run.seed", "1.5", INTEGER), ("run.name", "../up", "plain name"), ("data.train.samples", "0", f"{INTEGER}, from 1 to 4611686018427387904"),
              ("data.train.format", "sintetic", "synthetic"), ("data.train.shuffle", "2", "true or false"))


def bad_value_is_refused(key, value, valid):
    refused(linear_config(scratch(), "run", SHORT), (key.split(".")[-1], value, valid), f"--{key}={value}")


for number, arguments in enumerate(BAD_VALUES):
    add_test(f"the_value_{arguments[1].replace(' ', '_')}_of_{arguments[0]}_is_refused", bad_value_is_refused, *arguments)


BAD_LOOP = ((("epochs", "'two'", INTEGER, "command line"), "epochs=two"), (("optimizer", "'adam'", "sgd, adamw"), "optimizer=adam"),
            (("batch_size", "'-3'", f"{INTEGER}, from 1 to 2147483647"), "batch_size=-3"), (("dropout", "'nan'", "less than 1"), "dropout=nan"),
            (("unknown key 'learning_rate'", "linear", "valid keys: epochs, batch_size,"), "learning_rate=0.1"),
            (("unknown key 'batchsize'", "did you mean 'batch_size'"), "batchsize=8"))


@test
def run_and_check_refuse_a_bad_key_or_value_in_loop_before_they_create_files():
    folder = scratch()
    for words, override in BAD_LOOP:
        config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"function": "linear"},
                                                   "data.train": {"format": "synthetic"}})
        refused(config, words, f"--loop.{override}")
        check_refused(run([TRAINRT, "check", "--config", config, f"--loop.{override}"]), config, words)


@test
def a_bad_value_in_loop_is_refused_with_its_line():
    config = linear_config(scratch(), "run", {"lr": -1})
    line = [number for number, text in enumerate(config.read_text().splitlines(), 1) if text.startswith("lr =")][0]
    refused(config, (f"{config}:{line}", "lr", "0 or more"))


@test
def check_refuses_data_and_keys_unfit_for_a_train_function_without_loading_its_module():
    if not (BUILD / "modules/torch.json").exists():
        skip("the torch module is not built (package libtorch-dev)")
    folder = scratch()
    modules = folder / "modules"
    modules.mkdir()
    shutil.copy(BUILD / "modules/torch.json", modules)
    (modules / "torch.so").write_text("loading this would fail")
    sections = {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"function": "fashion_mnist"}}
    data = {f"data.{name}": {"format": "synthetic"} for name in ("train", "test")}
    checked = lambda more: run([TRAINRT, "check", "--config", write_config(folder / "run.ini", {**sections, **more})], env={"TRAINRT_MODULE_PATH": modules})
    for more, words in (({}, ("fashion_mnist requires", "no [data.train]")), ({"data.train": data["data.train"]}, ("[data.test]", "it has: train")),
                        ({**data, "loop": {"batch_size": -3}}, ("batch_size", "1 to 2147483647", "run.ini:")),
                        ({**data, "loop": {"optimizer": "adam"}}, ("optimizer", "sgd, adamw", "run.ini:"))):
        check_refused(checked(more), None, words)
    check_refused(checked(data), None, ("cannot load the library", f"{modules}/torch.so"))
    listed = run([TRAINRT, "list", "all"], env={"TRAINRT_MODULE_PATH": modules}).out
    for word in ("loop.batch_size", f"{INTEGER}, from 1 to 2147483647", "one of: sgd, adamw", "needs [data.train], [data.test]"):
        check(word in listed, f"`trainrt list all` lacks {word!r}:\n{listed}")


MODULE = """
#include <trainrt/trainrt.hpp>
void train(trainrt::Context& ctx) {
  trainrt::State state;
  int step = 0;
  state.value("step", step);
  ctx.restore(state);
  for (const int steps = ctx.config<int>("steps"); step < steps;) {
    ++step;
    ctx.step();
  }
}
constexpr trainrt::LoopKey keys[] = {{.key = "steps", .type = trainrt::LoopType::integer, .default_value = "3", .help = "steps", .least = 1}};
const trainrt::TrainFunction functions[] = {{.name = "mine", .train = train, .loop = keys, .datasets = "train"}, {.name = "plain", .train = train}};
extern "C" TRAINRT_API const trainrt::Module trainrt_module;
const trainrt::Module trainrt_module = {trainrt::module_abi, 2, functions};
"""


@test
def a_users_own_train_function_declares_its_keys_and_datasets():
    if shutil.which("g++") is None:
        skip("g++ is not installed")
    folder = scratch()
    (folder / "mine.cpp").write_text(MODULE)
    built = run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{SOURCE / 'include'}", folder / "mine.cpp", "-o", folder / "libmine.so"],
                timeout=120)
    check(built.code == 0, "the module was not built", built)
    sections = {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": folder / "libmine.so"}}
    listed = run([TRAINRT, "list", f"--train.library={folder}/libmine.so", "mine"])
    check("train function mine:" in listed.out and "loop.steps" in listed.out, "the keys of the function", listed)
    listed = run([TRAINRT, "list", f"--train.library={folder}/libmine.so", "plain"])
    check("it declares no keys of [loop]" in listed.out, "the lack of keys is not shown", listed)
    data = {"data.train": {"format": "synthetic"}}
    for more, words in (({}, ("mine", "[data.train]")), ({**data, "loop": {"steps": 0}}, ("steps", "1 or more", "run.ini:")),
                        ({**data, "loop": {"step": 4}}, ("unknown key 'step'", "did you mean 'steps'"))):
        config = write_config(folder / "run.ini", {**sections, **more})
        refused(config, words)
        check_refused(run([TRAINRT, "check", "--config", config]), config, words)
    job = run_ranks(RANKS, write_config(folder / "run.ini", {**sections, **data}))
    check("finished: 3 steps" in job.err, "the declared default is not used", job)


@test
def a_loop_key_that_is_not_read_before_the_first_step_gives_a_warning():
    config = trouble_config({"steps": 6, "stepz": 7, "trouble": "none"})
    job = run_ranks(RANKS, config)
    check_exit(job, FINISHED)
    equal(job.err.count("stepz was not read by the train function before its first step"), 1, "warnings", job)
    job = run_ranks(RANKS, trouble_config({"stepz": 7, "trouble": "none"}))
    check("check the spelling of the key (did you mean 'steps'?)" in job.err, "the similar key", job)


@test
def an_error_about_a_missing_loop_key_names_a_similar_key_and_its_line():
    config = trouble_config({"steps": 6, "toruble": "none"})
    number = next(number for number, line in enumerate(config.read_text().splitlines(), 1) if line.startswith("toruble"))
    refused(config, ("lacks the key trouble in [loop]", f"{config}:{number}: [loop] has 'toruble': did you mean 'trouble'?"))
    refused(trouble_config({"steps": 6}), ("lacks the key trouble in [loop]", "set it in [loop], or by --loop.trouble=VALUE"))


@test
def run_and_check_refuse_a_missing_program_or_script():
    folder = scratch()
    for program, words in (("python3 nowhere/train.py --epochs 3", ("python3", "'nowhere/train.py'", "No such file")),
                           (f"bash -e {folder}/run.sh", ("bash", f"'{folder}/run.sh'")), ("no-such-program x", ("no-such-program",))):
        config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"program": program}})
        refused(config, words)
        check_refused(run([TRAINRT, "check", "--config", config]), config, words)


@test
def shuffling_billions_of_samples_needs_no_memory_and_out_of_memory_is_a_clear_error():
    config = linear_config(scratch(), "run", {"report_every": 2, "batch_size": 2}, {"samples": 4294967297}, stop={"training_iteration": 3})
    check_exit(run_ranks(RANKS, config), FINISHED)
    refused(linear_config(scratch(), "big", {"batch_size": 1000000}, {"features": 1000000, "samples": 1 << 60}),
            ("field 'x' of a batch of 1000000 samples", "3725.3 GiB", "are left on"))
    job = run_ranks(RANKS, trouble_config({"trouble": "memory"}))
    check_exit(job, FAILED)
    check("out of memory on" in job.err and "GiB" in job.err and "bad_alloc" not in job.err, "the message is missing", job)


@test
def an_error_that_ranks_find_at_different_times_is_printed_once():
    """Rank 1 finds the error while rank 0, slowed down by strace, removes the new run directory."""
    if shutil.which("strace") is None:
        skip("strace is not installed")
    config = trouble_config({"trouble": "usage", "seconds": 0.4})
    slow = ["strace", "-f", "-o", scratch() / "calls", "-e", "trace=rmdir", "-e", "inject=rmdir:delay_enter=500000"]
    job = run([MPIEXEC, "-n", 1, *slow, TRAINRT, "--config", config, ":", "-n", 1, TRAINRT, "--config", config])
    check_refused(job, config, ("loop.trouble", "'usage'"))
    check("newer attempt" not in job.err, "another reason was given", job)


@test
def a_line_without_a_key_is_refused():
    config, line = with_lines(linear_config(scratch(), "run", SHORT), "just words")
    refused(config, ("just words", f"{config}:{line}", "key = value"))


@test
def a_missing_key_is_refused():
    config = linear_config(scratch(), "run", SHORT)
    config.write_text(config.read_text().replace("name = run", ""))
    refused(config, ("run.name",))


@test
def a_missing_config_is_refused():
    folder = scratch()
    refused(folder / "nowhere.ini", (str(folder / "nowhere.ini"), "No such file"))


@test
def a_start_without_a_config_is_refused():
    job = run([MPIEXEC, "-n", "2", TRAINRT])
    check(job.code == USAGE, f"exit {job.code}", job)


@test
def an_unknown_train_function_is_refused_with_the_valid_names():
    refused(linear_config(scratch(), "run", SHORT), ("'linaer'", "did you mean 'linear'", "valid names:", "linear"), "--train.function=linaer")


@test
def a_library_that_cannot_be_loaded_is_refused():
    folder = scratch()
    (folder / "broken.so").write_text("not a library")
    for path in (folder / "missing.so", folder / "broken.so"):
        refused(linear_config(folder, "run", SHORT), (str(path),), f"--train.library={path}")


def marking_library(folder):
    """Builds a library that creates the file `pwned` in `folder` when it is loaded; returns its path."""
    (folder / "evil.c").write_text('#include <fcntl.h>\n__attribute__((constructor)) void evil(void) { creat("%s", 0600); }\n' % (folder / "pwned"))
    check_exit(run(["cc", "-shared", "-fPIC", folder / "evil.c", "-o", folder / "evil.so"]), FINISHED)
    return folder / "evil.so"


def every_key():
    """Returns every config key that `trainrt help config` prints."""
    keys, section = [], ""
    for line in run([TRAINRT, "help", "config"]).out.splitlines():
        if line.startswith("["):
            section = line[1:line.index("]")]
        elif " =" in line and line.split(" =")[0].lstrip("#").replace("_", "").isalnum():
            keys.append(f"{section}.{line.split(' =')[0].lstrip('#')}")
    check(len(keys) > 100, f"only {len(keys)} keys were found")
    return [key.replace(".NAME.", ".test.") for key in keys]


@test
def commands_that_read_runs_and_sweeps_start_no_program_named_in_their_records():
    folder = scratch()
    config = linear_config(folder, "run", SHORT)
    sweep = linear_config(folder, "sweep", SHORT, tune={"metric": "loss", "num_samples": 1}, **{"tune.space": {"lr": "0.1"}})
    check_exit(run([TRAINRT, "--config", config]), FINISHED)
    check_exit(run([TRAINRT, "tune", "--config", sweep]), FINISHED)
    library = marking_library(folder)
    hostile = {key: str(library) if key.endswith("library") else f"touch {folder / 'pwned'}" for key in every_key() if key not in ("train.program", "run.seed")}
    hostile.update({"run.callbacks": "command", "metrics.sinks": "program"})
    run_dir, sweep_dir = run_dir_of(config), run_dir_of(sweep)
    for directory in (run_dir, sweep_dir / "trial_00000"):
        record = json.loads((directory / "run.json").read_text())
        kept = {key: text for key, text in record["config"].items() if key.startswith("data.")}
        (directory / "run.json").write_text(json.dumps({**record, "config": {**hostile, **kept}, "loop": {**record["loop"], "model": str(library)}}))
    record = json.loads((sweep_dir / "sweep.json").read_text())
    code = {key: text for key, text in hostile.items() if key.split(".")[0] in ("callback", "sink") or key.endswith("library")}
    (sweep_dir / "sweep.json").write_text(json.dumps({**record, **code, "tune.searcher_program": f"touch {folder / 'pwned'}"}))
    (sweep_dir / "trial.ini").write_text(f"[train]\nprogram = touch {folder / 'pwned'}\n")
    checkpoint = max(run_dir.glob("checkpoint_*"))
    for command in (["result", run_dir], ["result", folder / "runs"], ["top", run_dir, "--once"], ["report", run_dir, sweep_dir, "-o", folder / "page.html"],
                    ["verify", run_dir], ["inspect", checkpoint], ["export", checkpoint, "-o", folder / "state.npz"], ["tune", "status", sweep_dir],
                    ["tune", "best", sweep_dir], ["predict", run_dir, "-o", folder / "out.csv", "--dataset", "train"], ["plot", run_dir, "-o", folder / "run.svg"],
                    ["check", "--config", config]):
        job = run([TRAINRT, *command])
        check(job.code == (USAGE if command[0] == "predict" else FINISHED), f"exit {job.code} of {command[0]}", job)
        check(not (folder / "pwned").exists(), f"{command[0]} started a program or library named in a record", job)


@test
def predict_loads_no_library_named_in_a_run_directory():
    folder = scratch()
    config = linear_config(folder, "run", SHORT)
    check_exit(run_ranks(1, config), FINISHED)
    marking_library(folder)
    record = run_dir_of(config) / "run.json"
    json_of = json.loads(record.read_text())
    for key, function in (("train.library", "linear"), ("xgboost.library", "xgboost")):
        changed = {**json_of, "train_function": function, "config": {**json_of["config"], key: str(folder / "evil.so")}}
        record.write_text(json.dumps(changed))
        job = run([TRAINRT, "predict", run_dir_of(config), "-o", folder / "out.csv", "--dataset", "train"])
        check_refused(job, config, (f"'{folder / 'evil.so'}'", str(record), f"--{key}="))
        check(not (folder / "pwned").exists(), "the library was loaded", job)
    record.write_text(json.dumps(json_of))
    job = run([TRAINRT, "predict", run_dir_of(config), "-o", folder / "out.csv", "--dataset", "train", f"--train.library={folder / 'evil.so'}"])
    check((folder / "pwned").exists(), "the library that the command line names was not loaded", job)


# ---- data ------------------------------------------------------------------------------------------------------------------


def idx_bytes(count, side=4):
    return struct.pack(">BBBBIII", 0, 0, 8, 3, count, side, side) + bytes(count * side * side)


def idx_config(folder, source, labels=None):
    keys = {"format": "idx", "source": source, **({"labels": labels} if labels else {})}
    return write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"function": "linear"},
                                             "loop": SHORT, "data.train": keys})


@test
def a_missing_dataset_is_refused():
    folder = scratch()
    refused(idx_config(folder, folder / "images.idx3-ubyte"), ("[data.train]", str(folder / "images.idx3-ubyte")))


@test
def a_truncated_dataset_is_refused():
    folder = scratch()
    for path, content in ((folder / "images.idx3-ubyte", idx_bytes(100)[:-5]), (folder / "head.idx3-ubyte", idx_bytes(100)[:9]),
                          (folder / "images.idx3-ubyte.gz", gzip.compress(idx_bytes(4000))[:-12]),
                          (folder / "short.idx3-ubyte.gz", gzip.compress(idx_bytes(100)[:-7])), (folder / "empty.idx3-ubyte", b"")):
        path.write_bytes(content)
        refused(idx_config(folder, path), ("[data.train]", str(path)))


@test
def a_file_in_another_format_is_refused_as_a_dataset():
    folder = scratch()
    path = folder / "text.idx3-ubyte"
    path.write_text("These are not the bytes that you are looking for.\n" * 9)
    refused(idx_config(folder, path), ("[data.train]", str(path)))


@test
def different_numbers_of_images_and_labels_are_refused():
    folder = scratch()
    (folder / "a.idx3-ubyte").write_bytes(idx_bytes(100))
    (folder / "b.idx1-ubyte").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, 99) + bytes(99))
    refused(idx_config(folder, folder / "a.idx3-ubyte", folder / "b.idx1-ubyte"), ("100", "99", "labels"))


# ---- storage -----------------------------------------------------------------------------------------------------------------


@test
def a_storage_path_below_a_file_is_refused():
    folder = scratch()
    (folder / "file").write_text("")
    refused(linear_config(folder, "run", SHORT, storage=folder / "file/runs"), ("storage_path", str(folder / "file")), storage=folder / "file/runs")


@test
def a_storage_path_without_write_permission_is_refused():
    folder = scratch()
    locked = folder / "locked"
    locked.mkdir()
    if os.geteuid() == 0:  # root can write everywhere except on a file system that is mounted read-only
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            skip("cannot mount here")
        config = linear_config(folder, "run", SHORT, storage=locked)
        job = run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o ro tmpfs {locked} && exec \"$@\"", "sh", *ranks_command(RANKS, config)])
        check_refused(job, config, ("storage_path", str(locked)))
    else:
        locked.chmod(0o500)
        refused(linear_config(folder, "run", SHORT, storage=locked), ("storage_path", str(locked)), storage=locked)


def a_storage_path_that_one_rank_does_not_see(blind, exists):
    folder = scratch()
    shared = folder / "shared"
    shared.mkdir()
    storage = shared / "deep/runs"
    if exists:
        storage.mkdir(parents=True)
    config = linear_config(folder, "run", SHORT, storage=storage)
    program = [TRAINRT, "--config", str(config), "--failure.storage_timeout=1"]
    sides = [["-n", "1", *(own_mount(shared) if rank == blind else []), *program] for rank in range(RANKS)]
    job = run([MPIEXEC, *sides[0], ":", *sides[1]], timeout=30)
    check_refused(job, config, ("storage_path", "share", os.uname().nodename, "rank 1"))
    if exists:
        equal(list(storage.iterdir()), [], "entries left in storage_path", job)
    else:
        equal(list(shared.iterdir()), [], "entries left above storage_path", job)


for blind, exists in ((1, True), (1, False), (0, True), (0, False)):
    add_test(f"a_storage_path_that_{'exists' if exists else 'is_new'}_and_rank_{blind}_does_not_share_is_refused",
             a_storage_path_that_one_rank_does_not_see, blind, exists)


@test
def check_refuses_a_run_directory_of_another_user():
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        skip("needs root, and setpriv")
    folder = scratch()
    for path in (folder, folder.parent):
        path.chmod(0o755)
    config = linear_config(folder, "run", SHORT)
    check_exit(run_ranks(RANKS, config), FINISHED)
    run_dir_of(config).parent.chmod(0o777)
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if run([*as_nobody, TRAINRT, "--version"]).code != 0:
        skip("another user cannot run the trainrt that was built here")
    check_refused(run([*as_nobody, TRAINRT, "check", "--config", config]), config, (str(run_dir_of(config)), "belongs to root", "run.name"))
    check_exit(run([TRAINRT, "check", "--config", config]), FINISHED)


# ---- another run's directory -----------------------------------------------------------------------------------------------


def files_of(run_dir):
    """Returns the content of every file by its path, except records of attempts, logs and error.txt."""
    return {str(path.relative_to(run_dir)): path.read_bytes() for path in sorted(run_dir.rglob("*"))
            if path.is_file() and path.relative_to(run_dir).parts[0] not in ("attempts", "run.json", "params.json", "logs", "error.txt")}


@test
def a_run_directory_of_a_different_model_is_refused_with_the_tensors_that_differ():
    config = linear_config(scratch(), "run", SHORT)
    check_exit(run_ranks(RANKS, config), FINISHED)
    before, bits = files_of(run_dir_of(config)), state_of(run_dir_of(config))
    job = run_ranks(RANKS, config, "--data.train.features=9", "--loop.epochs=4")
    check_refused(job, config, ("model/weights", "optimizer/first", "optimizer/second", "[9]", "[10]", "run.name"))
    equal({name for name in before if files_of(run_dir_of(config)).get(name) != before[name]}, set(), "files that the refused start changed", job)
    check_exit(run_ranks(RANKS, config, "--loop.epochs=2"), FINISHED)
    equal(state_of(run_dir_of(config)), bits, "state after the refused start")
    check_iterations(run_dir_of(config), 2)
    check_no_debris(run_dir_of(config))


@test
def a_run_directory_of_another_train_function_is_refused():
    config = linear_config(scratch(), "run", SHORT)
    check_exit(run_ranks(RANKS, config), FINISHED)
    record = run_dir_of(config) / "run.json"
    record.write_text(record.read_text().replace('"train_function": "linear"', '"train_function": "another_model"'))
    job = run_ranks(RANKS, config, "--loop.epochs=4")
    check_refused(job, config, ("'another_model'", "'linear'", "run.name"))
    check_iterations(run_dir_of(config), 2)


@test
def a_changed_seed_is_refused_and_not_recorded():
    config = linear_config(scratch(), "run", SHORT)
    check_exit(run_ranks(RANKS, config), FINISHED)
    record, params = run_dir_of(config) / "run.json", run_dir_of(config) / "params.json"
    before = record.read_text(), params.read_text()
    job = run_ranks(RANKS, config, "--run.seed=77", "--loop.epochs=4")
    check_refused(job, config, ("run.seed", "77"))
    check("from attempt" not in job.err, "the refused values are announced", job)
    equal((record.read_text(), params.read_text()), before, "records after the refused start", job)
    check(not (run_dir_of(config) / "error.txt").exists(), "the finished run has an error.txt", job)
    job = run_ranks(RANKS, config, "--loop.epochs=4")
    check_exit(job, FINISHED)
    check("loop.epochs was '2' and is '4'" in job.err and "run.seed was" not in job.err, "the changes", job)


@test
def a_run_whose_record_has_the_seed_of_a_refused_start_continues_with_its_own_seed():
    config = linear_config(scratch(), "run", SHORT)
    check_exit(run_ranks(RANKS, config), FINISHED)
    record = run_dir_of(config) / "run.json"
    content = json.loads(record.read_text())
    own = content["config"]["run.seed"]
    content["changes"].append({"attempt": 2, "key": "run.seed", "from": own, "to": "77"})
    content["config"]["run.seed"] = "77"
    record.write_text(json.dumps({**content, "state": "failed"}))
    check_refused(run_ranks(RANKS, config, "--run.seed=77"), config, ("run.seed", "77", own))
    job = run_ranks(RANKS, config, "--loop.epochs=4")
    check_exit(job, FINISHED)
    check("run.seed was" not in job.err, "the seed of the refused start is compared", job)
    equal(json.loads(record.read_text())["config"]["run.seed"], own, "the recorded seed", job)


@test
def a_directory_that_is_not_a_run_is_refused_and_not_changed():
    config = linear_config(scratch(), "run", SHORT)
    run_dir_of(config).mkdir(parents=True)
    (run_dir_of(config) / "thesis.tex").write_text("years of work")
    job = run_ranks(RANKS, config)
    check_refused(job, config, (str(run_dir_of(config)), "not a run of trainrt"))
    equal([path.name for path in run_dir_of(config).iterdir()], ["thesis.tex"], "entries of the directory")


@test
def a_file_at_the_path_of_the_run_directory_is_refused():
    config = linear_config(scratch(), "run", SHORT)
    run_dir_of(config).parent.mkdir()
    run_dir_of(config).write_text("a file")
    check_refused(run_ranks(RANKS, config), config, (str(run_dir_of(config)),))
    equal(run_dir_of(config).read_text(), "a file", "content of the file")


# ---- two runs at once -------------------------------------------------------------------------------------------------------------


@test
def a_second_run_in_the_same_directory_is_refused_and_the_first_continues():
    config = linear_config(scratch(), "run", LONG)
    run_dir = run_dir_of(config)
    first = start_ranks(RANKS, config)
    wait_for_reports(run_dir, 3, first)
    second = run_ranks(RANKS, config, timeout=30)
    check_refused(second, config, ("already running", str(first.ranks()[0]), os.uname().nodename))
    check(not first.ended(), "the first run ended", first)
    wait_for_reports(run_dir, report_count(run_dir) + 3, first)
    kill([first.ranks()[0]], signal.SIGUSR1)
    first.code = first.wait(30)
    check_exit(first, STOPPED)
    check_iterations(run_dir)
    equal(len(attempts(run_dir)), 1, "number of attempts")
    check_verifies(run_dir)
    check_no_debris(run_dir, keep=2)


@test
def one_of_two_runs_that_start_at_once_is_refused():
    config = linear_config(scratch(), "run", LONG)
    run_dir = run_dir_of(config)
    jobs = [start_ranks(RANKS, config) for _ in range(2)]
    wait_until(lambda: any(job.ended() for job in jobs), 60, "one of the runs to be refused", jobs[0])
    loser, winner = sorted(jobs, key=lambda job: not job.ended())
    loser.code = loser.wait(30)
    check_refused(loser, config, ("already running",))
    wait_for_reports(run_dir, report_count(run_dir) + 2, winner)
    kill([winner.ranks()[0]], signal.SIGUSR1)
    winner.code = winner.wait(30)
    check_exit(winner, STOPPED)
    check_iterations(run_dir)
    check_no_debris(run_dir, keep=2)


@test
def a_start_after_kill_9_of_the_previous_run_continues_at_once():
    config = linear_config(scratch(), "run", LONG)
    run_dir = run_dir_of(config)
    first = start_ranks(RANKS, config)
    wait_for_reports(run_dir, 5, first)
    kill(first.ranks().values())
    first.wait(30)
    start = time.monotonic()
    second = start_ranks(RANKS, config)
    second.wait_for("continuing from", 20)
    check(time.monotonic() - start < 15, "the second attempt waited for the heartbeat of the killed process", second)
    kill([second.ranks()[1]], signal.SIGTERM)
    second.code = second.wait(30)
    check_exit(second, STOPPED)
    check_iterations(run_dir)


main()
