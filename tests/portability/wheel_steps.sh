#!/usr/bin/env bash
# wheel_steps.sh: the steps of try_wheel.sh, run in the bare system. Prints a row of the table for each step.
cd "$(dirname "$0")"
failed=0
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

# step NAME COMMAND...: runs a command, whose output is printed if it fails.
step() {
  local name=$1 start=$SECONDS result=works
  shift
  "$@" >log 2>&1 || { result="fails: $(tail -n 1 log)"; failed=1; tail -n 15 log >&2; }
  echo "| $release | $name | $result | $((SECONDS - start)) s |"
}

cat >train.py <<'END'
import array
import trainrt

ctx = trainrt.context()
weight = array.array("f", [0.0])
state = trainrt.State()
state.tensor("weight", weight)
state["step"] = 0
ctx.restore(state)
while state["step"] < ctx.config("steps", 20):
    part = array.array("f", [ctx.world_rank + 1.0])
    ctx.all_reduce(part, "mean")
    weight[0] += part[0]
    state["step"] += 1
    ctx.step()
    ctx.report({"weight": weight[0]})
ctx.save()
END
cat >fit.py <<'END'
from trainrt import train
from trainrt.train import DataParallelTrainer, RunConfig, ScalingConfig

def train_func(config):
    for epoch in range(config["epochs"]):
        train.report({"epoch": epoch, "ranks": train.get_context().get_world_size()})

result = DataParallelTrainer(train_func, train_loop_config={"epochs": 3}, scaling_config=ScalingConfig(num_workers=2),
                             run_config=RunConfig(name="fit", storage_path="runs")).fit()
assert result.metrics["epoch"] == 2 and result.metrics["ranks"] == 2, result.metrics
END
cat >trees.ini <<'END'
[run]
name = trees
storage_path = runs
[train]
function = xgboost
[loop]
label = y
objective = reg:squarederror
num_boost_round = 10
[data.train]
source = rows.parquet
END
python3 - <<'END'
import random
with open("rows.csv", "w") as file:
    file.write("a,b,y\n")
    file.writelines(f"{a},{b},{a + 2 * b}\n" for a, b in ((random.random(), random.random()) for _ in range(500)))
END

install() { python3 -m venv venv && venv/bin/pip install -q trainrt-*.whl && venv/bin/trainrt --version; }
no_compiler() { ! command -v cc gcc g++ clang; }
parquet() { venv/bin/trainrt data convert rows.csv -o rows.parquet && venv/bin/trainrt data inspect rows.parquet; }
library=  # the file of XGBoost's library in the package of PyPI, which trees() finds
trees() {
  venv/bin/pip install -q --no-deps xgboost || return 1
  library=$(find "$PWD/venv" -name libxgboost.so)
  venv/bin/trainrt -n 2 --config trees.ini --xgboost.library="$library" && venv/bin/trainrt export runs/trees -o model.ubj && [ -s model.ubj ]
}
torch_errors() { # the message of the command names what is missing, which is PyTorch here
  venv/bin/trainrt build torch --python venv/bin/python && return 1
  grep -q "cannot import torch" log
}
fit() { venv/bin/pip install -q cloudpickle && venv/bin/python fit.py; }
slurm() {
  export DEBIAN_FRONTEND=noninteractive
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d # packages must not start services
  chmod +x /usr/sbin/policy-rc.d
  apt-get -qq update && apt-get -qq install --no-install-recommends slurm-wlm slurmctld slurmd munge libpmix-dev libmpich12 procps iproute2
}
supervise() {
  local cluster=venv/share/trainrt/slurm/minicluster
  "$cluster" up 2 && eval "$("$cluster" env)" || return 1
  cat >job.sh <<'END'
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --requeue --open-mode=append
exec venv/bin/trainrt supervise --run.name=supervised --run.storage_path=runs -- venv/bin/python train.py
END
  sbatch --wait --time=5 job.sh
  local code=$?
  cat slurm-*.out
  "$cluster" down
  [ "$code" = 0 ] && venv/bin/trainrt result runs/supervised
}

step "no compiler is installed" no_compiler
step "pip install of the wheel, trainrt --version" install
step "trainrt -n 2 -- python3 train.py" venv/bin/trainrt -n 2 --run.name=first --run.storage_path=runs -- venv/bin/python train.py
step "Python API: python3 fit.py, 2 ranks" fit
step "Parquet: data convert, data inspect" parquet
step "trees: XGBoost of PyPI, 2 ranks, export" trees
step "check" venv/bin/trainrt check --config trees.ini --xgboost.library="$library"
step "result" venv/bin/trainrt result runs/first
step "report" venv/bin/trainrt report runs/first -o first.html
step "export" venv/bin/trainrt export runs/first -o first.npz
step "build torch without PyTorch: an error names it" torch_errors
if [ "$release" = bookworm ]; then
  step "apt-get install of Slurm, PMIx, MPICH" slurm
  step "supervise, 2 nodes of the minicluster" supervise
fi
exit $failed
