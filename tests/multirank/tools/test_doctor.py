#!/usr/bin/python3
"""`trainrt doctor` prints one line per check, with advice for each problem and the ranks and hosts that have it, exits with 70 if it found an
error, and leaves no files. With a program it also checks the requirements of the program."""
import json
import os
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from harness import *  # noqa: E402,F403

def checks_in_sources(needs_program):
    """Returns the names of the checks in the source code that need a program, or of those that do not."""
    texts = [path.read_text() for path in (SOURCE / "src/cli/doctor/checks").glob("*.cpp")]
    return {name for text in texts if (".needs_program = true" in text) == needs_program for name in re.findall(r'^    \{"(\w+)", "', text, re.M)}


OF_PROGRAM = checks_in_sources(True)
CHECKS = checks_in_sources(False)
PYTHON = "/usr/bin/python3"
GRADES = ("ok", "warning", "error")


def doctor(ranks, *words, code=FINISHED, timeout=60, before=(), **options):
    """Runs `trainrt doctor`; without a launcher if `ranks` is 0."""
    command = [TRAINRT, "doctor", *words]
    if ranks > 0:
        if MPIEXEC is None:
            skip("mpiexec.mpich is not installed (package mpich)")
        command = [*before, MPIEXEC, "-n", ranks, *command]
    job = run(command, timeout=timeout, **options)
    check_exit(job, code)
    return job


def in_folders(*folders):
    """Runs one rank per folder; /proc/self/cwd differs between them, like a path on nodes with different mounts."""
    if MPIEXEC is None:
        skip("mpiexec.mpich is not installed (package mpich)")
    parts = [["-n", "1", "-wdir", folder, TRAINRT, "doctor", "--json", "--storage", "/proc/self/cwd"] for folder in folders]
    command = [MPIEXEC] + [word for number, part in enumerate(parts) for word in ([":"] if number else []) + part]
    job = run(command, timeout=60)
    check_exit(job, FAILED)
    return examined(job)


def examined(job):
    """Returns the checks of a --json report by name, and checks that the report is well-formed."""
    report = json.loads(job.out)
    checks = {found["name"]: found for found in report["checks"]}
    equal(len(checks), len(report["checks"]), "names of checks", job)
    for name, found in checks.items():
        check(found["grade"] in GRADES, f"{name} has the grade {found['grade']!r}", job)
        check(len(found["text"]) > 5, f"{name} has no text", job)
        check(found["grade"] == "ok" or len(found["advice"]) > 5, f"{name} has no advice", job)
    worst = max((found["grade"] for found in checks.values()), key=GRADES.index)
    equal(report["grade"], worst, "grade of the report", job)
    return checks


def check_empty(folder):
    equal(os.listdir(folder), [], f"files in {folder}")


def every_check_has_a_line(ranks):
    folder = scratch()
    job = doctor(ranks, "--storage", folder)
    lines = job.out.splitlines()
    named = {line.split()[1] for line in lines[:-1]}
    equal(named, CHECKS, "checks with a line", job)
    equal(len(lines) - 1, len(CHECKS), "number of lines without the summary", job)
    check(all(line.split()[0] in GRADES for line in lines[:-1]), "a line does not begin with a grade", job)
    check(re.fullmatch(r"\d+ ok, \d+ warnings?, 0 errors: .*a run can start here.*", lines[-1]), "the last line is not a summary", job)
    check_empty(folder)


for count in (0, 1, 2):
    add_test(f"every_check_has_a_line_on_{count}_ranks" if count else "every_check_has_a_line_without_a_launcher", every_check_has_a_line, count)


@test
def json_holds_every_check_and_its_figures():
    folder = scratch()
    job = doctor(2, "--json", "--storage", folder)
    checks = examined(job)
    equal(set(checks), CHECKS, "checks", job)
    report = json.loads(job.out)
    equal((report["ranks"], report["nodes"], report["storage"]), (2, 1, str(folder)), "ranks, nodes and storage", job)
    equal(checks["ranks"]["figures"]["most_ranks_a_node"], 2, "ranks per node", job)
    node, = checks["all_reduce_in_node"]["figures"]["nodes"]
    check(node["bytes_per_second"] > 1e6 and 1e-8 < node["latency_seconds"] < 1, f"unlikely: {node}", job)
    check(checks["storage_rate"]["figures"]["bytes_per_second"] > 1e5, f"unlikely: {checks['storage_rate']}", job)
    equal(checks["storage"]["figures"]["ranks_in_trouble"], 0, "ranks that cannot write", job)
    for library in ("mpi", "pmix", "hdf5"):
        figures = checks[library]["figures"]
        check(re.search(r"\d+\.\d+", figures["compiled"]) and re.search(r"\d+\.\d+", figures["loaded"]), f"no version in {figures}", job)
        check(library == "hdf5" or figures["path"].startswith("/"), f"no file in {figures}", job)
    check_empty(folder)


