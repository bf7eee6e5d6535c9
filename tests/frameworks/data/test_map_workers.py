#!/usr/bin/python3
"""Map functions of trainrt.data in worker processes, and random map functions: the samples and their order do not change, and no process remains."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.train_scripts import *  # noqa: E402,F403

HEAD_OF_MAPS = HEAD + """
import numpy
from trainrt import data

def tenfold(row):
    return {"id": 10 * row["id"], "pid": os.getpid()}

class Adds:
    def __init__(self, number):
        self.number = number
        with open("made", "a") as file:
            file.write(f"{os.getpid()}\\n")

    def __call__(self, batch):
        return {**batch, "id": batch["id"] + self.number}

def draws(row, rng):
    return {"id": row["id"], "x": rng.random()}

def fails(row):
    if row["id"] == 37:
        raise ValueError("37 is not liked")
    return row

def dies(row):
    if row["id"] == 37:
        os.kill(os.getpid(), 9)
    return row

def sleeps(row):
    print(os.getpid(), flush=True)
    time.sleep(600)

def ids(dataset, size=10):
    return [number for batch in dataset.iter_batches(batch_size=size, remainder="uneven") for number in batch["id"].tolist()]

def error_of(dataset):
    try:
        ids(dataset)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"

"""


def lines_of(text, **options):
    """Runs a script and returns the values that it prints as JSON, one per line."""
    done = Script(MAIN + "".join(f"    {line}\n" for line in text.strip().splitlines()), head=HEAD_OF_MAPS).run(**options)
    check_exit(done, 0)
    return [json.loads(line) for line in done.out.splitlines() if line.startswith(("[", "{", '"'))]


@test
def worker_processes_give_the_same_samples_in_the_same_order():
    here, there, pids, made, classes = lines_of("""
shuffled = data.range(100).random_shuffle(seed=3)
twice = lambda dataset: [ids(dataset, 7) for _ in (1, 2)]
print(json.dumps(twice(shuffled.map(tenfold).iterator())))
maps = shuffled.map(tenfold, concurrency=(1, 3)).map_batches(Adds, fn_constructor_args=(1,)).iterator()
print(json.dumps(twice(maps)))
print(json.dumps(sorted({int(pid) for batch in maps.iter_batches(batch_size=7) for pid in batch["pid"]} - {os.getpid()})))
print(json.dumps(open("made").read().split()))
print(json.dumps([ids(data.range(3).map(tenfold, concurrency=2)), [os.getpid() in data.range(3).map(tenfold, concurrency=2).take_batch()["pid"]]]))
""")
    equal(there, [[number + 1 for number in epoch] for epoch in here], "samples of two epochs")
    check(here[0] != here[1], "two epochs have the same order")
    equal(len(pids), 3, "processes")
    equal(sorted(map(int, made)), pids, "objects of the class are made once in each process")
    equal(classes, [[0, 10, 20], [False]], "samples of fewer batches than processes")


@test
def an_error_in_a_worker_process_is_raised_and_ends_the_epoch():
    failed, died, unknown, alive = lines_of("""
print(json.dumps(error_of(data.range(100).map(fails, concurrency=2))))
maps = data.range(100).map(dies, concurrency=2).iterator()
print(json.dumps(error_of(maps)))
cloudpickle, sys.modules["cloudpickle"] = sys.modules["cloudpickle"], None
print(json.dumps(error_of(data.range(100).map(lambda row: row, concurrency=2))))
sys.modules["cloudpickle"] = cloudpickle
print(json.dumps([ids(data.range(3).map(tenfold, concurrency=2))]))
""")
    for words in ("RuntimeError", "map(fails)", "37 is not liked", "train.py"):
        check(words in failed, f"the error lacks {words!r}: {failed}")
    check("map(dies)" in died and "killed by signal 9" in died, f"the death is not named: {died}")
    for words in ("ValueError", "lambda", "train.py", "cloudpickle"):
        check(words in unknown, f"the error lacks {words!r}: {unknown}")
    equal(alive, [[0, 10, 20]], "samples of the next dataset")


@test
def worker_processes_do_not_run_the_top_level_of_a_script():
    script = Script("print(ids(data.range(3).map(tenfold, concurrency=2)))\n", head=HEAD_OF_MAPS)
    job = script.run()
    equal((job.code, job.out), (0, "[0, 10, 20]\n"), "exit and output", job)


@test
def no_worker_process_remains_after_a_kill_or_an_unfinished_epoch():
    script = Script(MAIN + "    ids(data.range(100).map(sleeps, concurrency=3))\n", head=HEAD_OF_MAPS)
    job = script.start()
    wait_until(lambda: len(job.out.split()) == 3, 30, "three running processes")
    workers = [Path(f"/proc/{pid}") for pid in job.out.split()]
    os.kill(job.process.pid, 9)
    wait_until(lambda: not any(worker.exists() for worker in workers), 20, f"the end of {workers}")
    left, = lines_of("""
