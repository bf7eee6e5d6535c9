#!/usr/bin/python3
"""Datasets in train functions: an epoch gives each sample once over all ranks, and each remaining sample once after kills and stops."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import require_torch  # noqa: E402
from runs.train_scripts import *  # noqa: E402,F403

# Writes the samples of each rank into a file, one line per batch. Each batch is a report, with a checkpoint if `checkpoints` is set.
READS = HEAD + """
from trainrt import data

def reads(config):
    shard = train.get_dataset_shard("train")
    done = 0
    checkpoint = train.get_checkpoint()
    if checkpoint is not None:
        done = int(open(os.path.join(checkpoint.path, "done")).read())
    for epoch in range(config.get("epochs", 1)):
        for batch in shard.iter_batches(batch_size=config.get("batch_size", 4), remainder=config.get("remainder", "pad")):
            done += 1
            with open(f"seen-{config['part']}-{rank()}", "a") as file:
                file.write(" ".join(map(str, batch["id"].tolist())) + "\\n")
            with Folder() as folder:
                open(os.path.join(folder, "done"), "w").write(str(done))
                train.report({"done": done}, checkpoint=Checkpoint.from_directory(folder) if config.get("checkpoints", True) else None)
            if done == config.get("kill_at"):
                train.get_checkpoint()  # waits for the commit
                train.collective.barrier()
                os.kill(os.getpid(), 9)
    return done

def source():
    return data.range(90)

"""


def reading(config, ranks=2, dataset="source().random_shuffle()", more="", **trainer):
    arguments = ", ".join(f"{name}={value}" for name, value in trainer.items())
    text = f"""    try:
        trainer(reads, config={config!r}, ranks={ranks}, datasets={{"train": {dataset}}}, {arguments}).fit()
        print("DONE")
    except TrainingFailedError as error:
        print("FAILED", error)
"""
    return Script(more + MAIN + text, head=READS)


def seen(script, part):
    """Returns the samples of all ranks in that part of the run, rank by rank."""
    return [int(word) for path in sorted(script.folder.glob(f"seen-{part}-*")) for word in path.read_text().split()]


def again(script, before, after):
    """Replaces the config in the script."""
    script.path.write_text(script.path.read_text().replace(repr(before), repr(after)))


def check_ends(script, **options):
    done = script.run(**options)
    check("DONE" in done.out, "the run did not finish", done)
    return done


@test
def map_batches_that_changes_the_number_of_samples_fails_in_a_train_function():
    cut = """
def cut(batch):
    return {"id": batch["id"][:2]}

"""
    for workers in ("", ", concurrency=1"):
        done = reading({"part": "a", "checkpoints": False}, dataset=f"source().map_batches(cut{workers})", more=cut).run()
        check("FAILED" in done.out and "map_batches(cut) returned 2 samples for a batch of 4" in done.out + done.err, "no error", done)
    done = reading({"part": "b", "checkpoints": False}, dataset="source().map_batches(cut).materialize()", more=cut).run()
    check("DONE" in done.out, "materialize() after map_batches() is refused", done)


EVALUATES = """
def evaluates(config):
    counts = {}
    for name in ("valid", "shuffled", "even", "unsplit"):
        for how in (None, "pad", "uneven", "drop"):
            if how is None or name == "valid":
                batches = train.get_dataset_shard(name).iter_batches(batch_size=2, **({"remainder": how} if how else {}))
                counts[f"{name} {how}"] = [sum(len(batch["id"]) for batch in batches) for _ in range(2)][0]
    train.report({name: trainrt.Number(count, "sum") for name, count in counts.items()}, aggregate=True)

"""


@test
def an_evaluation_that_repeats_samples_is_reported_once():
    script = Script("import trainrt\n" + EVALUATES + MAIN + """    result = trainer(evaluates, ranks=2, dataset_config=DataConfig(datasets_to_split=["valid", "shuffled", "even"]), datasets={
        "valid": data.range(5), "shuffled": data.range(5).random_shuffle(), "even": data.range(6), "unsplit": data.range(5)}).fit()
    print("RESULT", json.dumps({name: count for name, count in result.metrics.items() if " " in name}))
