#!/usr/bin/env bash
# Does every extra resolve alone, do all of them together, and do the oldest versions named fit together?
# Nothing is installed but uv. For every version given: .ci/resolve.sh 3.11 3.12 3.13
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
[ $# -gt 0 ] || set -- 3.11
"${PYTHON:-python3}" -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet uv
resolves() {
    # What an earlier answer found would be preferred.
    rm -f "$place/found.txt"
    "$place/env/bin/uv" pip compile --quiet "$@" pyproject.toml --output-file "$place/found.txt" > /dev/null
    echo "$*: $(grep -c == "$place/found.txt") packages"
}
extras=$("$place/env/bin/python" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"])')
for version in "$@"; do
    for extra in $extras; do
        resolves --python-version "$version" --extra "$extra"
    done
    resolves --python-version "$version" --all-extras
    # Of files to install as they are: what builds only with a compiler is no lower bound.
    resolves --python-version "$version" --resolution lowest-direct --only-binary :all: --extra offline --extra onnx --extra zmq
done
