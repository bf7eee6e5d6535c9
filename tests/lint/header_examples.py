#!/usr/bin/python3
"""The examples in the comments of public headers compile."""
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import *  # noqa: E402,F403

WITH_EXAMPLE = ("communicator", "context", "dataset", "state")


def examples_in(text):
    """Returns the C++ blocks in the comments of a header, without the comment marks."""
    blocks = re.findall(r"^// ```cpp\n((?://.*\n)*?)// ```$", text, re.M)
    return ["".join(line[3:] + "\n" if line.startswith("// ") else "\n" for line in block.splitlines()) for block in blocks]


@test
def examples_in_public_headers_compile():
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        skip("no C++ compiler")
    headers = sorted((SOURCE / "include/trainrt").glob("*.hpp"))
    examples = [(header.stem, code) for header in headers for code in examples_in(header.read_text())]
    equal(sorted({name for name, _ in examples}), list(WITH_EXAMPLE), "headers with an example")

    def errors_of(example):
        name, code = example
        unit = scratch() / f"{name}.cpp"
        unit.write_text(code)
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-I", str(SOURCE / "include"), str(unit)],
                              capture_output=True, text=True)
        return "" if done.returncode == 0 else f"{name}.hpp: {done.stderr[:500]}"

    with ThreadPoolExecutor(2) as pool:
        findings = [finding for finding in pool.map(errors_of, examples) if finding]
    check(not findings, "\n".join(findings))


main()
