#!/usr/bin/python3
"""jobs/python/token_files.py: token files made once, with Hugging Face's tokenizers; a killed run leaves nothing that looks complete."""
import configparser
import itertools
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403
from tools.wheels import import_from, wheel  # noqa: E402

SCRIPT = SOURCE / "jobs/python/token_files.py"
VERSION = "0.23.3"
END = "<|end|>"
WORDS = ("sea", "ship", "sail", "storm", "anchor", "café", "日本", "\U0001f6a2")


def setup():
    global _packages, tokenizers, numpy
    import numpy
    _packages = wheel("tokenizers", VERSION)
    tokenizers = import_from(_packages, "tokenizers")


def documents(count, seed=1):
    words = random.Random(seed)
    return [" ".join(words.choices(WORDS, k=words.randrange(1, 30))) for _ in range(count)]


def sources(folder, count=600):
    """Returns (a folder with tokenizer.json, a text file and a file of JSON lines; the documents of each file; the trained tokenizer)."""
    folder.mkdir(exist_ok=True)
    texts, lines = [f"the log of a ship, {END} and more"], documents(count)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(lines, tokenizers.trainers.BpeTrainer(vocab_size=290, special_tokens=[END], show_progress=False, initial_alphabet=alphabet))
    tokenizer.enable_truncation(5)  # must have no effect
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "a.txt").write_text(texts[0])
    (folder / "b.jsonl").write_text("".join(json.dumps({"text": text, "other": 1}) + "\n" for text in ["", *lines]))
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return texts, lines, tokenizer


def command(folder, *words, output="tokens", separator=END):
    ends = ["--separator", separator] if separator else []
    return [PYTHON, SCRIPT, "--tokenizer", folder / "tokenizer.json", "--output", folder / output, "--part-bytes", 8000, *ends, *words,
            folder / "b.jsonl", folder / "a.txt"]


def make(folder, *words, **options):
    return run(command(folder, *words, **options), env={"PYTHONPATH": _packages})


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.bin")}


def made(folder, *words, **options):
    job = make(folder, *words, **options)
    check_exit(job, 0)
    return job


@test
def token_files_hold_the_ids_of_the_tokenizer_and_a_separator_after_each_document():
    folder = scratch()
    texts, lines, tokenizer = sources(folder)
    job = made(folder)
    end = tokenizer.token_to_id(END)
    found = files_of(folder / "tokens")
    expected = [list(itertools.chain.from_iterable([*tokenizer.encode(text, add_special_tokens=False).ids, end] for text in each)) for each in (texts, lines)]
    check(len(found) > 3, f"few files: {sorted(found)}")
    for name, ids in zip(("a.txt", "b.jsonl"), expected):
        data = b"".join(data for file, data in sorted(found.items()) if file.startswith(name))
        equal(numpy.frombuffer(data, "<u2").tolist(), ids, f"ids of {name}")
    equal(expected[0].count(end), 1, "number of separators; a document with the separator's text adds no separator")
    section = configparser.ConfigParser()
    section.read_string(job.out)
    equal(dict(section["data.train"]), {"format": "tokens", "source": f"{folder.resolve()}/tokens/*.bin", "dtype": "u16", "length": "1024"}, "section")
    check(f"# document_end = {end} " in job.out, "the id of the separator is not printed", job)


@test
def the_bytes_do_not_depend_on_the_number_of_processes():
    folder = scratch()
    sources(folder)
    for processes in (1, 3):
        made(folder, "--processes", processes, output=f"by{processes}")
    equal(files_of(folder / "by3"), files_of(folder / "by1"), "token files")


