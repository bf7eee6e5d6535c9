#!/usr/bin/python3
"""Datasets and mirrored checkpoints in an S3-compatible object store have the same bytes as files, also if requests fail on the way.
Errors quote the answer of the store."""
import gzip
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.trouble import *  # noqa: E402,F403
from runs.sweeps import *  # noqa: E402,F403
from runs.mirrors import *  # noqa: E402,F403
from fakes.object_store import PLUS, SECRET  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None
try:
    import h5py
except ImportError:
    h5py = None


def upload(own, folder, bucket="data", prefix=""):
    own.buckets.setdefault(bucket, {})
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            own.put(bucket, prefix + str(path.relative_to(folder)), path.read_bytes())


def read_config(section, **sections):
    folder = scratch()
    return write_config(folder / "run.ini", {
        "run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("reads")}, "loop": {"batch_size": 8, "out": "."},
        "data.read": {"shuffle": True, **section}, **sections})


def read_by(ranks, section, env, *words, code=FINISHED, **sections):
    """Runs the program `reads`; returns the job and the samples of each rank, as {file: bytes}."""
    out = scratch("out")
    job = run_ranks(ranks, read_config(section, **sections), f"--loop.out={out}", *words, env=env)
    check_exit(job, code)
    check(SECRET not in job.out + job.err, "a secret is shown", job)
    return job, {path.name: path.read_bytes() for path in out.iterdir()}


# ---- datasets ------------------------------------------------------------------------------------------------------------


def csv_files(folder):
    for part in range(3):
        (folder / f"part {part}+ü.csv").write_text("a,b,name\n" + "".join(f"{part * 50 + row},{row / 7},n{row}\n" for row in range(50)))
    return {"format": "csv"}, "*.csv"


def jsonl_files(folder):
    (folder / "a.jsonl").write_text("".join(json.dumps({"x": [row, 1.5 * row], "t": "é" * (row % 5)}) + "\n" for row in range(90)))
    return {"format": "jsonl"}, "a.jsonl"


def npy_files(folder):
    numpy.save(folder / "a.npy", numpy.arange(3000, dtype="f4").reshape(100, 30))
    numpy.save(folder / "b.npy", numpy.arange(3000, 4500, dtype="f4").reshape(50, 30))
    return {"format": "npy"}, ""


def npz_files(folder):
    numpy.savez(folder / "a.npz", x=numpy.arange(600, dtype="i4").reshape(60, 10), y=numpy.arange(60))
    numpy.savez_compressed(folder / "b.npz", x=numpy.arange(600, 1200, dtype="i4").reshape(60, 10), y=numpy.arange(60, 120))
    return {"format": "npz"}, "?.npz"


def text_files(folder):
    (folder / "a.txt").write_text("".join(f"line {row}\n" for row in range(70)))
    return {"format": "text"}, "[a-c].txt"


def token_files(folder):
    numpy.arange(4000, dtype="u2").tofile(folder / "t.bin")
    return {"format": "tokens", "length": 16}, "t.bin"


def idx_files(folder):
    plain = struct_header(40) + bytes(range(160))
    (folder / "x-idx2-ubyte").write_bytes(plain)
    (folder / "y-idx2-ubyte.gz").write_bytes(gzip.compress(plain))
    return {"format": "idx"}, ""


def struct_header(rows):
    return bytes([0, 0, 8, 2]) + rows.to_bytes(4, "big") + (4).to_bytes(4, "big")


def hdf5_files(folder):
    if h5py is None:
        skip("h5py is not installed (package python3-h5py)")
    with h5py.File(folder / "a.h5", "w") as file:
        file["x"] = numpy.arange(900, dtype="f4").reshape(90, 10)
        file.create_dataset("y", data=numpy.arange(90), chunks=(7,), compression="gzip")
        file.create_dataset("z", data=numpy.arange(180).reshape(90, 2), chunks=(9, 2), scaleoffset=0)  # a filter that only libhdf5 can decode
    return {"format": "hdf5"}, "a.h5"


def have_the_same_samples_as_local_files(write, **keys):
    if numpy is None:
        skip("NumPy is not installed (package python3-numpy)")
    own = store(page=2, token="a/token+=")
    folder = scratch(write.__name__)
    section, pattern = write(folder)
    upload(own, folder, prefix="deep/er/")
    _, here = read_by(2, {**section, **keys, "source": f"{folder}/{pattern}"}, {})
    _, there = read_by(2, {**section, **keys, "source": f"s3://data/deep/er/{pattern}"}, own.environment())
    check(here.keys() == there.keys() and len(here) > 3, f"different files: {sorted(here)} and {sorted(there)}")
    wrong = [name for name in here if here[name] != there[name]]
    check(not wrong, f"different bytes in {wrong}")


for each in (csv_files, jsonl_files, npy_files, npz_files, text_files, token_files, idx_files, hdf5_files):
    add_test(f"{each.__name__}_of_a_bucket_have_the_same_samples_as_local_files", have_the_same_samples_as_local_files, each)
add_test("csv_files_of_a_bucket_not_kept_in_memory_have_the_same_samples_as_local_files", lambda: have_the_same_samples_as_local_files(csv_files, memory="1 B"))


