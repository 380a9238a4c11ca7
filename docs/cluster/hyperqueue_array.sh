#!/bin/bash
# A share of the work for each task of a HyperQueue array; the arguments are those of rumple without --shard and --out:
#
#   hq server start &
#   hq alloc add slurm --time-limit 2h        # or `hq worker start` on each machine
#   hq submit --array 1-8 --env OUT=study --env N=8 --crash-limit 10 \
#       docs/cluster/hyperqueue_array.sh bootstrap poplin-fit --samples 2000
#   hq job wait last
#   rumple merge study/shard-* --out study/whole
set -euo pipefail
: "${OUT:?give the folder of the study, as in --env OUT=study --env N=8}"
: "${N:?give the number of shares, as in --env OUT=study --env N=8}"
mkdir -p "$OUT"
exec "${RUMPLE:-rumple}" "$@" --threads "${THREADS:-1}" --shard "$HQ_TASK_ID/$N" --out "$OUT/shard-$HQ_TASK_ID"
