"""Code blocks of the documents of Ray Train, which a caller has as text files: DIRECTORY/*.txt, numbered from 0 in the order of their names.
A literalinclude refers to a file of Ray's repository; the text of its block is read from a copy of these files, if the caller has one."""
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

_DIRECTIVE = re.compile(r"( *)\.\. (testcode|code-block|literalinclude)::\s*(\S*)")
_COMMENT = re.compile(r"( *)\.\.\s*$")  # its indented text is not part of the document
_OPTION = re.compile(r"\s*:([\w-]+):\s*(.*?)\s*")


@dataclass(frozen=True)
class Block:
    """The code block `name` (document.sample; samples are counted from 1), which begins in `line`. `text` is "" for a literalinclude if the caller has no copy of its file."""

    name: str
    line: int
    is_python: bool
    text: str

    def script(self):
        """Returns the text with `trainrt` in place of `ray`."""
        return re.sub(r"\bray\b", "trainrt", self.text)


def blocks_in(directory, examples=None):
    """Returns the blocks of all documents. `examples`: folder with copies of the files that the documents include."""
    return [block for number, path in enumerate(sorted(Path(directory).glob("*.txt"))) for block in _blocks_of(number, path.read_text().splitlines(), examples)]


def _blocks_of(document, lines, examples):
    found, index = [], 0
    while index < len(lines):
        comment, directive = _COMMENT.fullmatch(lines[index]), _DIRECTIVE.match(lines[index])
        if comment:
            index = _end_of(lines, index, len(comment[1]))
        elif directive:
            end = _end_of(lines, index, len(directive[1]))
            body = lines[index + 1:end]
            included = directive[2] == "literalinclude"
            is_python = directive[2] == "testcode" or directive[3] == "python" or (included and directive[3].endswith(".py"))
            text = _included(directive[3], _options(body), examples) if included else _text(body)
            found.append(Block(f"{document}.{len(found) + 1}", index + 1, is_python, text))
            index = end
        else:
            index += 1
    return found


def _end_of(lines, start, indent):
    """Returns the index of the first line after `start` that is not indented by more than `indent`."""
    for index in range(start + 1, len(lines)):
        if lines[index].strip() and len(lines[index]) - len(lines[index].lstrip()) <= indent:
            return index
    return len(lines)


def _options(lines):
    """Returns the options at the start of the lines of a directive."""
    return dict(option.groups() for option in map(_OPTION.fullmatch, lines) if option)


def _included(name, options, examples):
    """Returns the lines between the options `start-after` and `end-before` of an included file, or "" if it is not in the folder `examples`. If several
    files have its name, the one whose folders agree best is taken."""
    wanted = Path(name).parts[::-1]
    found = [path for path in sorted(Path(examples).rglob(wanted[0])) if path.is_file()] if examples else []
    if not found:
        return ""
    path = max(found, key=lambda path: [mine == theirs for mine, theirs in zip(path.parts[::-1], wanted)])
    lines = path.read_text().splitlines()
    start, end = options.get("start-after"), options.get("end-before")
    if start:
        lines = lines[next((index + 1 for index, line in enumerate(lines) if start in line), len(lines)):]
    if end:
        lines = lines[:next((index for index, line in enumerate(lines) if end in line), len(lines))]
    return textwrap.dedent("\n".join(lines)).strip("\n") + "\n"


def _text(lines):
    body = list(lines)
    while body and (not body[0].strip() or _OPTION.fullmatch(body[0])):
        body.pop(0)
    return textwrap.dedent("\n".join(body)).rstrip() + "\n"
