#!/usr/bin/python3
"""Names from files cannot send commands to a terminal or a spreadsheet, only the user has access to the shared memory of a run, and
secrets of the environment do not appear in files and messages."""
import csv
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.program_runs import *  # noqa: E402,F403
from fakes.object_store import Store  # noqa: E402
from runs.plain_scripts import plain_config  # noqa: E402
from runs.trouble import module_of  # noqa: E402
import h5py  # noqa: E402

TITLE, CSI, REORDERING = "\x1b]0;seen\x07", "\u009b31m", "\u202e"  # sets the window title, sets a color (C1 code), reverses the text direction
SHORT, LONG = {"epochs": 2}, {"epochs": 100000, "step_pause": 0.01}
HOSTILE = f"a{TITLE}b{CSI}c{REORDERING}d"
COMMANDS = [["result"], ["result", "--json"], ["top", "--once"], ["inspect"], ["inspect", "--json"], ["verify"], ["plot"]]


def check_harmless(job, what):
    for name, text in (("output", job.out), ("messages", job.err)):
        bad = sorted({ascii(character) for character in text
                      if character in REORDERING + "\u009b\x7f\x1b\x07" or (character < " " and character not in "\n\t")})
        check(not bad, f"the {name} of {what} contain {', '.join(bad)}: {ascii(text[:2000])}", job)


def texts_in(value, path=()):
    """Yields the path of each string in a JSON value, both keys and values."""
    if isinstance(value, str):
        yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(value, dict):
            yield (*path, ("key", key))
        yield from texts_in(inner, (*path, key))


def with_hostile(value, path):
    """Returns a copy in which HOSTILE is appended to the string at `path`."""
    if not path:
        return value + HOSTILE
    step, rest = path[0], path[1:]
    copy = list(value) if isinstance(value, list) else dict(value)
    if isinstance(step, tuple):
        return {(key + HOSTILE if key == step[1] else key): inner for key, inner in copy.items()}
    copy[step] = with_hostile(copy[step], rest)
    return copy


@test
def control_characters_in_a_run_directory_are_not_printed():
    config = linear_config(scratch(), "run", SHORT)
    check_exit(run_ranks(1, config), FINISHED)
    run_dir = run_dir_of(config)
    manifest = sorted(run_dir.glob("checkpoint_*/manifest.json"))[-1]
    for file in (run_dir / "run.json", run_dir / "attempts/000001.json", manifest):
        text = file.read_text()
        record = json.loads(text)
        changed = [with_hostile(record, path) for path in texts_in(record)]
        check(len(changed) > 10, f"{file.name} has only {len(changed)} strings")
        for number, each in enumerate(changed):
            file.write_text(json.dumps(each, ensure_ascii=number % 2 == 0))
            commands = [each for each in COMMANDS if (file == manifest) == (each[0] in ("inspect", "verify"))]
            command = commands[number % len(commands)]
            where = manifest.parent if file == manifest else run_dir
            check_harmless(run([TRAINRT, *command, where]), f"{' '.join(command)} with a changed {file.name}, string {number}")
        file.write_text(text)
    (run_dir / "error.txt").write_text(HOSTILE)
    for command in COMMANDS[:3]:
        check_harmless(run([TRAINRT, *command, run_dir]), f"{command[0]} with error.txt")


