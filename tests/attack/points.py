"""A point is one system call of a run and an action on it. Lists all points of a scene, and samples of them chosen by a seed."""
import errno
import random
import signal
from collections import Counter
from dataclasses import dataclass

# Errors that a call of each kind (tests/attack/calls.hpp) may return.
READING = ("EIO", "ENOENT", "ESTALE", "EACCES")
ERRORS = {
    "open": (*READING, "EMFILE", "EINTR"), "create": ("EIO", "ENOSPC", "EACCES", "ENOENT", "ESTALE", "EMFILE", "EINTR", "EDQUOT"),
    "read": ("EIO", "ESTALE", "EINTR", "short"), "write": ("EIO", "ENOSPC", "EDQUOT", "ESTALE", "EINTR", "short"), "list": (*READING[:3], "empty"),
    "sync": ("EIO", "ENOSPC", "ESTALE", "EINTR"), "close": ("EIO", "ENOSPC"), "rename": ("EIO", "ENOSPC", "ENOENT", "ESTALE", "EACCES"),
    "link": ("EIO", "ENOSPC", "EPERM", "ESTALE"), "mkdir": ("EIO", "ENOSPC", "EACCES", "ENOENT", "ESTALE"), "unlink": ("EIO", "EACCES", "ESTALE", "EBUSY"),
    "rmdir": ("EIO", "EACCES", "ENOTEMPTY"), "reserve": ("EIO", "ENOSPC", "EOPNOTSUPP", "EINTR"), "truncate": ("EIO", "ENOSPC", "EINTR"), "stat": READING,
    "touch": ("EIO", "ESTALE", "EACCES")}
CHANGING = ("create", "write", "rename", "link", "mkdir", "unlink", "rmdir", "reserve", "truncate")
ALL_ERRORS = "all"


@dataclass(frozen=True)
class Point:
    """The `times`-th call of `kind` on `path`. `action`: kill-before, kill-after (kill the job); lose-before, lose-after (kill the rank);
    stop (SIGTERM); short, empty, or the name of an errno."""
    scene: str
    kind: str
    path: str
    times: int
    action: str

    def __str__(self):
        return f"{self.scene} {self.kind} {self.path} {self.times} {self.action}"

    def sort(self):
        """Returns the column of this action in the table of results."""
        return self.action.split("-")[0] if self.action.startswith(("kill", "lose")) or self.action in ("stop", "short", "empty") else "error"

    def is_error(self):
        return self.sort() in ("error", "short", "empty")

    def words(self):
        """Returns the arguments of the injector."""
        action = {"stop": f"signal:{signal.SIGTERM.value}"}.get(self.action) or (f"fail:{getattr(errno, self.action)}" if self.sort() == "error" else self.action)
        return "--at", self.kind, self.path, str(self.times), action


def point_of(text):
    """Parses a point as printed by str()."""
    scene, kind, path, times, action = text.split()
    return Point(scene, kind, path, int(times), action)


def _kills(kind, ranks):
    if kind in CHANGING:
        yield from ("kill-before", "kill-after", "stop")
        if ranks > 1:
            yield "lose-before"
    elif kind not in ("stat", "touch"):  # these change no data, so a kill before them equals a kill after the previous call
        yield "kill-before"


def points_of(stage, seed, errors=None):
    """Returns every point of a scene. Each call fails with one error chosen by the seed, or with each error if `errors` is ALL_ERRORS."""
    times, points = Counter(), []
    rng = random.Random(f"{seed}/{stage.scene.name}")
    for kind, path in stage.calls:
        times[kind, path] += 1
        failures = ERRORS[kind] if errors == ALL_ERRORS else [rng.choice(ERRORS[kind])]
        points += [Point(stage.scene.name, kind, path, times[kind, path], action) for action in (*_kills(kind, stage.scene.ranks), *failures)]
    return points


def sample(points, count, seed):
    """Returns `count` points, or all if it is None, in random order, so that any first part of them is also a random sample."""
    return random.Random(seed).sample(points, len(points) if count is None else min(count, len(points)))
