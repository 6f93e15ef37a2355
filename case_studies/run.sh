#!/usr/bin/env bash
# One case study from nothing to its tables: bash case_studies/run.sh square|pick|cloth [FOLDER]
# Everything goes on where it stopped when run again. README.md says what takes how long.
set -euo pipefail
cd "$(dirname "$0")/.."
task=$1
folder=${2:-.}
goalward=${GOALWARD:-.venv/bin/goalward}
rollouts=$folder/rollouts/$task
results=$folder/results/$task
episodes=200
if [ "$task" = cloth ]; then episodes=150; fi

$goalward simulate "$task" --out "$rollouts/test" --episodes 100 --balanced --seed 1
$goalward simulate "$task" --out "$rollouts/train" --episodes $episodes --balanced --seed 0
$goalward truth "$rollouts/test" --frames "${FRAMES:-300}" --rollouts "${BRANCHES:-16}"
$goalward reproduce "case_studies/$task/recipe.toml" --data "$rollouts" --out "$results"
$goalward reproduce "case_studies/$task/state/recipe.toml" --data "$rollouts" --out "$results/state"
python=$(dirname "$goalward")/python
"$python" case_studies/episode_figures.py "$rollouts/test" \
    "$results/values/effnet-lite0_$episodes.parquet" --out "$results/figures"
