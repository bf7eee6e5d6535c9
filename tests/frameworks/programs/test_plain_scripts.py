#!/usr/bin/python3
"""Scripts that do not use trainrt find the variables that they need in their environment and train together, also two runs on one node."""
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.plain_scripts import *  # noqa: E402,F403
from tools.sockets import listens_on, named_sockets_of  # noqa: E402
from runs.training import *  # noqa: E402,F403

# Binds its port as TensorFlow does, waits for the others, and sends its rank to the next one.
CLUSTER_MEMBER = """import json, os, socket, sys, time
config = json.loads(os.environ["TF_CONFIG"])
workers, mine = config["cluster"]["worker"], config["task"]["index"]
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("", int(workers[mine].rsplit(":", 1)[1])))
server.listen()
server.settimeout(60)
host, port = workers[(mine + 1) % len(workers)].rsplit(":", 1)
for _ in range(600):
    try:
        other = socket.create_connection((host, int(port)), timeout=60)
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
other.sendall(str(mine).encode())
other.shutdown(socket.SHUT_WR)
caller = server.accept()[0].recv(10).decode()
with open(f"{sys.argv[1]}/{mine}.json", "w") as file:
    json.dump({"caller": int(caller), "workers": workers, "type": config["task"]["type"], "rank": int(os.environ["RANK"])}, file)
"""


