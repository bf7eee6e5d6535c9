"""Code blocks of the documents of Ray Train, which a caller has as text files: DIRECTORY/*.txt, numbered from 0 in the order of their names."""
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

_DIRECTIVE = re.compile(r"( *)\.\. (testcode|code-block|literalinclude)::\s*(\S*)")
_COMMENT = re.compile(r"( *)\.\.\s*$")  # its indented text is not part of the document
_OPTION = re.compile(r"\s*:[\w-]+:")


@dataclass(frozen=True)
class Block:
    """The code block `name` (document.sample; samples are counted from 1), which begins in `line`. `text` is "" for a literalinclude, whose file is not in the document."""

    name: str
    line: int
    is_python: bool
    text: str

    def script(self):
        """Returns the text with `trainrt` in place of `ray`."""
        return re.sub(r"\bray\b", "trainrt", self.text)


def blocks_in(directory):
    """Returns the blocks of all documents."""
    return [block for number, path in enumerate(sorted(Path(directory).glob("*.txt"))) for block in _blocks_of(number, path.read_text().splitlines())]


def _blocks_of(document, lines):
    found, index = [], 0
    while index < len(lines):
        comment, directive = _COMMENT.fullmatch(lines[index]), _DIRECTIVE.match(lines[index])
        if comment:
            index = _end_of(lines, index, len(comment[1]))
        elif directive:
            end = _end_of(lines, index, len(directive[1]))
            is_python = directive[2] == "testcode" or (directive[2] == "code-block" and directive[3] == "python")
            found.append(Block(f"{document}.{len(found) + 1}", index + 1, is_python, _text(lines[index + 1:end]) if directive[2] != "literalinclude" else ""))
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


def _text(lines):
    body = list(lines)
    while body and (not body[0].strip() or _OPTION.match(body[0])):
        body.pop(0)
    return textwrap.dedent("\n".join(body)).rstrip() + "\n"