@test
def a_missing_folder_is_one_error_for_all_ranks():
    job = doctor(2, "--json", "--storage", scratch() / "missing", code=FAILED)
    found = examined(job)["storage"]
    equal(found["grade"], "error", "grade of storage", job)
    check("ranks 0, 1 on" in found["text"], "the text does not name both ranks together", job)
    equal(found["text"].count("does not exist"), 1, "number of descriptions", job)


@test
def a_rank_that_cannot_write_the_storage_is_named_with_its_host():
    folder = scratch()
    checks = in_folders(folder, "/sys")  # not even root can create files in /sys
    text = checks["storage"]["text"]
    equal(checks["storage"]["grade"], "error", "grade of storage")
    check(f"rank 1 on {socket.gethostname()}: cannot create" in text, f"rank 1 is not named: {text}")
    check("rank 0 on" not in text, f"rank 0 has no problem: {text}")
    equal(checks["storage_rate"]["grade"], "ok", "grade of storage_rate, which only rank 0 performs")
    check_empty(folder)


@test
def different_folders_with_the_same_path_are_an_error():
    folders = scratch(), scratch()
    found = in_folders(*folders)["storage"]
    equal(found["grade"], "error", "grade of storage")
    check("rank 1 on" in found["text"] and "does not see" in found["text"], f"the text does not name the rank: {found['text']}")
    for folder in folders:
        check_empty(folder)


@test
def oversubscribed_cores_are_a_warning():
    job = doctor(2, "--json", "--storage", scratch(), before=("taskset", "-c", "0"))
    found = examined(job)["cores"]
    equal(found["grade"], "warning", "grade of cores", job)
    check("2 ranks share 1 core " in found["text"], f"text: {found['text']}", job)
    job = doctor(1, "--storage", scratch(), env={"OMP_NUM_THREADS": 500})
    line, = [line for line in job.out.splitlines() if line.split()[1] == "cores"]
    check(line.startswith("warning") and "OMP_NUM_THREADS is 500" in line and "set OMP_NUM_THREADS to" in line, f"the line is: {line}", job)


@test
def the_storage_of_a_config_is_checked_and_no_folder_is_created():
    folder = scratch()
    config = linear_config(folder, "run", storage=folder / "not" / "yet")
    job = doctor(2, "--json", "--config", config)
    equal(json.loads(job.out)["storage"], str(folder), "the existing part of the storage path", job)
    equal(sorted(os.listdir(folder)), ["run.ini"], "files in the folder", job)


@test
def invalid_arguments_and_configs_are_reported_once():
    config = linear_config(scratch(), "run", checkpoint={"num_to_kep": 1})
    for words in (["--storag", "."], ["word"], ["--config", config], ["--run.seed=1"], ["--"], ["--run.nam=x", "--", "true"]):
        job = doctor(2, *words, code=USAGE)
        equal(job.err.count("error:"), 1, f"number of messages for {words}", job)
        equal(job.out, "", f"findings for {words}", job)


@test
def ranks_that_cannot_connect_are_an_error_with_advice():
    job = doctor(0, env={"PMI_SIZE": 3}, code=FAILED)
    check(job.out.startswith("error    launcher") and "PMI_SIZE=3 requests 3 ranks" in job.out and "mpiexec" in job.out, "the error is not reported", job)
    job = doctor(0, "--json", env={"SLURM_JOB_ID": 17, "SLURM_NTASKS": 4}, code=FAILED)
    found = examined(job)["launcher"]
    check(found["grade"] == "error" and "start it with srun" in found["text"], f"finding: {found}", job)


@test
def files_of_a_killed_doctor_are_removed_by_the_next_one():
    folder = scratch()
    ended = run(["true"]).process.pid
    for name in ("trainrt-doctor-rate", "somebody"):
        (folder / f".{name}.tmp.{socket.gethostname()}.{ended}").touch()
    doctor(1, "--storage", folder)
    equal(os.listdir(folder), [f".somebody.tmp.{socket.gethostname()}.{ended}"], "remaining files")


