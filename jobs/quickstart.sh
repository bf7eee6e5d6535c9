#!/usr/bin/env bash
# Trains FashionMNIST without Slurm, on a few ranks of this machine that MPICH's mpiexec starts.
set -eu
build=$1
ranks=$2
jobs=$(cd "$(dirname "$0")" && pwd)
storage=${TRAINRT_STORAGE:-$build/runs}
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec) || { echo "quickstart.sh: mpiexec was not found (package mpich)" >&2; exit 64; }
[ -x "$build/trainrt" ] || { echo "quickstart.sh: $build/trainrt does not exist: run make" >&2; exit 64; }
command=("$mpiexec" -n "$ranks" "$build/trainrt" --config "$jobs/fashion_mnist.ini" --run.name=quickstart "--run.storage_path=$storage")
echo "${command[@]}"
"${command[@]}"
"$build/trainrt" result "$storage/quickstart"
