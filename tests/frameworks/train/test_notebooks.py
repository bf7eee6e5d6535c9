#!/usr/bin/python3
"""fit() in a notebook: functions of the notebook are sent by cloudpickle; output and errors of the ranks appear in the cell."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from tools.notebooks import *  # noqa: E402,F403

FUNCTION = """
def train_function(config):
    context = train.get_context()
    for epoch in range(config["epochs"]):
        if context.get_world_rank() == config.get("fails"):
            raise ArithmeticError(f"no loss in epoch {epoch}")
        print(f"epoch {epoch} of rank {context.get_world_rank()}")
        train.report({"epoch": epoch, "loss": offset / (1 + epoch)})
    return context.get_world_size()
"""
FIT_CELL = """
def trained(name, trainer=DataParallelTrainer, **config):
    return trainer(train_function, train_loop_config={"epochs": 3, **config}, scaling_config=ScalingConfig(num_workers=2),
                   run_config=RunConfig(name=name, storage_path=os.environ["RUNS"])).fit()

result = trained("run")
"""
LOOK = "print(result.metrics['epoch'], result.metrics['loss'], result.return_value, result.path)\nlen(result.reports)"


@test
def a_notebook_trains_on_two_ranks_and_reads_the_result():
    notebook = Notebook("offset = 6", FUNCTION, FIT_CELL, LOOK)
    job = notebook.execute()
    equal(notebook.shown(3, "error"), "", "error of the cell with fit()", job)
    equal(notebook.shown(4, "stdout"), f"2 2.0 2 {notebook.runs / 'run'}\n", "output of the cell after fit()", job)
    equal(notebook.shown(4, "result"), "3", "number of reports", job)
    equal(notebook.left(), [], "private folders", job)


@test
def the_cell_shows_the_output_of_rank_0_and_the_status_of_the_run():
    notebook = Notebook("offset = 6", FUNCTION, FIT_CELL)
    job = notebook.execute()
    out, err = notebook.shown(3, "stdout"), notebook.shown(3, "stderr")
    check("epoch 2 of rank 0\n" in out, f"rank 0's lines are not in the output:\n{out}", job)
    check("iteration 3" in out, f"the reports are not in the output:\n{out}", job)
    check("2 ranks" in err and "finished" in err, f"the cell does not show the status of the run:\n{out}\n{err}", job)


@test
def an_exception_on_a_rank_is_raised_in_the_cell_and_the_notebook_continues():
    notebook = Notebook("offset = 6", FUNCTION, FIT_CELL, "trained('failing', fails=1)", """
try:
    trained('again', fails=1)
except train.TrainingFailedError as error:
    print(type(error).__mro__[1].__name__, {rank: str(each) for rank, each in error.worker_failures.items()})
""", "offset = 12\nprint(trained('other').metrics['loss'])")
    job = notebook.execute()
    error = notebook.shown(4, "error")
    check("WorkerGroupError" in error and "rank 1: ArithmeticError: no loss in epoch 0" in error, f"the cell does not show the failure:\n{error}", job)
    check("train_function" in error, f"the traceback does not show the function of the notebook:\n{error}", job)
    equal(notebook.shown(5, "stdout").splitlines()[-1:], ["TrainingFailedError {1: 'no loss in epoch 0'}"], "the exception that the notebook caught", job)
    equal(notebook.shown(6, "stdout").splitlines()[-1:], ["4.0"], "loss of the next run", job)


@test
def the_torch_trainer_trains_a_model_of_the_notebook():
    notebook = Notebook("""
import torch
from trainrt.train.torch import TorchTrainer, prepare_model

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def forward(self, inputs):
        return self.layer(inputs)
""", """
def train_function(config):
    model = prepare_model(Model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(config["epochs"]):
        loss = model(torch.ones(4, 3)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train.report({"loss": loss.item(), "epoch": epoch})
""", FIT_CELL.replace("DataParallelTrainer", "TorchTrainer"), "result.metrics['epoch'] + 1")
    job = notebook.execute(timeout=150)
    equal(notebook.shown(3, "error"), "", "error of the cell with fit()", job)
    equal(notebook.shown(4, "result"), "3", "epochs", job)


main(setup=need_notebooks)
