#!/usr/bin/python3
"""Checks every #include of src/ and include/ against the allowed dependencies between folders, and related rules: which folders may include
a library, which files may end the process, plug-in records are named after their files, public headers compile alone."""
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

# Folders that a folder of src/ may include, besides itself and the public headers.
ARROWS = {
    "core": set(),
    "device": {"core"},
    "launch": {"core"},
    "batch": {"core"},
    "io": {"core"},
    "data": {"core", "io"},
    "metrics": {"core", "io"},
    "config": {"core"},
    "comm": {"core", "launch", "device"},
    "checkpoint": {"core", "io", "comm", "device"},
    "rundir": {"core", "io", "comm", "checkpoint"},
    "watch": {"core", "io", "launch", "config"},
    "trainer": {"core", "config", "device", "launch", "batch", "comm", "checkpoint", "metrics", "data", "io", "rundir", "watch"},
    "tune": {"core", "config", "device", "launch", "batch", "comm", "checkpoint", "metrics", "data", "io", "rundir", "watch", "trainer"},
    "view": {"core", "io", "checkpoint", "metrics", "rundir"},
    "frameworks": set(),
    "program": {"core", "launch"},
    "python": set(),
    "cli": {"core", "config", "device", "launch", "batch", "comm", "checkpoint", "metrics", "data", "io", "rundir", "watch", "trainer", "tune",
            "view", "frameworks", "program"},
}
# The sub-folders of layers, each with the sub-folders that it may include. Folders of plug-ins are not listed, and may include all of their layer.
ROOMS = {
    "core/text": set(),
    "core": {"core/text"},
    "core/process": {"core/text", "core"},
    "core/files": {"core/text", "core", "core/process"},
    "core/output": {"core/text", "core", "core/process", "core/files"},
    "io": set(),
    "io/files": {"io"},
    "io/objects": {"io"},
    "io/objects/s3": {"io", "io/files"},
    "io/objects/without_s3": {"io", "io/objects/s3"},
    "io/hdf5": {"io", "io/files"},
    "io/hdf5/untrusted": {"io", "io/files", "io/objects", "io/hdf5"},
    "launch/pmi": set(),
    "launch/mpi": set(),
    "launch": {"launch/pmi", "launch/mpi"},
    "metrics": set(),
    "metrics/outputs": {"metrics"},
    "checkpoint/format": set(),
    "checkpoint": {"checkpoint/format"},
    "checkpoint/save": {"checkpoint", "checkpoint/format"},
    "checkpoint/load": {"checkpoint", "checkpoint/format"},
    "checkpoint/memory": {"checkpoint"},
    "checkpoint/store": {"checkpoint", "checkpoint/format", "checkpoint/save", "checkpoint/load"},
    "comm": set(),
    "comm/node": {"comm"},
    "comm/mpi": {"comm"},
    "comm/nccl": {"comm"},
    "comm/gradients": {"comm"},
    "rundir/records": set(),
    "rundir/usage": {"rundir/records"},
    "rundir/storage": {"rundir/records"},
    "rundir/attempts": {"rundir/records", "rundir/storage"},
}
# Layers with ordered sub-folders: each may include those before it.
ORDERED_ROOMS = {
    "data": ("bytes/coding", "bytes", "source", "text", "order", "images", "hdf5", "tables", "records", "arrays", "tar", "tokens", "node_memory", "transform",
             "batches", "preprocess", "reshape", "section"),
    "trainer": ("ending", "events", "watching", "datasets", "stops", "reports", "saving", "start", "records", "session", "run", "predictions"),
    "tune": ("search", "record", "decisions", "trials", "run"),
    "view": ("summary", "charts", "curves", "top", "page"),
    "program": ("rendezvous", "children", "progress", "services", "environments", "protocol", "staging", "run"),
    "cli": ("files", "terminal", "config", "command_line", "start", "checkpoints", "runs", "supervise", "tune", "doctor", "predict", "data", "data/convert", "data/inspect",
            "data/bench", "listing", "main"),
}
ROOMS |= {f"{layer}/{room}": {f"{layer}/{lower}" for lower in rooms[:at]} for layer, rooms in ORDERED_ROOMS.items() for at, room in enumerate(rooms)}
ROOMS["data/tables/arrow"] = {"data/bytes", "data/source", "data/text", "data/tables"}  # a separate module
# A public header also belongs to a layer. A file may include the public headers of its own layer and of the layers that it may include. A
# public header may include the public headers that are listed before it here. Frameworks may include all public headers.
PUBLIC = {"export": "core", "error": "core", "options": "core", "random": "core", "tensor": "core", "state": "core", "framework_meeting": "core", "train_function": "core", "abi": "core",
          "communicator": "comm", "communicators": "comm", "gradient_buckets": "comm", "checkpoint_store": "checkpoint", "metrics": "metrics",
          "dataset": "data", "preprocessor": "data", "directory_checkpoint": "checkpoint", "where_thrown": "watch", "context": "trainer", "predictions": "trainer", "result": "trainer", "callback": "trainer", "trainer": "trainer",
          "result_grid": "tune", "trainrt": "cli"}
