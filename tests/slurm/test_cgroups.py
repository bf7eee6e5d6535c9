#!/usr/bin/python3
"""Runs on a real Slurm that puts each step into cgroups of version 1, and limits its cores and its memory. They end with the same bits as without
cgroups. Needs root, and cgroups of version 1."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

CLUSTER = Cluster("cg")
LOOP = {"epochs": 3, "batch_size": 32}
DATA = {"samples": 384, "features": 50}
CGROUPS = Path("/sys/fs/cgroup")


def setup():
    missing = [name for name in ("cpuset", "memory", "freezer", "devices") if not os.access(CGROUPS / name / "cgroup.procs", os.W_OK)]
    if missing:
        skip(f"no cgroups of version 1 that this user may change: {', '.join(missing)}")
    if len(os.sched_getaffinity(0)) < 2:
        skip("the nodes of this cluster have 2 CPUs, and this machine has fewer")
    lines = ["ProctrackType=proctrack/cgroup", "TaskPlugin=task/affinity,task/cgroup", "JobAcctGatherType=jobacct_gather/cgroup", "PrologFlags=Contain",
             "SelectTypeParameters=CR_CPU_Memory", "DefMemPerCPU=1000",
             "cgroup.conf:CgroupPlugin=cgroup/v1", "cgroup.conf:ConstrainCores=yes", "cgroup.conf:ConstrainRAMSpace=yes"]
    CLUSTER.up(2, "--cpus", "2", *(word for line in lines for word in ("--slurm-conf", line)))


def teardown():
    CLUSTER.down()
    for folder in CGROUPS.glob("*/slurm_n[12]"):  # left by slurmd, which minicluster kills
        for group in sorted(folder.rglob("*/"), reverse=True):
            group.rmdir()
        folder.rmdir()


def reference_of(ranks, **loop):
    config = linear_config(scratch(), "run", {**LOOP, **loop}, DATA)
    check_exit(run_ranks(ranks, config), FINISHED)
    return run_dir_of(config)


@test
def each_step_has_its_own_cgroups_and_cores():
    show = "grep -E 'freezer|cpuset|memory' /proc/self/cgroup; grep Cpus_allowed_list /proc/self/status"
    text = CLUSTER.call("srun", "-N2", "-n2", "-c1", "sh", "-c", show)
    for node in ("n1", "n2"):
        for kind in ("freezer", "cpuset", "memory"):
            check(re.search(rf":{kind}:/slurm_{node}/uid_\d+/job_\d+/step_0", text), f"no cgroup {kind} on {node}: {text}")
    equal(len(re.findall(r"Cpus_allowed_list:\s+\d\n", text)), 2, f"tasks with one core: {text}")


def same_bits(ranks, *layout):
    config = linear_config(scratch(), "run", LOOP, DATA)
    check_exit(CLUSTER.run_srun([f"-n{ranks}", "-c1", *layout], config), FINISHED)
    check_same_bits(run_dir_of(config), reference_of(ranks))


add_test("two_ranks_on_one_node_end_with_the_same_bits", same_bits, 2, "-N1")
add_test("two_ranks_on_two_nodes_end_with_the_same_bits", same_bits, 2, "-N2")


@test
def a_requeued_job_continues():
    config = linear_config(scratch(), "run", {**LOOP, "epochs": 40, "step_pause": 0.03}, DATA)
    job = CLUSTER.sbatch(["-N2", "-n2", "-c1", "--requeue"], config)
    wait_for_reports(run_dir_of(config), 2, job)
    CLUSTER.call("scontrol", "requeue", job.id)
    job.wait_for_restart(1)
    equal(job.wait_for_state("COMPLETED", "FAILED", timeout=120), "COMPLETED", "state of the job", job)
    equal(len(attempts(run_dir_of(config))), 2, "attempts", job)
    check_same_bits(run_dir_of(config), reference_of(2, epochs=40))


@test
def a_rank_above_the_memory_limit_of_its_job_is_reported_as_killed_for_memory():
    program = program_file("#!/usr/bin/python3\nimport trainrt\nctx = trainrt.context()\nctx.report({'x': 1})\ntext = 'x' * (600 << 20)\n")
    config = write_config(scratch() / "run.ini", {"run": {"name": "run", "storage_path": scratch() / "runs"}, "train": {"program": program},
                                                  "failure": {"max_failures": 0}})
    job = CLUSTER.run_srun(["-N1", "-n1", "-c1", "--mem=300M"], config)
    check(job.code not in (FINISHED, STOPPED), f"exit {job.code}", job)
    check(re.search("out of memory|memory limit|killed for memory|OOM", job.out + job.err, re.I), "memory is not named as the cause", job)


main(setup, teardown)
