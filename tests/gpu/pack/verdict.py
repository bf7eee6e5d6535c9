#!/usr/bin/env python3
"""Decides whether a rehearsal passes, from its two results.json: verdict.py SKIPPED TRIED. Prints a table of the parts. Exits with 1 if a
part failed, was stopped or ended without a row, or if a part ran in SKIPPED, the results of the run without a GPU."""
import json
import sys
from collections import Counter
from pathlib import Path


def complaints_about_skipped(parts):
    """Lists the parts that were not skipped although there is no GPU."""
    return [f"{name}: '{part['end']}', but there is no GPU" for name, part in parts.items() if not part["end"].startswith("skipped: no GPU")]


def complaints_about_tried(parts):
    found = []
    for name, part in parts.items():
        failed = [row for row in part["rows"] if row["kind"] == "failed"]
        found += [f"{name}: {row['name']}: {row.get('why', 'failed')}" for row in failed]
        if part["end"] != "done" and not failed:
            found.append(f"{name}: {part['end']}")
        elif not part["rows"]:
            found.append(f"{name}: it printed no result")
    return found


def table_of(parts):
    lines = [f"{'part':<12} {'end':<10} {'ok':>4} {'skipped':>8} {'figures':>8} {'failed':>7} {'seconds':>8}"]
    for name, part in parts.items():
        count = Counter(row["kind"] for row in part["rows"])
        end = part["end"].split(":")[0].split(" ")[0]
        lines.append(f"{name:<12} {end:<10} {count['ok']:>4} {count['skipped']:>8} {count['figure']:>8} {count['failed']:>7} {part['seconds']:>8.0f}")
    return "\n".join(lines)


def main():
    skipped, tried = (json.loads(Path(path).read_text())["parts"] for path in sys.argv[1:3])
    complaints = complaints_about_skipped(skipped) + complaints_about_tried(tried)
    if not skipped or not tried:
        complaints.append("no part ran")
    print(table_of(tried))
    for complaint in complaints:
        print(f"FAILED: {complaint}")
    print("the folder runs in a clean root" if not complaints else "the folder does not pass")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
