// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering --split-input-file | FileCheck %s

!atom = !fly.copy_atom<!fly.universal_copy<128>, 32>

// One call per position of the modes behind mode 0, column-major.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %[[SRC:.+]]: !fly.ptr<f32, global>, %[[DST:.+]]: !fly.ptr<f32, register>
func.func @copy(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  // CHECK: %[[ATOM:.+]] = fly.make_copy_atom
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %from = fly.static : !fly.layout<((4,1),2,2):((1,0),64,8)>
  %to = fly.static : !fly.layout<((4,1),2,2):((1,0),4,8)>
  %src = fly.make_view(%p, %from) : (!fly.ptr<f32, global>, !fly.layout<((4,1),2,2):((1,0),64,8)>) -> !fly.memref<f32, global, ((4,1),2,2):((1,0),64,8)>
  %dst = fly.make_view(%q, %to) : (!fly.ptr<f32, register>, !fly.layout<((4,1),2,2):((1,0),4,8)>) -> !fly.memref<f32, register, ((4,1),2,2):((1,0),4,8)>
  // CHECK: %[[LAYOUT:.+]] = fly.make_layout({{.+}}) : (!fly.int_tuple<4>, !fly.int_tuple<1>) -> !fly.layout<4:1>
  // CHECK: %[[S0:.+]] = fly.make_view(%[[SRC]], %[[LAYOUT]])
  // CHECK: %[[D0:.+]] = fly.make_view(%[[DST]], %[[LAYOUT]])
  // CHECK: fly.copy_atom_call(%[[ATOM]], %[[S0]], %[[D0]])
  // CHECK: fly.add_offset(%[[SRC]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<64>)
  // CHECK: fly.add_offset(%[[DST]], %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<4>)
  // CHECK: fly.copy_atom_call
  // CHECK: fly.add_offset(%[[SRC]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<8>)
  // CHECK: fly.add_offset(%[[DST]], %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<8>)
  // CHECK: fly.copy_atom_call
  // CHECK: fly.add_offset(%[[SRC]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<72>)
  // CHECK: fly.add_offset(%[[DST]], %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<12>)
  // CHECK: fly.copy_atom_call
  // CHECK-NOT: {{fly.copy(_atom_call)?\(}}
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, ((4,1),2,2):((1,0),64,8)>, !fly.memref<f32, register, ((4,1),2,2):((1,0),4,8)>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>

// A predicate without mode 0 has one value per call, which becomes a `1:0` view.
// CHECK-LABEL: func.func @predicate(
// CHECK-SAME: %[[PRED:[^:]+]]: !fly.ptr<i1, register>
func.func @predicate(%r: !fly.ptr<i1, register>, %p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %layout = fly.static : !fly.layout<(1,2):(0,1)>
  %each = fly.static : !fly.layout<2:1>
  %src = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(1,2):(0,1)>) -> !fly.memref<f32, global, (1,2):(0,1)>
  %dst = fly.make_view(%q, %layout) : (!fly.ptr<f32, register>, !fly.layout<(1,2):(0,1)>) -> !fly.memref<f32, register, (1,2):(0,1)>
  %pred = fly.make_view(%r, %each) : (!fly.ptr<i1, register>, !fly.layout<2:1>) -> !fly.memref<i1, register, 2:1>
  // CHECK: %[[P0:.+]] = fly.make_view(%[[PRED]], %{{.+}}) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
  // CHECK: fly.copy_atom_call(%{{.+}}, %{{.+}}, %{{.+}}, %[[P0]])
  // CHECK: %[[NEXT:.+]] = fly.add_offset(%[[PRED]], %{{.+}}) : (!fly.ptr<i1, register>, !fly.int_tuple<1>)
  // CHECK: %[[P1:.+]] = fly.make_view(%[[NEXT]], %{{.+}}) : (!fly.ptr<i1, register>, !fly.layout<1:0>)
  // CHECK: fly.copy_atom_call(%{{.+}}, %{{.+}}, %{{.+}}, %[[P1]])
  // CHECK-NOT: {{fly.copy(_atom_call)?\(}}
  fly.copy(%atom, %src, %dst, %pred) : (!atom, !fly.memref<f32, global, (1,2):(0,1)>, !fly.memref<f32, register, (1,2):(0,1)>, !fly.memref<i1, register, 2:1>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<64>, 16>
!copy = !fly.tiled_copy<!atom, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>

// A thread's part of a swizzled LDS tile: the swizzle is applied to the index of each atom.
// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME: %[[T:.+]]: i32, %[[SRC:.+]]: !fly.ptr<f16, register>, %[[DST:.+]]: !fly.ptr<f16, shared, align<16>>
func.func @swizzled(%t: i32, %p: !fly.ptr<f16, register>, %q: !fly.ptr<f16, shared, align<16>>) {
  %copy = fly.static : !copy
  %thread = fly.make_int_tuple(%t) : (i32) -> !fly.int_tuple<?>
  %from = fly.static : !fly.layout<((4,1),1,2):((1,0),0,4)>
  %to = fly.static : !fly.composed_layout<S<2,3,3> o 0 o (4,16):(16,1)>
  %src = fly.make_view(%p, %from) : (!fly.ptr<f16, register>, !fly.layout<((4,1),1,2):((1,0),0,4)>) -> !fly.memref<f16, register, ((4,1),1,2):((1,0),0,4)>
  %tile = fly.make_view(%q, %to) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<S<2,3,3> o 0 o (4,16):(16,1)>) -> !fly.memref<f16, shared, S<2,3,3> o 0 o (4,16):(16,1), align<16>>
  %dst = fly.tiled_copy.partition_dst(%copy, %tile, %thread) : (!copy, !fly.memref<f16, shared, S<2,3,3> o 0 o (4,16):(16,1), align<16>>, !fly.int_tuple<?>) -> !fly.memref<f16, shared, S<2,3,3> o ?{div=4} o ((4,1),1,2):((1,0),0,8), align<16>>
  // CHECK-DAG: %[[COL:.+]] = arith.remsi %[[T]], %{{.+}}
  // CHECK-DAG: %[[ROW:.+]] = arith.divsi %[[T]], %{{.+}}
  // CHECK: %[[INDEX:.+]] = arith.addi
  // CHECK: arith.andi %[[INDEX]]
  // CHECK: arith.shrui
  // CHECK: %[[FIRST:.+]] = arith.xori %[[INDEX]]
  // CHECK: %[[OFFSET:.+]] = fly.make_int_tuple(%[[FIRST]]) : (i32) -> !fly.int_tuple<?{div=4}>
  // CHECK: %[[ITER:.+]] = fly.add_offset(%[[DST]], %[[OFFSET]])
  // CHECK: %[[VIEW:.+]] = fly.make_view(%[[ITER]], %{{.+}}) : (!fly.ptr<f16, shared, align<8>>, !fly.layout<4:1>)
  // CHECK: fly.copy_atom_call(%{{.+}}, %{{.+}}, %[[VIEW]])
  // CHECK: arith.addi %[[INDEX]], %{{.+}}
  // CHECK: arith.xori
  // CHECK: fly.copy_atom_call
  fly.copy(%copy, %src, %dst) : (!copy, !fly.memref<f16, register, ((4,1),1,2):((1,0),0,4)>, !fly.memref<f16, shared, S<2,3,3> o ?{div=4} o ((4,1),1,2):((1,0),0,8), align<16>>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>

// The number of calls must be known.
// CHECK-LABEL: func.func @dynamic(
func.func @dynamic(%n: i32, %p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, shared>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %shape = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<(1,?)>
  %stride = fly.make_int_tuple() : () -> !fly.int_tuple<(0,1)>
  %layout = fly.make_layout(%shape, %stride) : (!fly.int_tuple<(1,?)>, !fly.int_tuple<(0,1)>) -> !fly.layout<(1,?):(0,1)>
  %src = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(1,?):(0,1)>) -> !fly.memref<f32, global, (1,?):(0,1)>
  %dst = fly.make_view(%q, %layout) : (!fly.ptr<f32, shared>, !fly.layout<(1,?):(0,1)>) -> !fly.memref<f32, shared, (1,?):(0,1)>
  // CHECK: fly.copy(
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, (1,?):(0,1)>, !fly.memref<f32, shared, (1,?):(0,1)>) -> ()
  return
}