# Libraries, by the beginning of the included name, and the folders that may include them.
LIBRARIES = {
    "boost/": {"cli", "data", "frameworks", "metrics", "program"}, "event.pb.h": {"metrics"}, "mpi.h": {"launch", "comm"}, "pmix": {"launch"}, "hdf5": {"io"}, "H5": {"io"},
    "xxhash": {"io"}, "curl/": {"io"}, "expat": {"io"}, "zlib": {"data"}, "libdeflate": {"data"}, "liburing": {"data"}, "minizip/": {"cli"}, "arrow/": {"data"}, "parquet/": {"data"}, "sqlite3": {"data"},
    "simdjson": {"data"}, "fast_float": {"data"}, "jpeglib": {"data"}, "spng": {"data"}, "webp/": {"data"},
    "archive": {"program"}, "slurm/": {"batch"}, "nccl": {"comm"}, "cuda": {"device"}, "torch/": {"frameworks"}, "ATen/": {"frameworks"},
    "c10/": {"frameworks"}, "xgboost/": {"frameworks"}, "LightGBM/": {"frameworks"}, "Python.h": {"frameworks"},
}
# Layers that may not name config keys in their string literals.
WITHOUT_KEYS = ("core", "io", "comm", "device", "checkpoint", "launch", "batch", "rundir", "watch", "metrics", "data")
PLUGIN_FOLDERS = ("launch/launchers", "comm/backends", "comm/gpu_backends", "io/storages", "data/formats", "data/transform/transforms", "data/transform/augmentations", "data/reshape/operations", "data/preprocess/kinds", "data/images/codecs", "data/bytes/read_methods",
                  "metrics/sinks", "trainer/callbacks", "cli/commands", "cli/data/tools", "cli/data/writers", "cli/doctor/checks", "cli/exporters", "cli/predict/writers",
                  "frameworks/builtin", "program/environments/frameworks", "program/staging/formats", "tune/searchers", "tune/schedulers")
MAY_EXIT = ("src/cli/main/", "src/launch/launchers/", "src/launch/rank_group.cpp",  # rank_group has its own function abort()
            "src/program/children/child.cpp", "src/core/process/spawn.cpp")  # a child process before it is a program
# Layers that access files through core/files/guarded_tree.hpp, which follows no link below a run directory, and the files that may call the
# system directly: for paths of the user, /proc and /sys, and in a signal handler that only creates files.
GUARDED = ("io", "checkpoint", "rundir", "metrics", "trainer", "watch", "tune", "view")
UNGUARDED = ("src/io/files/fenced_directory.cpp", "src/rundir/storage/opened_run.cpp", "src/rundir/storage/run_directory.cpp", "src/trainer/records/loaded_libraries.cpp", "src/trainer/start/module_loader.cpp", "src/tune/record/journal.cpp",
             "src/view/summary/run_summary.cpp", "src/watch/crash_report.cpp", "src/watch/energy.cpp", "src/watch/node_load.cpp")
CALLS_BY_PATH = re.compile(r"(?<![\w.>])::(?:open|rename|unlink|mkdir|rmdir|link|symlink|opendir|creat|truncate|lstat)\(|(?<![\w.>:])open\([^)]*O_|"
                           r"std::(?:rename|remove)\(\w+\.c_str|\b[io]?fstream\b|(?:fs|filesystem)::(?:remove|remove_all|rename|create_director\w+|copy\w*|"
                           r"directory_iterator|recursive_directory_iterator|resize_file|create_hard_link|permissions)\b")