def small_table(own, rows=400):
    own.put("data", "table.csv", b"a,b\n" + b"".join(b"%d,%d\n" % (row, row * row) for row in range(rows)))
    return {"format": "csv", "source": "s3://data/table.csv", "memory": "1 B"}


@test
def patterns_in_a_source_select_the_same_files_in_a_bucket_as_in_a_folder():
    own = store(page=3)
    for name in ("a.csv", "b.csv", "sub/c.csv", "sub/_d.csv", ".hidden/e.csv", "sub/"):
        own.put("data", "t/" + name, b"a\n1\n2\n" if not name.endswith("/") else b"")
    own.put("data", "list.txt", b"# two\ns3://data/t/a.csv\ns3://data/t/sub/*.csv\n")
    for source, samples in (("s3://data/t", 6), ("s3://data/t/", 6), ("s3://data/t/*.csv", 4), ("s3://data/t/sub/*.csv", 4), ("s3://data/t/[bc].csv", 2),
                            ("s3://data/t/a.csv, s3://data/t/b.csv", 4), ("@s3://data/list.txt", 6), ("s3://data/t/a.csv", 2)):
        config = read_config({"format": "csv", "source": source})
        job = run([TRAINRT, "check", "--config", config], env=own.environment())
        check_exit(job, FINISHED)
        check(f"ok, {samples} samples" in job.out, f"{source}: not {samples} samples", job)
    for source, words in (("s3://data/none.csv", "matches no object"), ("s3://data/t/*.json", "matches no object"), ("s3://other/x.csv", "matches no object|NoSuchBucket"),
                          ("ftp://data/x.csv", "no such storage"), ("s3://da ta/x", "invalid bucket name")):
        job = run([TRAINRT, "check", "--config", read_config({"format": "csv", "source": source})], env=own.environment())
        check(job.code in (USAGE, FAILED) and re.search(words, job.err), f"{source}: the error lacks {words!r}", job)
    for source, words in (("s3://data/t", "format = tar"), ("s3://data/x.db", "cannot read from an object store")):
        own.put("data", "x.db", b"SQLite format 3\0")
        section = {"format": "images"} if source.endswith("t") else {"format": "sqlite", "table": "t"}
        job = run([TRAINRT, "check", "--config", read_config({**section, "source": source})], env=own.environment())
        check(job.code == USAGE and words in job.err, f"{source}: the error lacks {words!r}", job)


@test
def a_failed_request_is_repeated():
    own = store()
    section = small_table(own)
    _, expected = read_by(1, section, own.environment())
    for word in ("503", "429", "500", "reset", "cut", "short"):
        own.fail(word, times=3)
        _, found = read_by(1, section, own.environment())
        check(found == expected, f"different values after {word}")
    own.fail("503", times=12)  # more failures than the client repeats without a message
    job, found = read_by(1, section, own.environment())
    check(found == expected, "different values after an overload", job)


@test
def a_stalled_transfer_is_given_up_and_repeated():
    own = store()
    section = small_table(own)
    own.fail("stall", times=2)
    begun = time.monotonic()
    job, _ = read_by(1, section, own.environment(), "--failure.storage_timeout=8")
    check(time.monotonic() - begun < 25, "the run waited for the stalled transfer", job)


@test
def a_store_that_stays_unavailable_is_an_error_that_quotes_its_answer():
    own = store()
    section = small_table(own)
    own.fail("503", times=10**6)
    job, _ = read_by(1, section, own.environment(), "--failure.storage_timeout=1", code=FAILED)
    for words in ("s3://data/table.csv", "HTTP 503", own.url):
        check(words in job.err, f"the error lacks {words!r}", job)
    own.faults.clear()
    own.fail("503", times=10**6, method="HEAD")
    job = run([TRAINRT, "check", "--config", read_config({**section, "source": "s3://data/*.csv"})], env=own.environment())
    check_exit(job, FINISHED)


@test
def an_object_that_changed_after_it_was_listed_is_an_error():
    own = store()
    section = small_table(own)

    def change(handler, method, key):
        if method == "GET" and own.count("GET", "table.csv") == 3:
            own.put("data", "table.csv", own.buckets["data"]["table.csv"].replace(b"9", b"8"))
    own.faults.append(change)
    job, _ = read_by(1, section, own.environment(), code=FAILED)
    check("'s3://data/table.csv' has changed since it was listed" in job.err, "the change is not reported", job)
    own.faults.clear()
    own.fail("etag", times=10**6)  # a store that ignores If-Match
    job, _ = read_by(1, section, own.environment(), code=FAILED)
    check("has changed since it was listed" in job.err, "the change is not reported", job)
    own.faults.clear()
    own.fail("whole", times=10**6)
    job, _ = read_by(1, section, own.environment(), "--failure.storage_timeout=1", code=FAILED)
    check("the complete object" in job.err, "the missing support of ranges is not reported", job)


