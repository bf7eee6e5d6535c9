#!/bin/bash
# Submits a chain of jobs that continue one run: each starts when the one before it has ended, however that was. Prints their numbers.
#   jobs/chains/submit_chain.sh 5 -N2 -n8 -t 4:00:00 jobs/train.sbatch my.ini
# The words after the number are those of sbatch: its options, then the script with its words.
set -eu
case ${1:-} in
  '' | *[!0-9]* | 0)
    echo "usage: submit_chain.sh NUMBER_OF_JOBS [SBATCH_OPTIONS] SCRIPT [WORDS]" >&2
    exit 64
    ;;
esac
count=$1 before=
shift
[ $# -gt 0 ] || { echo "submit_chain.sh: missing argument: SCRIPT (jobs/train.sbatch)" >&2; exit 64; }
for ((i = 0; i < count; i++)); do
  # --no-requeue: a job that stops leaves the run to the next one.
  job=$(sbatch --parsable --no-requeue ${before:+--dependency=afterany:$before} "$@")
  before=${job%%;*} # "NUMBER;CLUSTER" where Slurm has several clusters
  echo "$before"
done
