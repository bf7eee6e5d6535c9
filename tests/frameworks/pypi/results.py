"""The table of what passed, which a run puts in front of those of earlier runs."""
import datetime
import os
import platform
import time
from pathlib import Path

from harness import Failure, Skipped

HEAD = """# Results of `make test-frameworks`

Scripts of tests/frameworks/scripts, which know no trainrt, with frameworks of PyPI. A cell has the seconds of a case that passed; the
first of a framework's cases also holds its run alone, with which it is compared. The newest run stands first.
"""


class Results:
    def __init__(self):
        self._rows = {}  # framework -> (version, {case: cell})
        self._errors = []

    def recorded(self, framework, case, version_of, function, *arguments):
        """Runs a case and notes how it ended. `version_of`: makes the environment, and returns the framework's version."""
        version, cells = self._rows.setdefault(framework.name, ["", {}])
        start = time.monotonic()
        try:
            version = version or version_of(framework)
            self._rows[framework.name][0] = version
            start = time.monotonic()
            function(framework, *arguments)
            cells[case] = f"{time.monotonic() - start:.0f}"
        except Skipped:
            cells[case] = "skipped"
            raise
        except Failure as failure:
            cells[case] = "**failed**"
            self._errors.append((framework.name, case, str(failure)))
            raise

    def section(self):
        cases = list(dict.fromkeys(case for _, cells in self._rows.values() for case in cells))
        flat = [cell for _, cells in self._rows.values() for cell in cells.values()]
        failed, skipped = flat.count("**failed**"), flat.count("skipped")
        lines = [f"## {datetime.date.today()}: {len(flat) - failed - skipped} passed, {failed} failed, {skipped} skipped", "",
                 f"Python {platform.python_version()} on {len(os.sched_getaffinity(0))} cores, load average {os.getloadavg()[0]:.1f} at the end.", "",
                 "| framework | version | " + " | ".join(case.replace("_", " ") for case in cases) + " |", "|---" * (len(cases) + 2) + "|"]
        for name, (version, cells) in self._rows.items():
            lines.append(f"| {name.replace('_', ' ')} | {version} | " + " | ".join(cells.get(case, "") for case in cases) + " |")
        for name, case, text in self._errors:
            lines += ["", f"*{name.replace('_', ' ')}, {case.replace('_', ' ')}:*", "", "```", _shortened(text), "```"]
        return "\n".join(lines) + "\n"

    def write(self, path):
        path = Path(path)
        earlier = path.read_text().split("\n## ", 1)[1:] if path.exists() else []
        path.write_text("\n".join([HEAD, self.section(), *(f"## {text}" for text in earlier)]).rstrip() + "\n")


def _shortened(text, lines=12):
    every = text.splitlines()
    return "\n".join(line[:160] for line in (every if len(every) <= lines else [*every[:2], "...", *every[2 - lines:]]))
