// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-to-rocdl | FileCheck %s

// WMMA that accumulates in 16 bits. gfx11 gives each sum a register, of which it takes the low half.

// CHECK-LABEL: func.func @gfx11(
// CHECK-SAME: %[[A:.*]]: vector<16xf16>, %[[C:.*]]: vector<8xf16>)
func.func @gfx11(%a: vector<16xf16>, %c: vector<8xf16>) -> vector<8xf16> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (f16, f16) -> f16, signA = false, signB = false, clamp = false>>
  // CHECK: %[[SPREAD:.*]] = llvm.shufflevector %[[C]], %[[C]] [0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1] : vector<8xf16>
  // CHECK: %[[D:.*]] = rocdl.wmma.f16.16x16x16.f16 %[[A]], %[[A]], %[[SPREAD]] : (vector<16xf16>, vector<16xf16>, vector<16xf16>) -> vector<16xf16>
  // CHECK: llvm.shufflevector %[[D]], %[[D]] [0, 2, 4, 6, 8, 10, 12, 14] : vector<16xf16>
  %d = fly.mma_atom_call_ssa(%atom, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (f16, f16) -> f16, signA = false, signB = false, clamp = false>>, vector<16xf16>, vector<16xf16>, vector<8xf16>) -> vector<8xf16>
  return %d : vector<8xf16>
}

// CHECK-LABEL: func.func @gfx120x(
func.func @gfx120x(%a: vector<8xbf16>, %c: vector<8xbf16>) -> vector<8xbf16> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false>>
  // CHECK: %[[D:.*]] = rocdl.wmma.bf16.16x16x16.bf16 {{.*}} : (vector<8xi16>, vector<8xi16>, vector<8xi16>) -> vector<8xi16>
  // CHECK: llvm.bitcast %[[D]] : vector<8xi16> to vector<8xbf16>
  %d = fly.mma_atom_call_ssa(%atom, %a, %a, %c) : (!fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false>>, vector<8xbf16>, vector<8xbf16>, vector<8xbf16>) -> vector<8xbf16>
  return %d : vector<8xbf16>
}
