"""Makes a run with many old checkpoints and attempts by hard links to its own files."""
import json
import os
import shutil
from pathlib import Path


def grow_old(run_dir, checkpoint_count, attempt_count, go_on):
    """Adds old checkpoints and attempts to the finished run in `run_dir`. `go_on()` must continue the run until it ends again. Afterwards the
newest checkpoint is the one that go_on() has made. The run has about `checkpoint_count` checkpoints, and at least `attempt_count` attempts."""
    run_dir = Path(run_dir)
    newest = sorted(run_dir.glob("checkpoint_*"))[-1]
    # The next checkpoint gets a higher number than this copy. The copy's manifest has another number, so the copy is skipped as damaged.
    taken = run_dir / f"checkpoint_{checkpoint_count - 2:06}"
    shutil.copytree(newest, taken)
    go_on()
    shutil.rmtree(taken)
    for index in range(checkpoint_count - 1):
        copy = run_dir / f"checkpoint_{index:06}"
        if not copy.exists():
            shutil.copytree(newest, copy, copy_function=os.link)
    records = sorted((run_dir / "attempts").glob("*.json"))
    last = json.loads(records[-1].read_text())
    for number in range(len(records) + 1, attempt_count + 1):
        (run_dir / f"attempts/{number:06}.json").write_text(json.dumps({**last, "attempt": number}))
