"""Readers of the guides (README.md of the project and of its folders) and of the code in them."""
import re
from collections import namedtuple

from harness import SOURCE

FOLDERS = ("src", "jobs", "slurm", "hdf5_schemas", "tests")  # CMakeLists.txt installs the guides of these
GUIDES = [SOURCE / "README.md", *sorted(path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.md"))]

Block = namedtuple("Block", "guide line language text")


def name_of(path):
    return str(path.relative_to(SOURCE))


def guide(name):
    """Returns the text of a guide by its folder ("" is README.md)."""
    return (SOURCE / name / "README.md").read_text()


def all_blocks(path):
    """Returns the fenced blocks of a guide in their order."""
    text = path.read_text()
    return [Block(name_of(path), text.count("\n", 0, match.start()) + 1, match[1], match[2])
            for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)]


def blocks(language, guides=GUIDES):
    """Returns the fenced blocks of a language."""
    return [item for path in guides for item in all_blocks(path) if item.language == language]


def block(language, word, name=""):
    """Returns the text of the only block of a guide that contains the word."""
    found = [item.text for item in blocks(language, [SOURCE / name / "README.md"]) if word in item.text]
    assert len(found) == 1, f"{name or '.'}/README.md has {len(found)} {language} blocks with {word!r}"
    return found[0]


def prose(path):
    """Returns a guide with empty lines in place of its fenced blocks."""
    return re.sub(r"^```\w*\n.*?^```$", lambda match: "\n" * match[0].count("\n"), path.read_text(), flags=re.M | re.S)


def spans(path):
    """Yields (line, text) of the code spans in a guide's prose."""
    text = prose(path)
    return [(text.count("\n", 0, match.start()) + 1, " ".join(match[1].split())) for match in re.finditer(r"`([^`]+)`", text)]
