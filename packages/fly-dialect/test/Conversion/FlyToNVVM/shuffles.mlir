// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-nvvm --canonicalize | FileCheck %s

// A whole warp: every lane names all.

// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %[[X:.*]]: f32)
func.func @whole(%x: f32) -> (f32, i1) {
  %offset = arith.constant 4 : i32
  %width = arith.constant 32 : i32
  // CHECK-DAG: %[[ALL:.*]] = arith.constant -1 : i32
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 31 : i32
  // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
  // CHECK: %[[WORD:.*]] = llvm.bitcast %[[X]] : f32 to i32
  // CHECK: %[[BOTH:.*]] = nvvm.shfl.sync bfly %[[ALL]], %[[WORD]], %[[FOUR]], %[[LAST]] {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
  // CHECK: llvm.extractvalue %[[BOTH]][0]
  // CHECK: llvm.extractvalue %[[BOTH]][1]
  %value, %valid = gpu.shuffle xor %x, %offset, %width : f32
  return %value, %valid : f32, i1
}

// -----

// Groups of 16: the lane's own group is named, and 32 - 16 = 16 stands in bits 8 to 12 of the operand, above a limit of
// 31, or of 0 where values go up.

// CHECK-LABEL: func.func @groups(
func.func @groups(%x: i32, %offset: i32) -> (i32, i32) {
  %width = arith.constant 16 : i32
  // CHECK-DAG: %[[UP:.*]] = arith.constant 4096 : i32
  // CHECK-DAG: %[[DOWN:.*]] = arith.constant 4127 : i32
  // CHECK-DAG: %[[LANES:.*]] = arith.constant 65535 : i32
  // CHECK-DAG: %[[FIRST:.*]] = arith.constant -16 : i32
  // CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.laneid : i32
  // CHECK: %[[BEGIN:.*]] = arith.andi %[[LANE]], %[[FIRST]] : i32
  // CHECK: %[[MASK:.*]] = arith.shli %[[LANES]], %[[BEGIN]] : i32
  // CHECK: nvvm.shfl.sync up %[[MASK]], %{{.*}}, %{{.*}}, %[[UP]]
  %up, %a = gpu.shuffle up %x, %offset, %width : i32
  // CHECK: nvvm.shfl.sync down %{{.*}}, %{{.*}}, %{{.*}}, %[[DOWN]]
  %down, %b = gpu.shuffle down %x, %offset, %width : i32
  return %up, %down : i32, i32
}

// -----

// What is wider or narrower than a word goes by words.

// CHECK-LABEL: func.func @widths(
func.func @widths(%wide: f64, %narrow: bf16, %lane: i32) -> (f64, bf16) {
  %width = arith.constant 32 : i32
  // CHECK-COUNT-3: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl
  %0, %a = gpu.shuffle idx %wide, %lane, %width : f64
  %1, %b = gpu.shuffle idx %narrow, %lane, %width : bf16
  return %0, %1 : f64, bf16
}
