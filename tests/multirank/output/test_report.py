#!/usr/bin/python3
"""The page that `trainrt report` writes is opened by a browser without a network."""
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs import sweeps  # noqa: E402
from tools import browser as chromium  # noqa: E402
from harness import *  # noqa: E402,F403

HOSTILE = "</script><script>alert(1)</script> it's \"x\" 🙂/&amp;"
PROGRAM = f"""
import math, os, time, trainrt
ctx, state = trainrt.context(), trainrt.State()
state["n"] = 0
ctx.restore(state)
while state["n"] < 40:
    state["n"] += 1
    n = state["n"]
    for _ in range(4):
        time.sleep(0.005)
        ctx.step()
    ctx.report({{"loss": 1 / n + ctx.config("lr", 0.0), "val/accuracy": n / 41 if n % 10 else math.nan, {HOSTILE!r}: n % 7, "epoch": n}})
    if n == 20 and ctx.config("dies", False):
        os.kill(os.getpid(), 9)
"""
DRAWN = "charts.size === document.querySelectorAll('figure[data-chart]').length"
_folder, _browser = [], []


def folder_of_runs():
    """Returns a folder with the runs `a`, which was killed and continued, and `b`. The test writes the records of step times and ranks."""
    if not _folder:
        folder = scratch()
        program = program_file(PROGRAM)
        for name, dies, lr in (("a", True, 0.5), ("b", False, 0.1), ("a", False, 0.3)):
            words = [TRAINRT, f"--run.name={name}", f"--run.storage_path={folder}/runs", "--checkpoint.score_attribute=loss", "--checkpoint.score_order=min",
                     "--failure.max_failures=0", f"--loop.dies={str(dies).lower()}", f"--loop.lr={lr}", "--metrics.sinks=none", "--metrics.detailed=true",
                     "--", "python3", program]
            check_exit(run(words, cwd=folder), FAILED if dies else FINISHED)
        make_up_logs(folder / "runs/a", 3)
        _folder.append(folder)
    return _folder[0]


def make_up_logs(run_dir, ranks):
    """Writes records of step times and ranks: rank 1 is slow, rank 0 has no record, and the last lines are incomplete."""
    (run_dir / "logs").mkdir(exist_ok=True)
    for own in (run_dir / "logs").glob("*-attempt-*.jsonl"):  # the records of the run
        own.unlink()
    with open(run_dir / "logs/steps-attempt-000001.jsonl", "w") as file:
        for i in range(12):
            own = [20000 + i + 5000 * (rank == 1) for rank in range(ranks)]
            file.write(json.dumps({"time": f"2026-11-24T20:17:{i:02}Z", "step": 10 * (i + 1), "steps": 10, "own_us": own, "waits_us": [5000, 0, 5000],
                                   "work_us": {"input": 1000, "forward": 19000}, "slow": {"rank": 1, "work": HOSTILE, "ratio": 1.25, "why": "clock 1.2 GHz"}}) + "\n")
        file.write('{"step": 130, "own_us": [1, 2')
    line = json.dumps({"rank": 1, "host": HOSTILE, "step": 120, "phase": "training", "cpu_s": 12.5, "peak": 3 << 20, "ended": False}).encode()
    (run_dir / "logs/ranks-attempt-000001.jsonl").write_bytes(b"\0" * 512 + line.ljust(511) + b"\n" + b'{"rank": 2, ')


def report(*words, code=FINISHED):
    job = run([TRAINRT, "report", *words], cwd=folder_of_runs())
    check_exit(job, code)
    return job


def page_of(*words, name="page.html", **options):
    """Returns the page of these runs in the browser, after its script has run."""
    report(*words, "-o", name, "--force")
    if not chromium.PROGRAM:
        skip("chromium is not installed (package chromium)")
    if not _browser:
        _browser.append(chromium.Browser(scratch()))
    page = _browser[0].open(folder_of_runs() / name, **options)
    if options.get("scripts", True):
        page.wait_until(DRAWN)
    return page


def close_browser():
    for each in _browser:
        each.__exit__()


def pixels(png):
    """Returns the width and height of a PNG with 8 bits per channel, and the number of different rows among every fourth row."""
    at, data = 8, b""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    check(depth == 8 and kind in (2, 6), f"unexpected PNG: color type {kind}, {depth} bits")
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        if name == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(data)
    stride = 1 + width * (3 if kind == 2 else 4)
    return width, height, len({raw[row * stride + 1:(row + 1) * stride] for row in range(0, height, 4)})


def metric_rows(page):
    """Returns the table of metrics as {metric: {title: exact value}}."""
    return page.value("""Object.fromEntries([...document.querySelectorAll('#metrics table[data-sortable] tbody tr')].map(row => [row.cells[0].textContent,
        Object.fromEntries([...row.cells].slice(1).map((cell, i) => [row.closest('table').tHead.rows[0].cells[i + 1].textContent,
                                                                     cell.querySelector('data') ? cell.querySelector('data').value : cell.textContent]))]))""")