""", head=READS)
    job = script.run()
    found, = result_of(job)
    equal(found, {"valid None": 6, "valid pad": 6, "valid uneven": 5, "valid drop": 4, "shuffled None": 6, "even None": 6, "unsplit None": 10}, "samples", job)
    equal([line for line in (job.out + job.err).splitlines() if "repeat" in line and "warning" in line and "'valid' repeat 1 of its 5 samples" not in line], [],
          "other notes", job)
    equal((job.out + job.err).count("the dataset 'valid' repeat 1 of its 5 samples"), 1, "notes", job)


@test
def the_shards_of_all_ranks_make_up_the_dataset():
    for ranks, config in ((1, {}), (2, {"batch_size": 7}), (3, {"batch_size": 8})):
        script = reading({"part": 0, "remainder": "uneven", "checkpoints": False, **config}, ranks)
        check_ends(script)
        equal(sorted(seen(script, 0)), list(range(90)), f"samples on {ranks} ranks")


@test
def each_epoch_has_another_order_and_all_samples():
    script = reading({"part": 0, "epochs": 3, "checkpoints": False, "batch_size": 15})
    check_ends(script)
    numbers = [path.read_text().split() for path in sorted(script.folder.glob("seen-0-*"))]
    epochs = [sum((rank[45 * epoch:45 * epoch + 45] for rank in numbers), []) for epoch in range(3)]
    for epoch in epochs:
        equal(sorted(map(int, epoch)), list(range(90)), "samples of an epoch")
    check(epochs[0] != epochs[1] != epochs[2], "two epochs have the same order")


@test
def after_a_kill_within_an_epoch_each_remaining_sample_comes_once():
    for ranks in (1, 2, 3):
        first, second = {"part": 0, "kill_at": 5}, {"part": 1}
        script = reading(first, ranks='int(os.environ["RANKS"])', dataset="data.range(88).random_shuffle()")
        killed = script.run(env={"RANKS": 2})
        check("FAILED" in killed.out, "the run was not killed", killed)
        again(script, first, second)
        words = [f"--run.storage_path={script.runs}", "--scaling.on_resize=keep_batch", "--", PYTHON, script.path]
        check_ends(script, command=[TRAINRT, "-n", ranks, *words], env={"RANKS": ranks})
        equal(len(seen(script, 0)), 40, "samples before the kill")
        equal(sorted(seen(script, 0) + seen(script, 1)), list(range(88)), f"samples before the kill and after it, on {ranks} ranks")


@test
def after_a_kill_between_epochs_the_next_epoch_begins():
    first = {"part": 0, "epochs": 1, "batch_size": 15, "kill_at": 3}
    second = {"part": 1, "epochs": 1, "batch_size": 15}
    script = reading(first)
    script.run()
    again(script, first, second)
    check_ends(script)
    equal((sorted(seen(script, 0)), seen(script, 1)), (list(range(90)), []), "samples before and after a kill at the end of an epoch")


@test
def a_script_on_every_rank_gets_the_same_samples_as_one_that_starts_ranks():
    config = {"part": 0, "epochs": 2, "checkpoints": False}
    started, launched = reading(config), reading(config)
    check_ends(started)
    done = here(launched)
    check("DONE" in done.out, "the run did not finish", done)
    equal(seen(launched, 0), seen(started, 0), "samples, rank by rank")


@test
def data_in_the_memory_of_a_script_reaches_all_ranks():
    items = 'data.from_items([{"id": n, "text": f"n\\u00fcmber {n}"} for n in range(300)]).filter(lambda row: row["id"] % 2 == 0 and "7" not in row["text"])'
    expected = [n for n in range(0, 300, 2) if "7" not in str(n)]
    for start in (lambda script: script.run(), here):
        script = reading({"part": 0, "checkpoints": False, "remainder": "uneven"}, dataset=items)
        done = start(script)
        check("DONE" in done.out, "the run did not finish", done)
        equal(sorted(seen(script, 0)), expected, "samples")
        files = sorted(path.suffix for path in (script.runs / ".datasets").iterdir())
        equal(files, [".jsonl", ".rows"], "data files in the storage path")


@test
def functions_of_the_script_are_applied_on_the_ranks():
    functions = """
