#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# On a machine with a Hopper GPU: the tests of the runtime, of the language and of the kernels with tensors on the GPU,
# CUDA's sanitizers on every kernel, the benchmarks. `bash run [FOLDER [STEP ...]]` leaves logs and figures there and
# runs all steps, or those named: runtime language kernels sanitizers rows products attention
# (tools/setup/cuda_tests.py says what lies beside).
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "${1:-$here/out}" && cd "${1:-$here/out}" && pwd)
wanted=" ${*:2} "
umask 022
# Artifacts that others may write to are refused, and a copy from elsewhere may be such.
work=$(mktemp -d) && cp -r "$here/." "$work" && chmod -R go-w "$work" && cd "$work" || exit 1
for wheel in wheels/*.whl; do python3 -m zipfile -e "$wheel" site || exit 1; done
python3 -m compileall -q -j 0 site # as an installation does: first calls are measured
export PYTHONPATH=$work/site:$work PYTHONUNBUFFERED=1 FLYDSL_DEVICE=cuda FLYDSL_TEST_ARTIFACTS=$work/artifacts
export FLYDSL_RUNTIME_CACHE_DIR=$work/cache
exec > >(tee "$out/log") 2>&1
status=0
step() {
  echo "== $1"
  shift
  "$@" || { echo "FAILED ($?)"; status=1; }
}
asked() { [[ $wanted == "  " || $wanted == *" $1 "* ]]; }
# Tests of a package, SECONDS at most, of which LEAST have to pass: suite NAME SECONDS LEAST TESTS...
suite() {
  step "$1 with tensors on the GPU" timeout --signal INT --kill-after 20 "$2" python3 -m pytest -q -rs -p no:cacheprovider -p cuda_plugin \
    --tb=short --least-passed "$3" -n "${FLYDSL_TEST_PROCESSES:-12}" --junitxml "$out/$1.xml" "${@:4}"
}
sanitized() { timeout 150 compute-sanitizer --tool "$1" --error-exitcode 9 --target-processes all python3 "${@:2}"; }
# The suites of the kernels. What they launch the sanitizers look at, so that every builder and operator has to be here.
kernels=(
  fly-kernels/tests/{norm,quant,elementwise,operators} fly-kernels/tests/test_awkward_shapes.py
  fly-kernels/tests/attention/test_{sliding_window,fused_rope_cache_kernel}.py
  fly-kernels/tests/gemm/test_warp_gemm.py::test_on_a_gpu
)
# These launch what others launch, in graphs and in what torch's compiler makes, which takes minutes.
again="inductor or graph or compile or opcheck"

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
step doctor python3 -m flydsl.runtime doctor
cd packages || exit 1
if asked runtime; then
  step "tests of the runtime" timeout 150 python3 -m pytest -q -rs -p no:cacheprovider \
    fly-runtime/tests/test_cuda_hardware.py
fi
if asked kernels; then
  suite kernels 240 900 "${kernels[@]}"
fi
if asked sanitizers; then
  suite launches 200 900 --record-launches "$work/launches" -k "not ($again)" "${kernels[@]}"
fi
if asked language; then
  suite language 150 600 fly-compiler/tests/expr/run fly-compiler/tests/compiler/control \
    fly-compiler/tests/compiler/test_{device_math,device_math_double,assert,launch,ptxas_on_a_gpu}.py \
    fly-compiler/tests/compiler/test_artifact_targets.py::test_it_runs_on_the_device_here
fi
cd ../bench || exit 1
for one in products:gemm attention:attention; do
  if asked sanitizers || asked "${one%:*}"; then
    step "${one%:*}, compiled here" python3 "cuda_${one#*:}.py" pack "${one%:*}"
  fi
done
if asked rows; then
  step "row kernels, compiled here" python3 cuda.py pack pack
  step "kernels against float64" timeout 120 python3 cuda.py check pack
fi
if asked sanitizers; then
  step "products and attention against float64, few" timeout 120 \
    python3 cuda_sanitize.py record "$work/launches" products attention
  if command -v compute-sanitizer > /dev/null; then
    tools=(memcheck racecheck synccheck initcheck) running=()
    for tool in "${tools[@]}"; do
      (
        status=0
        step "$tool: runtime" sanitized "$tool" -m pytest -q -p no:cacheprovider \
          ../packages/fly-runtime/tests/test_cuda_hardware.py -k "sum or shared or clusters or map or print"
        exit $status
      ) > "$work/$tool.log" 2>&1 &
      running+=($!)
    done
    step "sanitizers: every kernel" python3 cuda_sanitize.py run "$work/launches" --out "$out/sanitizers" \
      --seconds "${FLYDSL_SANITIZER_SECONDS:-240}"
    for number in "${!tools[@]}"; do
      wait "${running[$number]}" || status=1
      cat "$work/${tools[$number]}.log"
    done
  else
    echo "== sanitizers: left out, there is no compute-sanitizer"
  fi
fi
if asked rows; then
  step "first calls" python3 cuda_first.py "$out/first.json"
  step "times of rows" python3 cuda.py run pack "$out/results.json" --seconds "${FLYDSL_BENCH_SECONDS:-240}"
fi
for one in products:gemm attention:attention; do
  if asked "${one%:*}"; then
    program=cuda_${one#*:}.py
    step "${one%:*} against float64" python3 "$program" check "${one%:*}"
    step "times of ${one%:*}" python3 "$program" run "${one%:*}" "$out/${one%:*}.json"
  fi
done
echo "status $status"
exit $status