def ddp_trains_together(ranks):
    require_torch()
    config, out = ddp_config()
    job = run_ranks(ranks, config, timeout=240)
    check_exit(job, FINISHED)
    for each in check_trained_together(out, ranks, job):
        equal((each["env"]["MASTER_ADDR"], each["env"]["GLOO_SOCKET_IFNAME"]), ("127.0.0.1", "lo"), "address and interface of the rendezvous", job)
        equal(each["env"]["LOCAL_WORLD_SIZE"], str(ranks), "ranks on this node", job)
        check(1 <= each["threads"] <= max(1, len(os.sched_getaffinity(0)) // ranks), f"{each['threads']} threads per rank oversubscribe the CPUs", job)


for count in (1, 2, 3):
    add_test(f"an_unchanged_DDP_script_trains_together_on_{count}_ranks", ddp_trains_together, count)


def xgboost_trains_together(ranks):
    config, out = xgboost_config()
    job = run_ranks(ranks, config, timeout=120)
    check_exit(job, FINISHED)
    check_same_trees(out, ranks, job)


for count in (1, 2, 3):
    add_test(f"an_unchanged_XGBoost_script_trains_together_on_{count}_ranks", xgboost_trains_together, count)


@test
def two_runs_at_the_same_time_do_not_collide():
    require_torch()
    started = [(*ddp_config(), []) for _ in range(2)]
    for config, _, jobs in started:
        jobs.append(start_ranks(2, config))
    ports = set()
    for _, out, (job,) in started:
        job.code = job.wait(240)
        check_exit(job, FINISHED)
        ports |= {each["env"]["MASTER_PORT"] for each in check_trained_together(out, 2, job)}
    equal(len(ports), 2, f"ports of two runs: {ports}")


@test
def workers_of_TF_CONFIG_bind_their_ports_and_reach_each_other():
    config, out = plain_config(f"{PYTHON} {program_file(CLUSTER_MEMBER)} {{out}}")
    job = run_ranks(3, config, timeout=120)
    check_exit(job, FINISHED)
    found = found_by(out, 3, job)
    for rank, each in enumerate(found):
        equal((each["rank"], each["caller"], each["type"]), (rank, (rank - 1) % 3, "worker"), "rank, caller and type", job)
        equal(each["workers"], found[0]["workers"], "workers", job)
    equal(len(set(found[0]["workers"])), 3, "addresses of workers", job)


def variables_of(*overrides, env=None):
    """Returns the environment variables of a program."""
    config, out = plain_config("/bin/sh -c 'env > {out}/env'")
    job = Job([TRAINRT, "--config", config, *overrides], env=env)
    job.code = job.wait(60)
    check_exit(job, FINISHED)
    return dict(line.split("=", 1) for line in (out / "env").read_text().splitlines() if "=" in line)


@test
def program_env_chooses_the_frameworks():
    seen = variables_of("--program.env=jax, keras", env={"MASTER_ADDR": "mine"})
    check("JAX_COORDINATOR_ADDRESS" in seen and "KERAS_DISTRIBUTION_PROCESS_ID" in seen, f"a chosen framework is missing: {seen}")
    check("TF_CONFIG" not in seen and seen["MASTER_ADDR"] == "mine", f"another framework is set: {seen}")
    seen = variables_of("--program.env=none")
    check("MASTER_ADDR" not in seen and seen["WORLD_SIZE"] == "1", f"without a framework: {seen}")


@test
def variables_of_the_user_are_kept_if_they_are_choices():
    seen = variables_of(env={"MASTER_PORT": "1", "OMP_NUM_THREADS": "7", "GLOO_SOCKET_IFNAME": "eth9", "DS_ACCELERATOR": "mine"})
    equal((seen["OMP_NUM_THREADS"], seen["GLOO_SOCKET_IFNAME"], seen["DS_ACCELERATOR"]), ("7", "eth9", "mine"), "choices")
    check(seen["MASTER_PORT"] != "1", "MASTER_PORT is not this attempt's")


@test
def an_unknown_framework_is_refused_before_the_run_starts():
    config, out = plain_config("/bin/sh -c 'touch {out}/started'")
    for command in ([], ["check"]):
        job = run([TRAINRT, *command, "--config", config, "--program.env=torch, tensorflo"])
        check_exit(job, USAGE)
        for word in ("program.env", "no such framework: 'tensorflo'", "did you mean 'tensorflow'"):
            check(word in job.err, f"the message lacks {word!r}", job)
    equal((list(out.iterdir()), run_dir_of(config).exists()), ([], False), "files of the program, and whether a run directory exists")


@test
def an_unknown_interface_is_an_error_that_lists_the_available_ones():
    config, out = plain_config("/bin/sh -c 'touch {out}/started'")
    job = run_ranks(2, config, "--program.interface=ib7")
    check_exit(job, USAGE)
    for word in ("program.interface = ib7", "available: "):
        check(word in job.err, f"the message lacks {word!r}", job)
    equal(list(out.iterdir()), [], "programs that were started")


@test
def the_list_shows_the_frameworks():
    listed = run([TRAINRT, "list", "all"]).out
    for word in ("torch", "TF_CONFIG", "JAX_COORDINATOR_ADDRESS", "horovod", "DMLC_TRACKER_URI", "PMI_FD", "slurm", "program.env"):
        check(word in listed, f"`trainrt list all` lacks {word!r}")


@test
def ranks_bound_to_one_CPU_get_a_warning_with_a_remedy():
    if len(os.sched_getaffinity(0)) < 2:
        skip("this machine has one CPU")
    config, _ = plain_config("/bin/sh -c 'echo threads $OMP_NUM_THREADS'")
    command = ["taskset", "-c", min(os.sched_getaffinity(0)), *ranks_command(3, config), "--run.output=all"]
    job = run([*command[:4], "-bind-to", "none", *command[4:]])
    check_exit(job, FINISHED)
    check(re.search(r"warning: 3 ranks share 1 of the \d+ CPUs of this node.*--cpus-per-task", job.err), "the warning", job)
    equal(job.out.count("threads 1\n"), 3, "threads", job)


HOROVOD_GREETING = b"GET /global/0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
XGBOOST_MAGIC = (0xff99).to_bytes(4, sys.byteorder)
GREETINGS = [b"", HOROVOD_GREETING, HOROVOD_GREETING.replace(b"GET", b"PUT"), bytes(64), b"x" * 100_000,
             XGBOOST_MAGIC + b"\xff" * 8 + b"\1\0\0\0" + b"0" + b"\5\0\0\0start"]


def answer_to(port, greeting):
    """Returns the bytes that a caller without the secret gets from that port of this node."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as caller:
        caller.settimeout(0.3)
        heard = b""
        try:
            caller.sendall(greeting)
            while received := caller.recv(4096):
                heard += received
        except OSError:
            pass  # the server waits for more bytes, or has closed the connection
        return heard


@test
def services_for_programs_do_not_answer_callers_without_the_secret():
    config, out = plain_config("/bin/sh -c 'env > {out}/part.$RANK; mv {out}/part.$RANK {out}/env.$RANK; until test -e {out}/go; do sleep 0.1; done'")
    job = start_ranks(2, config)
    wait_until(lambda: all((out / f"env.{rank}").exists() for rank in range(2)), 60, "the programs", job)
    pids = job.wait_for_ranks(2)
    variables = dict(line.split("=", 1) for line in (out / "env.0").read_text().splitlines() if "=" in line)
    served, others = listens_on(pids[0]), listens_on(pids[1])
    if others:  # in a container, UCX may use TCP inside of a node: one port per rank
        equal(len(others), 1, f"listening ports of rank 1: {others}", job)
    equal(len(served), 3 + len(others), f"listening ports of rank 0 (MPI's exchange, Horovod, XGBoost; in a container also UCX): {served}", job)
    served += others
    equal([each for pid in pids.values() for each in named_sockets_of(pid)], [], "Unix sockets that another process can connect to", job)
    check(all(each.startswith("127.0.0.1:") for each in served), f"a port is not on the loopback interface: {served}", job)
    for port in (int(each.rsplit(":", 1)[1]) for each in served):
        for greeting in GREETINGS:
            heard = answer_to(port, greeting)
            check(heard in (b"", XGBOOST_MAGIC), f"port {port} answered {greeting[:40]!r} with {heard[:80]!r}", job)
    callers = [socket.create_connection(("127.0.0.1", int(each.rsplit(":", 1)[1])), timeout=10) for each in served for _ in range(50)]
    address = variables["HOROVOD_GLOO_RENDEZVOUS_ADDR"]
    check(read_url(f"http://{address}:{variables['HOROVOD_GLOO_RENDEZVOUS_PORT']}/global/0") == 404, "a caller with the secret is not served", job)
    for caller in callers:
        caller.close()
    (out / "go").touch()
    job.code = job.wait(60)
    check_exit(job, FINISHED)


def read_url(url):
    """Returns the HTTP status of the answer. The URL is split as Horovod's client does (cpp HTTPRequest)."""
    host, path = url.removeprefix("http://").split("/", 1)
    name, port = host.split(":")
    with socket.create_connection((name, int(port)), timeout=10) as server:
        server.sendall(f"GET /{path} HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
        return int(server.recv(4096).split()[1])


main()