STANDARD = set("""algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable
coroutine deque exception execution filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd
iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random
ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string
string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant
vector version cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib
cstring ctime cuchar cwchar cwctype""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def sources(*roots):
    return sorted(path for root in roots for path in (SOURCE / root).rglob("*") if path.suffix in (".cpp", ".hpp", ".cu", ".in"))


def name_of(path):
    return str(path.relative_to(SOURCE))


def includes(path):
    """Yields (line, name, whether it is in quotes) of each #include."""
    text = path.read_text()
    return [(text.count("\n", 0, match.start(2)) + 1, match[2], match[1] == '"') for match in INCLUDE.finditer(text)]


def code_of(path):
    """Returns the text without comments and string literals, with the same lines."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    text = path.read_text()
    text = re.sub(r'R"(\w*)\((?s:.*?)\)\1"', blank, text)
    return re.sub(r'//[^\n]*|/\*(?s:.*?)\*/|"(?:\\.|[^"\\\n])*"', blank, text)


def texts_of(path):
    """Yields the line and the text of each string literal of a file, except names of headers. Adjacent literals are joined."""
    source = path.read_text()
    texts = []
    end = None
    for match in re.finditer(r'//[^\n]*|/\*(?s:.*?)\*/|#\s*include[^\n]*|"((?:\\.|[^"\\\n])*)"', source):
        if match[1] is None:
            continue
        if end is not None and not source[end:match.start()].strip():
            texts[-1] = (texts[-1][0], texts[-1][1] + match[1])
        else:
            texts.append((source.count("\n", 0, match.start()) + 1, match[1]))
        end = match.end()
    return texts


def keys_in(text):
    """Returns the config keys that a text names: "run.name", and without a section those that can be nothing else, such as "storage_path"."""
    declared = [key for path in sorted((SOURCE / "src/config/sections").glob("*.cpp")) for key in re.findall(r'\.key = "([\w.]+)"', path.read_text())]
    check(len(declared) > 30, f"only {len(declared)} keys were found")
    names = declared + [name for name in (key.split(".")[1] for key in declared) if "_" in name]
    return re.findall(rf"(?<![\w./:])({'|'.join(map(re.escape, names))})(?!\w)", text)


def layer_of(path):
    return path.relative_to(SOURCE / "src").parts[0]


def none(findings):
    check(not findings, "\n  " + "\n  ".join(findings))


@test
def every_folder_of_src_has_a_layer():
    none([f"src/{path.name}: not in the design" for path in sorted((SOURCE / "src").iterdir()) if path.is_dir() and path.name not in ARROWS])


@test
def includes_follow_the_allowed_dependencies():
    findings = []
    count = 0
    for path in sources("src"):
        layer = layer_of(path)
        for line, included, quoted in includes(path):
            count += 1
            if not quoted or (path.parent / included).exists():
                own = path.parent.joinpath(included).resolve()
                if quoted and own.is_relative_to(SOURCE / "src") and layer_of(own) != layer:
                    findings.append(f"{name_of(path)}:{line}: {included} leads out of src/{layer}")
                continue
            target = included.split("/")[0]
            if target not in ARROWS:
                findings.append(f"{name_of(path)}:{line}: \"{included}\" is no header of src/ (public headers and libraries are in <>)")
            elif target != layer and target not in ARROWS[layer]:
                findings.append(f"{name_of(path)}:{line}: {layer} must not include {target} ({included})")
    check(count > 300, f"only {count} includes were found")
    none(findings)


def public_includes(path):
    """Yields (line, name) of the included public headers: ("tensor", not "interop/torch")."""
    return [(line, included[len("trainrt/"):-len(".hpp")]) for line, included, _ in includes(path)
            if included.startswith("trainrt/") and not included.startswith("trainrt/interop/")]


@test
def every_public_header_belongs_to_a_layer():
    headers = {path.stem for path in (SOURCE / "include/trainrt").glob("*.hpp")}
    none(sorted(f"{name}.hpp: not in PUBLIC, or no longer there" for name in headers ^ set(PUBLIC)))


@test
def includes_of_public_headers_follow_the_allowed_dependencies():
    findings = []
    count = 0
    for path in sources("src"):
        layer = layer_of(path)
        for line, name in public_includes(path):
            count += 1
            if layer not in ("frameworks", "program") and PUBLIC.get(name) != layer and PUBLIC.get(name) not in ARROWS[layer]:
                findings.append(f"{name_of(path)}:{line}: {layer} must not include trainrt/{name}.hpp of {PUBLIC.get(name)}")
    check(count > 150, f"only {count} includes were found")
    none(findings)


@test
def public_headers_follow_the_allowed_dependencies():
    findings = []
    order = list(PUBLIC)
    for path in sorted((SOURCE / "include/trainrt").glob("*.hpp")):
        layer = PUBLIC.get(path.stem, "core")
        for line, name in public_includes(path):
            if PUBLIC.get(name) not in ARROWS[layer] | {layer} or path.stem in order and order.index(name) >= order.index(path.stem):
                findings.append(f"{name_of(path)}:{line}: {layer} must not include trainrt/{name}.hpp of {PUBLIC.get(name)}")
    none(findings)


@test
def files_below_a_run_directory_are_accessed_through_the_guarded_tree():
    findings = []
    for path in sources(*(f"src/{layer}" for layer in GUARDED)):
        if name_of(path) in UNGUARDED:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if CALLS_BY_PATH.search(line.split("//")[0]) and '"/dev/null"' not in line:
                findings.append(f"{name_of(path)}:{number}: a call by a path: take open_guarded() and the like, or the functions of io/files/file.hpp")
    none(findings)


@test
def sub_folders_of_a_layer_follow_their_allowed_dependencies():
    findings = []
    for layer in sorted({room.split("/")[0] for room in ROOMS}):
        for path in sources(f"src/{layer}"):
            room = str(path.parent.relative_to(SOURCE / "src"))
            if room in PLUGIN_FOLDERS:
                continue
            if room not in ROOMS:
                findings.append(f"{name_of(path)}: {room} is not in ROOMS")
                continue
            for line, included, quoted in includes(path):
                target = included.rpartition("/")[0]
                if quoted and target.split("/")[0] == layer and target != room and target not in ROOMS[room]:
                    findings.append(f"{name_of(path)}:{line}: {room} must not include {target} ({included})")
    none(findings)


@test
def frameworks_do_not_include_each_other():
    findings = []
    for path in sources("src/frameworks"):
        parts = path.relative_to(SOURCE / "src/frameworks").parts
        for line, included, quoted in includes(path):
            if quoted and included.startswith("frameworks/") and (len(parts) == 1 or included.split("/")[1] != parts[0]):
                findings.append(f"{name_of(path)}:{line}: {included}")
    none(findings)


@test
def public_headers_include_only_the_standard_library():
    findings = []
    for path in sources("include"):
        if path.parent != SOURCE / "include/trainrt":
            if path.parent.name != "interop":
                findings.append(f"{name_of(path)}: public headers are flat")
            continue
        for line, included, _ in includes(path):
            if not included.startswith("trainrt/") and included not in STANDARD:
                findings.append(f"{name_of(path)}:{line}: {included}")
            if included.startswith("trainrt/") and not (SOURCE / "include" / included).exists():
                findings.append(f"{name_of(path)}:{line}: {included} is no public header")
    none(findings)


@test
def libraries_are_included_only_in_their_folders():
    findings = []
    for path in sources("src", "include"):
        folder = layer_of(path) if path.is_relative_to(SOURCE / "src") else "include"
        for line, included, _ in includes(path):
            for beginning, allowed in LIBRARIES.items():
                if included.startswith(beginning) and folder not in allowed and not name_of(path).startswith("include/trainrt/interop/"):
                    findings.append(f"{name_of(path)}:{line}: {included} belongs to {', '.join(sorted(allowed))}")
    none(findings)


@test
def tests_make_temporary_folders_by_one_function():
    """Tests use `Scratch` of tests/support/cpp/scratch.hpp or `scratch()` of tests/support/harness.py, which remove their folders at the end.

    The scripts of tests/frameworks/samples are written as users write theirs; test_samples.py sets TMPDIR for them.
    """
    another = re.compile(r"mkdtemp|mkstemp|temp_directory_path|tempfile|tmpnam|XXXXXX")
    allowed = ("tests/support/cpp/scratch.hpp", "tests/support/harness.py", name_of(Path(__file__).resolve()))
    none([f"{name_of(path)}: {match[0]}" for path in sorted((SOURCE / "tests").rglob("*")) if path.suffix in (".cpp", ".hpp", ".py")
          and name_of(path) not in allowed and path.parent.name != "samples" for match in another.finditer(path.read_text())])


@test
def only_main_and_the_launchers_end_the_process():
    call = re.compile(r"(?<![\w.>:~])(?:std::|::)?(?:_?exit|_Exit|quick_exit|abort|terminate)\s*\(")
    declaration = re.compile(r"\b(?:void|int|bool|auto)\s+$")
    findings = []
    for path in sources("src", "include"):
        if name_of(path).startswith(MAY_EXIT):
            continue
        code = code_of(path)
        for match in call.finditer(code):
            if not declaration.search(code[:match.start()]):
                findings.append(f"{name_of(path)}:{code.count(chr(10), 0, match.start()) + 1}: {match[0]}...)")
    none(findings)


@test
def every_plugin_file_defines_the_record_named_after_it():
    findings = []
    count = 0
    for folder in PLUGIN_FOLDERS:
        for path in sorted((SOURCE / "src" / folder).glob("*.cpp")):
            count += 1
            records = set(re.findall(r"^(?:extern\s+)?const\s+(?:\w+::)*\w+\s+(\w+)\s*[{=]", code_of(path), re.M))
            declared = set(re.findall(r"^extern\s+const\s+(?:\w+::)*\w+\s+(\w+)", code_of(path), re.M))
            if declared != {path.stem} or path.stem not in records:
                findings.append(f"{name_of(path)}: defines {sorted(declared) or 'no record'}, expected {path.stem}")
    check(count > 10, f"only {count} plug-ins were found")
    none(findings)


@test
def no_backend_is_compared_by_its_name():
    """Properties that differ between backends are fields of their records."""
    names = "|".join(path.stem for folder in ("backends", "gpu_backends") for path in (SOURCE / "src/comm" / folder).glob("*.cpp"))
    found = re.compile(rf'[=!]=\s*"({names})"|"({names})"\s*[=!]=')
    none([f"{name_of(path)}: {match[0]}" for path in sources("src/comm", "src/cli", "src/trainer", "src/frameworks")
          for match in found.finditer(path.read_text())])


@test
def layers_below_the_trainer_name_no_config_key():
    """Errors carry types and fields; trainer/ending/advice.hpp adds keys and advice."""
    findings = []
    count = 0
    for path in sources(*(f"src/{layer}" for layer in WITHOUT_KEYS), "include"):
        for line, text in texts_of(path):
            count += 1
            findings += [f"{name_of(path)}:{line}: {key}" for key in keys_in(text)]
    check(count > 1000, f"only {count} texts were found")
    none(findings)


@test
def every_typed_error_has_its_row_of_advice():
    """src/trainer/ending/advice.cpp has advice for each error type, and tests/unit/trainer/ending/advice.cpp tests it."""
    table, rows = ((SOURCE / path).read_text() for path in ("src/trainer/ending/advice.cpp", "tests/unit/trainer/ending/advice.cpp"))
    types = [(path, name) for layer in WITHOUT_KEYS for path in sorted((SOURCE / "src" / layer).rglob("*_error.hpp"))
             for name in re.findall(r"^class (\w+) : public", path.read_text(), re.M)]
    check(len(types) > 8, f"only {len(types)} types were found")
    none([f"{name_of(path)}: {name} is not in {where}" for path, name in types
          for where, text in (("trainer/advice.cpp", table), ("its test", rows)) if not re.search(rf"::{name}\b", text)])


@test
def a_text_that_names_a_config_key_is_found():
    example = scratch() / "example.cpp"
    example.write_text('#include "run.name"\n// "failure.collective_timeout"\nthrow Error("waited too long (failure."\n            "collective_timeout)");\n')
    equal([(line, keys_in(text)) for line, text in texts_of(example)], [(3, ["failure.collective_timeout"])], "keys found")
    for text, keys in (("choose another run.name", ["run.name"]), ("--run.name=NAME", ["run.name"]), ("is storage_path shared?", ["storage_path"]),
                       ("{}/run.json", []), ("metrics.h5", []), ("Options::num_to_keep is {}", []), ("state.step", [])):
        equal(keys_in(text), keys, text)


@test
def each_public_header_compiles_alone():
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        skip("no C++ compiler")
    folder = scratch()

    def compile_alone(header):
        unit = folder / f"{header.stem}.cpp"
        unit.write_text(f"#include <trainrt/{header.name}>\n")
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", str(SOURCE / "include"), str(unit)],
                              capture_output=True, text=True)
        return "" if done.returncode == 0 else f"{header.name}: {done.stderr[:500]}"

    headers = sorted((SOURCE / "include/trainrt").glob("*.hpp"))
    check(len(headers) > 5, f"only {len(headers)} public headers were found")
    with ThreadPoolExecutor(2) as pool:
        none([finding for finding in pool.map(compile_alone, headers) if finding])


@test
def the_umbrella_header_includes_every_public_header():
    shown = {included for _, included, _ in includes(SOURCE / "include/trainrt/trainrt.hpp")}
    headers = {f"trainrt/{path.name}" for path in (SOURCE / "include/trainrt").glob("*.hpp")} - {"trainrt/trainrt.hpp", "trainrt/export.hpp"}
    headers -= {"trainrt/where_thrown.hpp"}  # for one source file of a program
    none(sorted(headers - shown))


main()