def tenfold(row):
    return {"id": 10 * row["id"], "pid": os.getpid()}

"""
    script = reading({"part": 0, "checkpoints": False}, dataset="source().map(tenfold)", more=functions)
    check_ends(script)
    equal(sorted(set(seen(script, 0))), list(range(0, 900, 10)), "samples")


@test
def an_unsplit_dataset_is_complete_on_each_rank():
    script = reading({"part": 0, "checkpoints": False}, dataset_config="DataConfig(datasets_to_split=[])")
    check_ends(script)
    for rank in (0, 1):
        equal(sorted(int(word) for word in (script.folder / f"seen-0-{rank}").read_text().split()), list(range(90)), f"samples of rank {rank}")


@test
def each_rank_has_its_own_position_in_an_unsplit_dataset():
    functions = """
def takes(config):
    both = [train.get_dataset_shard(name) for name in ("first", "second")]
    if rank() == 2:
        both = both[:0]  # rank 2 reads no samples
    batches = iter(both[rank()].iter_batches(batch_size=4 + 2 * rank()) if both else [])
    for step in range(4):
        with open(f"seen-{config['part']}-{rank()}", "a") as file:
            file.write(" ".join(str(id) for batch in itertools.islice(batches, 1) for id in batch["id"].tolist()) + "\\n")
        with Folder() as folder:
            open(os.path.join(folder, "done"), "w").write(str(step))
            train.report({"step": step}, checkpoint=Checkpoint.from_directory(folder))
        if step == config.get("kill_after"):
            train.get_checkpoint()
            train.collective.barrier()
            os.kill(os.getpid(), 9)
"""
    first, second = {"part": 0, "kill_after": 1}, {"part": 1}
    script = reading(first, 3, "source()", "import itertools\n" + functions, dataset_config="DataConfig(datasets_to_split=[])")
    text = script.path.read_text().replace('{"train": source()}', '{"first": source(), "second": data.range(50)}').replace("trainer(reads,", "trainer(takes,")
    script.path.write_text(text)
    killed = script.run()
    check("FAILED" in killed.out, "the run was not killed", killed)
    again(script, first, second)
    check_ends(script)
    equal(seen(script, 0), [*range(8), *range(12)], "samples before the kill")
    equal(seen(script, 1), [*range(8, 24), *range(12, 36)], "samples after the kill")
    done = run([TRAINRT, "verify", script.runs / "run"])
    check_exit(done, FINISHED)


OWN_CONFIG = """
class Own(DataConfig):
    def configure(self, datasets, world_size, worker_handles, worker_node_ids, **kwargs):
        data.DataContext.get_current().execution_options = DataConfig.default_ingest_options()
        parts = datasets["train"].streaming_split(PARTS, equal=True, locality_hints=worker_node_ids)
        return [{"train": parts[PARTS - 1 - worker]} for worker in range(world_size)]
"""


@test
def configure_of_a_data_config_chooses_the_samples_of_each_worker_also_after_a_kill():
    first, second = {"part": 0, "kill_at": 3}, {"part": 1}
    script = reading(first, more=OWN_CONFIG.replace("PARTS", "3"), dataset="source()", dataset_config="Own()")
    check("FAILED" in (job := script.run()).out, "the run was not killed", job)
    again(script, first, second)
    check_ends(script)
    for rank, begin in ((0, 60), (1, 30)):
        found = [[int(word) for word in (script.folder / f"seen-{part}-{rank}").read_text().split()] for part in (0, 1)]
        equal(found, [[*range(begin, begin + 12)], [*range(begin + 12, begin + 30)]], f"samples of rank {rank}")


@test
def one_split_of_configure_is_the_split_of_the_runtime_in_a_script_on_every_rank():
    script = reading({"part": 0, "checkpoints": False, "epochs": 2}, more=OWN_CONFIG.replace("PARTS", "world_size"), dataset_config="Own()")
    job = here(script, "--run.name=run")
    check("DONE" in job.out, "the script did not end", job)
    equal(sorted(seen(script, 0)), sorted([*range(90)] * 2), "samples of two epochs")
    sections = json.loads((script.runs / "run/run.json").read_text())["config"]
    equal([key for key in sections if key.endswith(".split") or key.startswith("data.train-")], [], "sections of parts")


@test
def run_of_ray_train_1_takes_datasets_and_pipelines():
    script = Script("""
