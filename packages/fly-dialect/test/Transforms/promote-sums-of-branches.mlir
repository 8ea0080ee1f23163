// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-promote-regmem-to-vectorssa | FileCheck %s

// Sums of matrix instructions in one allocation, which a branch changes: each is a value of its own, so that no vector
// of all of them goes through the branch.

!mma = !fly.mma_atom<!fly_rocdl.cdna3.mfma<32x32x8, (f16, f16) -> f32>>
!small = !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>
!at = !fly.ptr<f32, register>

gpu.module @m {
  // CHECK-LABEL: gpu.func @rescaled(
  // CHECK-SAME: %[[RESCALE:.+]]: i1, %{{.+}}: vector<4xf16>, %[[ZERO:.+]]: vector<16xf32>)
  // CHECK: %[[FIRST:.+]] = fly.mma_atom_call_ssa({{.*}}, %[[ZERO]])
  // CHECK-NOT: vector.
  // CHECK: %[[SUMS:.+]]:2 = scf.if %[[RESCALE]] -> (vector<16xf32>, vector<16xf32>) {
  // CHECK: %[[LOW:.+]] = arith.addf %[[FIRST]], %[[FIRST]]
  // CHECK: %[[HIGH:.+]] = arith.addf %[[ZERO]], %[[ZERO]]
  // CHECK: scf.yield %[[LOW]], %[[HIGH]]
  // CHECK: } else {
  // CHECK: scf.yield %[[FIRST]], %[[ZERO]]
  // CHECK: gpu.return %[[SUMS]]#0, %[[SUMS]]#1
  gpu.func @rescaled(%rescale: i1, %x: vector<4xf16>, %zero: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
    %atom = fly.make_mma_atom : !mma
    %p = fly.make_ptr() {dictAttrs = {allocSize = 32 : i64}} : () -> !at
    %c16 = fly.make_int_tuple() : () -> !fly.int_tuple<16>
    %q = fly.add_offset(%p, %c16) : (!at, !fly.int_tuple<16>) -> !at
    fly.ptr.store(%zero, %p) : (vector<16xf32>, !at) -> ()
    fly.ptr.store(%zero, %q) : (vector<16xf32>, !at) -> ()
    %old = fly.ptr.load(%p) : (!at) -> vector<16xf32>
    %new = fly.mma_atom_call_ssa(%atom, %x, %x, %old) : (!mma, vector<4xf16>, vector<4xf16>, vector<16xf32>) -> vector<16xf32>
    fly.ptr.store(%new, %p) : (vector<16xf32>, !at) -> ()
    scf.if %rescale {
      %0 = fly.ptr.load(%p) : (!at) -> vector<16xf32>
      %1 = arith.addf %0, %0 : vector<16xf32>
      fly.ptr.store(%1, %p) : (vector<16xf32>, !at) -> ()
      %2 = fly.ptr.load(%q) : (!at) -> vector<16xf32>
      %3 = arith.addf %2, %2 : vector<16xf32>
      fly.ptr.store(%3, %q) : (vector<16xf32>, !at) -> ()
    }
    %low = fly.ptr.load(%p) : (!at) -> vector<16xf32>
    %high = fly.ptr.load(%q) : (!at) -> vector<16xf32>
    gpu.return %low, %high : vector<16xf32>, vector<16xf32>
  }

  // What one access takes together stays together: elements 0 to 15 with 8 to 23, and 24 to 31 beside them.
  // CHECK-LABEL: gpu.func @overlapping(
  // CHECK: ub.poison : vector<24xf32>
  // CHECK: scf.if %{{.+}} -> (vector<24xf32>) {
  // CHECK: vector.insert_strided_slice %{{.+}}, %{{.+}} {offsets = [8], strides = [1]} : vector<16xf32> into vector<24xf32>
  // CHECK: gpu.return %{{.+}}, %{{.+}} : vector<16xf32>, vector<8xf32>
  gpu.func @overlapping(%c: i1, %x: vector<4xf16>, %sum: vector<16xf32>, %pair: vector<8xf32>) -> (vector<16xf32>, vector<8xf32>) {
    %atom = fly.make_mma_atom : !mma
    %p = fly.make_ptr() {dictAttrs = {allocSize = 32 : i64}} : () -> !at
    %c8 = fly.make_int_tuple() : () -> !fly.int_tuple<8>
    %c24 = fly.make_int_tuple() : () -> !fly.int_tuple<24>
    %q = fly.add_offset(%p, %c8) : (!at, !fly.int_tuple<8>) -> !at
    %r = fly.add_offset(%p, %c24) : (!at, !fly.int_tuple<24>) -> !at
    %new = fly.mma_atom_call_ssa(%atom, %x, %x, %sum) : (!mma, vector<4xf16>, vector<4xf16>, vector<16xf32>) -> vector<16xf32>
    fly.ptr.store(%new, %p) : (vector<16xf32>, !at) -> ()
    fly.ptr.store(%pair, %r) : (vector<8xf32>, !at) -> ()
    scf.if %c {
      fly.ptr.store(%sum, %q) : (vector<16xf32>, !at) -> ()
    }
    %0 = fly.ptr.load(%p) : (!at) -> vector<16xf32>
    %1 = fly.ptr.load(%r) : (!at) -> vector<8xf32>
    gpu.return %0, %1 : vector<16xf32>, vector<8xf32>
  }

  // What fills all of them, or takes all, leaves them apart; what nothing else accesses is a piece, too.
  // CHECK-LABEL: gpu.func @filled(
  // CHECK-SAME: %{{.+}}: i1, %[[X:.+]]: vector<4xf16>, %[[FILL:.+]]: vector<48xf32>)
  // CHECK: %[[LOW:.+]] = vector.extract_strided_slice %[[FILL]] {offsets = [0], sizes = [16], strides = [1]}
  // CHECK: %[[HIGH:.+]] = vector.extract_strided_slice %[[FILL]] {offsets = [16], sizes = [32], strides = [1]}
  // CHECK: %[[NEW:.+]] = fly.mma_atom_call_ssa({{.*}}, %[[X]], %[[LOW]])
  // CHECK: %[[SUM:.+]] = scf.if %{{.+}} -> (vector<16xf32>) {
  // CHECK: } else {
  // CHECK: scf.yield %[[NEW]]
  // CHECK: %[[FIRST:.+]] = vector.insert_strided_slice %[[SUM]], %{{.+}} {offsets = [0], strides = [1]} : vector<16xf32> into vector<48xf32>
  // CHECK: %[[ALL:.+]] = vector.insert_strided_slice %[[HIGH]], %[[FIRST]] {offsets = [16], strides = [1]} : vector<32xf32> into vector<48xf32>
  // CHECK: gpu.return %[[ALL]]
  gpu.func @filled(%c: i1, %x: vector<4xf16>, %fill: vector<48xf32>) -> vector<48xf32> {
    %atom = fly.make_mma_atom : !mma
    %p = fly.make_ptr() {dictAttrs = {allocSize = 48 : i64}} : () -> !at
    fly.ptr.store(%fill, %p) : (vector<48xf32>, !at) -> ()
    %old = fly.ptr.load(%p) : (!at) -> vector<16xf32>
    %new = fly.mma_atom_call_ssa(%atom, %x, %x, %old) : (!mma, vector<4xf16>, vector<4xf16>, vector<16xf32>) -> vector<16xf32>
    fly.ptr.store(%new, %p) : (vector<16xf32>, !at) -> ()
    scf.if %c {
      %0 = fly.ptr.load(%p) : (!at) -> vector<16xf32>
      %1 = arith.addf %0, %0 : vector<16xf32>
      fly.ptr.store(%1, %p) : (vector<16xf32>, !at) -> ()
    }
    %all = fly.ptr.load(%p) : (!at) -> vector<48xf32>
    gpu.return %all : vector<48xf32>
  }

  // Without a branch they are one vector, as are small sums, and what no matrix instruction writes.
  // CHECK-LABEL: gpu.func @straight(
  // CHECK: ub.poison : vector<32xf32>
  gpu.func @straight(%x: vector<4xf16>, %sum: vector<16xf32>) -> vector<16xf32> {
    %atom = fly.make_mma_atom : !mma
    %p = fly.make_ptr() {dictAttrs = {allocSize = 32 : i64}} : () -> !at
    %new = fly.mma_atom_call_ssa(%atom, %x, %x, %sum) : (!mma, vector<4xf16>, vector<4xf16>, vector<16xf32>) -> vector<16xf32>
    fly.ptr.store(%new, %p) : (vector<16xf32>, !at) -> ()
    %0 = fly.ptr.load(%p) : (!at) -> vector<16xf32>
    gpu.return %0 : vector<16xf32>
  }

  // CHECK-LABEL: gpu.func @small(
  // CHECK: scf.if %{{.+}} -> (vector<8xf32>) {
  gpu.func @small(%c: i1, %x: vector<4xf16>, %sum: vector<4xf32>) -> vector<4xf32> {
    %atom = fly.make_mma_atom : !small
    %p = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !at
    %new = fly.mma_atom_call_ssa(%atom, %x, %x, %sum) : (!small, vector<4xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
    fly.ptr.store(%new, %p) : (vector<4xf32>, !at) -> ()
    scf.if %c {
      fly.ptr.store(%sum, %p) : (vector<4xf32>, !at) -> ()
    }
    %0 = fly.ptr.load(%p) : (!at) -> vector<4xf32>
    gpu.return %0 : vector<4xf32>
  }

  // CHECK-LABEL: gpu.func @loaded(
  // CHECK: ub.poison : vector<32xf32>
  // CHECK: scf.if %{{.+}} -> (vector<32xf32>) {
  gpu.func @loaded(%c: i1, %v: vector<16xf32>) -> vector<16xf32> {
    %p = fly.make_ptr() {dictAttrs = {allocSize = 32 : i64}} : () -> !at
    scf.if %c {
      fly.ptr.store(%v, %p) : (vector<16xf32>, !at) -> ()
    }
    %0 = fly.ptr.load(%p) : (!at) -> vector<16xf32>
    gpu.return %0 : vector<16xf32>
  }
}