@test
def a_signal_to_one_rank_stops_all_ranks_and_leaves_no_files():
    folder = scratch()
    job = Job([MPIEXEC, "-n", "2", TRAINRT, "doctor", "--storage", folder])
    job.wait_for("ok +launcher")
    kill([job.wait_for_ranks(2)[1]], signal.SIGTERM)
    job.code = job.wait(30)
    check_exit(job, STOPPED)
    equal(job.err.count("stopped by SIGTERM"), 1, "number of messages", job)
    check_empty(folder)


def hanging_rank_ends_the_doctor(when, limits, words):
    """Stops rank 1, like a process that waits for a dead file system; rank 0 must report it within the limit."""
    config = linear_config(scratch(), "run", failure=limits)
    job = Job([MPIEXEC, "-n", "2", TRAINRT, "doctor", "--config", config])
    if when == "midway":
        job.wait_for("ok +launcher")
    kill([job.wait_for_ranks(2)[1]], signal.SIGSTOP)
    code = job.wait(45)
    check(code not in (FINISHED, STOPPED), f"exit {code}", job)
    check(re.search(words, job.out + job.err), f"{words!r} is not reported", job)


add_test("a_rank_that_hangs_at_the_start_ends_the_doctor", hanging_rank_ends_the_doctor, "start", {"launch_timeout": 2},
         "the start of communication has not finished")
add_test("a_rank_that_hangs_midway_ends_the_doctor", hanging_rank_ends_the_doctor, "midway", {"collective_timeout": 3}, "error .*waited 3|has not finished")


@test
def a_small_or_read_only_dev_shm_is_a_warning_with_advice():
    for options, words in (("size=64k", "/dev/shm has 0.1 MiB free"), ("ro", "/dev/shm cannot be written")):
        checks = examined(doctor(2, "--json", before=own_mount("/dev/shm", options)))
        found = checks["shared_memory"]
        equal(found["grade"], "warning", f"grade with {options}")
        check(words in found["text"] and "--shm-size" in found["advice"], f"unlikely: {found}")


# ---- with a program ----------------------------------------------------------------------------------------------------------


def of_program(*words, ranks=2, code=FINISHED, **options):
    """Runs `doctor --json -- WORDS` in a scratch folder with train.py; returns the checks and the job."""
    job = doctor(ranks, "--json", "--storage", scratch(), "--", *words, code=code, cwd=options.pop("cwd", None) or program_folder(), **options)
    return examined(job), job


def program_folder(source="import json\nprint(json)\n"):
    folder = scratch()
    (folder / "train.py").write_text(source)
    return folder


def unlike_ranks(*environments, words, folder, code=FINISHED):
    """Runs one rank per dict of environment variables."""
    if MPIEXEC is None:
        skip("mpiexec.mpich is not installed (package mpich)")
    command = [MPIEXEC]
    for number, variables in enumerate(environments):
        command += [":"] if number else []
        command += ["-n", "1", "env", *(f"{name}={value}" for name, value in variables.items()), TRAINRT, "doctor", "--json", "--", *words]
    job = run(command, timeout=60, cwd=folder)
    check_exit(job, code)
    return examined(job)


def check_grade(checks, name, grade, *words):
    found = checks[name]
    equal(found["grade"], grade, f"grade of {name}: {found}")
    for word in words:
        check(word in found["text"] + found["advice"], f"{name} lacks {word!r}: {found}")


@test
def a_program_on_the_command_line_or_in_a_config_is_checked_and_not_started():
    folder = program_folder("open('started', 'w')\n")
    checks, _ = of_program(PYTHON, "train.py", "--lr", "--json", cwd=folder)
    equal(set(checks), CHECKS | OF_PROGRAM, "checks of a command line")
    check_grade(checks, "program", "ok", "train.py", "the same on all ranks")
    check_grade(checks, "program_address", "ok", "127.0.0.1")
    check_grade(checks, "python", "ok", PYTHON)
    config = write_config(folder / "run.ini", {"run": {"name": "run", "storage_path": folder / "runs"}, "train": {"program": f"{PYTHON} train.py"}})
    equal(set(examined(doctor(1, "--json", "--config", config, cwd=folder))), CHECKS | OF_PROGRAM, "checks of a config")
    equal(sorted(os.listdir(folder)), ["run.ini", "train.py"], "remaining files")


@test
def a_missing_program_or_script_is_an_error_that_names_it():
    checks, job = of_program("no-such-program", code=FAILED)
    check_grade(checks, "program", "error", "ranks 0, 1 on", "executable 'no-such-program' not found")
    check_grade(checks, "python", "ok")
    checks, job = of_program(PYTHON, "absent.py", code=FAILED)
    check_grade(checks, "program", "error", "'absent.py'", "No such file")
    job = doctor(1, "--", "./train.py", code=FAILED, cwd=program_folder())
    line, = [line for line in job.out.splitlines() if line.split()[1] == "program"]
    check(line.startswith("error") and "'./train.py'" in line, f"not executable: {line}", job)


