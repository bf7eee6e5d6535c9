"""Runs the fenced blocks of a guide in a fresh folder, one after the other: configs by `trainrt check`, programs in C++ and Python, and commands.
Data, configs, programs and runs that a block names and that do not exist are made. The rules depend on the language of a block and on the
commands in it, never on the text around it."""
import importlib.util
import shlex

from runs.own_mpi import must, pkg_config
from runs.program_runs import *  # noqa: F403
from tools import material
from tools.examples import NAMES, concrete_command, missing_keys, modules_of, shortened, undefined_names

# absolute folders that examples name, as on a cluster; the test uses its own folders instead
ABSOLUTE = re.compile(r"(?<![\w.:/*])/(lustre|shared|home/me|archive|opt|scratch)(?=/)")
DATA_NAME = re.compile(r"[\w./*-]+\.(?:csv|jsonl|npy|npz|h5|bin|db|tar|parquet|safetensors)\b|[\w./-]+/imagenet/\w+")

# blocks and commands that are not run: (pattern, reason)
NOT_RUN = (
    (r"\b[sg]s?3?://bucket", "needs an object store; tests/multirank/checkpoints/test_storage_s3.py has one"),
    (r"^library = /.*site-packages", "names the library of another Python; tests/frameworks/trees/test_trees_xgboost.py and test_trees_lightgbm.py"),
    (r"\bapptainer\b|--container-image|\bconda\b|program\.stage=|/venv/", "needs a container or an environment; tests/slurm/test_containers.py and test_stage.py"),
    (r"^(?:\w+=\d+ build/tests/|make|cmake|pip|tests/|build/|bash gpu|(?:/usr/bin/)?python3 tests/)|latest\.json", "builds, installs or tests"),
    (r"^xgb\.|xgb\.collective|^jax\.distributed", "a line of a script; tests/frameworks/scripts has complete ones for make test-frameworks"),
    (r"model\.ubj|--dataset valid|--data\.new\.source", "needs a model of trees; tests/frameworks/trees/test_trees_xgboost.py and test_trees_lightgbm.py"),
    (r"^salloc|scontrol show|^srun python3|^ray |^srun .*\bray\b|doctor --storage /", "needs a cluster; tests/slurm and tests/multirank/tools/test_doctor.py"),
    (r"^(?:srun trainrt -- )?python3 train\.py", "runs the script of a block above, which is run as a block"),
    (r"--write-renamed", "needs a config with old names; tests/unit/cli/renamed_config.cpp"),
    (r"--tokenizer\b", "needs a tokenizer; tests/frameworks/data/test_token_files.py"),
    (r"minicluster|^eval |^squeue|^scancel|^module ", "needs a Slurm; tests/slurm/test_slurm.py and test_modulefile.py"),
    (r"trainrt top --job", "needs a Slurm job; tests/multirank/output/test_top.py"),
    (r"trainrt data serve", "runs until its client ends; tests/frameworks/data/test_data_package.py"),
    (r"~/(?:trainrt|software)\b|trainrt-0\.1\.0|trainrt build torch", "needs the file of make dist; tests/portability/try_wheel.sh"),
    (r"--trust-owner", "needs a second user; tests/unit/rundir/trust.cpp"),
)
DECLARED = {  # functions that a block in C++ only declares
    "train": "void train(trainrt::Context& ctx) { trainrt::State state; ctx.restore(state); }",
    "scores_of": "std::vector<float> scores_of(const std::vector<float>&, const trainrt::Batch& batch) { return std::vector<float>(batch.size()); }"}

LAUNCHER = """#!/bin/bash
# replaces srun and mpiexec: two ranks on this machine
while [[ $1 == -* ]]; do [[ $1 == -[a-zA-Z] ]] && shift; shift; done
exec mpiexec.mpich -n 2 "$@"
"""
SBATCH = """#!/bin/bash
# replaces sbatch: checks the script, and the config or program that it would run
while [[ $1 == -* ]]; do [[ $1 == -[a-zA-Z] ]] && shift; shift; done
script=$1; shift
bash -n "$script" && grep -q '^#SBATCH' "$script" || exit 1
case $script in
  *program.sbatch) [[ " $* " == *" -- "* ]] || set -- -- "$@" ;;
  *) if [[ $1 != -* ]]; then set -- --config "${1:-jobs/fashion_mnist.ini}" "${@:2}"; fi ;;
esac
trainrt check "$@" >&2 && echo 4711
"""


class NotRun(Exception):
    """A block or a command is not run, with the reason."""


