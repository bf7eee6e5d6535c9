#!/usr/bin/python3
"""Programs that keep their state in own files and pass directories of them with their reports. The files of all ranks become one
checkpoint, which is complete or absent. A restarted program finds the files of the newest checkpoint."""
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403

PROGRAM = """
import json, os, shutil, time
folder_of_test = {folder!r}
rank, ranks = ctx.world_rank, ctx.world_size
{before}
place = ctx.checkpoint()
shutil.rmtree(f"{{folder_of_test}}/given-{{rank}}", ignore_errors=True)
state = {{"epoch": 0, "sum": 0}}
if place is not None:
    assert place["files"], place
    with open(place["path"] + "/files/state.json") as file:
        state = json.load(file)
    shards = [os.path.exists(f"{{place['path']}}/files/shards/of-{{r}}.bin") for r in range(ranks)]
    assert not {all_give} or all(shards), shards
print("begins at", state["epoch"], place and place["index"])
while state["epoch"] < {epochs}:
    state["epoch"] += 1
    state["sum"] = (3 * state["sum"] + state["epoch"]) % 1000003
    time.sleep({pause})
    folder = f"{{folder_of_test}}/given-{{rank}}"
    os.mkdir(folder)
    if rank == 0:
        with open(folder + "/state.json", "w") as file:
            json.dump(state, file)
    os.mkdir(folder + "/shards")
    with open(f"{{folder}}/shards/of-{{rank}}.bin", "wb") as file:
        file.write(bytes([rank, state["epoch"] % 256]) * {bytes})
    with open(folder + "/same.txt", "w") as file:
        file.write(f"epoch {{state['epoch']}}")
    gives = ({all_give} or rank == 0) and state["epoch"] % {every} == 0
    metrics = {{"score": -abs(state["epoch"] - 5), "epoch": state["epoch"], "sum": state["sum"]}} if rank == 0 else {{"other": 1}}
    ctx.report(metrics, of_first_rank=True, directory=folder if gives else None, metadata={{"epoch": state["epoch"]}})
    shutil.rmtree(folder)
    {inside}
"""


def giving(name="run", epochs=12, all_give=True, every=1, pause=0, size=100_000, before="ctx.restore()", inside="", folder=None, **sections):
    folder = folder or scratch()
    text = PROGRAM.format(folder=str(folder), epochs=epochs, all_give=all_give, every=every, pause=pause, bytes=size // 2, before=before,
                          inside=inside.replace("\n", "\n    "))
    return program_config(python(text), name, folder=folder, **sections)


def checkpoints_of(config):
    return sorted(run_dir_of(config).glob("checkpoint_*"))


def manifest_of(checkpoint):
    return json.loads((checkpoint / "manifest.json").read_text())


def files_of(checkpoint):
    folder = checkpoint / "files"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def check_checkpoint(checkpoint, ranks, all_give=True):
    """Checks that all files of the checkpoint are of one report, and that the manifest names this report."""
    manifest = manifest_of(checkpoint)
    state = json.loads((checkpoint / "files/state.json").read_text())
    givers = range(ranks if all_give else 1)
    equal(files_of(checkpoint), ["same.txt", *(f"shards/of-{rank}.bin" for rank in givers), "state.json"], f"files of {checkpoint}")
    equal((manifest["iteration"], manifest["metrics"]["epoch"], manifest["metadata"]["epoch"]), (state["epoch"],) * 3, f"iteration, metrics and metadata of {checkpoint}")
    for rank in givers:
        equal((checkpoint / f"files/shards/of-{rank}.bin").read_bytes()[:2], bytes([rank, state["epoch"]]), "a shard")
    equal(manifest["directory"], True, "`directory` of the manifest")


def check_finished(config, ranks, epochs=12, all_give=True):
    run_dir = run_dir_of(config)
    check_iterations(run_dir, epochs)
    for checkpoint in checkpoints_of(config):
        check_checkpoint(checkpoint, ranks, all_give)
    newest = json.loads((checkpoints_of(config)[-1] / "files/state.json").read_text())
    expected = 0
    for epoch in range(1, newest["epoch"] + 1):
        expected = (3 * expected + epoch) % 1000003
    equal(newest["sum"], expected, "the sum, over all restarts")
    check_verifies(run_dir)


