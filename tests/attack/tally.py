"""Counts the results of the attacked points, and prints them as a table."""
import shutil
import sys
import threading
import time
from collections import Counter

SORTS = ("kill", "lose", "stop", "error", "short", "empty")


class Tally:
    def __init__(self, total):
        self.total = total
        self.done, self.misses, self.late = Counter(), Counter(), 0  # by (scene, sort)
        self.missed = []
        self._kept = 0
        self._lock = threading.Lock()

    def add(self, point, hit, why):
        with self._lock:
            self.done[point.scene, point.sort()] += 1
            self.late += not hit
            if why is not None:
                self.misses[point.scene, point.sort()] += 1
                self.missed.append(point)

    def number_of_miss(self):
        """Returns a new number at each call."""
        with self._lock:
            self._kept += 1
            return self._kept - 1

    def count(self):
        return sum(self.done.values())

    def table(self):
        """Returns a table of the number of points and misses by scene and action."""
        rows = [("scene", *SORTS, "all"), ("---",) * (len(SORTS) + 2)]
        scenes = sorted({scene for scene, _ in self.done})
        for scene in (*scenes, None):
            cells = []
            for sort in (*SORTS, None):
                wanted = lambda key: (scene is None or key[0] == scene) and (sort is None or key[1] == sort)  # noqa: E731, B023
                done, misses = (sum(count for key, count in counter.items() if wanted(key)) for counter in (self.done, self.misses))
                cells.append((f"{done} ({misses} missed)" if misses else str(done)) if done else "")
            rows.append((scene or "all", *cells))
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)

    def print_report(self):
        print(self.table())
        late = f"; {self.late} calls did not occur" if self.late else ""
        of = f" of {self.total} (time limit)" if self.count() < self.total else ""
        print(f"attack: {self.count()} points{of}, {len(self.missed)} misses{late}")
        print(f"{self.count() - len(self.missed)} passed, {len(self.missed)} failed")


class Progress:
    """Shows a progress bar on a terminal, else prints a line per minute."""

    def __init__(self, tally):
        self._tally, self._total, self._begin = tally, tally.total, time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _line(self):
        done, spent = self._tally.count(), time.monotonic() - self._begin
        left = f", {spent / done * (self._total - done) / 60:.1f} min left" if done else ""
        return f"{done}/{self._total} points, {len(self._tally.missed)} misses{left}"

    def _show(self):
        while not self._over.wait(1 if self._terminal else 60):
            if not self._terminal:
                print(f"attack: {self._line()}", file=sys.stderr, flush=True)
                continue
            width = max(shutil.get_terminal_size().columns - 60, 10)
            filled = width * self._tally.count() // max(self._total, 1)
            print(f"\r[{'#' * filled}{'.' * (width - filled)}] {self._line()}\x1b[K", end="", file=sys.stderr, flush=True)
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
