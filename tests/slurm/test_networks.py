#!/usr/bin/python3
"""Nodes with their own network, /dev/shm and host name. Programs get an address that all nodes reach, whatever other interfaces exist, and
a node that loses its network during training is detected."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cluster import *  # noqa: E402,F403
from runs.plain_scripts import *  # noqa: E402,F403

CLUSTER = Cluster("nets")
NODES = ("n1", "n2")
LAYOUT = ["-N2", "-n2", "--ntasks-per-node=1", "-c1"]
ENVIRONMENT = "/bin/sh -c 'env > {out}/$RANK'"


def up():
    CLUSTER.up(2, own_networks=True)
    CLUSTER.need_own_networks()


def add_interface(node, name, address, index):
    """Adds an interface without a connection to other nodes: its other end is on the same node. With an index below 10 it is listed before
    eth0."""
    CLUSTER.enter(node, "ip", "link", "add", "name", name, "index", str(index), "type", "veth", "peer", "name", "other-end")
    CLUSTER.enter(node, "ip", "addr", "add", address, "dev", name)
    for end in (name, "other-end"):
        CLUSTER.enter(node, "ip", "link", "set", end, "up")


def addresses_of_ranks(*overrides):
    """Returns MASTER_ADDR and GLOO_SOCKET_IFNAME of the program of each rank."""
    config, out = plain_config(ENVIRONMENT)
    job = CLUSTER.run_srun(LAYOUT, config, *overrides)
    check_exit(job, FINISHED)
    found = []
    for rank in range(2):
        seen = dict(line.split("=", 1) for line in (out / str(rank)).read_text().splitlines() if "=" in line)
        found.append((seen["MASTER_ADDR"], seen["GLOO_SOCKET_IFNAME"]))
    return found


@test
def master_addr_is_the_address_of_the_first_node():
    equal(addresses_of_ranks(), [(CLUSTER.address("n1"), "eth0")] * 2, "address and interface")


@test
def doctor_reports_the_same_address_and_a_program_that_exists_on_only_one_node():
    CLUSTER.enter("n1", "cp", "/bin/true", "/tmp/here-alone")
    job = run(["srun", *LAYOUT, TRAINRT, "doctor", "--json", "--storage", scratch(), "--", "/tmp/here-alone"], env=CLUSTER.env, timeout=90)
    check_exit(job, FAILED)
    found = {each["name"]: each for each in json.loads(job.out)["checks"]}
    equal((found["program_address"]["figures"]["address"], found["program_address"]["figures"]["interface"]), (CLUSTER.address("n1"), "eth0"), "address and interface", job)
    equal(found["program"]["grade"], "error", "grade of the program", job)
    check("rank 1 on n2: executable '/tmp/here-alone' not found" in found["program"]["text"], f"the text does not name rank 1: {found['program']}", job)
    check("rank 0" not in found["program"]["text"], f"the text names rank 0, which has the program: {found['program']}", job)


@test
def an_interface_with_the_same_address_on_each_node_is_not_used():
    """An example is docker0: a connection to it stays on its own node."""
    for node in NODES:
        add_interface(node, "docker0", "172.17.0.1/16", 5)
    try:
        listed = CLUSTER.enter("n1", "ip", "-4", "-br", "addr")
        check(-1 < listed.find("docker0@") < listed.find("eth0@"), f"docker0 is not listed first: {listed}")
        equal(addresses_of_ranks(), [(CLUSTER.address("n1"), "eth0")] * 2, "address and interface")
    finally:
        for node in NODES:
            CLUSTER.enter(node, "ip", "link", "del", "docker0")


@test
def an_interface_that_another_node_does_not_reach_is_an_error_that_names_both():
    add_interface("n1", "lonely0", "198.51.100.7/24", 20)
    try:
        config, out = plain_config(ENVIRONMENT)
        job = CLUSTER.run_srun(LAYOUT, config, "--program.interface=lonely0")
        check_exit(job, FAILED)
        for words in ("no address of n1, the node of rank 0, can be reached from all other nodes", "n2 does not reach 198.51.100.7",
                      "program.interface"):
            check(words in job.err, f"the message lacks {words!r}", job)
        equal(list(out.iterdir()), [], "programs that were started")
    finally:
        CLUSTER.enter("n1", "ip", "link", "del", "lonely0")


@test
def ranks_of_different_nodes_do_not_share_memory():
    """The ranks alternate between both nodes. A rank that treated all ranks as ranks of its node would not find their memory in its
    /dev/shm."""
    config = linear_config(scratch(), "run", {"epochs": 2, "batch_size": 32})
    job = CLUSTER.run_srun(["-N2", "-n4", "-m", "cyclic"], config)
    check_exit(job, FINISHED)
    check(re.search("4 ranks on 2 nodes .*MPI between nodes", job.err), "MPI is not used between the nodes", job)
    check_iterations(run_dir_of(config), 2)
    alone = linear_config(scratch(), "run", {"epochs": 2, "batch_size": 32})
    check_exit(CLUSTER.run_srun(["-N2", "-n4", "-m", "block"], alone), FINISHED)
    check_same_bits(run_dir_of(config), run_dir_of(alone))


@test
def a_node_that_loses_its_network_is_detected_within_the_limit():
    config = linear_config(scratch(), "run", {"epochs": 100000, "step_pause": 0.01}, failure={"collective_timeout": 5})
    job = CLUSTER.srun(LAYOUT, config)
    wait_for_reports(run_dir_of(config), 2, job)
    CLUSTER.enter("n2", "ip", "link", "set", "eth0", "down")
    try:
        start = time.monotonic()
        job.wait_for(r"rank 0: error: .*rank 1", 30)
        check(time.monotonic() - start < 20, f"the error came only after {time.monotonic() - start:.0f} s", job)
    finally:
        CLUSTER.enter("n2", "ip", "link", "set", "eth0", "up")
    code = job.wait(60)
    check(code not in (FINISHED, STOPPED), f"exit {code}", job)


main(setup=up, teardown=CLUSTER.down)
