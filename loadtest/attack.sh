#!/usr/bin/env bash
# Runs one attack with vegeta on one release, under a CPU budget, and audits the webhooks that got 200: attack.sh --help
# Uses vegeta and toxiproxy-server from PATH. If one is missing, builds the version pinned in loadtest/tools once.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"

# An image with the packages installed sets LOADTEST_PYTHON.
python=${LOADTEST_PYTHON:-$root/.venv/bin/python}

case " $* " in
*" --help "* | *" -h "*)
  [ -x "$python" ] || python=python3 # nothing is installed yet
  exec "$python" -m loadtest.attack --help
  ;;
*" --url"*) tools=(vegeta) ;;
*) tools=(vegeta toxiproxy-server) ;;
esac

needed=()
[ -n "${LOADTEST_PYTHON:-}" ] || needed+=(.venv/local loadtest/sqs/bin/sqs)
for tool in "${tools[@]}"; do
  command -v "$tool" >/dev/null || needed+=("loadtest/tools/bin/$tool")
done
((${#needed[@]} == 0)) || make --silent --directory "$root" "${needed[@]}" >&2

export PATH="$PATH:$root/loadtest/tools/bin"
exec "$python" -m loadtest.attack "$@"