for batch in data.range(100).map(tenfold, concurrency=2).iter_batches(batch_size=10):
    break
del batch
import gc
gc.collect()
print(json.dumps([pid for pid in os.listdir("/proc") if pid.isdigit() and os.path.exists(f"/proc/{pid}/stat") and open(f"/proc/{pid}/stat").read().rsplit(")")[1].split()[1] == str(os.getpid()) and "map_worker" in open(f"/proc/{pid}/cmdline").read()]))
""")
    equal(left, [], "processes after an unfinished epoch")


@test
def random_numbers_depend_only_on_the_sample_and_the_epoch():
    one, other, threes, later, own = lines_of("""
walks = lambda size, **options: data.range(60).map(draws, random=True, **options).iterator()
drawn = lambda iterator, size: {int(n): x for batch in iterator.iter_batches(batch_size=size, remainder="uneven") for n, x in zip(batch["id"], batch["x"])}
print(json.dumps(drawn(walks(7), 7)))
print(json.dumps(drawn(walks(60), 60)))
workers = walks(5, concurrency=3)
print(json.dumps(drawn(workers, 5)))
print(json.dumps(drawn(workers, 5)))
twice = data.range(60).map(draws, random=True).map(lambda row, rng: {**row, "y": rng.random()}, random=True)
print(json.dumps([abs(float(numpy.corrcoef([row["x"] for row in twice.take_all()], [row["y"] for row in twice.take_all()])[0, 1]))]))
""")
    equal((other, threes), (one, one), "numbers drawn for each sample")
    check(later != one and later.keys() == one.keys(), "the next epoch draws the same numbers")
    equal(len(set(one.values())), 60, "number of distinct draws")
    check(own[0] < 0.5, f"two functions draw correlated numbers: correlation {own[0]}")


TRAINS = HEAD_OF_MAPS + """
def jitters(row, rng):
    return {"id": row["id"] * 1000 + int(rng.integers(1000))}

def reads(config):
    shard, done = train.get_dataset_shard("train"), 0
    checkpoint = train.get_checkpoint()
    if checkpoint is not None:
        done = int(open(os.path.join(checkpoint.path, "done")).read())
    for batch in shard.iter_batches(batch_size=4):
        done += 1
        with open(f"seen-{config['part']}-{rank()}", "a") as file:
            file.write(" ".join(map(str, batch["id"].tolist())) + "\\n")
        with Folder() as folder:
            open(os.path.join(folder, "done"), "w").write(str(done))
            train.report({"done": done}, checkpoint=Checkpoint.from_directory(folder))
        if done == config.get("kill_at"):
            train.get_checkpoint()  # waits for the commit
            train.collective.barrier()
            os.kill(os.getpid(), 9)

"""


@test
def after_a_kill_at_any_batch_each_remaining_sample_comes_once_with_the_same_numbers():
    def seen(script, *parts):
        return sorted(word for part in parts for path in script.folder.glob(f"seen-{part}-*") for word in path.read_text().split())

    def job(config):
        text = f"""    try:
        trainer(reads, config={config!r}, ranks=int(os.environ["RANKS"]), datasets={{"train": data.range(48).random_shuffle().map(jitters, random=True, concurrency=2)}}).fit()
        print("DONE")
    except TrainingFailedError as error:
        print("FAILED", error)
"""
        return Script(MAIN + text, head=TRAINS)

    whole = job({"part": 0})
    done = whole.run(env={"RANKS": 2})
    check("DONE" in done.out, "the run did not finish", done)
    expected = seen(whole, 0)
    equal(len(expected), 48, "samples of an undisturbed run")
    for ranks, kill_at in ((1, 1), (2, 5), (3, 6)):  # at 6, all batches were taken, but the epoch has not ended
        first, second = {"part": 0, "kill_at": kill_at}, {"part": 1}
        script = job(first)
        check("FAILED" in script.run(env={"RANKS": 2}).out, "the run was not killed")
        script.path.write_text(script.path.read_text().replace(repr(first), repr(second)))
        words = [f"--run.storage_path={script.runs}", "--scaling.on_resize=keep_batch", "--", PYTHON, script.path]
        done = script.run(command=[TRAINRT, "-n", ranks, *words], env={"RANKS": ranks})
        check("DONE" in done.out, "the run did not continue", done)
        equal(len(seen(script, 0)), 8 * kill_at, "samples before the kill")
        equal(seen(script, 0, 1), expected, f"samples before the kill and after it, on {ranks} ranks")


main()