@test
def a_run_reads_the_files_with_the_printed_section():
    folder = scratch()
    _, lines, _ = sources(folder)
    section = made(folder, "--length", 16).out
    (folder / "check.ini").write_text(f"[run]\nname = run\nstorage_path = {folder}/runs\n[train]\nprogram = {PYTHON} {program_file(READER)}\n[failure]\nmax_failures = 0\n"
                                      f"{section}")
    job = run_ranks(2, folder / "check.ini", timeout=90)
    check_exit(job, FINISHED)
    tokens = sum(len(data) // 2 for data in files_of(folder / "tokens").values())
    windows = sum(max(0, (len(data) // 2 - 17) // 16 + 1) for data in files_of(folder / "tokens").values())
    check(f"windows {windows} of shape (17,) int32" in job.out, f"of {tokens} tokens there should be {windows} windows", job)


READER = """
import numpy, trainrt
ctx = trainrt.context()
seen = numpy.zeros(1)
for batch in ctx.dataset("train").iter_batches(batch_size=4, remainder="uneven"):
    seen += len(batch["tokens"])
    shape, kind = batch["tokens"].shape[1:], batch["tokens"].dtype
ctx.all_reduce(seen)
if ctx.world_rank == 0:
    print("windows", int(seen[0]), "of shape", shape, kind, flush=True)
"""


@test
def the_same_command_makes_only_missing_files():
    folder = scratch()
    sources(folder)
    made(folder)
    output = folder / "tokens"
    wanted, times = files_of(output), {path.name: path.stat().st_mtime_ns for path in output.glob("*.bin")}
    lost = sorted(wanted)[1]
    (output / lost).unlink()
    (output / ".b.jsonl.000002.bin.1.part").write_bytes(b"of a killed run")
    job = made(folder)
    check(f"1 of {len(wanted)} token files are to be made" in job.err, "other files were made again", job)
    equal(files_of(output), wanted, "token files")
    equal([name for name, time in times.items() if (output / name).stat().st_mtime_ns != time], [lost], "files with another time")
    equal(list(output.glob(".*.part")), [], "temporary files")


@test
def a_killed_run_leaves_only_complete_files_and_the_next_run_ends_with_the_same_bytes():
    folder = scratch()
    sources(folder, 4000)
    made(folder, output="wanted")
    wanted = files_of(folder / "wanted")
    job = Job(command(folder, "--processes", 2), env={"PYTHONPATH": _packages}, cwd=folder)
    wait_until(lambda: len(files_of(folder / "tokens")) >= 2 or job.ended(), 60, "token files", job)
    job.process.kill()
    job.process.wait(30)
    wait_until(lambda: not processes_with(job.token), 30, "all processes of the killed run to exit", job)
    left = files_of(folder / "tokens")
    equal({name: data == wanted[name] for name, data in left.items()}, {name: True for name in left}, "complete files")
    made(folder)
    equal(files_of(folder / "tokens"), wanted, "token files")
    equal(list((folder / "tokens").glob(".*.part")), [], "temporary files")


@test
def a_folder_with_files_of_other_settings_or_changed_sources_is_refused():
    folder = scratch()
    sources(folder)
    made(folder)
    wanted = files_of(folder / "tokens")

    def refused(job, *words):
        check(job.code != 0, "the command succeeded", job)
        for word in words:
            check(word in job.err, f"the message lacks {word!r}", job)
        equal(files_of(folder / "tokens"), wanted, "token files")

    refused(make(folder, separator=None), "another separator", "another --output")
    with open(folder / "b.jsonl", "a") as file:
        file.write(json.dumps({"text": "more"}) + "\n")
    refused(make(folder), "another source b.jsonl", "another --output")


@test
def invalid_documents_and_arguments_are_errors_that_name_them():
    folder = scratch()
    sources(folder, 20)
    job = make(folder, separator="<|none|>")
    check(job.code == 2 and "no token '<|none|>'" in job.err, "the unknown separator is not refused", job)
    for wrong, words in (('{"text": 3}\n', ("'text' holds int",)), ('{"body": "a"}\n', ("KeyError: 'text'",)), ("{\n", ("JSONDecodeError",))):
        (folder / "b.jsonl").write_text('{"text": "good"}\n' + wrong)
        job = make(folder, output=f"of{len(wrong)}")
        check(job.code == 1 and "Traceback" not in job.err, "the exit code of an invalid document, or a traceback", job)
        for word in (f"{folder / 'b.jsonl'}, byte 17", *words):
            check(word in job.err, f"the message lacks {word!r}", job)
        equal([name for name in files_of(folder / f"of{len(wrong)}") if name.startswith("b")], [], "token files of an invalid source")


main(setup)
