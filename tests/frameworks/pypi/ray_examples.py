"""Ray Train's own examples, from its wheel: the word `ray` becomes `trainrt`, and nothing else changes. Each is started by its fit() and on
launched ranks, killed and restarted, and requeued."""
from cases import CLUSTER, LIMIT_S, cluster_env
from harness import FINISHED, TRAINRT, check_verifies, equal, kill
from ray_example_places import EXAMPLES, FASHION, Place

__all__ = ["EXAMPLES", "cases_of_example"]
_whole = []  # the last rows of runs of FASHION, which seeds all random numbers


def check_same(place, rows, job):
    """A run of FASHION must end with the same report, since it restarts from its seeds. The other examples draw new weights."""
    if place.example is not FASHION:
        return check_verifies(place.run_dir)
    _whole.append({key: value for key, value in rows[-1].items() if not key.startswith("_")})
    equal(_whole[-1], _whole[0], "the last report", job)
    return None


def fit_starts_ranks(example):
    place = Place(example)
    job = place.start()
    job.code = job.wait(LIMIT_S)
    check_same(place, place.check_ended(job), job)


def on_given_ranks(example):
    place = Place(example)
    job = place.start(TRAINRT, "-n", 2, "--")
    job.code = job.wait(LIMIT_S)
    check_same(place, place.check_ended(job), job)


def killed(example):
    """Kills the script and all ranks during the run, and runs the same command again."""
    place = Place(example)
    job = place.start()
    place.wait_for_report(job)
    kill([job.process.pid, *job.ranks().values()])
    job.wait(60)
    again = place.start()
    again.code = again.wait(LIMIT_S)
    check_same(place, place.check_ended(again, was_ended=True), again)


def requeued(example):
    """Requeues the job on two nodes."""
    place = Place(example)
    cluster_env()
    exported = ",".join(f"{key}={value}" for key, value in place.variables.items())
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1", f"--export=ALL,{exported}"], "python3", place.folder / place.example.started, *example.words, script="program.sbatch",
                         cwd=place.folder)
    place.wait_for_report(job)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1, 120)
    job.wait_for_state("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", timeout=LIMIT_S)
    equal(job.state(), "COMPLETED", "end of the job", job)
    job.code = FINISHED
    check_same(place, place.check_ended(job, was_ended=True), job)


def cases_of_example(_):
    """Returns (name, function) for each case."""
    return [("fit_starts_ranks", fit_starts_ranks), ("on_given_ranks", on_given_ranks), ("killed", killed), ("requeued", requeued)]
