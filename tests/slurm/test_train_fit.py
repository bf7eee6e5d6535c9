#!/usr/bin/python3
"""fit() of a plain Python script in a batch job of a real Slurm starts its ranks by srun on the nodes of the job. After a requeue, the
same script continues its run."""
import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from tools.notebooks import *  # noqa: E402,F403

CLUSTER = Cluster("fit")
FUNCTION = """
def function(config):
    epoch, weights = 0, [1.0, 2.0]
    checkpoint = train.get_checkpoint()
    if checkpoint is not None:
        epoch, weights = json.load(open(os.path.join(checkpoint.path, "state.json")))
    while epoch < config["epochs"]:
        epoch += 1
        weights = [0.9 * weight + 1 / (epoch + number) for number, weight in enumerate(weights)]
        with Folder() as folder:
            json.dump([epoch, weights], open(os.path.join(folder, "state.json"), "w"))
            train.report({"epoch": epoch}, checkpoint=Checkpoint(folder) if rank() == 0 else None)
        time.sleep(config["pause"])
    return [train.get_context().get_node_rank(), train.get_context().get_world_size(), os.environ.get("SLURM_JOB_NUM_NODES")]

""" + MAIN + """    result = trainer(function, config={"epochs": int(sys.argv[1]), "pause": float(sys.argv[2])},
                     run_config=RunConfig(storage_path=os.environ["RUNS"])).fit()
    weights = json.load(open(os.path.join(result.checkpoint.path, "state.json")))[1]
    print("RESULT", json.dumps([result.return_value, result.metrics["epoch"], result.path, weights]), flush=True)
"""


def batch_script(script, *words, command=None):
    """Writes a batch script as users do: it runs the Python script without srun and trainrt."""
    command = " ".join(map(str, [*(command or [PYTHON, script.path]), *words]))
    path = script.folder / "train.sbatch"
    exports = "".join(f"export {name}='{value}'\n" for name, value in script.env().items())
    path.write_text(f"#!/bin/bash\n#SBATCH --requeue --open-mode=append\n{exports}exec {command}\n")
    return path


def run_name(job, *words):
    """Returns the name of a run without run.name whose script has these arguments."""
    return f"DataParallelTrainer_train-{job.id}-{hashlib.sha256(chr(0).join(words).encode()).hexdigest()[:8]}"


def weights_after(epochs):
    """Returns the weights that the function of the script has after these epochs without a stop."""
    weights = [1.0, 2.0]
    for epoch in range(1, epochs + 1):
        weights = [0.9 * weight + 1 / (epoch + number) for number, weight in enumerate(weights)]
    return weights


def result_in(job):
    return [json.loads(line[7:]) for line in job.text.splitlines() if line.startswith("RESULT ")][-1]


FROM_DICT = """
def function(config):
    with train.get_checkpoint().as_directory() as folder:
        path = folder
    train.report({"epoch": train.get_checkpoint().to_dict()["epoch"], "in_storage": path.startswith(os.environ["RUNS"])})

""" + MAIN + """    from trainrt import tune
    first = Checkpoint.from_dict({"epoch": 7})
    made = trainer(function, run_config=RunConfig(name="run", storage_path=os.environ["RUNS"]), resume_from_checkpoint=first)
    print("RESULT", json.dumps([made.fit().metrics["epoch"], os.path.exists(first.path)]), flush=True)
    results = tune.Tuner(made, run_config=RunConfig(name="sweep", storage_path=os.environ["RUNS"])).fit()
    print("RESULT", json.dumps([results[0].metrics["epoch"], results[0].metrics["in_storage"]]), flush=True)
"""


@test
def ranks_on_nodes_with_another_tmp_resume_from_a_checkpoint_of_a_dict():
    script = Script(FROM_DICT)
    own = script.folder / "tmp"
    own.mkdir()
    # The script has a temporary directory of its own, as on a node with a private /tmp. The ranks are started by slurmd.
    mount = f"unshare -m sh -c 'mount -t tmpfs tmpfs {own} && TMPDIR={own} exec {PYTHON} {script.path}'"
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], script=batch_script(script, command=[mount]), cwd=script.folder)
    equal(job.wait_for_state("COMPLETED", "FAILED", timeout=120), "COMPLETED", "state", job)
    equal([json.loads(line[7:]) for line in job.text.splitlines() if line.startswith("RESULT ")], [[7, True], [7, True]], "results", job)
    equal(script.left(), [], "private folders", job)


@test
def a_plain_script_in_a_batch_job_starts_its_ranks_by_srun():
    script = Script(FUNCTION)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], script=batch_script(script, "3", "0"), cwd=script.folder)
    equal(job.wait_for_state("COMPLETED", "FAILED", timeout=90), "COMPLETED", "state", job)
    equal(result_in(job), [[0, 2, "2"], 3, str(script.runs / run_name(job, "3", "0")), weights_after(3)], "result", job)
    check("2 ranks on 2 nodes" in job.text, "the ranks are not on two nodes", job)
    equal(script.left(), [], "private folders", job)


@test
def a_requeued_job_continues_the_run_named_after_its_job_id():
    script = Script(FUNCTION)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], script=batch_script(script, "40", "0.25"), cwd=script.folder)
    run_dir = script.runs / run_name(job, "40", "0.25")
    wait_for_reports(run_dir, 3, job, 60)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1)
    equal(job.wait_for_state("COMPLETED", "FAILED", timeout=120), "COMPLETED", "state", job)
    equal(result_in(job)[1:], [40, str(run_dir), weights_after(40)], "result, with the weights of an uninterrupted run", job)
    check("continuing from" in job.text, "the run started again at step 0", job)
    check_iterations(run_dir, 40)


@test
def a_notebook_in_a_batch_job_starts_its_ranks_by_srun():
    need_notebooks()
    notebook = Notebook("""
def train_function():
    print("on node", train.get_context().get_node_rank())
    train.report({"nodes": int(os.environ["SLURM_JOB_NUM_NODES"])})
""", """
def trained(function, name):
    return DataParallelTrainer(function, scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name=name, storage_path=os.environ["RUNS"])).fit()

int(trained(train_function, "run").metrics["nodes"])
""", """
def fails():
    raise ArithmeticError("no loss") if train.get_context().get_world_rank() == 1 else train.report({})

trained(fails, "failing")
""")
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1"], script=batch_script(notebook, command=notebook.command), cwd=notebook.folder)
    equal(job.wait_for_state("COMPLETED", "FAILED", timeout=120), "COMPLETED", "state", job)
    equal(notebook.shown(2, "result"), "2", "nodes of the job", job)
    check("on node 0" in notebook.shown(2, "stdout"), f"the lines of rank 0 are not in the output:\n{notebook.shown(2, 'stdout')}", job)
    check("2 ranks on 2 nodes" in notebook.shown(2, "stderr"), f"the cell does not show the ranks and nodes:\n{notebook.shown(2, 'stderr')}", job)
    check("rank 1: ArithmeticError: no loss" in notebook.shown(3, "error"), f"the cell does not show the error:\n{notebook.shown(3, 'error')}", job)


main(setup=CLUSTER.up, teardown=CLUSTER.down)
