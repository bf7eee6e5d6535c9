#!/usr/bin/python3
"""The examples of README.md and of the guides work: their blocks are run in the order of the pages, and of README's table of guides."""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.guides import *  # noqa: E402,F403
from runs.own_mpi import install_library  # noqa: E402
from tools.examples import commands_of  # noqa: E402
from tools.guides import GUIDES, all_blocks, name_of  # noqa: E402

PREFIX = None
TEMPLATES = {}
counts = {"run": 0, "not run": []}


def setup():
    global PREFIX
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built (package libtorch-dev)")
    PREFIX = install_library()
    folder = scratch("templates")
    material.npz(folder / "train.npz")
    (folder / "images.ini").write_text(material.IMAGES)
    material.sweep_config(folder / "sweep.ini")
    jobs = [Job([TRAINRT, "--config", "images.ini"], cwd=folder), Job([TRAINRT, "tune", "--config", "sweep.ini"], cwd=folder)]
    for job in jobs:
        job.code = job.wait(100)
        check_exit(job, FINISHED)
    TEMPLATES.update(run=folder / "runs/template", sweep=folder / "runs/sweep")


def in_reading_order():
    """Returns README.md, the guides in the order of its table, and the others."""
    text = (SOURCE / "README.md").read_text()
    linked = [(SOURCE / link).resolve() for link in re.findall(r"\]\(([\w/.-]+\.md)", text)]
    return list(dict.fromkeys([SOURCE / "README.md", *(path for path in linked if path in GUIDES), *GUIDES]))


def run_part(page, block, part, run_it):
    """Runs one block, or one command of a block of commands, and counts it."""
    begun = time.monotonic()
    try:
        run_it(part)
        counts["run"] += 1
        if time.monotonic() - begun > 5:
            print(f"{block.guide}:{block.line}: {time.monotonic() - begun:.1f} s")
        return []
    except NotRun as reason:
        counts["not run"].append(f"{block.guide}:{block.line}: {' '.join(part.split())[:60]}: {reason}")
        return []
    except Failure as failure:
        return [f"{block.guide}:{block.line}: {failure}"]


def blocks_work(path):
    page = Page(PREFIX, TEMPLATES)
    failures = []
    for block in all_blocks(path):
        if block.language in ("sh", "sbatch"):
            for command in commands_of(block.text):
                failures += run_part(page, block, command, page.command)
        elif block.language in ("ini", "cpp", "python", "json"):
            failures += run_part(page, block, block.text, getattr(page, block.language))
    page.finish()
    check(not failures, "\n" + "\n".join(failures))


for guide in in_reading_order():
    if all_blocks(guide):
        add_test(f"the_examples_of_{name_of(guide)}_work", blocks_work, guide)


@test
def wrong_examples_are_found():
    """Otherwise the tests above prove nothing."""
    page = Page(PREFIX, TEMPLATES)
    for run_it, text, words in (
            (page.command, "trainrt verify RUN_DIR --thread 2", "--thread"), (page.command, "srun -n8 trainrt --config train.ini --loop.epoch=2", "exit 64"),
            (page.command, "sbatch -N2 jobs/train.sbatch my.ini --run.nam=x", "exit"), (page.ini, "[data.train]\nsource = train.csv\nvectr = x\n", "exit 64"),
            (page.python, "import trainrt\nctx = trainrt.context()\nctx.rport({})\n", "rport"), (page.python, "print(unknown)\n", "unknown"),
            (page.cpp, "#include <trainrt/trainrt.hpp>\nvoid train(trainrt::Context& ctx) { ctx.rport({}); }\n", "rport")):
        raises(Failure, words, of=lambda: run_it(text))


@test
def most_examples_are_run():
    print(f"{counts['run']} blocks and commands were run, {len(counts['not run'])} were not:", *counts["not run"], sep="\n  ")
    if len(sys.argv) == 2:
        check(counts["run"] > len(counts["not run"]), "most examples are not run")


main(setup)
