#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# On a machine with a Hopper GPU: the tests of the runtime, every kernel against float64, CUDA's sanitizers on a part of
# both, the benchmark. `bash run [FOLDER]` leaves log and figures there (tools/setup/cuda_tests.py says what lies beside).
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "${1:-$here/out}" && cd "${1:-$here/out}" && pwd)
umask 022
# Artifacts that others may write to are refused, and a copy from elsewhere may be such.
work=$(mktemp -d) && cp -r "$here/." "$work" && chmod -R go-w "$work" && cd "$work" || exit 1
export PYTHONPATH=$work/site FLYDSL_TEST_ARTIFACTS=$work/artifacts PYTHONUNBUFFERED=1
exec > >(tee "$out/log") 2>&1
status=0
step() {
  echo "== $1"
  shift
  "$@" || { echo "FAILED ($?)"; status=1; }
}
sanitized() { timeout 90 compute-sanitizer --tool "$1" --error-exitcode 9 --target-processes all python3 "${@:2}"; }

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
step doctor python3 -m flydsl.runtime doctor
step "tests of the runtime" timeout 150 python3 -m pytest -q -rs -p no:cacheprovider tests/test_cuda_hardware.py
step "kernels against float64" timeout 120 python3 cuda.py check pack
if command -v compute-sanitizer > /dev/null; then
  for tool in memcheck racecheck synccheck initcheck; do
    step "$tool: runtime" sanitized $tool -m pytest -q -p no:cacheprovider tests/test_cuda_hardware.py \
      -k "sum or shared or clusters or map or print"
    step "$tool: kernels" sanitized $tool cuda.py check pack --only=-1000 --most-rows 5
  done
else
  echo "== sanitizers: left out, there is no compute-sanitizer"
fi
step benchmark python3 cuda.py run pack "$out/results.json" --seconds "${FLYDSL_BENCH_SECONDS:-240}"
echo "status $status"
exit $status
