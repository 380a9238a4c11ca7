#!/usr/bin/env bash
# Makes crease.csv (runs of the crease test) and salib.json (what SALib 1.6.0 finds in them).
# Usage, from the root of the repository:  tests/data/salib/make.sh path/to/rumple
# Needs a Python 3 with SALib (pip install SALib==1.6.0); another than `python3` is named by PYTHON.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
rumple="$1"
python="${PYTHON:-python3}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$rumple" sensitivity "$here/case.json" --samples 32 --trajectories 10 --width 0 --seed 1 \
    --out "$work/study" >/dev/null
"$python" "$here/salib.py" "$work/study" "$here"
