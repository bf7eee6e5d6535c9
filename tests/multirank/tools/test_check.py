#!/usr/bin/python3
"""`trainrt check` and a start report the same errors in the same words. Paths may contain environment variables. A run or trial with
a refused config is not started again."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import PYTHON  # noqa: E402
from runs.sweeps import *  # noqa: E402,F403
from runs.trouble import trouble_config  # noqa: E402

LIGHTGBM = next((SOURCE / "build/wheels").glob("lightgbm-*"), None)
MANY = {"epochs": 100000}


def error_of(job):
    """Returns the line of the error, without the lines about restarts that a start prints."""
    lines = job.err.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("trainrt: error: ")), None)
    check(first is not None, "no error is printed", job)
    return lines[first]


def refused_by_both(config, words, *overrides, **options):
    """Checks that check and run both exit with 64, print the same error, and leave no run directory."""
    lines = []
    for command in (["check"], []):
        job = run([TRAINRT, *command, "--config", config, *overrides], **options)
        check_exit(job, USAGE)
        lines.append(error_of(job))
        for word in words:
            check(word in job.err, f"the message lacks {word!r}", job)
        check(not run_dir_of(config).exists(), "a run directory was left", job)
    equal(lines[0], lines[1], "errors of check and run")


def table(folder, text="a,b,y\n0.5,1,0\n0.25,2,1\n0.75,3,2\n0.1,4,0\n"):
    path = folder / "table.csv"
    path.write_text(text)
    return path


def trees_config(function, loop=None, text=None, **sections):
    folder = scratch()
    source = table(folder, text) if text else table(folder)
    if function == "lightgbm" and LIGHTGBM:
        sections.setdefault("lightgbm", {"library": LIGHTGBM})
    return write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"function": function},
                                             "loop": {"num_boost_round": 2, "label": "y", **(loop or {})}, **{"data.train": {"source": source}, **sections}})


def require_lightgbm():
    if LIGHTGBM is None:
        skip("LightGBM's wheel is not in build/wheels")


# ---- check and run ---------------------------------------------------------------------------------------------------------


@test
def an_error_about_a_missing_field_lists_the_existing_fields():
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"function": "linear"},
                                               "data.train": {"source": table(folder)}})
    refused_by_both(config, ("[data.train] has no field 'x', which train function linear needs; it has: a, b, y", "vector = x"))
    refused_by_both(config, ("has no field 'y'", "it has: x"), "--data.train.columns=a,b", "--data.train.vector=x")


@test
def check_shows_the_fields_that_batches_have():
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"program": "true"},
                                               "data.train": {"source": table(folder)}})
    for overrides, line in (([], None), (["--data.train.cast=b: f32"], "batches have the fields a f64[], b f32[], y"),
                            (["--data.train.preprocess=Concatenator(columns: a, b)"], "batches have the fields "),
                            (["--data.train.where=a > 0.2"], "makes 3 samples: a f64[], b ")):
        job = run([TRAINRT, "check", "--config", config, *overrides])
        check_exit(job, FINISHED)
        equal(line is not None and line in job.out, line is not None, f"fields with {overrides}: {job.out}")
        check(line is not None or "batches have" not in job.out, "the fields are repeated", job)


@test
def a_removed_key_or_preprocessor_is_refused_with_its_replacement():
    config = linear_config(scratch(), "run", MANY)
    refused_by_both(config, ("the key 'tokenize' in [data.train] was removed", "jobs/python/token_files.py"), "--data.train.tokenize=text: tokenizer.json 256")
    refused_by_both(config, ("the preprocessor Tokenizer was removed", "jobs/python/token_files.py"), "--data.train.preprocess=Tokenizer(columns: text)")


@test
def check_and_run_refuse_a_storage_path_that_cannot_be_written():
    config = linear_config(scratch(), "run", MANY)
    (config.parent / "file").write_text("")
    for path in ("/proc/runs", "/sys/runs", config.parent / "file/runs"):
        refused_by_both(config, (str(path), "set run.storage_path"), f"--run.storage_path={path}")


@test
def check_names_a_train_function_whose_keys_it_cannot_check():
    job = run([TRAINRT, "check", "--config", trouble_config({"trouble": "none"})])
    check_exit(job, FINISHED)
    check("train function  trouble, which declares no keys: [loop] is not checked" in job.out, "no note", job)
    declares = run([TRAINRT, "check", "--config", linear_config(scratch(), "run", MANY)])
    check("train function  linear\n" in declares.out, "a note for a function that declares its keys", declares)


@test
def check_leaves_no_folder():
    config = linear_config(scratch(), "run", MANY)
    check_exit(run([TRAINRT, "check", "--config", config]), FINISHED)
    check(not run_dir_of(config).parent.exists(), "the storage path was created")


@test
def a_program_is_not_started_if_the_storage_path_cannot_be_written():
    folder = scratch()
    script = folder / "s.py"
    script.write_text(f"open({str(folder / 'started')!r}, 'w')\n")
    for words in ([], ["-n", 2]):
        job = run([TRAINRT, *words, "--run.storage_path=/proc/runs", "--", PYTHON, script])
        check_exit(job, USAGE)
        check("/proc/runs" in job.err and "restart" not in job.err, "the path is not named, or there was a restart", job)
        check(not (folder / "started").exists(), "the program was started", job)


@test
def check_and_run_refuse_a_missing_checkpoint_to_start_from():
    config = linear_config(scratch(), "run", MANY)
    refused_by_both(config, ("it does not exist",), f"--run.resume_from_checkpoint={config.parent}/none")


@test
def check_and_run_refuse_unknown_keys_and_fields_of_tree_functions():
    for function in ("xgboost", "lightgbm"):
        if function == "lightgbm" and LIGHTGBM is None:
            continue
        config = trees_config(function)
        check_exit(run([TRAINRT, "check", "--config", config]), FINISHED)
        for words, override in ((("max_dept", "max_depth"), "max_dept=3"), (("has no field 'z'", "a, b, y"), "label=z"), (("nosuch",), "objective=nosuch")):
            refused_by_both(config, words, f"--loop.{override}")
    refused_by_both(trees_config("xgboost"), ("needs a number from 0 to 1",), "--loop.objective=binary:logistic")


@test
def check_and_run_refuse_a_missing_library():
    config = trees_config("lightgbm", lightgbm={"library": "/no/such.so"})
    refused_by_both(config, ("/no/such.so",))
    refused_by_both(trees_config("xgboost", xgboost={"library": "/no/such.so"}), ("/no/such.so",))


# ---- paths -----------------------------------------------------------------------------------------------------------------


@test
def variables_in_braces_are_expanded_in_every_path_and_in_run_json():
    folder = scratch()
    config = linear_config(folder, "run", {"epochs": 1}, storage="${PLACE}/runs")
    check_exit(run([TRAINRT, "--config", config], env={"PLACE": str(folder)}), FINISHED)
    record = json.loads((folder / "runs/run/run.json").read_text())
    equal(record["config"]["run.storage_path"], f"{folder}/runs", "run.storage_path in run.json")
    table(folder)
    trees = trees_config("xgboost", **{"data.train": {"source": "${PLACE}/table.csv"}}, xgboost={"library": "${PLACE}/none.so"})
    job = run([TRAINRT, "check", "--config", trees], env={"PLACE": str(folder)})
    check(f"{folder}/none.so" in job.err, "the library's path is not expanded, or the source is not", job)


@test
def shell_syntax_and_unset_variables_in_paths_are_errors_that_name_key_and_line():
    folder = scratch()
    for text, words in (("$PLACE/runs", "Write '${PLACE}/runs'"), ("~/runs", "Write '${HOME}/runs'"), ("${NO_SUCH_PLACE}/runs", "NO_SUCH_PLACE is not set")):
        config = linear_config(folder, "run", MANY, storage=text)
        refused_by_both(config, (f"{config}:3: run.storage_path is", words), cwd=folder)
    config = linear_config(folder, "run", MANY)
    for key in ("run.resume_from_checkpoint", "checkpoint.mirror", "data.train.source", "train.library"):
        refused_by_both(config, ("command line", key, "Write '${PLACE}/x'"), f"--{key}=$PLACE/x", cwd=folder)
    equal([path.name for path in folder.iterdir() if path.suffix != ".ini"], [], "entries left")


# ---- sweeps ----------------------------------------------------------------------------------------------------------------


@test
def a_config_error_common_to_all_trials_is_reported_before_a_sweep_starts():
    folder = scratch()
    config = sweep_config(folder, tune={"num_samples": 12}, data={"format": "csv", "source": table(folder), "shuffle": False})
    for command in (["check"], ["tune"]):
        job = run([TRAINRT, *command, "--config", config])
        check_exit(job, USAGE)
        check("has no field 'x'" in error_of(job), "the field is not named", job)
        check(not run_dir_of(config).exists(), "the sweep was started", job)


@test
def a_trial_with_refused_values_fails_at_once_and_the_others_continue():
    require_lightgbm()
    folder = scratch()
    table(folder)
    config = write_config(folder / "sweep.ini", {
        "run": {"name": "sweep", "storage_path": folder / "runs"}, "train": {"function": "lightgbm"}, "lightgbm": {"library": LIGHTGBM},
        "loop": {"num_boost_round": 2, "label": "y"}, "data.train": {"source": folder / "table.csv"}, "tune": {"max_failures": 2},
        "tune.space": {"objective": "grid(nosuch, regression)"}})
    check_exit(tune(config), FINISHED)
    bad, good = trials_of(config)
    equal((bad["state"], good["state"]), ("failed", "finished"), "states")
    check("nosuch" in bad["why"], f"another reason for the failed trial: {bad['why']}")
    equal(sum(record["record"] == "begin" for own in records_of(config).values() for _, record in own), 2, "attempts")


@test
def a_later_error_common_to_all_trials_ends_the_sweep():
    folder = scratch()
    script = folder / "s.py"
    script.write_text("import sys\nprint('trainrt: error: no such library', file=sys.stderr)\nsys.exit(64)\n")
    config = write_config(folder / "sweep.ini", {
        "run": {"name": "sweep", "storage_path": folder / "runs"}, "train": {"program": f"{PYTHON} {script} {{lr}}"},
        "tune": {"metric": "loss", "num_samples": 12}, "tune.space": {"lr": "uniform(0, 1)"}})
    job = tune(config)
    check_exit(job, USAGE)
    check("all trials fail with the same error" in job.err, "the error is not reported as common to all trials", job)
    begun = sum(record["record"] == "begin" for own in records_of(config).values() for _, record in own)
    check(begun <= 3, f"{begun} trials were started", job)


# ---- renamed keys ----------------------------------------------------------------------------------------------------------


@test
def an_old_key_is_an_error_that_names_its_line_and_its_new_name():
    folder = scratch()
    config = linear_config(folder, "old", checkpoint={"replicas": "warn"})
    line = config.read_text().splitlines().index("replicas = warn") + 1
    refused_by_both(config, [f"old.ini:{line}: the key checkpoint.replicas is now named checkpoint.replica_check", f"check --config {config} --write-renamed"])
    config = linear_config(folder, "new")
    refused_by_both(config, ["command line: the key scaling.check is now named scaling.check_collectives"], "--scaling.check=true")


@test
def write_renamed_writes_a_config_with_the_new_names_and_keeps_comments_and_order():
    folder = scratch()
    old, new = folder / "old.ini", folder / "new.ini"
    text = linear_config(folder, "old").read_text() + (
        "; replicas = off\r\n[scaling]\r\n  check=true  # replicas\r\n[checkpoint]\nreplicas = warn\nreplicas_every = 5 steps ; check")
    old.write_bytes(text.encode())
    job = run([TRAINRT, "check", "--config", old, "--write-renamed", new])
    check_exit(job, FINISHED)
    check(f"{old}:" in job.out and "scaling.check is now scaling.check_collectives" in job.out and "3 keys renamed" in job.out, "the changes are not listed", job)
    expected = text.replace("  check=true", "  check_collectives=true").replace("\nreplicas = warn\nreplicas_every", "\nreplica_check = warn\nreplica_check_every")
    equal(new.read_bytes(), expected.encode(), "the new config")
    check_exit(run([TRAINRT, "check", "--config", new]), FINISHED)
    equal(old.read_bytes(), text.encode(), "the old config")


@test
def write_renamed_never_replaces_a_file_or_writes_a_repeated_key():
    folder = scratch()
    old, new = linear_config(folder, "old", checkpoint={"replicas": "warn"}), folder / "new.ini"
    new.write_text("mine")
    job = run([TRAINRT, "check", "--config", old, "--write-renamed", new])
    check_exit(job, USAGE)
    check(f"'{new}' exists already" in job.err and new.read_text() == "mine", "the existing file was not kept", job)
    old = linear_config(folder, "both", checkpoint={"replicas": "warn", "replica_check": "off"})
    job = run([TRAINRT, "check", "--config", old, "--write-renamed", folder / "other.ini"])
    check_exit(job, USAGE)
    check("checkpoint.replicas is now named checkpoint.replica_check, which" in job.err and not (folder / "other.ini").exists(), "a key under both names was written", job)
    job = run([TRAINRT, "check", "--config", old, "--write-renamed", folder / "other.ini", "--loop.epochs=2"])
    check_exit(job, USAGE)


main()
