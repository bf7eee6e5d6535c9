#!/bin/bash
# Submits a chain of jobs that continue one run: each starts when the previous one has ended for any reason. Prints the job numbers.
#   jobs/chains/submit_chain.sh 5 -N2 -n8 -t 4:00:00 jobs/train.sbatch my.ini
# The arguments after the number are passed to sbatch: its options, then the script and its arguments.
set -eu
case ${1:-} in
  '' | *[!0-9]* | 0)
    echo "usage: submit_chain.sh NUMBER_OF_JOBS [SBATCH_OPTIONS] SCRIPT [ARGUMENTS]" >&2
    exit 64
    ;;
esac
count=$1 before=
shift
[ $# -gt 0 ] || { echo "submit_chain.sh: missing argument: SCRIPT (jobs/train.sbatch)" >&2; exit 64; }
for ((i = 0; i < count; i++)); do
  # The jobs are not requeued, because the next job of the chain continues a run that stopped.
  job=$(sbatch --parsable --no-requeue ${before:+--dependency=afterany:$before} "$@")
  before=${job%%;*} # "NUMBER;CLUSTER" if Slurm has several clusters
  echo "$before"
done
