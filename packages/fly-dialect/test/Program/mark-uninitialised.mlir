// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(gpu.module(fly-mark-uninitialised))" | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @fragments
  gpu.func @fragments() kernel {
    // CHECK: %[[WORD:.*]] = llvm.inline_asm "v_mov_b32 $0, ttmp14", "=v" : () -> i32
    // CHECK: %[[WORDS:.*]] = vector.broadcast %[[WORD]] : i32 to vector<4xi32>
    // CHECK: %[[FLOATS:.*]] = vector.bitcast %[[WORDS]] : vector<4xi32> to vector<4xf32>
    // CHECK: "test.use"(%[[FLOATS]])
    %floats = ub.poison : vector<4xf32>
    "test.use"(%floats) : (vector<4xf32>) -> ()
    // Three halves are a word and a half.
    // CHECK: vector.broadcast %{{.*}} : i32 to vector<2xi32>
    // CHECK: %[[WHOLE:.*]] = vector.bitcast %{{.*}} : vector<2xi32> to vector<4xf16>
    // CHECK: vector.extract_strided_slice %[[WHOLE]] {offsets = [0], sizes = [3], strides = [1]}
    %halves = ub.poison : vector<3xf16>
    "test.use"(%halves) : (vector<3xf16>) -> ()
    // CHECK: vector.broadcast %{{.*}} : i32 to vector<2xi32>
    // CHECK-NEXT: "test.use"
    %words = ub.poison : vector<2xi32>
    "test.use"(%words) : (vector<2xi32>) -> ()
    gpu.return
  }
  // CHECK-LABEL: gpu.func @others
  // CHECK-COUNT-3: ub.poison
  // CHECK-NOT: inline_asm
  gpu.func @others() kernel {
    %index = ub.poison : vector<4xindex>
    %scalar = ub.poison : f32
    %matrix = ub.poison : vector<2x2xf32>
    "test.use"(%index, %scalar, %matrix) : (vector<4xindex>, f32, vector<2x2xf32>) -> ()
    gpu.return
  }
}