@test
def errors_of_credentials_are_clear_and_no_secret_is_printed_or_stored():
    own = store()
    section = small_table(own)
    config = read_config(section)
    env = own.environment()
    for change, words in (({"AWS_SECRET_ACCESS_KEY": "n0tTheSecret"}, ["HTTP 403", "check the credentials"]), ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, ["HTTP 403", "no credentials"]),
                          ({"AWS_REGION": "eu-west-9"}, ["AuthorizationHeaderMalformed", "set AWS_REGION"]), ({"AWS_SECRET_ACCESS_KEY": ""}, ["AWS_SECRET_ACCESS_KEY is not"]),
                          ({"AWS_PROFILE": "none", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, ["no profile [none]"])):
        job = run([TRAINRT, "check", "--config", config], env={**env, **change})
        check(job.code in (USAGE, FAILED), f"{change}: no error", job)
        for word in words:
            check(word in job.err or change.get("AWS_SECRET_ACCESS_KEY") == "n0tTheSecret" and "403" in job.err, f"{change}: the error lacks {word!r}", job)
        check(SECRET not in job.err and "n0tTheSecret" not in job.err, "a secret is shown", job)
    job = run([TRAINRT, "check", "--config", config, "--storage.s3_anonymous=true"], env=env)
    check(job.code in (USAGE, FAILED) and "no credentials" in job.err, "requests are signed in spite of s3_anonymous", job)
    job = run_ranks(1, config, f"--loop.out={scratch('out')}", env=env)
    check_exit(job, FINISHED)
    kept = [path for path in run_dir_of(config).rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    check(not kept, f"a secret is in {kept}")


@test
def credentials_can_come_from_the_files_of_the_aws_tools():
    own = store(region="eu-test-1", token="T")
    section = small_table(own)
    folder = scratch()
    (folder / "credentials").write_text(f"[default]\naws_access_key_id = x\naws_secret_access_key = y\n\n[mine]\naws_access_key_id={own.key}\n"
                                        f"aws_secret_access_key = {own.secret}\naws_session_token = T\n")
    (folder / "config").write_text("[profile mine]\nregion = eu-test-1\n")
    env = {"NO_PROXY": "*", "AWS_SHARED_CREDENTIALS_FILE": folder / "credentials", "AWS_CONFIG_FILE": folder / "config"}
    read_by(1, section, env, storage={"s3_endpoint": own.url, "s3_profile": "mine"})
    read_by(1, section, {**env, "AWS_PROFILE": "mine", "AWS_ENDPOINT_URL": own.url})
    anonymous = store(anonymous=True)
    read_by(1, small_table(anonymous), {"NO_PROXY": "*", "HOME": folder, "AWS_ENDPOINT_URL": anonymous.url})
    read_by(1, {**small_table(anonymous), "source": "gs://data/table.csv"}, {"NO_PROXY": "*", "HOME": folder}, storage={"gs_endpoint": anonymous.url})


@test
def options_in_a_url_name_the_store_of_a_dataset():
    own, anonymous = store(), store(anonymous=True)
    wrong = {**own.environment(), "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    section = {key: text for key, text in small_table(own).items() if key != "format"}  # the name of the object selects the format
    small_table(anonymous)
    for source in (f"s3://data/table.csv?endpoint_override={own.url}", f"s3://data/t?ble.csv?scheme=http&endpoint_override={own.url[len('http://'):]}",
                   f"s3://anonymous@data/table.csv?endpoint_override={anonymous.url}"):
        read_by(1, {**section, "source": source}, wrong)
    read_by(1, {**section, "format": "csv", "source": f"s3://anonymous@data?endpoint_override={anonymous.url}"}, wrong)
    job, _ = read_by(1, {**section, "source": "s3://data/table.csv?acl=public"}, wrong, code=USAGE)
    check("unknown option 'acl'" in job.err, "the error does not name the option", job)


@test
def several_ranges_of_a_large_object_are_requested_at_once():
    if numpy is None:
        skip("NumPy is not installed (package python3-numpy)")
    own = store()
    folder = scratch()
    numpy.save(folder / "a.npy", numpy.arange(4 << 20, dtype="f4").reshape(64, -1))
    upload(own, folder)
    own.slow_s = 0.05
    job, _ = read_by(1, {"format": "npy", "source": "s3://data/a.npy", "shuffle": False, "memory": "64 MiB"}, own.environment())
    check(own.most_at_once >= 3, f"only {own.most_at_once} requests at once", job)


@test
def several_threads_read_small_batches_in_few_requests():
    if numpy is None:
        skip("NumPy is not installed (package python3-numpy)")
    own = store()
    folder = scratch()
    rows = numpy.random.default_rng(1).integers(0, 256, (4096, 4096), "u1")
    numpy.save(folder / "a.npy", rows)
    upload(own, folder)
    for threads in (1, 4):
        before = own.count("GET", "a.npy")
        _, got = read_by(1, {"format": "npy", "source": "s3://data/a.npy", "shuffle": False, "memory": "4 MiB", "threads": threads}, own.environment())
        asked = own.count("GET", "a.npy") - before
        check(got["0.data.values"] == rows.tobytes(), f"{threads} threads: different values")
        check(asked < 100, f"{asked} requests of {threads} threads for 512 batches of 32 KiB")


@test
def the_program_starts_without_libcurl():
    """The binary does not link libcurl directly; Debian's HDF5 may load it."""
    listed = subprocess.run(["readelf", "-d", TRAINRT], capture_output=True, text=True).stdout
    check("libc.so" in listed and not re.search("libcurl|libcrypto|libssl", listed), f"libcurl is linked:\n{listed}")


# ---- mirrors of checkpoints --------------------------------------------------------------------------------------------------

@both
def a_run_without_its_directory_continues_from_its_mirror_with_the_same_bits_in_a(mirror):
    whole = linear_config(scratch(), "run", LOOP)
    check_exit(run_ranks(2, whole), FINISHED)
    config = mirrored_config(mirror, layout="rank")
    first = run_ranks(2, config, "--loop.epochs=3", env=mirror.env)
    check_exit(first, FINISHED)
    check("checkpoint_000002" in mirrored(mirror), f"the last checkpoint is not mirrored: {mirror.names()}", first)
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(2, config, env=mirror.env)
    check_exit(job, FINISHED)
    check("restored: the run continues from checkpoint_000002" in job.err, "the restore is not reported", job)
    check_same_bits(run_dir_of(config), run_dir_of(whole))
    check_iterations(run_dir_of(config), 6)
    check_verifies(run_dir_of(config))


@test
def a_killed_run_without_its_directory_ends_with_the_same_bits():
    mirror = Bucket()
    loop = {"epochs": 60}
    whole = linear_config(scratch(), "run", {**LOOP, **loop})
    check_exit(run_ranks(2, whole), FINISHED)
    config = mirrored_config(mirror, loop=loop)
    for _ in range(2):
        before = len(mirrored(mirror)) and max(mirrored(mirror))
        job = start_ranks(2, config, env=mirror.env)
        wait_until(lambda before=before: job.ended() or mirrored(mirror) and (not before or max(mirrored(mirror)) > before), 40, "a new mirrored checkpoint", job)
        check(not job.ended(), "the run ended before it was killed: make it longer", job)
        kill(job.ranks().values())
        job.wait(60)
        shutil.rmtree(run_dir_of(config))
    job = run_ranks(2, config, env=mirror.env)
    check_exit(job, FINISHED)
    check("restored" in job.err, "the run was not restored", job)
    check_same_bits(run_dir_of(config), run_dir_of(whole))
    check_iterations(run_dir_of(config), 60)


@both
def a_checkpoint_that_a_run_deletes_is_deleted_after_a_newer_one_is_complete_in_a(mirror):
    config = mirrored_config(mirror, num_to_keep=1)
    job = run_ranks(1, config, env=mirror.env)
    check_exit(job, FINISHED)
    equal(mirrored(mirror), [path.name for path in checkpoints(run_dir_of(config))][-1:], "mirrored checkpoints", job)
    whole = {f"{path.parent.name}/{path.name}" for path in checkpoints(run_dir_of(config))[-1].iterdir() if path.name != "state.h5"}
    equal({name for name in mirror.names() if name.startswith("checkpoint")}, whole, "mirrored files", job)
    shown = run([TRAINRT, "result", run_dir_of(config)])
    check(re.search(r"mirror\n  checkpoint_000005 at .*; [1-6] copied, \d skipped, 0 failed", shown.out), "result does not show the mirror", shown)


@test
def training_continues_while_the_mirror_fails_and_result_counts_the_failures():
    mirror = Bucket()
    mirror.store.fail("403", times=10**6, method="PUT")
    config = mirrored_config(mirror)
    job = run_ranks(1, config, "--checkpoint.mirror_wait=5", env=mirror.env)
    check_exit(job, FINISHED)
    check("could not copy to s3://mirror/runs/run/" in job.err and "training continues" in job.err, "the warning is missing", job)
    shown = json.loads(run([TRAINRT, "result", run_dir_of(config), "--json"]).out)["mirror"]
    check(shown["failed"] >= 1 and shown["newest"] == -1 and "HTTP 403" in shown["error"], f"result does not count the failure: {shown}", job)
    mirror.store.faults.clear()
    job = run_ranks(1, config, "--loop.epochs=7", env=mirror.env)
    check_exit(job, FINISHED)
    check("checkpoint_000006" in mirrored(mirror), "the next attempt does not copy again", job)


@test
def the_end_of_a_run_waits_for_a_slow_mirror_for_mirror_wait_seconds():
    mirror = Bucket()
    mirror.store.slow_s = 3
    config = mirrored_config(mirror)
    job = run_ranks(2, config, "--checkpoint.mirror_wait=1", env=mirror.env)
    check_exit(job, FINISHED)
    check("within 1 s; the copy was given up" in job.err, "the warning is missing", job)


@test
def records_that_a_store_does_not_accept_delay_the_end_at_most_by_mirror_wait():
    mirror = Bucket()
    is_copied = []

    def hang(_, method, key):
        if method == "PUT" and key.endswith("checkpoint_000005/manifest.json"):
            is_copied.append(key)
        return "hang" if is_copied and method in ("PUT", "HEAD") and "checkpoint" not in key else None
    mirror.store.faults.append(hang)
    config = mirrored_config(mirror)
    begun = time.monotonic()
    job = run_ranks(1, config, "--checkpoint.mirror_wait=3", env=mirror.env)
    check_exit(job, FINISHED)
    check(time.monotonic() - begun < 20, f"the run took {time.monotonic() - begun:.0f} s", job)
    check("the records of the run could not be copied" in job.err and "within 3 s" in job.err, "the warning is missing", job)


@test
def a_start_of_a_finished_run_copies_missing_checkpoints_to_the_mirror():
    mirror = Bucket()
    mirror.store.fail("403", times=10**6, method="PUT", part="checkpoint_")
    config = mirrored_config(mirror)
    check_exit(run_ranks(2, config, env=mirror.env), FINISHED)
    equal(mirrored(mirror), [], "mirrored checkpoints")
    mirror.store.faults.clear()
    job = run_ranks(2, config, env=mirror.env)
    check_exit(job, FINISHED)
    check("has finished already" in job.out + job.err, "the run was trained again", job)
    equal(mirrored(mirror), ["checkpoint_000005"], "mirrored checkpoints", job)
    equal(mirror.read("run.json"), (run_dir_of(config) / "run.json").read_bytes(), "the mirrored run.json", job)
    status, sent = (run_dir_of(config) / "mirror.json").read_text(), mirror.store.count("PUT")
    job = run_ranks(2, config, env=mirror.env)
    check_exit(job, FINISHED)
    check("s3://" not in job.out + job.err, "it prints a message about a complete mirror", job)
    equal(mirror.store.count("PUT"), sent, "objects sent", job)
    equal((run_dir_of(config) / "mirror.json").read_text(), status, "mirror.json", job)


def check_new_mirror(job, mirror, config):
    check_exit(job, FINISHED)
    check("another run of this name" not in job.err, "it treats the mirror as that of another run", job)
    newest = checkpoints(run_dir_of(config))[-1]
    check(newest.name in mirrored(mirror), f"{newest.name} is not mirrored: {mirror.names()}", job)
    for name in ("run.json", f"{newest.name}/manifest.json"):
        equal(mirror.read(name), (run_dir_of(config) / name).read_bytes(), f"the mirrored {name}", job)
    check("attempts/000007.json" not in mirror.names(), "the mirror holds a record of the other run", job)


def leave_records_only(mirror):
    """Leaves a mirror with records but without a checkpoint, like a run that is killed during its first copy; returns the config."""
    mirror.store.fail("403", times=10**6, method="PUT", part="checkpoint_")
    config = mirrored_config(mirror)
    check_exit(run_ranks(1, config, env=mirror.env), FINISHED)
    check("run.json" in mirror.names() and not mirrored(mirror), f"the mirror must hold only records: {mirror.names()}")
    mirror.change("attempts/000007.json", b"{}")
    mirror.store.faults.clear()
    return config


@test
def a_run_without_a_mirrored_checkpoint_starts_again_and_gets_a_new_mirror():
    mirror = Bucket()
    config = leave_records_only(mirror)
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config, env=mirror.env)
    check("The run starts again at step 0" in job.err, "the message is missing", job)
    check_new_mirror(job, mirror, config)


@test
def records_of_another_run_without_a_checkpoint_are_replaced():
    mirror = Bucket()
    leave_records_only(mirror)
    other = linear_config(scratch(), "run", LOOP)
    check_exit(run_ranks(1, other, "--loop.epochs=2"), FINISHED)
    job = run_ranks(1, other, f"--checkpoint.mirror={mirror.url}", env=mirror.env)
    check("the records are replaced" in job.err, "the message is missing", job)
    check_new_mirror(job, mirror, other)


@both
def a_run_with_only_damaged_mirrored_checkpoints_starts_again_and_gets_a_new_mirror_in_a(mirror):
    config = mirrored_config(mirror, num_to_keep=1)
    check_exit(run_ranks(1, config, env=mirror.env), FINISHED)
    mirror.change("attempts/000007.json", b"{}")
    for name in mirror.names():
        if name.endswith(".h5"):
            mirror.change(name, mirror.read(name)[:-9])
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config, "--loop.epochs=2", env=mirror.env)
    check("The run starts again at step 0" in job.err and "cannot be used; these checkpoints are removed when" in job.err, "the message is missing", job)
    check_new_mirror(job, mirror, config)
    equal(mirrored(mirror), ["checkpoint_000001"], "mirrored checkpoints", job)