@test
def control_characters_in_names_of_files_and_fields_are_not_printed():
    folder = scratch()
    table = folder / f"{HOSTILE.replace('/', '')}.csv"
    table.write_text(f"x,{HOSTILE}\n1,{HOSTILE}\n2,{HOSTILE}\n")
    with h5py.File(folder / "a.h5", "w") as file:
        file[HOSTILE] = [1.0, 2.0]
    commands = [["data", "inspect", table], ["data", "inspect", table, "--json"], ["data", "inspect", folder / "a.h5"],
                ["data", "convert", table, "-o", folder / f"{HOSTILE}.jsonl"], ["data", "inspect", folder / HOSTILE],
                ["result", folder / HOSTILE], ["inspect", folder / HOSTILE], ["check", "--config", folder / f"{HOSTILE}.ini"],
                ["run", f"--{HOSTILE}=1"], [HOSTILE], ["help", HOSTILE], ["list", HOSTILE], ["top", HOSTILE], ["verify", table],
                ["export", folder / HOSTILE, "-o", "a.npz"], ["predict", folder / HOSTILE, "-o", "a.npz"],
                ["tune", "status", folder / HOSTILE], ["report", folder / HOSTILE, "-o", "a.html"], ["plot", folder / HOSTILE]]
    for command in commands:
        check_harmless(run([TRAINRT, *command], cwd=folder), ascii(command))
    config = linear_config(folder, "run", SHORT, None, None)
    job = run_ranks(1, config, f"--run.tags={HOSTILE}", f"--loop.{HOSTILE}=1")
    check_harmless(job, "a run")


@test
def spreadsheet_disables_formulas_in_a_csv_file_and_without_it_values_stay_exact():
    folder = scratch()
    formulas = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "'=1", "-1.5", "plain", "=HYPERLINK(\"http://a\",\"b\")"]
    table = folder / "in.csv"
    with open(table, "w", newline="") as file:
        csv.writer(file).writerows([["x", "=text"], *[[-1.5 - row, each] for row, each in enumerate(formulas)]])

    def converted(*words):
        output = folder / f"out{len(list(folder.iterdir()))}.csv"
        check_exit(run([TRAINRT, "data", "convert", table, "-o", output, *words]), FINISHED)
        with open(output, newline="") as file:
            return list(csv.reader(file))

    numbers = [str(-1.5 - row) for row in range(len(formulas))]
    exact = converted()
    equal((exact[0], [row[0] for row in exact[1:]], [row[1] for row in exact[1:]]), (["x", "=text"], numbers, formulas), "the exact table")
    guarded = converted("--spreadsheet")
    equal((guarded[0], [row[0] for row in guarded[1:]]), (["x", "'=text"], numbers), "column names and numbers")
    equal([row[1] for row in guarded[1:]], ["'" + each if each not in ("-1.5", "plain") else each for each in formulas], "strings")
    job = run([TRAINRT, "data", "convert", table, "-o", folder / "out.jsonl", "--spreadsheet"])
    check_exit(job, USAGE)
    check("--spreadsheet applies only to .csv files" in job.err, "the message is missing", job)


@test
def only_the_user_has_access_to_the_shared_memory_of_mpi():
    """By default, UCX gives the group access to its System V segments."""
    config = linear_config(scratch(), "run", LONG)
    job = Job(["env", "UCX_TLS=self,sysv", *ranks_command(2, config)])
    pids = set(job.wait_for_ranks(2).values())
    wait_for_reports(run_dir_of(config), 1, job)
    rows = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()]
    perms, creator = rows[0].index("perms"), rows[0].index("cpid")
    of_run = [int(row[perms], 8) & 0o777 for row in rows[1:] if int(row[creator]) in pids]
    check(of_run, f"the ranks have no System V segments: {rows}", job)
    equal(sorted(set(of_run)), [0o600], "permissions of the segments", job)
    job.end()


def sleepers(job):
    found = set()
    for pid in processes_with(job.token):
        try:
            found |= {pid} if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep\x00") else set()
        except OSError:
            pass  # the process has ended
    return found


@test
def a_process_in_its_own_session_ends_with_a_finished_or_killed_run():
    text = "import subprocess, time\nleft = subprocess.Popen(['sleep', '300'], start_new_session=True)\nctx.report({'pid': left.pid})\n"
    for end in ("", "time.sleep(300)\n"):
        config = program_config(python(text + end))
        job = start_ranks(2, config)
        wait_for_reports(run_dir_of(config), 1, job, 60)
        if end:
            equal(len(sleepers(job)), 2, "processes in their own session", job)
            for pid in job.ranks().values():
                os.kill(pid, signal.SIGKILL)
        else:
            equal(job.process.wait(60), FINISHED, "exit code", job)
        wait_until(lambda: not sleepers(job), 10, "the processes in their own session to end", job)
        job.end()


