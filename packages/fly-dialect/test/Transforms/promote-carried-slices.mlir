// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-promote-regmem-to-vectorssa | FileCheck %s

// What a loop loads for its next turn, slice by slice, goes to that turn as slices joined in pairs, not as a chain of
// insertions.

!at = !fly.ptr<f16, register>

gpu.module @m {
  // CHECK-LABEL: gpu.func @loaded(
  // CHECK: scf.for
  // CHECK-NOT: vector.insert_strided_slice
  // CHECK: %[[LOW:.+]] = vector.shuffle %[[X:.+]], %[[X]] [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf16>, vector<4xf16>
  // CHECK: %[[ALL:.+]] = vector.shuffle %[[LOW]], %[[LOW]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<8xf16>, vector<8xf16>
  // CHECK: scf.yield %[[ALL]] : vector<16xf16>
  gpu.func @loaded(%n: index, %x: vector<4xf16>) -> vector<4xf16> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = fly.make_ptr() {dictAttrs = {allocSize = 16 : i64}} : () -> !at
    %i4 = fly.make_int_tuple() : () -> !fly.int_tuple<4>
    %i8 = fly.make_int_tuple() : () -> !fly.int_tuple<8>
    %i12 = fly.make_int_tuple() : () -> !fly.int_tuple<12>
    %q = fly.add_offset(%p, %i4) : (!at, !fly.int_tuple<4>) -> !at
    %r = fly.add_offset(%p, %i8) : (!at, !fly.int_tuple<8>) -> !at
    %s = fly.add_offset(%p, %i12) : (!at, !fly.int_tuple<12>) -> !at
    scf.for %i = %c0 to %n step %c1 {
      fly.ptr.store(%x, %p) : (vector<4xf16>, !at) -> ()
      fly.ptr.store(%x, %q) : (vector<4xf16>, !at) -> ()
      fly.ptr.store(%x, %s) : (vector<4xf16>, !at) -> ()
      fly.ptr.store(%x, %r) : (vector<4xf16>, !at) -> ()
    }
    %0 = fly.ptr.load(%r) : (!at) -> vector<4xf16>
    gpu.return %0 : vector<4xf16>
  }

  // Slices that leave elements as they were stay insertions.
  // CHECK-LABEL: gpu.func @in_part(
  // CHECK: scf.for
  // CHECK-COUNT-3: vector.insert_strided_slice
  // CHECK-NOT: vector.shuffle
  // CHECK: scf.yield
  gpu.func @in_part(%n: index, %x: vector<4xf16>) -> vector<4xf16> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = fly.make_ptr() {dictAttrs = {allocSize = 16 : i64}} : () -> !at
    %i4 = fly.make_int_tuple() : () -> !fly.int_tuple<4>
    %i8 = fly.make_int_tuple() : () -> !fly.int_tuple<8>
    %q = fly.add_offset(%p, %i4) : (!at, !fly.int_tuple<4>) -> !at
    %r = fly.add_offset(%p, %i8) : (!at, !fly.int_tuple<8>) -> !at
    scf.for %i = %c0 to %n step %c1 {
      fly.ptr.store(%x, %p) : (vector<4xf16>, !at) -> ()
      fly.ptr.store(%x, %q) : (vector<4xf16>, !at) -> ()
      fly.ptr.store(%x, %r) : (vector<4xf16>, !at) -> ()
    }
    %0 = fly.ptr.load(%r) : (!at) -> vector<4xf16>
    gpu.return %0 : vector<4xf16>
  }
}