@test
def a_run_is_restored_from_an_older_checkpoint_if_the_newest_one_in_the_mirror_is_damaged():
    mirror = Folder()
    config = mirrored_config(mirror, num_to_keep=0)
    for epochs in (2, 4):
        check_exit(run_ranks(1, config, f"--loop.epochs={epochs}"), FINISHED)
    there = mirrored(mirror)
    check(len(there) >= 2 and there[-1] == "checkpoint_000003", f"two mirrored checkpoints are needed: {there}")
    name = next(name for name in mirror.names() if name.startswith(there[-1]) and name.endswith(".h5"))
    data = bytearray(mirror.read(name))
    data[len(data) // 2] ^= 1
    mirror.change(name, data)
    mirror.change("checkpoint_000009/shard-00000.h5", b"x")  # not a checkpoint, because it has no manifest
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config)
    check_exit(job, FINISHED)
    check("is damaged" in job.err and f"continues from {there[-2]}" in job.err, "the checkpoints are not named", job)
    whole = linear_config(scratch(), "run", LOOP)
    check_exit(run_ranks(1, whole), FINISHED)
    check_same_bits(run_dir_of(config), run_dir_of(whole))
    shutil.rmtree(run_dir_of(config))
    again = run_ranks(1, config, "--loop.epochs=7")
    check_exit(again, FINISHED)
    check("damaged" not in again.err and "continues from checkpoint_000005" in again.err, "the damaged checkpoint was not replaced", again)