from trainrt import data

def of_two(config):
    first = [[int(row["id"]) for row in train.get_dataset_shard(name).iter_rows()] for name in ("train", "valid")]
    return first

def of_pipeline():
    windows = train.get_dataset_shard().iter_datasets()
    return [[int(row["id"]) for row in next(windows).iter_rows()] for _ in range(2)]

def of_epochs():
    return [int(row["id"]) for row in train.get_dataset_shard().iter_rows()]

""" + MAIN + """    trainer = Trainer(backend=BackendConfig(), num_workers=2, logdir=os.environ["RUNS"], max_retries=0)
    training, validation = data.range(20).random_shuffle().split_at_indices([16])
    returned = [trainer.run(of_two, config={}, dataset={"train": training, "valid": validation})]
    returned.append(trainer.run(of_pipeline, dataset=data.range(20).window(blocks_per_window=2).repeat().random_shuffle_each_window()))
    returned.append(trainer.run(of_epochs, dataset=data.range(20).repeat(3)))
    print("RESULT", json.dumps(returned))
""", head=HEAD)
    two, pipeline, epochs = result_of(script.run())[0]
    equal([len(part) for rank in two for part in rank], [8, 2, 8, 2], "samples of each rank")
    equal(sorted(sample for rank in two for part in rank for sample in part), list(range(20)), "samples of both datasets")
    for window in (0, 1):
        equal(sorted(pipeline[0][window] + pipeline[1][window]), list(range(20)), f"samples of window {window}")
    check(pipeline[0][0] != pipeline[0][1], "the windows have the same order")
    equal(sorted(epochs[0] + epochs[1]), sorted([*range(20)] * 3), "samples of three epochs")


@test
def a_source_that_changed_within_an_epoch_is_an_error():
    first, second = {"part": 0, "kill_at": 3}, {"part": 1}
    script = reading(first)
    script.run()
    again(script, first, second)
    script.path.write_text(script.path.read_text().replace("data.range(90)", "data.range(91)"))
    refused = script.run()
    check("changed since the checkpoint" in refused.out + refused.err and "data.train" in refused.out + refused.err, "the change is not named", refused)
    equal(seen(script, 1), [], "samples after the change")


@test
def invalid_datasets_are_an_error_before_the_ranks_start():
    for given, words in (('[1]', "should be a dict"), ('{"train": [1, 2]}', "trainrt.data"), ('{"a/b": source()}', "letters")):
        script = Script(MAIN + f"    trainer(reads, datasets={given}).fit()\n", head=READS)
        job = script.run()
        check(words in job.err, f"the error lacks {words!r}", job)
        check(not (script.runs / "run").exists(), "a run directory exists", job)
    unknown = Script("def asks(config):\n    train.get_dataset_shard('valid')\n" + MAIN + "    trainer(asks, datasets={'train': source()}).fit()\n", head=READS)
    job = unknown.run()
    check("KeyError" in job.err and "'valid'" in job.err and "train" in job.err, "the error lacks the unknown name", job)


@test
def without_ranks_a_train_function_gets_all_samples():
    script = reading({"part": 0, "epochs": 2, "checkpoints": False}, ranks=0)
    check_ends(script)
    equal(sorted(seen(script, 0)), sorted(2 * list(range(90))), "samples of two epochs")
    check(seen(script, 0)[:90] != seen(script, 0)[90:], "two epochs have the same order")


@test
def shards_are_torch_tensors_without_a_copy():
    require_torch()
    script = Script("""
import torch

