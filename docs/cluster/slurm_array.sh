#!/bin/bash
# A share of the work for each task of a Slurm job array; the arguments are those of rumple without --shard and --out:
#
#   OUT=study sbatch --array=1-8 docs/cluster/slurm_array.sh bootstrap poplin-fit --samples 2000
#
# and, when all are done (afterok waits for it; a share that was killed goes on when it is queued again):
#
#   sbatch --dependency=afterok:JOB --wrap 'rumple merge study/shard-* --out study/whole'
#
# The indices must be 1 to N: the number of shares is the number of tasks of the array.
#SBATCH --job-name=rumple
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail
: "${OUT:?give the folder of the study, as in OUT=study sbatch …}"
mkdir -p "$OUT"
exec "${RUMPLE:-rumple}" "$@" --threads "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --out "$OUT/shard-$SLURM_ARRAY_TASK_ID"