@test
def checkpoints_that_a_run_no_longer_has_are_removed_from_its_mirror():
    mirror = Folder()
    config = mirrored_config(mirror, num_to_keep=0, every="10 steps")
    for epochs in (2, 3, 4, 6):
        check_exit(run_ranks(1, config, f"--loop.epochs={epochs}"), FINISHED)
    check(mirrored(mirror)[-1] > "checkpoint_000005", f"no newer checkpoint is mirrored: {mirrored(mirror)}")
    run_dir = run_dir_of(config)
    for path in checkpoints(run_dir)[2:]:  # the user returns to the second checkpoint
        shutil.rmtree(path)
    check_exit(run_ranks(1, config, "--loop.epochs=4", "--loop.lr=0.05", "--run.missing_checkpoints=accept", "--failure.storage_timeout=1"), FINISHED)
    for name in mirrored(mirror):
        check((run_dir / name).exists(), f"{name} is mirrored, but the run no longer has it")
        equal(mirror.read(f"{name}/manifest.json"), (run_dir / name / "manifest.json").read_bytes(), f"manifest of the mirrored {name}")


@test
def another_run_of_the_same_name_in_the_mirror_is_not_changed():
    mirror = Folder()
    check_exit(run_ranks(1, mirrored_config(mirror)), FINISHED)
    before = {name: mirror.read(name) for name in mirror.names()}
    other = linear_config(scratch(), "run", LOOP)
    check_exit(run_ranks(1, other, "--loop.epochs=2"), FINISHED)
    job = run_ranks(1, other, f"--checkpoint.mirror={mirror.url}", "--loop.epochs=4")
    check_exit(job, FINISHED)
    check("the mirror contains another run of this name" in job.err, "the warning is missing", job)
    check({name: mirror.read(name) for name in mirror.names()} == before, "the mirror was changed", job)


