// SPDX-License-Identifier: Apache-2.0
// A failing pass leaves its input and the rest of the pipeline in a file, which runs again by itself.
// RUN: rm -f %t.mlir
// RUN: not fly-opt %s --pass-pipeline="builtin.module(fly-canonicalize,fly-layout-lowering,convert-fly-to-rocdl)" --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: FileCheck %s < %t.mlir
// RUN: not fly-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN

// ERROR: shared make_ptr must be inside a gpu.module
// CHECK: fly.make_ptr()
// CHECK: {-#
// CHECK: mlir_reproducer: {
// CHECK: pipeline: "builtin.module({{.*}}convert-fly-to-rocdl{{.*}})"
// AGAIN: shared make_ptr must be inside a gpu.module
func.func @outside() -> !fly.ptr<f32, shared> {
  %0 = fly.make_ptr() {dictAttrs = {allocAlign = 16 : i64, allocBytes = 64 : i64}} : () -> !fly.ptr<f32, shared>
  return %0 : !fly.ptr<f32, shared>
}
