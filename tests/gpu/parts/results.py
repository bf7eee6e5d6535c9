"""Turns the output of the parts into rows of tables, and writes them as text and JSON. run_parts.py writes them again after each part."""
import json
import re
import time

KEPT_LOG_BYTES = 8 << 20

_ROWS = (
    ("figure", re.compile(r"^figure (?P<name>.+?) +(?P<value>-?[\d.]+(?:e[+-]?\d+)?) (?P<unit>\S*)$")),
    ("figure", re.compile(r"^# (?P<name>\w+): median (?P<value>-?[\d.]+(?:e[+-]?\d+)?) of .*$")),
    ("claim", re.compile(r"^(?:claim|ratio) (?P<name>.+?) +(?P<value>-?[\d.]+(?:e[+-]?\d+)?) (?P<relation>[<>]=) (?P<target>[\d.]+)(?: ok| short)?$")),
    ("ok", re.compile(r"^ok (?P<name>.+?) \((?P<seconds>[\d.]+) s\)$")),
    ("failed", re.compile(r"^FAILED (?P<name>[^:]+)(?:: (?P<why>.*))?$")),
    ("skipped", re.compile(r"^ *skipped: (?P<name>[^:]+)(?:: (?P<why>.*))?$")),
    ("note", re.compile(r"^note (?P<name>.+)$")),
)


def rows_of(text):
    """Returns the rows in the output of a part. Other lines appear only in the log."""
    rows = []
    for line in text.splitlines():
        for kind, pattern in _ROWS:
            if match := pattern.match(line):
                row = {"kind": kind, **{key: value for key, value in match.groupdict().items() if value is not None}}
                if kind == "claim":
                    value, target = float(row["value"]), float(row["target"])
                    row["met"] = value <= target if row["relation"] == "<=" else value >= target
                rows.append(row)
                break
    return rows


def _name(row):
    name = row["name"].replace("|", "/").strip()
    return name if row["kind"] == "note" else name.replace("_", " ")


def _cell(row):
    kind, why = row["kind"], row.get("why", "").replace("|", "/")[:300]
    if kind == "figure":
        return f"{float(row['value']):.4g} {row.get('unit', '')}".strip()
    if kind == "claim":
        return f"{float(row['value']):.4g} ({'met' if row['met'] else '**short**'}: {row['relation']} {row['target']})"
    return {"ok": f"ok ({row.get('seconds')} s)", "failed": f"**failed**: {why}", "skipped": f"skipped: {why}", "note": ""}[kind]


def table_of(machine, parts):
    """Returns a section in Markdown with one table for each part."""
    gpu = machine["gpus"][0] if machine["gpus"] else {}
    lines = [f"## {time.strftime('%Y-%m-%d')}: {gpu.get('name', 'no GPU')}", "",
             f"Driver {gpu.get('driver_version', '-')}, PyTorch {machine.get('torch')}, NCCL {machine.get('nccl', '-')}, {machine['system']}, "
             f"kernel {machine['kernel']}, {machine['cores']} cores, {machine['memory_gib']} GiB. "
             f"Refused system calls: {', '.join(f'{name} ({why})' for name, why in machine['refused_system_calls'].items()) or 'none'}.", ""]
    for name, part in parts.items():
        lines += [f"### {name}: {part['end']}, {part['seconds']:.0f} s", ""]
        if part["rows"]:
            lines += ["| | |", "|---|---|"]
            lines += [f"| {_name(row)} | {_cell(row)} |" for row in part["rows"]]
            lines.append("")
    return "\n".join(lines)


def write(folder, machine, parts, logs):
    """Writes results.md, results.json and log.txt. `logs` is {name: text}; the last bytes of each text are kept."""
    (folder / "results.md").write_text(table_of(machine, parts))
    (folder / "results.json").write_text(json.dumps({"machine": machine, "parts": parts}, indent=1) + "\n")
    each = KEPT_LOG_BYTES // max(1, len(logs))
    (folder / "log.txt").write_text("".join(f"===== {name}\n{text[-each:]}\n" for name, text in logs.items()))