def gives(ranks, all_give):
    config = giving(all_give=all_give, every=3)
    job = run_program(ranks, config)
    check_exit(job, FINISHED)
    equal([manifest_of(checkpoint)["iteration"] for checkpoint in checkpoints_of(config)], [9, 12], "checkpoints, at reports with a directory")
    check_finished(config, ranks, all_give=all_give)
    check("warning" not in job.err, "a warning without a cause", job)


def kills(ranks):
    config = giving(epochs=40, pause=0.01)
    for whom in ("rank", "ranks", "program"):
        before = report_count(run_dir_of(config))
        job = start_program(ranks, config)
        wait_for_reports(run_dir_of(config), before + random.randint(2, 5), job, 60)
        time.sleep(random.uniform(0, 0.05))
        check(not job.ended(), "the run ended before it could be killed: make it longer", job)
        children = list(programs(job).values())
        kill({"rank": [job.ranks()[ranks - 1]], "ranks": job.ranks().values(), "program": children[:1]}[whom])
        job.wait(60)
        for checkpoint in checkpoints_of(config):
            check_checkpoint(checkpoint, ranks)
    check_exit(run_program(ranks, config), FINISHED)
    check_finished(config, ranks, 40)
    check_no_debris(run_dir_of(config), keep=2)


def stops(ranks):
    """The job is requeued twice. Each start resumes from the last directory and repeats the later work."""
    config = giving(epochs=30, every=4, pause=0.02)
    for _ in range(2):
        before = report_count(run_dir_of(config))
        job = start_program(ranks, config)
        wait_for_reports(run_dir_of(config), before + 5, job, 60)
        kill([job.ranks()[ranks - 1]], signal.SIGUSR1)
        job.code = job.wait(60)
        check_exit(job, STOPPED)
        last = (job.out + job.err).splitlines()[-1]
        check("Run the same command again" in last, "the last line does not name the next step", job)
        newest = manifest_of(checkpoints_of(config)[-1])
        if newest["iteration"] < report_count(run_dir_of(config)):
            check(f"the run resumes from checkpoint_{newest['index']:06} (iteration {newest['iteration']}), and later work is repeated" in last,
                  "the repeated work is not named", job)
        check("warning" not in job.err, "a warning at the stop", job)
        equal(newest["iteration"] % 4, 0, "a checkpoint without a directory was taken")
    check_exit(run_program(ranks, config), FINISHED)
    check_finished(config, ranks, 30)


for ranks in (1, 2, 3):
    for all_give in (True, False) if ranks > 1 else (True,):
        add_test(f"directories_of_{'all' if all_give else 'the_first'}_of_{ranks}_ranks_become_one_checkpoint", gives, ranks, all_give)
    add_test(f"kills_of_{ranks}_ranks_leave_complete_directory_checkpoints", kills, ranks)
    add_test(f"stops_of_{ranks}_ranks_continue_from_the_last_directory", stops, ranks)


