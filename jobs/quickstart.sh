#!/usr/bin/env bash
# Trains FashionMNIST on some ranks of this machine, started by MPICH's mpiexec, and shows the result.
#   quickstart.sh [FOLDER] [RANKS] [--section.key=value ...]     FOLDER contains the program trainrt (default: found in PATH); RANKS: default 2
# The run directory is $TRAINRT_STORAGE/quickstart, by default runs/quickstart; a second start reports the finished run.
set -eu
program=$(command -v trainrt || true)
folder=${1:-${program%/trainrt}}
ranks=${2:-2}
shift $(($# < 2 ? $# : 2))
jobs=$(cd "$(dirname "$0")" && pwd)
storage=${TRAINRT_STORAGE:-runs}
[ -x "$folder/trainrt" ] || { echo "quickstart.sh: '$folder/trainrt' does not exist; usage: quickstart.sh [FOLDER] [RANKS]. Load the module trainrt, or run make" >&2; exit 64; }
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec) || { echo "quickstart.sh: mpiexec was not found (package mpich)" >&2; exit 64; }
command=("$mpiexec" -n "$ranks" "$folder/trainrt" --config "$jobs/fashion_mnist.ini" --run.name=quickstart "--run.storage_path=$storage" "$@")
echo "${command[@]}"
"${command[@]}"
"$folder/trainrt" result "$storage/quickstart"
