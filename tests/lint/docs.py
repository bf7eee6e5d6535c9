#!/usr/bin/python3
"""Checks links, commands, config keys, paths, messages and code of README.md and every guide against the program. Each command must have a
manual page without warnings."""
import ast
import configparser
import difflib
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tools.guides import GUIDES, block, blocks, guide, name_of, prose, spans  # noqa: E402
from harness import *  # noqa: E402,F403

SECTIONS = ("run", "train", "scaling", "checkpoint", "metrics", "failure", "stop", "tune")
FILE_ENDINGS = ("ini", "py", "sbatch", "cpp", "json", "h5", "prom", "csv")  # `train.ini` is a file, not a key
FASHION = Path("/usr/share/datasets/fashion-mnist")
CHANGES = SOURCE / "src/core/CHANGES.md"


def none(findings):
    check(not findings, "\n  " + "\n  ".join(findings))


def output(*words):
    return subprocess.run([str(TRAINRT), *words], capture_output=True, text=True, timeout=60).stdout


_known = {}


def known():
    """Returns the keys, the keys of [stop] and of [data.NAME], and the commands with their usage, as `trainrt list all` and `trainrt help` print them."""
    if not _known:
        parts = {part.splitlines()[0].split(":")[0]: set(re.findall(r"^  ([\w.]+) ", part, re.M)) for part in output("list", "all").split("\n\n")}
        keys_of = lambda *kinds: {key for title, keys in parts.items() if title.startswith(kinds) for key in keys}
        _known["tune"] = keys_of("config section tune")
        _known["stop"] = {key.removeprefix("stop.") for key in keys_of("config section stop")} - {"METRIC"}
        _known["data"] = keys_of("config section data.NAME", "data format ")
        _known["keys"] = {key for key in keys_of("config section ") if "." in key and not key.startswith(("tune.", "stop."))}
        _known["plugins"] = keys_of("sink ", "callback ", "scheduler ")
        names = re.findall(r"^.{14}(\w+) {2,}", output("help"), re.M)
        _known["commands"] = {name: output("help", name) for name in names}
        tools = re.findall(r"^  (\w+) ", _known["commands"]["data"].split("\ntools\n")[1].split("\n\n")[0], re.M)
        _known["tools"] = {f"data {name}": output("help", "data", name) for name in tools}
        check(len(_known["keys"]) > 30 and len(_known["commands"]) > 8 and _known["stop"] and _known["data"], f"`trainrt list all` was not parsed: {_known}")
    return _known


def is_key(section, key):
    if section in ("loop", "tune.space", "tune.mutations"):
        return True
    if section == "tune":
        return f"tune.{key}" in known()["tune"] or key in {"space", "mutations", *(title.split(".")[1] for title in known()["plugins"])}
    if section == "stop":
        return not key.startswith("patience") or key in known()["stop"]
    if section.startswith(("sink.", "callback.", "tune.")):
        of_programs = section.startswith("sink.") and f"sink.program.{key}" in known()["plugins"]  # valid in each [sink.NAME]
        return of_programs or f"{section}.{key}" in known()["plugins"]
    if section.startswith("data."):
        return key in known()["data"]
    return f"{section}.{key}" in known()["keys"]


def renamed_keys():
    """Returns the new name of each renamed key by its old name."""
    return dict(re.findall(r'RenamedKey\{"([^"]+)", "([^"]+)"\}', (SOURCE / "src/config/renamed_keys.cpp").read_text()))


# ---- the guides --------------------------------------------------------------------------------------------------------------


@test
def the_README_has_at_most_160_lines():
    lines = (SOURCE / "README.md").read_text().splitlines()
    check(len(lines) <= 160, f"README.md has {len(lines)} lines, 160 at most")
    none([f"README.md:{number}: {len(line)} characters" for number, line in enumerate(lines, 1) if len(line) > 125 and line[:1] not in "|T"])