@test
def a_program_that_is_missing_or_different_on_one_rank_is_reported_with_the_rank():
    folder = program_folder()
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "tool").write_text("#!/bin/sh\n")
        (folder / name / "tool").chmod(0o755)
    paths = [{"PATH": f"{folder / name}:/usr/bin:/bin"} for name in ("a", "b", "c")]
    checks = unlike_ranks(paths[0], paths[1], words=["tool"], folder=folder)
    check_grade(checks, "program", "warning", "rank 1 on", str(folder / "b" / "tool"))
    checks = unlike_ranks(paths[0], paths[2], words=["tool"], folder=folder, code=FAILED)
    check_grade(checks, "program", "error", f"rank 1 on {socket.gethostname()}: executable 'tool' not found on the PATH")


@test
def a_reader_that_needs_only_the_first_lines_causes_no_message():
    job = run(["sh", "-c", '"$@" | head -n 1', "sh", TRAINRT, "doctor"], cwd=scratch())
    check_exit(job, FINISHED)
    check("ok" in job.out and "could not be written" not in job.err, "the closed pipe is reported", job)


@test
def missing_modules_that_the_script_imports_are_named():
    folder = program_folder("import os, absent_module.inner\nfrom helper import x\nimport trainrt\ntry:\n    import optional_module\nexcept ImportError:\n    pass\n")
    (folder / "helper.py").write_text("raise SystemExit('this runs')\n")
    checks, _ = of_program(PYTHON, "train.py", ranks=1, code=FAILED, cwd=folder)
    check_grade(checks, "python", "error", "imports absent_module, which")
    check(re.fullmatch(r"3\.\d+\.\d+", checks["python"]["figures"]["version"]), f"no version: {checks['python']}")
    checks, _ = of_program(PYTHON, "train.py", ranks=1, cwd=program_folder("import sys\nsys.path.insert(0, 'lib')\nimport absent_module\n"))
    check_grade(checks, "python", "ok")
    checks, _ = of_program(PYTHON, "train.py", ranks=1, code=FAILED, cwd=program_folder("print 'old'\n"))
    check_grade(checks, "python", "error", "train.py is not valid in Python 3")
    broken = scratch() / "python3"
    broken.write_text("#!/bin/sh\necho this python is broken >&2\nexit 3\n")
    broken.chmod(0o755)
    checks, _ = of_program(broken, "train.py", ranks=1, code=FAILED)
    check_grade(checks, "python", "error", "exit code 3", "this python is broken")


@test
def a_stale_lock_of_a_torch_extension_is_named_with_its_path():
    folder = scratch()
    lock = folder / "py311_cpu" / "fused_adam" / "lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    env = {"TORCH_EXTENSIONS_DIR": folder}
    checks, _ = of_program("true", env=env)
    check_grade(checks, "stale_locks", "ok")
    os.utime(lock, (time.time() - 3 * 3600,) * 2)
    checks, _ = of_program("true", env=env)
    check_grade(checks, "stale_locks", "warning", str(lock), f"rm {lock}")
    equal(checks["stale_locks"]["text"].count(str(lock)), 1, "number of times that the lock is named")


@test
def a_proxy_low_limits_and_a_cpu_shared_by_all_ranks_are_warnings():
    proxy = {"http_proxy": "http://me:secret@proxy:3128", "no_proxy": "localhost"}
    checks, job = of_program("true", env=proxy, before=("prlimit", "--nofile=1024:8192", "--core=0", "taskset", "-c", "0"))
    check_grade(checks, "proxy", "warning", "http_proxy = http://proxy:3128", "127.0.0.1", "no_proxy")
    check("secret" not in job.out, "the password is shown", job)
    check_grade(checks, "limits", "warning", "1024 open files (ulimit -n, ulimit -n 8192 is allowed)")
    check_grade(checks, "cores", "warning", "2 ranks share 1 core", "--cpus-per-task")
    env = {"http_proxy": "http://proxy:3128", "no_proxy": "127.0.0.0/8"}
    checks, _ = of_program("true", env=env, before=("prlimit", "--nofile=8192:8192", "--nproc=8192:8192"))
    check_grade(checks, "proxy", "ok")
    check_grade(checks, "limits", "ok", "8192 open files")


main()
