"""Makes token files for the format `tokens` of [data.NAME] once, before training, so that runs need not tokenize.

    pip install tokenizers numpy
    python3 token_files.py --tokenizer tokenizer.json --separator '<|endoftext|>' --output tokens books/*.txt corpus.jsonl

The script uses all processors. If it is killed, run the same command again; it makes only the missing files. Each text file is one document; with --lines,
each line of it is a document. A line of a .jsonl or .ndjson file is a JSON object with the text of a document under the key --field."""
import argparse
import collections
import concurrent.futures
import contextlib
import fcntl
import hashlib
import itertools
import json
import multiprocessing
import os
import sys
import threading
import time
from pathlib import Path

import numpy
from tokenizers import Tokenizer

Part = collections.namedtuple("Part", "source begin end target")  # documents that begin in these bytes of the source; `end` is `None` for the end of the source


def parts_of(path, args):
    """Returns the parts of a source: one for a text file, one per --part-bytes for a file of lines. They do not depend on the number of processes."""
    size, name = path.stat().st_size, args.output / path.name
    if not is_json(path) and not args.lines:
        return [Part(path, 0, None, name.with_name(f"{path.name}.bin"))]
    return [Part(path, begin, begin + args.part_bytes, name.with_name(f"{path.name}.{begin // args.part_bytes:06}.bin"))
            for begin in range(0, size, args.part_bytes)]


def is_json(path):
    return path.suffix in (".jsonl", ".ndjson")


def documents_of(part, field):
    with open(part.source, "rb") as file:
        if part.begin > 0:
            file.seek(part.begin - 1)
            file.readline()  # a line that began before this part belongs to the previous part
        while part.end is None or file.tell() < part.end:
            at, raw = file.tell(), file.read() if part.end is None else file.readline()
            if not raw:
                return
            try:
                text = json.loads(raw)[field] if is_json(part.source) else str(raw if part.end is None else raw.rstrip(b"\r\n"), "utf-8")
                if not isinstance(text, str):
                    raise TypeError(f"{field!r} holds {type(text).__name__}")
            except (ValueError, KeyError, TypeError) as error:
                raise SystemExit(f"{part.source}, byte {at}: {type(error).__name__}: {error}. A document is UTF-8 text, or a JSON object with the string {field!r}")
            if text:
                yield text


def prepare_process(path):
    """Initializes a process: loads the tokenizer, and makes the process exit with the main process, even if the main process is killed."""
    global tokenizer
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes already use all processors
    tokenizer = Tokenizer.from_file(path)
    tokenizer.encode_special_tokens = True  # a separator within a document is ordinary text
    tokenizer.no_truncation()
    tokenizer.no_padding()
    threading.Thread(target=lambda: (multiprocessing.parent_process().join(), os._exit(1)), daemon=True).start()


@contextlib.contextmanager
def new_file(path):
    """Opens a file under a temporary name, which trainrt ignores. The file is renamed when it is complete and on disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with open(temporary, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)


def make(part, field, separator, dtype):
    """Makes one token file and returns its number of tokens."""
    documents, ending, count = documents_of(part, field), [] if separator is None else [separator], 0
    with new_file(part.target) as file:
        while batch := list(itertools.islice(documents, 256)):
            ids = [number for encoding in tokenizer.encode_batch(batch, add_special_tokens=False) for number in encoding.ids + ending]
            file.write(numpy.array(ids, dtype).tobytes())
            count += len(ids)
    return count


@contextlib.contextmanager
def locked(folder):
    """Locks the folder against other runs of this script while the returned file is open."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
        os.fsync(descriptor)  # the names of the new files
    except BlockingIOError:
        raise SystemExit(f"another process makes files in {folder}. Wait for it, or choose another --output") from None
    finally:
        os.close(descriptor)


def require_same_settings(args, sources):
    """Exits with an error if the files in the folder were made with other settings, or if one of their sources has changed or is missing."""
    settings = {"tokenizer": hashlib.sha256(args.tokenizer.read_bytes()).hexdigest(), "separator": args.separator, "field": args.field, "lines": args.lines,
                "part_bytes": args.part_bytes, **{f"source {path.name}": [path.stat().st_size, path.stat().st_mtime_ns] for path in sources}}
    record = args.output / ".token_files.json"
    old = json.loads(record.read_text()) if record.exists() else {}
    changed = [name for name, value in old.items() if settings.get(name) != value]
    if changed:
        raise SystemExit(f"{args.output} has files that were made with another {', '.join(changed)}. Choose another --output, or delete the folder")
    with new_file(record) as file:
        file.write(json.dumps(settings).encode())


def make_all(args, parts, separator, dtype):
    begin, tokens, context = time.monotonic(), 0, multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(args.processes, context, prepare_process, (str(args.tokenizer),)) as pool:
        futures = [pool.submit(make, part, args.field, separator, dtype) for part in parts]
        try:
            for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
                tokens += future.result()
                print(f"{number} of {len(parts)} files, {tokens / 1e6:.1f} million tokens, {time.monotonic() - begin:.0f} s", file=sys.stderr)
        finally:
            pool.shutdown(cancel_futures=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, metavar="SOURCE", help="text file, or JSON lines (.jsonl, .ndjson); names must differ")
    parser.add_argument("--tokenizer", required=True, type=Path, help="tokenizer.json of Hugging Face's form, as Tokenizer.save() writes it")
    parser.add_argument("--output", required=True, type=Path, help="folder for the token files; created if it does not exist")
    parser.add_argument("--separator", help="token after each document, for example '<|endoftext|>'; default: no token")
    parser.add_argument("--field", default="text", help="key of the text in JSON lines (default: text)")
    parser.add_argument("--lines", action="store_true", help="each line of a text file is a document; empty lines are left out")
    parser.add_argument("--length", type=int, default=1024, help="window length in the section that is printed (default: 1024)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="number of processes (default: all processors)")
    parser.add_argument("--part-bytes", type=int, default=64 << 20, help="bytes of lines for one token file (default: 64 MiB)")
    args = parser.parse_args()
    sources = sorted(args.sources)
    if len({path.name for path in sources}) < len(sources):
        parser.error("two sources have the same file name, and would write the same token file; rename one of them")
    vocabulary = Tokenizer.from_file(str(args.tokenizer)).get_vocab(with_added_tokens=True)
    separator = None if args.separator is None else vocabulary.get(args.separator)
    if args.separator is not None and separator is None:
        parser.error(f"the tokenizer has no token {args.separator!r}, which --separator names; give one of its tokens, such as '<|endoftext|>'")
    dtype = "u16" if max(vocabulary.values()) < 1 << 16 else "u32"
    args.output.mkdir(parents=True, exist_ok=True)
    with locked(args.output):
        require_same_settings(args, sources)
        for left in args.output.glob(".*.part"):  # files of a killed run
            left.unlink()
        parts = [part for path in sources for part in parts_of(path, args)]
        missing = [part for part in parts if not part.target.exists()]
        print(f"{len(missing)} of {len(parts)} token files are to be made", file=sys.stderr)
        make_all(args, missing, separator, "<u2" if dtype == "u16" else "<u4")
    print(f"[data.train]\nformat = tokens\nsource = {args.output.resolve()}/*.bin\ndtype  = {dtype}\nlength = {args.length}")
    if separator is not None:
        print(f"# document_end = {separator}   # use it to keep each window inside one document; without it a window may contain several")


if __name__ == "__main__":
    main()