def anchor_of(heading):
    """Returns the anchor of a heading as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    return {anchor_of(heading) for heading in re.findall(r"^#+ (.+)$", prose(path), re.M)}


def links(path):
    """Yields (line, target) of the links that are not addresses."""
    text = prose(path)
    return [(text.count("\n", 0, match.start()) + 1, match[1]) for match in re.finditer(r"\[[^\]]*\]\(([^)\s]+)\)", text) if "://" not in match[1]]


@test
def every_link_leads_to_a_guide_also_after_installation():
    findings = []
    for path in GUIDES:
        for line, link in links(path):
            target, _, anchor = link.partition("#")
            aim = (path.parent / target).resolve() if target else path
            if aim not in GUIDES:
                findings.append(f"{name_of(path)}:{line}: {link} is no guide")
            elif anchor and anchor not in anchors(aim):
                findings.append(f"{name_of(path)}:{line}: {link}: there is no such heading")
    none(findings)


@test
def every_guide_is_linked_from_the_README():
    linked = {(SOURCE / link.partition("#")[0]).resolve() for _, link in links(SOURCE / "README.md")}
    none([f"{name_of(path)} is not" for path in GUIDES if path.name == "README.md" and path.parent != SOURCE and path not in linked])
    check(len(GUIDES) > 12, f"only {len(GUIDES)} guides were found")


@test
def every_named_path_exists():
    findings = []
    for path in GUIDES:
        for line, span in spans(path):
            for word in span.split():
                named = re.fullmatch(r"(?:src|include|tests|jobs|slurm|hdf5_schemas)/[\w./-]*\w", word)
                if named and not (SOURCE / word).exists():
                    findings.append(f"{name_of(path)}:{line}: {word}")
    none(findings)


@test
def the_overview_in_src_core_lists_every_folder():
    picture = block("", "src/core ", "src/core")
    none([f"src/{path.name}" for path in sorted((SOURCE / "src").iterdir()) if path.is_dir() and not re.search(rf"^src/{path.name} ", picture, re.M)])


@test
def every_named_target_of_make_exists():
    text = (SOURCE / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", text, re.M)) | {f"bench-{path.stem[6:]}" for path in (SOURCE / "tests/bench").glob("bench_*.py")}
    findings = []
    for path in GUIDES:
        codes = [span for _, span in spans(path)] + [line for item in blocks("sh", [path]) for line in item.text.splitlines()]
        for code in codes:
            target = re.match(r"make ([a-z][\w-]*)", code)
            if target and target[1] not in targets and target[1] != "bench-NAME":
                findings.append(f"{name_of(path)}: make {target[1]}")
    none(findings)


@test
def the_list_of_changes_has_a_section_for_the_current_version():
    version = output("--version").split()[1]
    sections = re.findall(r"^## (\d+\.\d+\.\d+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$", prose(CHANGES), re.M)
    check(version in sections, f"src/core/CHANGES.md has no section '## {version} (unreleased)'; it has {sections}")
    equal(sections, sorted(set(sections), key=lambda each: [-int(part) for part in each.split(".")]), "versions, newest first")


@test
def every_renamed_key_is_in_the_list_of_changes():
    text = prose(CHANGES)
    check(len(renamed_keys()) > 5, f"only {len(renamed_keys())} renamed keys were found")
    none([f"src/core/CHANGES.md lacks | `{old}` | `{new}` |" for old, new in renamed_keys().items() if f"| `{old}` | `{new}` |" not in text])


# ---- commands and keys -------------------------------------------------------------------------------------------------------


def command_lines(path):
    """Yields the line number and the words of each command line of a guide."""
    for line, span in spans(path):
        words = span.split()
        if words[0].endswith("trainrt") or words[0] in ("srun", "exec", "sbatch"):
            yield line, words
    for language in ("sh", "sbatch"):
        for item in blocks(language, [path]):
            for number, line in enumerate(item.text.splitlines()):
                yield item.line + 1 + number, line.split("#")[0].split() if not line.startswith("#") else []


def takes(name, option):
    text = known()["commands"][name] + ("".join(known()["tools"].values()) if name == "data" else "")
    return re.search(rf"(?<![\w-]){option}(?![\w-])", text)


def trouble_with(words):
    """Returns the first error of a command line, or "" if it has no error or does not call trainrt. Words after -- belong to a program and are not checked."""
    words = words[:words.index("--")] if "--" in words else words
    for word in words:
        override = re.match(r"\[?--(\w+(?:\.\w+)+)", word)
        if override and override[1] != "section.key" and not is_key(*override[1].rsplit(".", 1)):
            return f"there is no key {override[1]}"
    at = [number for number, word in enumerate(words) if word == "trainrt"]
    if not at or at[0] + 1 >= len(words):
        return ""
    name, *rest = words[at[0] + 1:]
    if name.startswith(("-", "[-")):
        name, rest = "run", [name, *rest]
    if not re.fullmatch(r"[a-z]+", name):
        return ""  # a placeholder such as COMMAND
    if name not in known()["commands"]:
        return f"there is no command {name}"
    for word in rest:
        option = re.match(r"\[?(--[\w-]+|-o\b)", word)
        if option and "." not in word.split("=")[0] and option[1] not in ("--help", "--version") and not takes(name, option[1]):
            return f"trainrt {name} has no {option[1]}"
    return ""


@test
def every_command_in_a_guide_exists_with_its_options():
    findings = []
    count = 0
    for path in GUIDES:
        for line, words in command_lines(path):
            count += "trainrt" in words
            trouble = trouble_with(words)
            if trouble:
                findings.append(f"{name_of(path)}:{line}: {trouble}")
    check(count > 40, f"only {count} commands were found")
    none(findings)


@test
def wrong_commands_are_found():
    """Otherwise the test above proves nothing."""
    for line, words in (("srun trainrt chekc", "no command chekc"), ("trainrt verify X --thread 2", "no --thread"),
                        ("trainrt --config x --loop.a=1 --run.nam=2", "no key run.nam"), ("trainrt --confg x", "no --confg"), ("trainrt --confg x -- y", "no --confg")):
        check(words.split()[-1] in trouble_with(line.split()), f"{line}: {trouble_with(line.split())!r}")


@test
def the_guide_lists_every_command():
    text = guide("src/cli")
    none([f"trainrt {name}" for name in known()["commands"] if not re.search(rf"trainrt {name}\b", text)])


@test
def every_named_key_exists():
    findings = []
    for path in GUIDES:
        for line, span in spans(path):
            for section, key in re.findall(rf"(?<![\w./-])({'|'.join(SECTIONS)})\.([a-z]\w*)", span):
                is_old_name = path == CHANGES and f"{section}.{key}" in renamed_keys()
                if key not in FILE_ENDINGS and not is_key(section, key) and not is_old_name:
                    findings.append(f"{name_of(path)}:{line}: {section}.{key}")
    none(findings)


def keys_of(text):
    """Yields (line number, section, key) of a config, including keys that are commented out."""
    section = ""
    for number, line in enumerate(text.splitlines()):
        if match := re.match(r"\[([\w.]+)\]", line):
            section = match[1]
        elif match := re.match(r"#?(\w+) *=", line):
            yield number, section, match[1]


@test
def every_key_of_the_configs_exists():
    findings = [f"{item.guide}:{item.line + 1 + number}: {section}.{key}" for item in blocks("ini") for number, section, key in keys_of(item.text)
                if not is_key(section, key)]
    check(len(blocks("ini")) > 4, "the configs are not found")
    none(findings)


@test
def the_page_of_all_keys_shows_the_output_of_help_config():
    shown, printed = blocks("ini", [SOURCE / "src/config/all_keys.md"])[0].text.splitlines(), output("help", "config").splitlines()
    differences = [line for line in difflib.unified_diff(shown, printed, lineterm="", n=0) if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    check(not differences, "src/config/all_keys.md differs from the output of `trainrt help config`:\n  " + "\n  ".join(differences))


@test
def the_config_with_every_key_shows_each_default():
    text = output("help", "config")
    named = {f"{section}.{key}" for _, section, key in keys_of(text)}
    none(sorted((known()["keys"] | {f"stop.{key}" for key in known()["stop"]} | {f"data.NAME.{key}" for key in known()["data"]} | known()["plugins"] | known()["tune"]) - named))
    reader = configparser.ConfigParser(inline_comment_prefixes=("#",), interpolation=None)
    reader.read_string(text)
    defaults = dict(re.findall(r"^  (\w+\.\w+) .*(?:\(|; )default (.*)\)$", output("list", "all"), re.M))
    check(len(defaults) > 25, f"only {len(defaults)} defaults were found")
    for key, default in defaults.items():
        if key in known()["keys"]:
            equal(reader[key.split(".")[0]][key.split(".")[1]], default, key)


def check_config(text, *overrides):
    folder = scratch()
    (folder / "train.ini").write_text(text)
    job = run([TRAINRT, "check", "--config", folder / "train.ini", f"--run.storage_path={folder}/runs", *overrides])
    check_exit(job, FINISHED)
    check("config          ok" in job.out, "the output has no line 'config ok'", job)


@test
def check_accepts_the_config_with_every_key():
    check_config(output("help", "config"), "--run.name=all", "--train.function=linear", "--data.train.format=synthetic")


@test
def check_accepts_the_configs_of_jobs():
    check_config((SOURCE / "jobs/linear.ini").read_text())
    if FASHION.exists() and "fashion_mnist" in output("list"):
        check_config((SOURCE / "jobs/fashion_mnist.ini").read_text())


@test
def every_script_and_config_of_jobs_is_named_by_a_test():
    texts = "\n".join(path.read_text() for path in (SOURCE / "tests").rglob("*.py"))
    found = [path for path in (SOURCE / "jobs").rglob("*") if path.is_file() and path.suffix != ".md" and "__pycache__" not in path.parts]
    check(len(found) > 40, f"only {len(found)} files were found")
    none([f"{name_of(path)}: no test names it" for path in found
          if not any(name in texts for name in (name_of(path), f'"{path.name}"', f'"{path.stem}"'))])


# ---- messages ----------------------------------------------------------------------------------------------------------------


def literals():
    """Returns all string literals of the sources. Adjacent literals are joined."""
    texts = []
    for path in (SOURCE / "src").rglob("*"):
        if path.suffix in (".cpp", ".hpp"):
            texts += re.findall(r'"((?:\\.|[^"\\\n])*)"', re.sub(r'"\s*\n\s*"', "", path.read_text()))
    return "\n".join(texts)


@test
def every_message_in_the_guide_exists_in_the_sources():
    text = literals()
    messages = re.findall(r"^\| `([^`]+)` \|", guide("src/cli").split("## Messages")[1], re.M)
    check(len(messages) > 25, f"only {len(messages)} messages were found")
    none([f"{message}: {piece!r} is in no source" for message in messages for piece in re.split("…", message) if piece.strip(" ,;:'") and piece not in text])


# ---- code --------------------------------------------------------------------------------------------------------------------


@test
def code_in_cpp_compiles():
    compiler = shutil.which("mpicxx.mpich") or shutil.which("mpicxx")
    if compiler is None:
        skip("mpicxx.mpich not found (package libmpich-dev)")
    found = blocks("cpp")
    check(len(found) >= 3, f"only {len(found)} blocks in C++ were found")
    # for blocks in the language cxx, which may include internal headers, and Catch2 of any version
    internal = [*(f"-I{SOURCE / folder}" for folder in ("src", "tests")), f"-idirafter{SOURCE / 'tests/support/catch3'}"]
    for item in found + blocks("cxx"):
        unit = scratch() / "block.cpp"
        unit.write_text(item.text)
        folders = [f"-I{SOURCE / 'include'}", *(internal if item.language == "cxx" else [])]
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", *folders, str(unit)], capture_output=True, text=True)
        check(done.returncode == 0, f"{item.guide}:{item.line}: {done.stderr[:800]}")


@test
def code_in_python_and_shell_can_be_parsed():
    found = blocks("python")
    check(len(found) >= 3, f"only {len(found)} blocks in Python were found")
    for item in found:
        try:
            ast.parse(item.text)
        except SyntaxError as error:
            check(False, f"{item.guide}:{item.line}: {error}")
    for item in blocks("sh") + blocks("sbatch"):
        done = subprocess.run(["bash", "-n"], input=item.text, capture_output=True, text=True)
        check(done.returncode == 0, f"{item.guide}:{item.line}: {done.stderr}")


# ---- manual pages ------------------------------------------------------------------------------------------------------------


@test
def every_command_has_a_manual_page_without_warnings():
    folder = scratch() / "man1"
    check_exit(run([TRAINRT, "help", "--man-pages", folder]), FINISHED)
    equal({path.name for path in folder.iterdir()}, {"trainrt.1", *(f"trainrt-{name.replace(' ', '-')}.1" for name in (*known()["commands"], *known()["tools"]))}, "pages")
    text = (folder / "trainrt.1").read_text()
    none([f"trainrt.1 lacks {key}" for key in known()["keys"] | known()["tune"] if f"\\fB{key}\\fR" not in text])
    groff = shutil.which("groff")
    if groff is None:
        skip("groff not found: the pages were not formatted")
    for page in sorted(folder.iterdir()):
        done = subprocess.run([groff, "-man", "-Tutf8", "-ww", str(page)], capture_output=True, text=True)
        if "cannot load" in done.stderr or "can't find" in done.stderr:
            skip(f"groff has no macros for manual pages here: {done.stderr.splitlines()[0]}")
        check(done.returncode == 0 and not done.stderr, f"{page.name}: {done.stderr[:500]}")
        shown = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)
        check("NAME" in shown and "SYNOPSIS" in shown and f"{page.stem} - " in shown, f"{page.name} shows\n{shown[:500]}")


@test
def a_folder_for_manual_pages_that_cannot_be_created_is_an_error():
    job = run([TRAINRT, "help", "--man-pages", "/proc/nowhere"])
    check_exit(job, USAGE)
    check("/proc/nowhere" in job.err, "the message does not name it", job)


@test
def help_of_a_command_equals_the_output_of_its_option():
    for name in known()["commands"]:
        equal(output(name, "--help"), known()["commands"][name], f"trainrt {name} --help")
    check_exit(run([TRAINRT, "help", "nothing"]), USAGE)


main()