@test
def the_attempts_fit_a_page_of_1200_pixels():
    run_dir = folder_of_runs() / "wide/attempts"
    if not run_dir.exists():
        shutil.copytree(folder_of_runs() / "runs/a", run_dir)
        for path in (run_dir / "attempts").glob("*.json"):
            record = json.loads(path.read_text())
            record.update({"why": "failed: rank 12 on node0123: " + "RuntimeError('out of memory') " * 4, "nodes": ["node0123", "node0124"],
                           "iteration": 123456, "last_step": 12345678, "saved_iteration": 123456, "saved_step": 12345678})
            record["owner"]["job_id"] = "12345678"
            path.write_text(json.dumps(record))
    page = page_of("wide/attempts", width=1200)
    scrolled, seen = page.value("(() => { const t = document.querySelector('#attempts .table'); return [t.scrollWidth, t.clientWidth] })()")
    check(scrolled <= seen, f"the table of attempts is {scrolled} pixels wide, and the page shows {seen}")


@test
def the_page_shows_the_numbers_of_result_json():
    page = page_of("runs/a")
    lines = reports(folder_of_runs() / "runs/a")
    best = min(lines, key=lambda line: line["loss"])
    rows = metric_rows(page)
    for key in ("loss", "epoch", HOSTILE):
        equal(float(rows[key][f"last report ({len(lines)})"]), lines[-1][key], f"the last {key}")
        equal(float(rows[key][f"best report ({best['_training_iteration']})"]), best[key], f"the {key} of the best report")
        equal(float(rows[key]["minimum"]), min(line[key] for line in lines), f"the minimum of {key}")
    equal(rows["val/accuracy"]["last report (40)"], "NaN", "a value that is not finite")
    drawn = page.value("data.charts[0].series[0].y")
    check(len(drawn) == 40 and all(abs(a - b["loss"]) < 1e-8 for a, b in zip(drawn, lines)), "the curve of the loss differs from the reports")
    equal(page.value("document.querySelector('.area .line').getAttribute('d').split('L').length"), 40, "points of the line")
    equal(page.complaints(), [], "messages of the console")


@test
def the_page_shows_restarts_attempts_goodput_and_changes_of_the_run():
    page = page_of("runs/a")
    result = json.loads(run([TRAINRT, "result", folder_of_runs() / "runs/a", "--json"]).out)
    equal(page.value("data.charts[0].series[0].restarts"), [20], "the first report of the second attempt")
    cells = page.value("[...document.querySelectorAll('#attempts tbody tr')].map(row => [row.cells[0].textContent, row.cells[1].textContent, row.cells[row.cells.length - 1].textContent])")
    equal([cell[:2] for cell in cells], [["1", "failed" if result["attempts"][0]["state"] == "failed" else "killed"], ["2", "finished"]], "attempts")
    titles = page.value("document.querySelectorAll('#attempts thead th').length")
    equal(titles, page.value("document.querySelector('#attempts tbody tr').cells.length"), "columns of the attempts with a title")
    check(cells[0][2] and cells[0][2] in result["attempts"][0]["why"], f"another reason for the end of the first attempt: {cells}")
    equal(page.value("document.querySelector('#time .bar-figure').textContent"), f"{100 * result['time']['goodput']:.1f} %", "the goodput")
    for section, words in (("config", ("loop.lr", "0.5", "0.3")), ("checkpoints", ("checkpoint_",))):
        text = page.value(f"document.getElementById({section!r}).textContent")
        for word in words:
            check(word in text, f"{section} lacks {word!r}: {text[:500]}")


@test
def the_output_of_a_failure_is_shown():
    folder = scratch()
    program = program_file("import sys\nprint('before <b>the</b> end', flush=True)\nsys.exit('no more')\n")
    words = [TRAINRT, "--run.name=failed", f"--run.storage_path={folder}", "--failure.max_failures=0", "--", "python3", program]
    check_exit(run(words, cwd=folder), FAILED)
    text = page_of(folder / "failed", name="failed.html").value("document.getElementById('failures').textContent")
    for word in ("error.txt", "no more", "logs/rank-00000.log", "before <b>the</b> end"):
        check(word in text, f"it lacks {word!r}: {text}")


