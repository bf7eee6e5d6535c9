"""Writes the results as a table, one section per day. A later run on the same day replaces the cells that it repeats."""
import datetime
import fcntl
import os
import platform
import re
import time
from pathlib import Path

from harness import Skipped

HEAD = """# Results of `make test-frameworks`

Scripts of PyPI's frameworks that do not use trainrt, and Ray Train's own examples with `trainrt` instead of `ray`. A cell has the seconds
of a case that passed; the machine was also used for other work. The first case of a framework includes the run of one rank with which the
other cases are compared.
"""
FAILED = "**failed**"


class Day:
    """A section of the file: one row per framework, one cell per case, and one line per error."""

    def __init__(self, text=""):
        self.rows, self.errors = {}, {}  # {framework: {column: cell}}, {(framework, case): text}
        table = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
        for row in table[1:]:
            self.rows[row[0]] = dict(zip(table[0][1:], row[1:]))
        for line in text.splitlines():
            if found := re.match(r"- (.*?), (.*?): (.*)", line):
                self.errors[found[1], found[2]] = found[3]

    def note(self, framework, version, case, cell, error):
        self.rows.setdefault(framework, {"version": version})["version"] = version
        self.rows[framework][case] = cell
        self.errors.pop((framework, case), None)
        if error:
            self.errors[framework, case] = error

    def text(self, date, python):
        cases = list(dict.fromkeys(column for row in self.rows.values() for column in row if column != "version"))
        flat = [row.get(case, "") for row in self.rows.values() for case in cases if row.get(case, "")]
        failed, skipped = flat.count(FAILED), flat.count("skipped")
        lines = [f"## {date}: {len(flat) - failed - skipped} passed, {failed} failed, {skipped} skipped", "", python, "",
                 "| framework | version | " + " | ".join(cases) + " |", "|---" * (len(cases) + 2) + "|"]
        for name, row in sorted(self.rows.items(), key=lambda row: row[0].lower()):
            lines.append(f"| {name} | {row['version']} | " + " | ".join(row.get(case, "") for case in cases) + " |")
        lines += [""] if self.errors else []
        return "\n".join(lines + [f"- {name}, {case}: {text}" for (name, case), text in self.errors.items()]) + "\n"


class Results:
    """Writes each case to a file when it ends. Without a path, writes nothing."""

    def __init__(self, path):
        self._path = Path(path) if path else None
        self._versions = {}

    def recorded(self, framework, case, version_of, function, *arguments):
        """Runs a case and writes its result. `version_of` installs the environment and returns the framework's version."""
        start, cell, error = time.monotonic(), FAILED, ""
        try:
            if framework.name not in self._versions:
                self._versions[framework.name] = version_of(framework)
            start = time.monotonic()
            function(framework, *arguments)
            cell = f"{time.monotonic() - start:.0f} s"
        except Skipped:
            cell = "skipped"
            raise
        except Exception as failure:
            error = _on_one_line(str(failure) or repr(failure))
            raise
        finally:
            self._note(framework.name.replace("_", " "), self._versions.get(framework.name, ""), case.replace("_", " "), cell, error)

    def _note(self, *case):
        if self._path is None:
            return
        with open(self._path, "a+") as file:  # two runs may write different cases at the same time
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            sections = dict(re.findall(r"^## (\S+): [^\n]*\n(.*?)(?=^## |\Z)", file.read(), re.M | re.S))
            today = str(datetime.date.today())
            day = Day(sections.pop(today, ""))
            day.note(*case)
            texts = [day.text(today, f"Python {platform.python_version()} on {len(os.sched_getaffinity(0))} cores.")]
            texts += [Day(text).text(date, text.strip().splitlines()[0]) for date, text in sections.items()]
            file.truncate(0)
            file.write("\n".join([HEAD, *texts]))


def _on_one_line(text):
    """Returns the first and last lines as one line, with file names without their folders."""
    lines = [re.sub(r"(/[\w.@+-]+)+/", "", line.strip(" |")) for line in text.splitlines() if line.strip(" |^")]
    return " / ".join(line[:200] for line in (lines if len(lines) <= 6 else [*lines[:2], "...", *lines[-4:]]))
