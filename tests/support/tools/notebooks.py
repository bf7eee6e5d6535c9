"""Notebooks that jupyter nbconvert executes, and the output of their cells."""
import importlib.util

from runs.train_scripts import *  # noqa: F403

IMPORTS = "import json, os, time\nfrom trainrt import train\nfrom trainrt.train import *"


def need_notebooks():
    missing = [module for module in ("nbconvert", "ipykernel", "cloudpickle") if importlib.util.find_spec(module) is None]
    if missing or not shutil.which("jupyter-nbconvert"):
        skip(f"no notebook can run: {', '.join(missing) or 'jupyter nbconvert'} not found (packages jupyter-nbconvert, python3-ipykernel, "
             f"python3-cloudpickle)")


class Notebook(Script):
    """A notebook in its own folder, which also contains its runs."""

    def __init__(self, *cells):
        super().__init__("", head="")
        self.path = self.folder / "train.ipynb"
        self.executed = self.folder / "executed.ipynb"
        self.command = ["jupyter-nbconvert", "--to", "notebook", "--execute", "--allow-errors", "--output", self.executed.name, self.path.name]
        written = [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell} for cell in (IMPORTS, *cells)]
        kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        self.path.write_text(json.dumps({"cells": written, "metadata": kernel, "nbformat": 4, "nbformat_minor": 4}))

    def env(self, **more):
        own = {name: self.folder / "jupyter" for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
        return super().env(**own, **more)

    def execute(self, timeout=90):
        """Executes all cells. Errors of cells are part of their output, not failures of this call."""
        job = self.start(command=self.command)
        job.code = job.wait(timeout)
        equal(job.code, 0, "exit of nbconvert", job)
        return job

    def shown(self, cell, kind):
        """Returns the output of a cell as text (the first cell after the imports is 1); `kind` is stdout, stderr, error or result."""
        outputs = json.loads(self.executed.read_text())["cells"][cell]["outputs"]
        return "".join(text for output in outputs for name, text in [_text_of(output)] if name == kind)


def _text_of(output):
    """Yields (kind, text) of each output."""
    if output["output_type"] == "stream":
        return output["name"], "".join(output["text"])
    if output["output_type"] == "error":
        return "error", f"{output['ename']}: {output['evalue']}\n" + re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output["traceback"]))
    return "result", "".join(output["data"].get("text/plain", ""))