@test
def ranks_and_steps_are_shown_and_incomplete_lines_are_skipped():
    page = page_of("runs/a")
    rows = page.value("[...document.querySelectorAll('#steps table')].map(table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)))")
    equal([row[0] for row in rows[0]], ["rank 0", "rank 1", "rank 2"], "ranks")
    equal(tuple(rows[0][1][i] for i in (1, 4, 5)), (HOSTILE, "+25.0 %", "12"), "node, slowness and windows of rank 1")
    equal(rows[1], [["1", HOSTILE, HOSTILE, "12", "10 to 120", "25 %", "clock 1.2 GHz"]], "ranks that delayed the others")
    used = page.value("[...document.querySelectorAll('#ranks table')].map(table => [...table.tBodies[0].rows].map(row => row.textContent))")
    check(len(used[0]) == 1 and len(used[1]) == 1 and "3.0 MiB" in used[1][0] and HOSTILE in used[1][0], f"usage of the ranks: {used}")


@test
def keys_and_mouse_show_values_and_zoom_and_axes_change():
    page = page_of("runs/a")
    first = "charts.get(document.querySelector('figure[data-chart]'))"
    page.value("document.querySelector('.chart-svg').focus(), 0")
    page.key("ArrowRight")
    equal(page.value("document.querySelector('.readout').textContent"), f"iteration 1: {1.5:g}", "values of the first point")
    page.key("+", "+")
    low, high = page.value(f"[{first}.xAxis.from, {first}.xAxis.to]")
    check(high - low < 25, f"the range is too wide after a zoom: {low} to {high}")
    check(all(low <= label <= high for label in page.value(f"[...{first}.svg.querySelectorAll('.x-labels text')].map(label => Number(label.textContent))")), "a label is outside the range after a zoom")
    page.key("0", "0")
    equal(page.value(f"[{first}.xAxis.from, {first}.xAxis.to]"), [1, 40], "the range after the end of a zoom")
    page.value("document.querySelectorAll('input[name=axis]')[1].click(), document.querySelector('.controls input[type=checkbox]').click(), 0")
    equal(page.value(f"[{first}.svg.querySelector('.x-title').textContent, {first}.isLogarithmic]"), ["seconds of training", True], "the axes")
    area = page.value("(r => [r.left + r.width / 2, r.top + r.height / 2])(document.querySelector('.area').getBoundingClientRect())")
    page.mouse("mouseMoved", *area)
    page.wait_until("document.querySelector('.readout').textContent.startsWith('seconds of training ')")
    page.value("document.getElementById('heat-cells').focus(), 0")
    page.key("ArrowDown")
    check("rank 1, attempt 1, steps 111 to 120" in page.value("document.getElementById('heat-readout').textContent"), "the heat map does not show the values of the cell")
    equal(page.complaints(), [], "messages of the console")


@test
def the_page_is_readable_light_and_dark_narrow_and_wide_and_without_scripts():
    seen = {}
    for dark, width, scripts in ((False, 1280, True), (True, 1280, True), (False, 420, True), (True, 420, False)):
        page = page_of("runs/a", dark=dark, width=width, scripts=scripts)
        equal(page.value("document.documentElement.scrollWidth"), width, "width of the page")
        equal(page.value("document.querySelectorAll('table').length > 8 && document.querySelectorAll('svg').length > 5"), True, "the page has its tables and charts")
        shown_width, height, colors = pixels(page.screenshot())
        check(shown_width == width and height > 1500 and colors > 100, f"the screenshot is empty: {shown_width} x {height}, {colors} different rows")
        seen[dark, width] = page.value("getComputedStyle(document.body).backgroundColor")
        equal(page.complaints(), [], "messages of the console")
        page.close()
    check(seen[False, 1280] != seen[True, 1280], f"the light and dark background are the same: {seen}")
    page = page_of("runs/a", scripts=False)
    equal(page.value("document.querySelectorAll('.readout:not(#heat-readout), th button').length"), 0, "elements that only scripts create")
    equal(float(metric_rows(page)["loss"]["last report (40)"]), reports(folder_of_runs() / "runs/a")[-1]["loss"], "the last loss")


@test
def several_runs_can_be_sorted_and_selected():
    page = page_of("runs", name="both.html")
    names = "[...document.querySelectorAll('#runs tbody th')].map(cell => cell.textContent)"
    equal(page.value(names), ["a", "b"], "runs")
    page.value("[...document.querySelectorAll('#runs th button')].find(button => button.textContent === 'lr').click(), 0")
    equal(page.value(names), ["b", "a"], "runs sorted by lr")
    equal(page.value("data.parallel.axes.includes('lr') && data.charts[0].series.length"), 2, "axes and curves")
    page.value("document.querySelector('#parallel-lines .strip').focus(), 0")
    page.key("-", "-")
    page.wait_until("document.querySelectorAll('#parallel-lines .line').length === 2")
    check(page.value("document.querySelector('#parallel-lines .readout').textContent").endswith("of 2 runs"), "the number of selected runs is not shown")
    equal(page.complaints(), [], "messages of the console")


