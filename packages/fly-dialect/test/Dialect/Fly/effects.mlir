// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: fly-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: fly-opt %s --canonicalize | FileCheck %s --check-prefix=DCE

// The algebra has no effects: it is merged, hoisted and erased. Accesses, allocations and calls are not.

// CSE-LABEL: func.func @twice
// CSE-COUNT-1: fly.size
// CSE-NOT: fly.size
// CSE-COUNT-2: fly.ptr.load
// CSE-COUNT-2: fly.make_ptr
// CSE: return
func.func @twice(%l: !fly.layout<(4,?):(1,4)>, %p: !fly.ptr<f32, global>) -> (!fly.int_tuple<?{div=4}>, !fly.int_tuple<?{div=4}>, f32, f32, !fly.ptr<f32, register>, !fly.ptr<f32, register>) {
  %a = fly.size(%l) : (!fly.layout<(4,?):(1,4)>) -> !fly.int_tuple<?{div=4}>
  %b = fly.size(%l) : (!fly.layout<(4,?):(1,4)>) -> !fly.int_tuple<?{div=4}>
  %x = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> f32
  %y = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> f32
  %q = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  return %a, %b, %x, %y, %q, %r : !fly.int_tuple<?{div=4}>, !fly.int_tuple<?{div=4}>, f32, f32, !fly.ptr<f32, register>, !fly.ptr<f32, register>
}

// LICM-LABEL: func.func @loop
// LICM: fly.add_offset
// LICM: scf.for
// LICM-NEXT: fly.ptr.load
// LICM-NEXT: fly.ptr.store
func.func @loop(%n: index, %p: !fly.ptr<f32, global>, %o: !fly.int_tuple<?>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %q = fly.add_offset(%p, %o) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
    %x = fly.ptr.load(%q) : (!fly.ptr<f32, global>) -> f32
    fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, global>) -> ()
  }
  return
}

// DCE-LABEL: func.func @dead
// DCE-NOT: fly.zipped_divide
// DCE: fly.ptr.load
// DCE: return
func.func @dead(%l: !fly.layout<(8,12):(12,1)>, %t: !fly.tile<[4|6]>, %p: !fly.ptr<f32, global>) {
  %d = fly.zipped_divide(%l, %t) : (!fly.layout<(8,12):(12,1)>, !fly.tile<[4|6]>) -> !fly.layout<((4,6),(2,2)):((12,1),(48,6))>
  %x = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> f32
  return
}
