#!/usr/bin/env bash
# Builds wheel and source archive, installs each into an empty environment, and tries the first commands
# of a newcomer there. For every interpreter given: .ci/fresh_install.sh python3.11 python3.12
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
[ $# -gt 0 ] || set -- python3
unset PYTHONPATH
"$1" -m venv "$place/build"
"$place/build/bin/python" -m pip install --quiet build
"$place/build/bin/python" -m build --outdir "$place/dist" . > /dev/null
size=$(stat -c %s "$place"/dist/*.whl)
echo "wheel: $size bytes, source archive: $(stat -c %s "$place"/dist/*.tar.gz) bytes"
[ "$size" -le 8000000 ] || { echo "the wheel has more than 8 MB"; exit 1; }
mkdir -p dist && cp "$place"/dist/* dist/
echo "they are in dist/"
for interpreter in "$@"; do
    for archive in "$place"/dist/*.whl "$place"/dist/*.tar.gz; do
        rm -rf "$place/env" "$place/work" && mkdir "$place/work"
        "$interpreter" -m venv "$place/env"
        "$place/env/bin/python" -m pip install --quiet --constraint "$here/constraints.txt" "$archive[offline]"
        # Away from the checkout, so that what was installed is what runs.
        (
            cd "$place/work"
            export XDG_CACHE_HOME=$place/work/cache
            "$place/env/bin/python" -m pip check
            "$place/env/bin/goalward" --version
            "$place/env/bin/goalward" inspect demo > inspected.txt && head -3 inspected.txt
            "$place/env/bin/python" -c 'import goalward; print(goalward.read("demo"))'
            case $archive in *.whl)
                "$place/env/bin/goalward" evaluate demo --out run --encoder effnet-lite0 --effort quick > told.txt
                test -s run/summary.md && test -s run/report/index.html && test -s run/values.parquet ;;
            esac
        )
        echo "$("$interpreter" --version), $(basename "$archive"): works"
    done
done
