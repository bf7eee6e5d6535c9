#!/usr/bin/env bash
# The main job without Slurm: FashionMNIST on a few ranks of this machine, started by MPICH's mpiexec.
set -eu
build=$1
ranks=$2
jobs=$(cd "$(dirname "$0")" && pwd)
storage=${TRAINRT_STORAGE:-$build/runs}
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
command=("$mpiexec" -n "$ranks" "$build/trainrt" --config "$jobs/fashion_mnist.ini" --run.name=quickstart "--run.storage_path=$storage")
echo "${command[@]}"
"${command[@]}"
"$build/trainrt" result "$storage/quickstart"
