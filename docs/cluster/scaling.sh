#!/usr/bin/env bash
# Wall time and processor time of a bootstrap in 1, 2 and 4 shards side by side, one thread each:
#
#   docs/cluster/scaling.sh FIT [SAMPLES]
set -euo pipefail
fit=$1
samples=${2:-1600}
rumple=${RUMPLE:-rumple}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg), cores: $(nproc)"
for n in 1 2 4; do
    TIMEFORMAT="$n shards: %R s wall, %U s of processor time"
    time {
        jobs=()
        for i in $(seq "$n"); do
            "$rumple" bootstrap "$fit" --samples "$samples" --threads 1 --shard "$i/$n" --out "$work/$n-$i" >/dev/null 2>&1 &
            jobs+=($!)
        done
        # One that fails must be heard.
        for job in "${jobs[@]}"; do wait "$job"; done
    }
done