def refuse_listed(text):
    for pattern, reason in NOT_RUN:
        if re.search(pattern, text, re.M):
            raise NotRun(reason)


class Page:
    """A guide, and the folder in which its blocks are run. `templates`: run directories that are copied for examples that read one."""

    def __init__(self, prefix, templates):
        self.folder = scratch("page")
        self.prefix, self.templates = prefix, templates
        self.number = 0  # of configs
        self.config = None  # words of the command line with the last config that `trainrt check` accepted
        self.waiting = []  # configs that name a library which a later block builds
        (self.folder / "jobs").symlink_to(SOURCE / "jobs")
        tools = self.folder / ".tools"
        tools.mkdir()
        for tool, text in (("srun", LAUNCHER), ("mpiexec", LAUNCHER), ("sbatch", SBATCH)):
            (tools / tool).write_text(text)
            (tools / tool).chmod(0o755)
        self.env = {**ONE_THREAD, "PATH": f"{tools}:{BUILD}:/usr/bin:/bin", "PYTHONPATH": BUILD / "python", "CUDA_VISIBLE_DEVICES": "",
                    "LD_LIBRARY_PATH": prefix / "lib", "SCRATCH": self.folder / "scratch", "CPATH": SOURCE / "include", "LIBRARY_PATH": prefix / "lib"}

    def run(self, command, example):
        job = run(command, cwd=self.folder, env=self.env, timeout=200)
        check(job.code == 0, f"{' '.join(example.split())[:100]}: exit {job.code}", job)
        return job

    def own_paths(self, text):
        """Returns the text with folders of a cluster replaced by folders of this page."""
        return ABSOLUTE.sub(lambda match: f"{self.folder}/{match[1]}", text)

    def convert(self, source, target):
        self.run([TRAINRT, "data", "convert", source, "-o", target], f"data convert {source}")

    def make(self, path, maker=None):
        if str(path).endswith(".parquet") and not (BUILD / "modules/arrow.so").exists():
            raise NotRun("the module arrow.so is not built (tests/support/tools/install_arrow.sh)")
        if re.fullmatch(r"model\.(?:h5|npz|safetensors)", str(path)):  # made by an export that the text before mentions
            self.run([TRAINRT, "export", self.templates["run"], "-o", path, "--force"], f"export {path}")
            return True
        return material.make_file(self.folder / path, self.convert, maker)

    def make_data(self, text, maker=None):
        for name in DATA_NAME.findall(text):
            if name.startswith("/usr") and not Path(name).exists():
                raise NotRun(f"{name} does not exist")
            if not name.startswith("/usr"):
                self.make(name, maker)

    def make_runs(self, text):
        for path in re.findall(r"(?<![\w/-])runs/([\w-]+)", text):
            is_sweep = "sweep" in path.lower()
            material.copy_run(self.templates["sweep" if is_sweep else "run"], self.folder / "runs" / path)
        if re.search(r"(?<=\s)runs$", text):
            material.copy_run(self.templates["run"], self.folder / "runs/first")

    # ---- configs -----------------------------------------------------------------------------------------------------------

    def ini(self, text):
        refuse_listed(text)
        text = self.own_paths(text)
        library = re.search(r"^library *= *(\./\S+)", text, re.M)
        self.make_data(text)
        self.make_runs(text)
        for program in re.findall(r"^program *= *(\./\S+)", text, re.M):
            self.make(program, material.program)
        function = re.search(r"^function *= *(\w+)", text, re.M)
        if function and function[1] not in listed("train functions"):
            raise NotRun(f"the train function {function[1]} is not built")
        if library and not (self.folder / library[1]).exists():
            self.waiting.append(text)
        else:
            self.accept(text)

    def accept(self, text):
        """Runs `trainrt check` on a config, which later blocks of the page may use."""
        self.number += 1
        path = self.folder / f"block-{self.number}.ini"
        path.write_text(text)
        words = ["--config", path.name, *missing_keys(text)]
        self.make_data(" ".join(words))
        self.run([TRAINRT, "check", *words], text)
        self.config = words

    def finish(self):
        check(not self.waiting, f"no block builds the library of the config {self.waiting}")

    def json(self, text):
        """Parses the block, or each of its lines."""
        for part in [text] if text.startswith("[") or "\n " in text else text.splitlines():
            try:
                json.loads(part)
            except ValueError as error:
                raise Failure(f"{part}: {error}") from None

    # ---- C++ ---------------------------------------------------------------------------------------------------------------

    def cpp(self, text):
        text = self.own_paths(text)
        for name in re.findall(r"^\w[\w:<>,& ]* (\w+)\([^{};\n]*\);$", text, re.M):
            check(name in DECLARED, f"the block declares {name}() and does not define it: add it to DECLARED")
            text += DECLARED[name] + "\n"
        has_main = "int main(" in text
        if not has_main and "TRAINRT_TRAIN_FUNCTION(" not in text:
            text += 'TRAINRT_TRAIN_FUNCTION("example", train)\n'
        named = re.search(r"(\w+)\.cpp", text)
        stem = named[1] if named else "example"
        (self.folder / f"{stem}.cpp").write_text(text)
        output = f"./{stem}" if has_main else f"./lib{stem}.so"
        compiler = "mpicxx.mpich" if "mpi.h" in text else "g++"
        if shutil.which(compiler) is None:
            raise NotRun(f"{compiler} not found")
        kind = ["--libs"] if has_main else []
        must([compiler, "-std=c++20", "-O0", *([] if has_main else ["-shared", "-fPIC"]), f"{stem}.cpp", *pkg_config(self.prefix, "--cflags", *kind), "-o", output],
             cwd=self.folder)
        if has_main:
            self.run(["mpiexec.mpich", "-n", 2, output], f"{stem}.cpp")
            return
        while self.waiting:
            self.accept(self.waiting.pop())
        self.run_library(text, stem, output)

    @staticmethod
    def without_program(config):
        """Returns the words of a config without the train function and the name of the run."""
        return [word for word in config if not word.startswith(("--train.", "--run.name="))]

    def run_library(self, text, name, library):
        """Trains with the train function of a block, on the page's last config if it uses a dataset."""
        of_page = self.config if self.config and "ctx.dataset(" in text else ["--config", "base.ini"]
        self.make("base.ini")
        function = re.search(r'TRAINRT_TRAIN_FUNCTION\("([^"]+)"', text)[1]
        self.run([TRAINRT, "-n", 2, *self.without_program(of_page), f"--run.name={name}", f"--train.library={library}", f"--train.function={function}",
                  "--failure.max_failures=0", *(f"--loop.{key}=2" for key in {"epochs", *re.findall(r'config<\w+>\("(\w+)"\)', text)})], f"{name}.cpp")

    # ---- Python ------------------------------------------------------------------------------------------------------------

    def python(self, text):
        text = self.own_paths(text)
        refuse_listed(text)
        for module in modules_of(text):
            if module != "trainrt" and importlib.util.find_spec(module) is None:
                raise NotRun(f"python3 has no {module}")
        prelude = "".join(NAMES[name] + "\n" for name in sorted(undefined_names(text), key=list(NAMES).index))
        self.make_runs(text)
        if not re.search(r'File\("[^"]*", "w"\)', text):
            self.make_data(text, material.numeric_csv if re.search("torch|XGBoost", text) else None)
        program = self.folder / "block.py"
        program.write_text(prelude + shortened(text))
        is_alone = ".fit()" in text or not re.search(r"trainrt\.context\(\)|CheckpointReader|init_process_group|TRAINRT_FD", text)
        of_page = self.without_program(self.config) if self.config and "ctx.dataset(" in text else []
        launch = [] if is_alone else [TRAINRT, "-n", 2, *of_page, "--run.name=block", "--failure.max_failures=0", "--"]
        try:
            self.run([*launch, PYTHON, program.name], text)
        except Failure as failure:
            missing = re.search(r"No module named '((?!trainrt)[\w.]+)'", str(failure))
            if missing is None or missing[1] not in text:
                raise
            raise NotRun(f"python3 has no {missing[1]}") from None

    # ---- commands ----------------------------------------------------------------------------------------------------------

    def command(self, line):
        """Runs a command of a block: a line, or several lines of one shell construct."""
        text = self.own_paths(concrete_command(line))
        refuse_listed(text)
        words = shlex.split(text)
        for number, word in enumerate(words):
            if words[number - 1] == "-o":
                (self.folder / word).unlink(missing_ok=True)
            if words[number - 1] == "-o" or word.startswith("-") and "source=" not in word:
                continue
            word = word.split("source=")[-1]
            maker = material.sweep_config if word.endswith(".ini") and re.search(r"\btune\b", text) else None
            if re.search(r"\.(?:ini|py)$", word):
                self.make(word, maker)
        self.make_runs(text)
        self.make_data(" ".join(word for number, word in enumerate(words) if words[number - 1] != "-o"))
        if "predict" in words:
            self.make("train.npz")
        self.run(["bash", "-c", f"exec < /dev/null\n{text}"], line)