# ---- secrets of the environment ---------------------------------------------------------------------------------------------

VARIABLES = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "WANDB_API_KEY", "HF_TOKEN", "GITHUB_TOKEN", "DB_PASSWORD",
             "OPENAI_API_KEY", "MY_SECRET", "SLURM_JWT_TOKEN", "GOOGLE_API_KEY", "MYSQL_PWD_PASSWORD"]
SECRETS = {name: f"hidden{number:02}x{name[::-1].lower()}" for number, name in enumerate(VARIABLES)}
PROXY = "http://user:hiddenproxyword@127.0.0.1:9"
FAILING = "for i in range(4):\n    ctx.report({'loss': i})\nraise ValueError('as planned')\n"


def check_no_secret(folder, jobs, known=()):
    values = [*SECRETS.values(), "hiddenproxyword", *known]
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            found = [value for value in values if value.encode() in path.read_bytes()]
            check(not found, f"{path.relative_to(folder)} contains {found}", jobs[0])
    for job in jobs:
        found = [value for value in values if value in job.out + job.err]
        check(not found, f"the output of {' '.join(map(str, job.command))} contains {found}", job)


@test
def files_and_messages_contain_no_secret_of_the_environment():
    folder = scratch()
    environment = {**SECRETS, "http_proxy": PROXY, "https_proxy": PROXY}
    quiet = linear_config(folder, "run", SHORT)
    failing = program_config(python(FAILING), "failing", folder=folder)
    crashing = write_config(folder / "crashing.ini", {"run": {"name": "crashing", "storage_path": folder / "runs"},
                                                      "train": {"library": module_of("trouble")}, "loop": {"trouble": "segfault"}})
    store = Store(token="hiddenstoretoken")
    store.buckets["mirror"] = {}
    store.fail("503", times=3, method="PUT")
    mirrored = linear_config(folder, "mirrored", SHORT, checkpoint={"mirror": "s3://mirror/runs"})
    shown = plain_config("/bin/sh -c 'echo $HOROVOD_GLOO_RENDEZVOUS_ADDR $DMLC_TASK_ID $TRAINRT_PROGRAM_ID > {out}/start'", "shown")
    jobs = [Job(ranks_command(2, config), env=environment) for config in (quiet, failing, crashing, shown[0])]
    jobs.append(Job(ranks_command(2, mirrored), env={**environment, **store.environment()}))
    for job in jobs:
        job.code = job.wait(60)
    store.end()
    check_exit(jobs[0], FINISHED)
    check_exit(jobs[4], FINISHED)
    check(store.buckets["mirror"], "the mirror is empty", jobs[4])
    check(jobs[1].code == FAILED and jobs[2].code != FINISHED, "a run that should fail did not", jobs[1])
    of_start = re.findall(r"[0-9a-f]{32}", (shown[1] / "start").read_text())
    equal(len(of_start), 3, "secrets of a start")
    check_no_secret(shown[0].parent / "runs", [jobs[3]], of_start)
    runs = [folder / "runs" / name for name in ("failing", "crashing")] + [run_dir_of(quiet)]
    tools = [["result", runs[0]], ["result", "--json", runs[2]], ["report", runs[2], "-o", folder / "page.html"], ["top", "--once", runs[0]],
             ["check", "--config", failing], ["doctor", "--json"], ["doctor", "--", PYTHON, "-c", "pass"]]
    jobs += [run([TRAINRT, *words], env=environment) for words in tools]
    check_no_secret(folder, jobs, [store.secret, store.token])


main()
