#!/usr/bin/env bash
# One attack with vegeta on one release, under a CPU budget, with an audit of what got 200: attack.sh --help
# Uses vegeta and toxiproxy-server from PATH, or builds the versions pinned in loadtest/tools once.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"

case " $* " in
*" --help "* | *" -h "*) exec python3 -m loadtest.attack --help ;;
*" --url"*) tools=(vegeta) ;;
*) tools=(vegeta toxiproxy-server) ;;
esac

for tool in "${tools[@]}"; do
  command -v "$tool" >/dev/null && continue
  if [ ! -x "$root/loadtest/tools/bin/$tool" ] && ! command -v go >/dev/null; then
    echo "error: $tool is not on PATH, and building it needs Go 1.24 or newer: install Go (go.dev/dl) or $tool" >&2
    exit 2
  fi
  make --silent --directory "$root" "loadtest/tools/bin/$tool" >&2
done
export PATH="$PATH:$root/loadtest/tools/bin"

# An image with the packages installed sets LOADTEST_PYTHON.
if [ -z "${LOADTEST_PYTHON:-}" ]; then
  make --silent --directory "$root" .venv/loadtest >&2
  LOADTEST_PYTHON=$root/.venv/bin/python
fi
exec "$LOADTEST_PYTHON" -m loadtest.attack "$@"