def mirrored_sweep(mirror, name, scheduler="fifo", **tune):
    return sweep_config(scratch(), name, loop={"epochs": 4}, checkpoint={"mirror": mirror.url, "every": "4 steps"},
                        tune={"num_samples": 3, "max_concurrent_trials": 1, "scheduler": scheduler, **tune})


def run_sweep(config, mirror, code=FINISHED):
    job = run([TRAINRT, "tune", "--config", config], env=mirror.env)
    check_exit(job, code)
    return job


@both
def each_trial_of_a_sweep_is_restored_from_its_own_folder_in_a(mirror):
    first, other = mirrored_sweep(mirror, "first"), mirrored_sweep(mirror, "other", seed=7)
    for config in (first, other):
        run_sweep(config, mirror)
        for number in range(3):
            found = mirror.names(f"{run_dir_of(config).name}/trial_{number:05}")
            check({"run.json", "params.json"} <= set(found) and any(name.endswith("manifest.json") for name in found), f"files of trial {number} are missing: {found}")
    # Without its directory, the sweep has the same trials again, and each is restored from its own copy.
    before = [state_of(trial["path"]) for trial in trials_of(first)]
    shutil.rmtree(run_dir_of(first))
    run_sweep(first, mirror)
    trials = check_each_once(first, 3)
    equal([state_of(trial["path"]) for trial in trials], before, "states of the trials")
    logs = [path.read_text() for path in sorted(run_dir_of(first).glob("trial_*.log"))]
    check(all("restored: the run continues from" in log for log in logs), f"not all trials were restored: {logs}")
    # The directory of one trial is removed, and the config gets one more trial: the sweep has four trials afterwards.
    shutil.rmtree(run_dir_of(first) / "trial_00001")
    first.write_text(first.read_text().replace("num_samples = 3", "num_samples = 4"))
    run_sweep(first, mirror)
    equal(len(trials_of(first)), 4, "trials")


@test
def a_sweep_whose_mirror_holds_another_sweep_of_the_same_name_is_refused():
    mirror = Folder()
    run_sweep(mirrored_sweep(mirror, "sweep", num_samples=1), mirror)
    before = {name: mirror.path.joinpath("sweep", name).read_bytes() for name in mirror.names("sweep")}
    for config, says in ((mirrored_sweep(mirror, "sweep", seed=7), ["already has a sweep 'sweep'", "tune.seed", "another run.name"]),
                         (mirrored_sweep(mirror, "sweep", "median", num_samples=1), ["already has a sweep 'sweep'", "tune.scheduler"])):
        job = run_sweep(config, mirror, USAGE)
        for word in says:
            check(word in job.err, f"the message lacks {word!r}", job)
        check(not run_dir_of(config).exists(), "a sweep was started", job)
    equal({name: mirror.path.joinpath("sweep", name).read_bytes() for name in mirror.names("sweep")}, before, "the mirror")
    config = mirrored_sweep(mirror, "cloned", "pbt", num_samples=1)
    run_sweep(config, mirror)
    shutil.rmtree(run_dir_of(config))
    shutil.rmtree(mirror.path / "cloned/journal")
    check("without its journal, which tune.scheduler = pbt needs" in run_sweep(config, mirror, USAGE).err, "the message lacks the reason")