def tensors(config):
    total = 0
    for batch in train.get_dataset_shard("train").iter_torch_batches(batch_size=8, dtypes={"y": torch.float32}):
        assert batch["x"].dtype == torch.float32 and batch["x"].shape[1:] == (3,) and batch["y"].dtype == torch.float32, batch
        assert (batch["x"][:, 0] == batch["y"]).all()
        total += float(batch["y"].sum())
    train.report({"total": total}, aggregate=False)
    return total

""" + MAIN + """
    import numpy
    x = numpy.arange(240, dtype="f4").reshape(80, 3)
    print("RESULT", json.dumps(trainer(tensors, datasets={"train": data.from_numpy({"x": x, "y": x[:, 0].astype("i8")})}, scaling={}).fit().return_value))
""", head=READS)
    found, = result_of(script.run())
    equal(found, float(sum(3 * n for n in range(80) if n % 16 < 8)), "the sum over rank 0's samples")


@test
def windows_of_mapped_samples_continue_after_a_kill():
    """Windows of flat-mapped rows, in a shuffled order: each comes once in a run that was killed within the epoch."""
    more = """def made():
    rows = source().flat_map(lambda row: [{"k": row["id"] % 3, "id": 2 * row["id"] + i} for i in range(2)])
    return rows.window(2, within="k").limit(176).random_shuffle().map(lambda row: {"id": row["id"][0]})

"""
    first, second = {"part": 0, "kill_at": 5}, {"part": 1}
    script = reading(first, dataset="made()", more=more)
    killed = script.run()
    check("FAILED" in killed.out, "the run was not killed", killed)
    again(script, first, second)
    check_ends(script)
    firsts = sorted(2 * n + i for n in range(90) for i in range(2) if (n, i) not in ((87, 1), (88, 1), (89, 0), (89, 1)))
    equal(sorted(seen(script, 0) + seen(script, 1)), firsts, "first numbers of all windows")


# ---- samples of Ray Train's guides, with `ray` replaced and local data -------------------------------------------------------


@test
def the_sample_that_maps_items_gives_torch_batches_of_one_size():
    require_torch()
    script = Script("""
import torch

def increment(batch):
    batch["y"] = batch["y"] + 1
    return batch

def train_func(config):
    shard, seen = train.get_dataset_shard("train"), []
    for epoch in range(1):
        for batch in shard.iter_torch_batches(batch_size=16, dtypes=torch.float32, drop_last=True):
            inputs, labels = batch["x"], batch["y"]
            assert type(inputs) == torch.Tensor and type(labels) == torch.Tensor
            assert inputs.shape[0] == labels.shape[0] == 16 and inputs.dtype == torch.float32
            assert (labels == 2 * inputs + 1).all()
            seen += inputs.flatten().tolist()
    train.report({"seen": len(seen)}, aggregate=False)
    return len(set(seen))

""" + MAIN + """
    train_dataset = data.from_items([{"x": [x], "y": [2 * x]} for x in range(200)]).map_batches(increment)
    print("RESULT", json.dumps(trainer(train_func, datasets={"train": train_dataset}, scaling={}).fit().return_value))
""", head=READS)
    equal(result_of(script.run()), [96], "rank 0's samples in full batches")


@test
def the_sample_with_unsplit_validation_data_validates_on_all_samples():
    script = Script("""
def loop(config):
    shard, found = train.get_dataset_shard("train"), []
    for _ in range(2):
        found.append(sum(len(batch["text"]) for batch in shard.iter_batches(batch_size=128, remainder="uneven")))
    shard = train.get_dataset_shard("val")
    for _ in range(2):
        found.append(sorted(text for batch in shard.iter_batches(batch_size=128, remainder="uneven") for text in batch["text"].tolist()))
    open(f"found-{rank()}", "w").write(json.dumps(found))

""" + MAIN + """
    open("spam.txt", "w").write("".join(f"line {n}\\n" for n in range(100)))
    train_ds, val_ds = data.read_text(os.path.abspath("spam.txt")).train_test_split(0.3)
    print("RESULT", json.dumps(sorted(row["text"] for row in val_ds.take_all())))
    trainer(loop, datasets={"train": train_ds, "val": val_ds}, dataset_config=DataConfig(datasets_to_split=["train"])).fit()