@test
def the_page_of_a_sweep_shows_its_best_trial_and_sorts_by_the_metric():
    config = sweeps.sweep_config(scratch(), tune={"num_samples": 6, "scheduler": "asha"}, asha={"max_t": 9, "reduction_factor": 3})
    check_exit(sweeps.tune(config), 0)
    trials = {trial["trial"]: trial for trial in sweeps.trials_of(config)}
    best = min(trials.values(), key=lambda trial: trial["best"])
    page = page_of(run_dir_of(config), name="sweep.html")
    text = page.value("document.body.textContent")
    for part in ("metric loss, the lowest is the best", f"Details: trainrt result {best['path']}", "reached max_t = 9", "stopped early by ASHA at report 1"):
        check(part in text, f"the page lacks {part!r}")
    rows = page.value("[...document.querySelectorAll('#trials tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    equal([row[0] for row in rows], sorted(trials, key=lambda name: trials[name]["best"]), "the order of the trials")
    titles = page.value("[...document.querySelectorAll('#trials td data[title]')].map(each => [each.title, each.textContent])")
    check([best["config"]["loop.lr"], f"{float(best['config']['loop.lr']):.6g}"] in titles, f"titles with all digits: {titles}")
    equal(page.value("data.parallel.axes"), ["batch_size", "lr", "loss"], "axes")
    short = sum(trial["training_iteration"] == 1 for trial in trials.values())
    equal(page.value("[...document.querySelectorAll('#curves .mark')].filter(mark => mark.getAttribute('d').includes('a3.5')).length"), short, "dots of trials with one report")
    page.value("[...document.querySelectorAll('#trials th button')].find(button => button.textContent === 'best loss').click(), 0")
    equal(page.value("document.querySelector('#trials tbody th').textContent"), max(trials, key=lambda name: trials[name]["best"]), "the first trial in reverse order")
    equal(page.complaints(), [], "messages of the console")


@test
def the_file_is_named_after_the_run_and_only_force_replaces_it():
    folder = folder_of_runs()
    equal(report("runs/b").out.split(":")[0], "b.html", "name of the file")
    before = (folder / "b.html").read_bytes()
    check("--force" in report("runs/b", code=USAGE).err, "the message lacks --force")
    equal((folder / "b.html").read_bytes(), before, "the existing page")
    report("runs/a", "-o", "b.html", "--force")
    check((folder / "b.html").read_bytes() != before, "the page is not replaced")
    check(".html" in report("runs/a", "-o", "b.pdf", code=USAGE).err, "the message lacks the valid extension")


@test
def an_unreadable_run_is_named_and_leaves_no_file():
    folder = scratch()
    shutil.copytree(folder_of_runs() / "runs", folder / "runs")
    record = json.loads((folder / "runs/b/run.json").read_text())
    (folder / "runs/b/run.json").write_text(json.dumps({**record, "format": "trainrt run 2", "name": 5}))
    for words, parts in (([folder / "runs/b"], ("run.json", "trainrt run 2", "newer")), (["nowhere"], ("nowhere",)), ([folder], ("neither a run directory",))):
        job = report(*words, "-o", "none.html", code=USAGE)
        for part in parts:
            check(part in job.err, f"{words}: the message lacks {part!r}", job)
        check(not (folder_of_runs() / "none.html").exists(), "a file was left")
    job = report(folder / "runs", "-o", "one.html")
    check("runs/b" in job.err and "1 run" in job.out, "the unreadable run is not named", job)


@test
def runs_with_missing_or_invalid_files_have_a_page():
    folder = scratch()
    shutil.copytree(folder_of_runs() / "runs/a", folder / "odd")
    record = json.loads((folder / "odd/run.json").read_text())
    (folder / "odd/run.json").write_text(json.dumps({**record, "name": HOSTILE}))
    with open(folder / "odd/result.json", "a") as log:
        log.write('{"loss": "Infinity", "_training_iteration": 41}\n{"loss": 0.5, "_training_iter')
    page = page_of(folder / "odd", name="odd.html")
    equal(page.value("document.querySelector('h1').textContent"), HOSTILE, "the name")
    equal(metric_rows(page)["loss"]["last report (41)"], "∞", "the last loss")
    for name in ("result.json", "logs", "attempts"):
        path = folder / "odd" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        equal(page_of(folder / "odd", name="odd.html").complaints(), [], f"messages of the console without {name}")
    silent = [TRAINRT, "--run.name=silent", f"--run.storage_path={folder}", "--", "true"]
    check_exit(run(silent, cwd=folder), FINISHED)
    text = page_of(folder / "silent", name="silent.html").value("document.body.textContent")
    check("does not report its metrics" in text and "unknown" in text, "the page does not explain that the program reports nothing")


main(teardown=close_browser)