def check_restored(config, mirror):
    """Checks that a sweep without its directory has the same trials and reports again, none of which is trained again."""
    def state():
        return [(trial["config"], trial["training_iteration"], trial["last"]) for trial in check_each_once(config, 3)]
    run_sweep(config, mirror)
    before = state()
    shutil.rmtree(run_dir_of(config))
    job = run_sweep(config, mirror)
    check("wrote the journal in" in job.err and "restored: the run continues from" in job.err, "the trials were not restored", job)
    equal(state(), before, "config, number of reports and metric of each trial", job)


@test
def a_lost_sweep_whose_trials_depend_on_its_journal_is_restored_from_its_trials():
    mirror = Folder()
    halving = mirrored_sweep(mirror, "halving", "asha")
    halving.write_text(halving.read_text() + "[tune.asha]\nmax_t = 3\ngrace_period = 1\nreduction_factor = 2\n")
    check_restored(halving, mirror)
    searcher = program_file("import json, random, sys\nprint(json.dumps({'loop.lr': random.random() / 100, 'loop.batch_size': 16}))\n", "searcher.py")
    check_restored(mirrored_sweep(mirror, "searched", searcher_program=f"{sys.executable} {searcher}"), mirror)


@test
def large_files_are_sent_in_verified_parts():
    mirror = Bucket()
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("big_state")},
                                               "loop": {"mebibytes": 40, "epochs": 2}, "checkpoint": {"mirror": mirror.url, "every": "2 reports"}})
    mirror.store.fail("503", times=2, method="PUT", part="shard")
    mirror.store.fail("reset", times=1, method="POST", part="shard")
    job = run_ranks(1, config, env=mirror.env)
    check_exit(job, FINISHED)
    shard = next((run_dir_of(config) / "checkpoint_000000").glob("shard*"))
    check(mirror.read(f"checkpoint_000000/{shard.name}") == shard.read_bytes(), "the mirrored bytes differ", job)
    check(mirror.store.count("PUT", "partNumber=3") >= 1, "the shard was not sent in parts", job)
    check(not mirror.store.uploads or mirror.store.count("POST", "uploads=") > 1, "an upload was left open", job)


def big_state_config(mirror, **keys):
    folder = scratch()
    return write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("big_state")},
                                             "loop": {"mebibytes": 40, "epochs": 1}, "checkpoint": {"mirror": mirror.url, **keys}})


def check_parts_are_complete(mirror, config, job):
    check_exit(job, FINISHED)
    check("could not copy" not in job.err, "the copy failed", job)
    shard = next((run_dir_of(config) / "checkpoint_000000").glob("shard*"))
    check(mirror.read(f"checkpoint_000000/{shard.name}") == shard.read_bytes(), "the mirrored bytes differ", job)
    equal(mirrored(mirror), ["checkpoint_000000"], "mirrored checkpoints", job)


@test
def an_upload_whose_last_answer_is_lost_is_recognized_as_complete():
    mirror = Bucket()
    mirror.store.faults.append(lambda handler, method, key, left=[1]: "lost" if method == "POST" and "uploadId=" in handler.path and left and left.pop() else None)
    config = big_state_config(mirror)
    check_parts_are_complete(mirror, config, run_ranks(1, config, env=mirror.env))
    equal(mirror.store.count("POST", "uploads="), 1, "started uploads")


@test
def an_upload_that_the_store_deletes_is_sent_again():
    mirror = Bucket()
    mirror.store.faults.append(lambda handler, method, key, left=[1]: mirror.store.uploads.clear() if method == "POST" and "uploadId=" in handler.path and left and left.pop() else None)
    config = big_state_config(mirror)
    check_parts_are_complete(mirror, config, run_ranks(1, config, env=mirror.env))
    equal(mirror.store.count("POST", "uploads="), 2, "started uploads")


@test
def a_copy_that_is_given_up_leaves_no_parts_in_the_store():
    mirror = Bucket()
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("big_state")},
                                               "loop": {"mebibytes": 40, "epochs": 1}, "checkpoint": {"mirror": mirror.url, "mirror_wait": 1}})
    mirror.store.fail("slow", times=10**6, method="PUT", part="shard")
    job = run_ranks(1, config, env=mirror.env)
    check_exit(job, FINISHED)
    check("the copy was given up" in job.err and mirror.store.count("POST", "uploads=") == 1, "no copy was given up", job)
    wait_until(lambda: not mirror.store.uploads, 10, "the parts to be removed", job)


def killed_while_it_mirrors(mirror):
    """Kills a run when the store has the first part of its first checkpoint; returns the config."""
    config = big_state_config(mirror)
    mirror.store.faults.append(lambda handler, method, key: "hang" if "partNumber=2" in handler.path else None)
    job = start_ranks(1, config, env=mirror.env)
    wait_until(lambda: job.ended() or any(mirror.store.uploads.values()), 40, "a part in the store", job)
    check(not job.ended(), "the run ended before it was killed", job)
    kill(job.ranks().values())
    job.wait(60)
    mirror.store.faults.clear()
    equal(len(mirror.store.uploads), 1, "uploads left by the killed process")
    return config


