#!/usr/bin/python3
"""Runs the fuzz targets, tests/fuzz/*.cpp: readers of files of a run, data files, configs, command lines and messages of programs get random
input and must keep their contracts. The targets are built in BUILD-fuzz by clang 16 or 19 with libFuzzer, AddressSanitizer and UBSan.

  fuzz.py BUILD [--seed N] [--time SECONDS] [--target NAME]

--time is divided among all targets, two of which run at once. A finding is printed with its input in base64 and the command that repeats it."""
import argparse
import base64
import re
import resource
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import BUILD, SOURCE, scratch  # noqa: E402

# The first version that is installed. Versions older than 16 lack features that the code uses.
VERSION = next((version for version in ("16", "19") if shutil.which(f"clang++-{version}")), None)
COMPILER = f"clang++-{VERSION}"
FUZZERS = BUILD.with_name(BUILD.name + "-fuzz")
AT_ONCE = 2
LIMITS = ["-max_len=8192", "-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=256"]
STACK_BYTES = 1 << 20  # makes deep recursion overflow sooner


def without_compiler():
    """Returns the reason why the targets cannot be built, or None."""
    if VERSION is None:
        return "there is no clang 16 or 19 (packages clang-16 and libclang-rt-16-dev, or clang-19 and libclang-rt-19-dev)"
    trial = subprocess.run([COMPILER, "-fsanitize=fuzzer", "-x", "c", "-", "-o", "/dev/null"], text=True, capture_output=True,
                           input="int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return 0; }")
    return None if trial.returncode == 0 else f"{COMPILER} cannot link a fuzzer (package libclang-rt-{VERSION}-dev)"


def build():
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    for command in (["cmake", "-S", SOURCE / "tests/fuzz", "-B", FUZZERS, "-G", "Ninja", f"-DCMAKE_C_COMPILER=clang-{VERSION}",
                     f"-DCMAKE_CXX_COMPILER={COMPILER}", *launcher],
                    ["cmake", "--build", FUZZERS, "--parallel", str(AT_ONCE)]):
        done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{done.stdout[-4000:]}\nFAILED the fuzz targets do not build\n0 passed, 1 failed, 0 skipped")


class Outcome:
    """Result of one target."""

    def __init__(self, name, log, artifacts):
        self.name, self.log = name, log
        coverage = re.findall(r"cov: (\d+)", log)
        executions = re.search(r"stat::number_of_executed_units: (\d+)", log)
        self.edges = int(coverage[-1]) if coverage else 0
        self.executions = int(executions[1]) if executions else 0
        self.findings = sorted(artifacts.iterdir())

    def print_report(self, passed):
        print(f"{'ok' if passed else 'FAILED'} {self.name}: {self.executions} executions, {self.edges} edges", flush=True)
        if passed:
            return
        print("\n".join(f"    | {line}" for line in self.log.splitlines()[-40:]))
        for finding in self.findings:
            text = base64.b64encode(finding.read_bytes()).decode()
            print(f"  input ({finding.name.split('-')[0]}): {text}\n"
                  f"  repeat it: echo {text} | base64 -d > input && {FUZZERS}/fuzz_{self.name} -timeout=10 input")


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, STACK_BYTES))


def fuzz(name, seed, seconds):
    """Runs a target for `seconds`. Returns its outcome and whether it passed."""
    folder = scratch(name)
    for part in ("corpus", "findings"):
        (folder / part).mkdir(parents=True)
    program = FUZZERS / f"fuzz_{name}"
    subprocess.run([program, "--write-seeds", folder], check=True)
    command = [program, "-seed=%d" % seed, "-max_total_time=%d" % seconds, "-dict=words", "-artifact_prefix=findings/",
               "-print_final_stats=1", *LIMITS, "corpus", "seeds"]
    try:
        done = subprocess.run(command, cwd=folder, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              preexec_fn=limit_stack, timeout=seconds + 120)
        log, passed = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired as late:
        log, passed = (late.stdout or b"").decode(errors="replace") + "\nthe target did not end", False
    return Outcome(name, log, folder / "findings"), passed


def main():
    words = argparse.ArgumentParser(usage="fuzz.py BUILD [--seed N] [--time SECONDS] [--target NAME]")
    words.add_argument("build")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--time", type=float, default=25)
    words.add_argument("--target")
    chosen = words.parse_args()
    targets = sorted(path.stem for path in (SOURCE / "tests/fuzz").glob("*.cpp"))
    if chosen.target is not None and chosen.target not in targets:
        sys.exit(f"no target '{chosen.target}'; there are: {', '.join(targets)}")
    targets = [chosen.target] if chosen.target else targets
    if reason := without_compiler():
        print(f"skipped: {reason}\n0 passed, 0 failed, 1 skipped")
        return 0
    build()
    each_s = max(1, round(chosen.time * min(AT_ONCE, len(targets)) / len(targets)))
    print(f"fuzz: {len(targets)} targets, {each_s} s each, seed {chosen.seed}", flush=True)
    failed = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for outcome, passed in pool.map(lambda name: fuzz(name, chosen.seed, each_s), targets):
            outcome.print_report(passed)
            failed += not passed
    print(f"{len(targets) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