""", head=READS)
    expected, = result_of(script.run())
    equal(len(expected), 30, "samples to validate on")
    for number in range(2):
        found = json.loads((script.folder / f"found-{number}").read_text())
        equal(found, [35, 35, expected, expected], f"samples of rank {number}")


@test
def the_sample_of_structured_data_finds_the_fitted_preprocessor_in_the_checkpoint():
    script = Script("""
from trainrt.data.preprocessors import Concatenator, StandardScaler

def loop(config):
    assert "preprocessor" in train.get_context().get_metadata()
    rows = []
    for _ in range(2):
        for batch in train.get_dataset_shard("train").iter_batches(batch_size=128, prefetch_batches=10, remainder="uneven"):
            assert sorted(batch) == ["features", "target"] and batch["features"].shape[1:] == (3,) and batch["features"].dtype == "float32"
            rows += batch["features"][:, 0].tolist()
    open(f"rows-{rank()}", "w").write(json.dumps(rows))
    with Folder() as folder:
        train.report({"score": 2.0}, checkpoint=Checkpoint.from_directory(folder))

""" + MAIN + """
    open("cancer.csv", "w").write("mean radius,mean texture,area,target\\n" + "".join(f"{n},{n * n},{n % 7}.5,{n % 2}\\n" for n in range(40)))
    dataset = data.read_csv(os.path.abspath("cancer.csv"))
    scaler = StandardScaler(columns=["mean radius", "mean texture"])
    concatenator = Concatenator(columns=["mean radius", "mean texture", "area"], output_column_name="features", dtype="float32")
    dataset = concatenator.fit_transform(scaler.fit_transform(dataset))
    result = trainer(loop, datasets={"train": dataset}, metadata={"preprocessor": scaler.serialize()}).fit()
    found = StandardScaler.deserialize(result.checkpoint.get_metadata()["preprocessor"])
    print("RESULT", json.dumps([found.stats_["mean(mean radius)"], found.stats_["std(mean radius)"]]))
""", head=READS)
    (mean, deviation), = result_of(script.run())
    check(abs(mean - 19.5) < 1e-12 and abs(deviation - 11.543396380615196) < 1e-9, f"mean {mean}, deviation {deviation}")
    rows = [value for number in range(2) for value in json.loads((script.folder / f"rows-{number}").read_text())]
    expected = sorted(2 * [(n - mean) / deviation for n in range(40)])
    check(len(rows) == 80 and all(abs(one - other) < 1e-6 for one, other in zip(sorted(rows), expected)), "the values are not scaled")


# ---- a program with a State and a config ---------------------------------------------------------------------------------------

PROGRAM = """import numpy, os, time, trainrt
ctx = trainrt.context()
state = trainrt.State()
total = numpy.zeros(1, numpy.int64)
state.tensor("total", total)
state["epoch"] = state["steps"] = 0
ctx.restore(state)
shard = ctx.dataset("train")
while state["epoch"] < 3:
    for batch in shard.iter_batches(batch_size=4, epoch=state["epoch"]):
        share = numpy.array([int((batch["id"] * numpy.arange(1, len(batch["id"]) + 1)).sum())])
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


def total_of(run_dir):
    return [row["total"] for row in reports(run_dir)]


@test
def a_program_stopped_at_some_steps_ends_with_the_same_sum():
    config = lambda name, **sections: program_config(f"{PYTHON} {program_file(PROGRAM)}", name, **{"data.train": {"format": "range", "samples": 50, "shuffle": True}}, **sections)
    whole = config("whole")
    check_exit(run_program(2, whole), FINISHED)
    expected = total_of(run_dir_of(whole))
    equal(len(expected), 3, "reports")
    for number, stops in enumerate(((1, 4, 10), (7, 13, 17))):
        stopped = config(f"stopped-{number}")
        for step in stops:
            check_exit(run_program(2, stopped, env={"STOP_AT": step}), STOPPED)
        check_exit(run_program(2, stopped), FINISHED)
        equal(total_of(run_dir_of(stopped)), expected, f"sums of a run that was stopped at the steps {stops}")


main()