def continued(mirror, config):
    """Continues such a run for some seconds with new checkpoints; returns the job."""
    more = write_config(config.with_name("more.ini"), {"run": {"name": "run", "storage_path": config.parent / "runs"}, "train": {"library": module_of("big_state")},
                                                       "loop": {"mebibytes": 40, "epochs": 82}, "checkpoint": {"mirror": mirror.url, "every": "40 reports"}})
    job = run_ranks(1, more, env=mirror.env)
    check_exit(job, FINISHED)
    check("could not copy" not in job.err and mirrored(mirror)[-1] != "checkpoint_000000", "the newest checkpoint is not mirrored", job)
    return job


def leave_upload(mirror, bucket, key):
    identity = f"other {bucket} {key}"
    mirror.store.uploads[identity], mirror.store.upload_keys[identity] = {1: b"x"}, (bucket, key)
    return identity


@test
def the_next_attempt_aborts_uploads_left_by_a_killed_process():
    mirror = Bucket()
    config = killed_while_it_mirrors(mirror)
    own = [leave_upload(mirror, "mirror", f"runs/run/checkpoint_000000/shard {part}{PLUS}\u00fc") for part in range(7)]  # more than one page of the listing
    others = [leave_upload(mirror, "mirror", "runs/run2/checkpoint_000000/shard"), leave_upload(mirror, "data", "runs/run/checkpoint_000000/shard")]
    job = continued(mirror, config)
    equal(sorted(mirror.store.uploads), sorted(others), "remaining uploads", job)
    check(f"aborted {len(own) + 1} uploads" in job.err, "the aborted uploads are not reported", job)


@test
def a_mirror_works_in_a_store_that_cannot_list_uploads():
    for refusal in ("501", "403"):
        mirror = Bucket()
        config = killed_while_it_mirrors(mirror)
        mirror.store.lists_uploads = refusal != "501"
        mirror.store.faults.append(lambda handler, method, key, word=refusal: word if word == "403" and method == "GET" and "uploads=" in handler.path else None)
        job = continued(mirror, config)
        check("could not abort uploads that earlier attempts left unfinished at s3://mirror/runs/run/" in job.err, f"{refusal}: another message", job)
        equal(len(mirror.store.uploads), 1, "remaining uploads", job)


# ---- the store of the package moto ----------------------------------------------------------------------------------------

MOTO = "moto[server]==5.1.4"


def moto_python():
    """Returns a Python interpreter with moto, from a virtual environment that is created once in the build directory."""
    python = BUILD / "moto" / "bin" / "python"
    if subprocess.run([python, "-c", "import moto.server, flask"], capture_output=True).returncode == 0 if python.exists() else False:
        return python
    shutil.rmtree(BUILD / "moto", ignore_errors=True)
    made = subprocess.run(["/usr/bin/python3", "-m", "venv", BUILD / "moto"], capture_output=True, text=True)
    if made.returncode != 0:
        skip("cannot create a virtual environment (package python3-venv)")
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", MOTO], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        shutil.rmtree(BUILD / "moto", ignore_errors=True)
        skip(f"{MOTO} cannot be installed: {(done.stderr.strip().splitlines() or ['no reason'])[-1][:200]}")
    return python


@test
def datasets_and_mirrors_work_with_the_server_of_moto():
    python = moto_python()
    port_file = scratch() / "port"
    server = Job([python, "-c", "import sys, time\nfrom moto.server import ThreadedMotoServer\nserver = ThreadedMotoServer('127.0.0.1', 0)\nserver.start()\n"
                  "open(sys.argv[1], 'w').write('%s %d' % server.get_host_and_port())\ntime.sleep(600)", port_file], env={"NO_PROXY": "*"})
    wait_until(lambda: port_file.exists() and port_file.read_text() or server.ended(), 30, "moto's server", server)
    url = "http://" + port_file.read_text().replace(" ", ":")
    env = {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1", "NO_PROXY": "*"}
    made = subprocess.run([python, "-c", "import boto3\ns3 = boto3.client('s3')\ns3.create_bucket(Bucket='data')\nfor part in range(3):\n"
                           "  s3.put_object(Bucket='data', Key='t/p %d+\u00fc.csv' % part, Body=b'a\\n' + b''.join(b'%d\\n' % row for row in range(100)))"],
                          env={**os.environ, **env, "AWS_DEFAULT_REGION": "us-east-1"}, capture_output=True, text=True)
    check(made.returncode == 0, made.stderr)
    job, _ = read_by(2, {"format": "csv", "source": "s3://data/t/*.csv", "memory": "1 B"}, env)
    folder = scratch()
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"library": module_of("big_state")},
                                               "loop": {"mebibytes": 20, "epochs": 2}, "checkpoint": {"mirror": "s3://data/runs", "num_to_keep": 1}})
    check_exit(run_ranks(1, config, env=env), FINISHED)
    before = read_checkpoint(checkpoints(run_dir_of(config))[-1])
    shutil.rmtree(run_dir_of(config))
    job = run_ranks(1, config, env=env)
    check_exit(job, FINISHED)
    check("restored" in job.err, "the run was not restored", job)
    equal(read_checkpoint(checkpoints(run_dir_of(config))[-1]) == before, True, "the same bits", job)


main(teardown=end_stores)