@test
def a_stop_before_the_first_directory_restarts_from_the_beginning():
    config = giving(every=1000, epochs=1000, pause=0.01)
    job = start_program(2, config)
    wait_for_reports(run_dir_of(config), 3, job, 60)
    kill([job.ranks()[0]], signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    check("the run resumes from its beginning, since no report has passed a directory" in job.err, "the repeated work is not named", job)
    equal(checkpoints_of(config), [], "checkpoints")


@test
def a_run_with_an_empty_state_saves_its_directories():
    config = giving(before="ctx.restore(trainrt.State())", every=5, pause=0.01, epochs=20, checkpoint={"every": "1000 reports"})
    job = start_program(2, config)
    wait_for_reports(run_dir_of(config), 7, job, 60)
    kill([job.ranks()[0]], signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    check_exit(run_program(2, config), FINISHED)
    check_finished(config, 2, 20)


@test
def the_best_by_score_and_the_latest_are_kept():
    config = giving(checkpoint={"num_to_keep": 3, "score_attribute": "score", "score_order": "max"})
    check_exit(run_program(2, config), FINISHED)
    kept = [manifest_of(checkpoint)["iteration"] for checkpoint in checkpoints_of(config)]
    check({5}.issubset(kept) and 12 in kept and all(abs(epoch - 5) <= 1 for epoch in kept if epoch != 12), f"kept: {kept}")
    check_finished(config, 2)


@test
def a_program_can_wait_for_a_checkpoint_that_is_committed_during_computation():
    """No rank makes a collective call in the meantime."""
    inside = """
if state["epoch"] == 3:
    begun = time.monotonic()
    newest = ctx.checkpoint() if rank == 1 else None
    if rank == 1:
        assert newest["files"] and json.load(open(newest["path"] + "/files/state.json"))["epoch"] == 3, newest
        open(folder_of_test + "/found", "w").close()
    while not os.path.exists(folder_of_test + "/found"):
        assert time.monotonic() - begun < 30
        time.sleep(0.01)
"""
    config = giving(epochs=4, inside=inside)
    check_exit(run_program(2, config), FINISHED)
    check_finished(config, 2, 4)


@test
def a_run_continues_on_another_number_of_ranks():
    config = giving(epochs=20, all_give=False, every=3, pause=0.02, scaling={"on_resize": "keep_batch"})
    for ranks in (2, 3):
        before = report_count(run_dir_of(config))
        job = start_program(ranks, config)
        wait_for_reports(run_dir_of(config), before + 4, job, 60)
        check(not job.ended(), "the run ended before it could be stopped", job)
        kill([job.ranks()[0]], signal.SIGUSR1)
        job.code = job.wait(60)
        check_exit(job, STOPPED)
    check_exit(run_program(1, config), FINISHED)
    check_finished(config, 1, 20, all_give=False)


@test
def a_new_run_starts_from_the_directory_of_another():
    first = giving(epochs=3)
    check_exit(run_program(2, first), FINISHED)
    newest = checkpoints_of(first)[-1]
    second = giving("second", epochs=5, every=2, folder=first.parent)
    job = run_program(2, second, f"--run.resume_from_checkpoint={newest}")
    check_exit(job, FINISHED)
    check(f"begins at 3 {manifest_of(newest)['index']}" in job.out + job.err, "the run began elsewhere", job)
    check_iterations(run_dir_of(second), 2)
    checkpoint, = checkpoints_of(second)
    equal(json.loads((checkpoint / "files/state.json").read_text())["epoch"], 4, "the epoch")


@test
def a_checkpoint_on_a_full_disk_is_dropped_and_training_continues():
    config = giving(epochs=4, inside="if state['epoch'] == 1:\n    assert ctx.checkpoint() is None")
    job = run_program(2, config, env=faults("pwrite:ENOSPC:/files/shards/:0:1"))
    check_exit(job, FINISHED)
    check("the checkpoint at iteration 1 could not be written and is dropped: " in job.err, "the dropped checkpoint is not named", job)
    check("No space left on device" in job.err and "training continues" in job.err, "the cause is not named", job)
    equal([manifest_of(checkpoint)["iteration"] for checkpoint in checkpoints_of(config)], [3, 4], "checkpoints")
    check_finished(config, 2, 4)
    check_no_debris(run_dir_of(config), keep=2)


def state_and_directories(env):
    """A checkpoint due by `checkpoint.every` holds the State and the files of the last directory; a stop loses nothing of the State."""
    text = """
import json, os, time
steps = numpy.zeros(1, numpy.int64)
state = trainrt.State()
state.tensor("steps", steps)
with open("{folder}/note.txt", "w") as file:
    file.write("of the state")
state.file("note.txt", "{folder}/note.txt")
ctx.restore(state)
place = ctx.checkpoint()
print("begins at", steps[0], place)
if place:
    number = json.load(open(place["path"] + "/files/deep/er/given.json"))
    assert place["files"] and number <= steps[0] and number % 5 == 0, (place, number)
while steps[0] < 40:
    steps[0] += 1
    ctx.step()
    time.sleep(0.01)
    folder = f"{folder}/given-{{ctx.world_rank}}"
    os.makedirs(folder + "/deep/er", exist_ok=True)
    with open(folder + "/deep/er/given.json", "w") as file:
        json.dump(int(steps[0]), file)
    if steps[0] % 5 == 0:
        ctx.report({{"steps": steps[0]}}, directory=folder, metadata={{"given": int(steps[0])}})
        os.remove(folder + "/deep/er/given.json")
    else:
        ctx.report({{"steps": steps[0]}})
"""
    folder = scratch()
    config = program_config(python(text.format(folder=folder)), folder=folder, checkpoint={"every": "7 reports", "num_to_keep": 100})
    job = start_program(2, config, env=env())
    wait_for_reports(run_dir_of(config), 18, job, 60)
    kill([job.ranks()[0]], signal.SIGUSR1)
    job.code = job.wait(60)
    check_exit(job, STOPPED)
    check("everything up to there is saved" in job.err, "the stop does not report that everything is saved", job)
    check_exit(run_program(2, config), FINISHED)
    check_iterations(run_dir_of(config), 40)
    seen = []
    for checkpoint in checkpoints_of(config):
        manifest = manifest_of(checkpoint)
        given = manifest["iteration"] // 5 * 5
        seen.append(manifest["iteration"])
        equal(files_of(checkpoint), ["deep/er/given.json", "note.txt"] if given else ["note.txt"], f"files of {checkpoint}")
        equal(manifest["metadata"], {"given": given} if given else {}, f"metadata of {checkpoint}")
        if given:
            equal(json.loads((checkpoint / "files/deep/er/given.json").read_text()), given, f"the file of {checkpoint}")
    check({5, 7, 10, 14, 15, 20, 21, 28, 35, 40}.issubset(seen), f"checkpoints at {seen}")
    check_verifies(run_dir_of(config))


add_test("a_state_and_directories_are_saved_together", state_and_directories, dict)
add_test("a_state_and_directories_are_saved_together_where_files_cannot_be_linked", state_and_directories, lambda: faults("link:EPERM:/files/"))


def refused(ranks, text, *words):
    """The run ends on all ranks with an error that contains `words`, and no part of the checkpoint remains."""
    text = "import os\nrank = ctx.world_rank\nfolder = ctx.run_dir + f'/../given-{rank}'\nos.makedirs(folder, exist_ok=True)\n" + text
    config = program_config(python(text))
    job = run_program(ranks, config)
    check(job.code in (FAILED, USAGE), f"exit {job.code}", job)
    for word in words:
        check(word in job.err, f"the error lacks {word!r}", job)
    equal(list(run_dir_of(config).rglob("*checkpoint_*")), [], "remaining parts of the checkpoint")


REFUSED = {
    "a_missing_directory": (3, "ctx.report({}, directory=folder if rank else folder + '/gone')", "rank 0 on ", "given-0/gone'"),
    "a_directory_that_is_a_file": (2, "open(folder + '/f', 'w').close()\nctx.report({}, directory=folder + '/f' if rank else None)", "rank 1 on ",
                                   "given-1/f'"),
    "a_file_that_is_a_pipe": (2, "os.mkfifo(folder + '/pipe')\nctx.report({}, directory=folder)", "rank 0 on ", "given-0/pipe' is neither a file nor"),
    "a_link_to_a_folder": (1, "os.symlink('/usr', folder + '/usr')\nctx.report({}, directory=folder)", "given-0/usr' is a link to a directory"),
    "a_link_to_nothing": (1, "os.symlink('nothing', folder + '/link')\nctx.report({}, directory=folder)", "given-0/link'"),
    "different_bytes_of_one_file": (3, "open(folder + '/model.pt', 'w').write('ab'[rank // 2])\nctx.report({}, directory=folder)",
                                "ranks 0 and 2 have different files 'model.pt' (1 bytes each)"),
    "different_sizes_of_one_file": (2, "open(folder + '/model.pt', 'w').write('a' * rank)\nctx.report({}, directory=folder)",
                                "ranks 0 and 1 have different files 'model.pt' (0 and 1 bytes)"),
    "a_file_where_another_rank_has_a_folder": (2, "os.makedirs(folder + '/x' * (1 + rank))\nopen(folder + '/x/x' * rank + '/x/x/y'[rank * 4:], 'w').close() if rank else "
                                               "open(folder + '/x/x', 'w').close()\nos.makedirs(folder + '/x/x', exist_ok=True) if rank else None\n"
                                               "open(folder + '/x/x/y', 'w').close() if rank else None\nctx.report({}, directory=folder)",
                                               "'x/x' is a file on rank 0 and a folder on rank 1"),
    "a_file_that_the_state_uses": (1, "open(folder + '/a', 'w').close()\nstate = trainrt.State()\nstate.file('a', folder + '/a')\nctx.restore(state)\n"
                                  "ctx.report({}, directory=folder)", "rank 0 has a file 'a', but the State's file 'a' has the same path"),
    "metadata_that_is_no_dict": (1, "ctx.report({}, directory=folder, metadata=[1])", "the metadata of report() must be a dict, not a list"),
    "some_ranks_with_of_first_rank": (2, "ctx.report({}, of_first_rank=rank == 0)", "report() with of_first_rank where others do not"),
}
for name, case in REFUSED.items():
    add_test(f"{name}_is_refused_on_all_ranks", refused, *case)


@test
def links_are_stored_as_files_and_an_empty_directory_is_a_checkpoint():
    text = """
import os
ctx.restore()
folder = ctx.run_dir + "/../given"
os.makedirs(folder + "/empty")
ctx.report({}, directory=folder)
place = ctx.checkpoint()
assert place["files"] and os.listdir(place["path"] + "/files") == [], place
with open(folder + "/../real", "w") as file:
    file.write("real")
os.symlink("../real", folder + "/link")
ctx.report({}, directory=folder, directory_name="best")
place = ctx.checkpoint()
assert not os.path.islink(place["path"] + "/files/link") and open(place["path"] + "/files/link").read() == "real"
"""
    config = program_config(python(text))
    check_exit(run_program(1, config), FINISHED)
    equal(manifest_of(checkpoints_of(config)[-1])["metadata"], {"checkpoint_dir_name": "best"}, "metadata")
    check_verifies(run_dir_of(config))


@test
def metrics_of_the_first_rank_are_reported_unchanged():
    text = """
ctx.restore()
mine = {"tenth": 0.1, "nan": float("nan"), "inf": float("inf"), "text": "t", "weighted": trainrt.Number(0.3, weight=0)}
ctx.report(mine if ctx.world_rank == 0 else {"nothing like it": 1}, of_first_rank=True)
"""
    config = program_config(python(text))
    check_exit(run_program(3, config), FINISHED)
    result, = reports(run_dir_of(config))
    equal([result[key] for key in ("tenth", "nan", "text", "weighted")], [0.1, None, "t", 0.3], "metrics")
    check("nothing like it" not in result, "a metric of another rank was reported")


@test
def verify_inspect_and_restarts_handle_directory_checkpoints():
    config = giving(epochs=3)
    check_exit(run_program(2, config), FINISHED)
    newest = checkpoints_of(config)[-1]
    check_exit(run([TRAINRT, "verify", newest]), FINISHED)
    shown = run([TRAINRT, "inspect", newest])
    check_exit(shown, FINISHED)
    check("shards/of-1.bin" in shown.out, "inspect does not show the files", shown)
    check_exit(run([TRAINRT, "inspect", newest, "--json"]), FINISHED)
    check_exit(run([TRAINRT, "result", run_dir_of(config)]), FINISHED)
    with open(newest / "files/same.txt", "r+b") as file:
        file.write(b"x")
    damaged = run([TRAINRT, "verify", newest])
    check_exit(damaged, FAILED)
    check("files/same.txt' is damaged" in damaged.out + damaged.err, "the damage is not named", damaged)
    again = giving(epochs=5, folder=config.parent)
    job = run_program(2, again, "--loop.num_epochs=2")
    check_exit(job, FINISHED)
    check("begins at 2" in job.out + job.err, "the damaged checkpoint was not skipped", job)


main()
