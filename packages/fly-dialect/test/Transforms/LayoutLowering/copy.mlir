// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering --split-input-file | FileCheck %s

!atom = !fly.copy_atom<!fly.universal_copy<128>, 32>

// One call per position of the modes behind mode 0, column-major.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f32, global>, %[[ARG1:.+]]: !fly.ptr<f32, register>)
// CHECK: %[[V0:.+]] = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V2:.+]] = fly.add_offset(%[[ARG0]], %[[V1]]) : (!fly.ptr<f32, global>, !fly.int_tuple<0>) -> !fly.ptr<f32, global>
// CHECK: %[[V3:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(1,0)>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(4,1)>
// CHECK: %[[V5:.+]] = fly.make_layout(%[[V4]], %[[V3]]) : (!fly.int_tuple<(4,1)>, !fly.int_tuple<(1,0)>) -> !fly.layout<(4,1):(1,0)>
// CHECK: %[[V6:.+]] = fly.make_view(%[[V2]], %[[V5]]) : (!fly.ptr<f32, global>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f32, global, (4,1):(1,0)>
// CHECK: %[[V7:.+]] = fly.add_offset(%[[ARG1]], %[[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<0>) -> !fly.ptr<f32, register>
// CHECK: %[[V8:.+]] = fly.make_view(%[[V7]], %[[V5]]) : (!fly.ptr<f32, register>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f32, register, (4,1):(1,0)>
// CHECK: fly.copy_atom_call(%[[V0]], %[[V6]], %[[V8]])
// CHECK: %[[V9:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<64>
// CHECK: %[[V10:.+]] = fly.add_offset(%[[ARG0]], %[[V9]]) : (!fly.ptr<f32, global>, !fly.int_tuple<64>) -> !fly.ptr<f32, global>
// CHECK: %[[V11:.+]] = fly.make_view(%[[V10]], %[[V5]]) : (!fly.ptr<f32, global>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f32, global, (4,1):(1,0)>
// CHECK: %[[V12:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V13:.+]] = fly.add_offset(%[[ARG1]], %[[V12]]) : (!fly.ptr<f32, register>, !fly.int_tuple<4>) -> !fly.ptr<f32, register>
// CHECK: %[[V14:.+]] = fly.make_view(%[[V13]], %[[V5]]) : (!fly.ptr<f32, register>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f32, register, (4,1):(1,0)>
// CHECK: fly.copy_atom_call(%[[V0]], %[[V11]], %[[V14]])
// CHECK: %[[V15:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<8>
// CHECK: %[[V16:.+]] = fly.add_offset(%[[ARG0]], %[[V15]]) : (!fly.ptr<f32, global>, !fly.int_tuple<8>) -> !fly.ptr<f32, global>
// CHECK: %[[V17:.+]] = fly.make_view(%[[V16]], %[[V5]]) : (!fly.ptr<f32, global>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f32, global, (4,1):(1,0)>
// CHECK: %[[V18:.+]] = fly.add_offset(%[[ARG1]], %[[V15]]) : (!fly.ptr<f32, register>, !fly.int_tuple<8>) -> !fly.ptr<f32, register>
// CHECK: %[[V19:.+]] = fly.make_view(%[[V18]], %[[V5]]) : (!fly.ptr<f32, register>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f32, register, (4,1):(1,0)>
// CHECK: fly.copy_atom_call(%[[V0]], %[[V17]], %[[V19]])
// CHECK: %[[V20:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<72>
// CHECK: %[[V21:.+]] = fly.add_offset(%[[ARG0]], %[[V20]]) : (!fly.ptr<f32, global>, !fly.int_tuple<72>) -> !fly.ptr<f32, global>
// CHECK: %[[V22:.+]] = fly.make_view(%[[V21]], %[[V5]]) : (!fly.ptr<f32, global>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f32, global, (4,1):(1,0)>
// CHECK: %[[V23:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<12>
// CHECK: %[[V24:.+]] = fly.add_offset(%[[ARG1]], %[[V23]]) : (!fly.ptr<f32, register>, !fly.int_tuple<12>) -> !fly.ptr<f32, register>
// CHECK: %[[V25:.+]] = fly.make_view(%[[V24]], %[[V5]]) : (!fly.ptr<f32, register>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f32, register, (4,1):(1,0)>
// CHECK: fly.copy_atom_call(%[[V0]], %[[V22]], %[[V25]])
// CHECK: return
func.func @copy(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %from = fly.static : !fly.layout<((4,1),2,2):((1,0),64,8)>
  %to = fly.static : !fly.layout<((4,1),2,2):((1,0),4,8)>
  %src = fly.make_view(%p, %from) : (!fly.ptr<f32, global>, !fly.layout<((4,1),2,2):((1,0),64,8)>) -> !fly.memref<f32, global, ((4,1),2,2):((1,0),64,8)>
  %dst = fly.make_view(%q, %to) : (!fly.ptr<f32, register>, !fly.layout<((4,1),2,2):((1,0),4,8)>) -> !fly.memref<f32, register, ((4,1),2,2):((1,0),4,8)>
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, ((4,1),2,2):((1,0),64,8)>, !fly.memref<f32, register, ((4,1),2,2):((1,0),4,8)>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>

// A predicate without mode 0 has one value per call, which becomes a `1:0` view.
// CHECK-LABEL: func.func @predicate(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<i1, register>, %[[ARG1:.+]]: !fly.ptr<f32, global>, %[[ARG2:.+]]: !fly.ptr<f32, register>)
// CHECK: %[[V0:.+]] = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<32>, 32>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V2:.+]] = fly.add_offset(%[[ARG1]], %[[V1]]) : (!fly.ptr<f32, global>, !fly.int_tuple<0>) -> !fly.ptr<f32, global>
// CHECK: %[[V3:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<1>
// CHECK: %[[V4:.+]] = fly.make_layout(%[[V3]], %[[V1]]) : (!fly.int_tuple<1>, !fly.int_tuple<0>) -> !fly.layout<1:0>
// CHECK: %[[V5:.+]] = fly.make_view(%[[V2]], %[[V4]]) : (!fly.ptr<f32, global>, !fly.layout<1:0>) -> !fly.memref<f32, global, 1:0>
// CHECK: %[[V6:.+]] = fly.add_offset(%[[ARG2]], %[[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<0>) -> !fly.ptr<f32, register>
// CHECK: %[[V7:.+]] = fly.make_view(%[[V6]], %[[V4]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: %[[V8:.+]] = fly.add_offset(%[[ARG0]], %[[V1]]) : (!fly.ptr<i1, register>, !fly.int_tuple<0>) -> !fly.ptr<i1, register>
// CHECK: %[[V9:.+]] = fly.make_view(%[[V8]], %[[V4]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK: fly.copy_atom_call(%[[V0]], %[[V5]], %[[V7]], %[[V9]])
// CHECK: %[[V10:.+]] = fly.add_offset(%[[ARG1]], %[[V3]]) : (!fly.ptr<f32, global>, !fly.int_tuple<1>) -> !fly.ptr<f32, global>
// CHECK: %[[V11:.+]] = fly.make_view(%[[V10]], %[[V4]]) : (!fly.ptr<f32, global>, !fly.layout<1:0>) -> !fly.memref<f32, global, 1:0>
// CHECK: %[[V12:.+]] = fly.add_offset(%[[ARG2]], %[[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK: %[[V13:.+]] = fly.make_view(%[[V12]], %[[V4]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: %[[V14:.+]] = fly.add_offset(%[[ARG0]], %[[V3]]) : (!fly.ptr<i1, register>, !fly.int_tuple<1>) -> !fly.ptr<i1, register>
// CHECK: %[[V15:.+]] = fly.make_view(%[[V14]], %[[V4]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK: fly.copy_atom_call(%[[V0]], %[[V11]], %[[V13]], %[[V15]])
// CHECK: return
func.func @predicate(%r: !fly.ptr<i1, register>, %p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %layout = fly.static : !fly.layout<(1,2):(0,1)>
  %each = fly.static : !fly.layout<2:1>
  %src = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(1,2):(0,1)>) -> !fly.memref<f32, global, (1,2):(0,1)>
  %dst = fly.make_view(%q, %layout) : (!fly.ptr<f32, register>, !fly.layout<(1,2):(0,1)>) -> !fly.memref<f32, register, (1,2):(0,1)>
  %pred = fly.make_view(%r, %each) : (!fly.ptr<i1, register>, !fly.layout<2:1>) -> !fly.memref<i1, register, 2:1>
  fly.copy(%atom, %src, %dst, %pred) : (!atom, !fly.memref<f32, global, (1,2):(0,1)>, !fly.memref<f32, register, (1,2):(0,1)>, !fly.memref<i1, register, 2:1>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<128>, 32>
!source = !fly.memref<f32, global, ((4,2),1):((1,16),0)>
!fragment = !fly.memref<f32, register, ((4,2),1):((1,4),0)>

// One predicate for each call of a nested mode, as of the modes behind it.
// CHECK-LABEL: func.func @nested_predicate(
// CHECK-SAME: %{{.+}}: !fly.ptr<i1, register>
// CHECK-COUNT-2: fly.copy_atom_call(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.memref<f32, global, 4:1>, !fly.memref<f32, register, 4:1>, !fly.memref<i1, register, 1:0>)
// CHECK: return
func.func @nested_predicate(%r: !fly.ptr<i1, register>, %p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %from = fly.static : !fly.layout<((4,2),1):((1,16),0)>
  %to = fly.static : !fly.layout<((4,2),1):((1,4),0)>
  %each = fly.static : !fly.layout<(2,1):(1,0)>
  %src = fly.make_view(%p, %from) : (!fly.ptr<f32, global>, !fly.layout<((4,2),1):((1,16),0)>) -> !source
  %dst = fly.make_view(%q, %to) : (!fly.ptr<f32, register>, !fly.layout<((4,2),1):((1,4),0)>) -> !fragment
  %pred = fly.make_view(%r, %each) : (!fly.ptr<i1, register>, !fly.layout<(2,1):(1,0)>) -> !fly.memref<i1, register, (2,1):(1,0)>
  fly.copy(%atom, %src, %dst, %pred) : (!atom, !source, !fragment, !fly.memref<i1, register, (2,1):(1,0)>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<64>, 16>
!copy = !fly.tiled_copy<!atom, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>

// A thread's part of a swizzled LDS tile: the swizzle is applied to the index of each atom.
// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME: %[[ARG0:.+]]: i32, %[[ARG1:.+]]: !fly.ptr<f16, register>, %[[ARG2:.+]]: !fly.ptr<f16, shared, align<16>>)
// CHECK: %[[C8_I32:.+]] = arith.constant 8 : i32
// CHECK: %[[C3_I32:.+]] = arith.constant 3 : i32
// CHECK: %[[C192_I32:.+]] = arith.constant 192 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[C4_I32:.+]] = arith.constant 4 : i32
// CHECK: %[[C2_I32:.+]] = arith.constant 2 : i32
// CHECK: %[[V0:.+]] = fly.static : !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>
// CHECK: %[[V1:.+]] = arith.remsi %[[ARG0]], %[[C2_I32]] : i32
// CHECK: %[[V2:.+]] = arith.divsi %[[ARG0]], %[[C2_I32]] : i32
// CHECK: %[[V3:.+]] = arith.muli %[[V1]], %[[C4_I32]] : i32
// CHECK: %[[V4:.+]] = arith.muli %[[V2]], %[[C16_I32]] : i32
// CHECK: %[[V5:.+]] = arith.addi %[[V3]], %[[V4]] : i32
// CHECK: %[[V6:.+]] = fly.get_copy_atom(%[[V0]]) : (!fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>) -> !fly.copy_atom<!fly.universal_copy<64>, 16>
// CHECK: %[[V10:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V11:.+]] = fly.add_offset(%[[ARG1]], %[[V10]]) : (!fly.ptr<f16, register>, !fly.int_tuple<0>) -> !fly.ptr<f16, register>
// CHECK: %[[V12:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(1,0)>
// CHECK: %[[V13:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(4,1)>
// CHECK: %[[V14:.+]] = fly.make_layout(%[[V13]], %[[V12]]) : (!fly.int_tuple<(4,1)>, !fly.int_tuple<(1,0)>) -> !fly.layout<(4,1):(1,0)>
// CHECK: %[[V15:.+]] = fly.make_view(%[[V11]], %[[V14]]) : (!fly.ptr<f16, register>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f16, register, (4,1):(1,0)>
// CHECK: %[[V7:.+]] = arith.andi %[[V5]], %[[C192_I32]] : i32
// CHECK: %[[V8:.+]] = arith.shrui %[[V7]], %[[C3_I32]] : i32
// CHECK: %[[V9:.+]] = arith.xori %[[V5]], %[[V8]] : i32
// CHECK: %[[V16:.+]] = fly.make_int_tuple(%[[V9]]) : (i32) -> !fly.int_tuple<?{div=4}>
// CHECK: %[[V17:.+]] = fly.add_offset(%[[ARG2]], %[[V16]]) : (!fly.ptr<f16, shared, align<16>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f16, shared, align<8>>
// CHECK: %[[V18:.+]] = fly.make_view(%[[V17]], %[[V14]]) : (!fly.ptr<f16, shared, align<8>>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f16, shared, (4,1):(1,0), align<8>>
// CHECK: fly.copy_atom_call(%[[V6]], %[[V15]], %[[V18]])
// CHECK: %[[V23:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V24:.+]] = fly.add_offset(%[[ARG1]], %[[V23]]) : (!fly.ptr<f16, register>, !fly.int_tuple<4>) -> !fly.ptr<f16, register>
// CHECK: %[[V25:.+]] = fly.make_view(%[[V24]], %[[V14]]) : (!fly.ptr<f16, register>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f16, register, (4,1):(1,0)>
// CHECK: %[[V19:.+]] = arith.addi %[[V5]], %[[C8_I32]] : i32
// CHECK: %[[V20:.+]] = arith.andi %[[V19]], %[[C192_I32]] : i32
// CHECK: %[[V21:.+]] = arith.shrui %[[V20]], %[[C3_I32]] : i32
// CHECK: %[[V22:.+]] = arith.xori %[[V19]], %[[V21]] : i32
// CHECK: %[[V26:.+]] = fly.make_int_tuple(%[[V22]]) : (i32) -> !fly.int_tuple<?{div=4}>
// CHECK: %[[V27:.+]] = fly.add_offset(%[[ARG2]], %[[V26]]) : (!fly.ptr<f16, shared, align<16>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f16, shared, align<8>>
// CHECK: %[[V28:.+]] = fly.make_view(%[[V27]], %[[V14]]) : (!fly.ptr<f16, shared, align<8>>, !fly.layout<(4,1):(1,0)>) -> !fly.memref<f16, shared, (4,1):(1,0), align<8>>
// CHECK: fly.copy_atom_call(%[[V6]], %[[V25]], %[[V28]])
// CHECK: return
func.func @swizzled(%t: i32, %p: !fly.ptr<f16, register>, %q: !fly.ptr<f16, shared, align<16>>) {
  %copy = fly.static : !copy
  %thread = fly.make_int_tuple(%t) : (i32) -> !fly.int_tuple<?>
  %from = fly.static : !fly.layout<((4,1),1,2):((1,0),0,4)>
  %to = fly.static : !fly.composed_layout<S<2,3,3> o 0 o (4,16):(16,1)>
  %src = fly.make_view(%p, %from) : (!fly.ptr<f16, register>, !fly.layout<((4,1),1,2):((1,0),0,4)>) -> !fly.memref<f16, register, ((4,1),1,2):((1,0),0,4)>
  %tile = fly.make_view(%q, %to) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<S<2,3,3> o 0 o (4,16):(16,1)>) -> !fly.memref<f16, shared, S<2,3,3> o 0 o (4,16):(16,1), align<16>>
  %dst = fly.tiled_copy.partition_dst(%copy, %tile, %thread) : (!copy, !fly.memref<f16, shared, S<2,3,3> o 0 o (4,16):(16,1), align<16>>, !fly.int_tuple<?>) -> !fly.memref<f16, shared, S<2,3,3> o ?{div=4} o ((4,1),1,2):((1,0),0,8), align<16>>
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

// -----

!atom = !fly.copy_atom<!fly.universal_copy<128>, 16>
!tile = !fly.memref<f16, shared, S<3,3,3> o ?{div=8} o 8:1, align<16>>
!fragment = !fly.memref<f16, register, 8:1>

// A call that is in the program already has the swizzle applied too; one without is left as it is.
// CHECK-LABEL: func.func @one_call(
// CHECK: arith.andi %{{.+}}, %{{.+}}
// CHECK: arith.shrui
// CHECK: %[[SWIZZLED:.+]] = arith.xori
// CHECK: %[[TUPLE:.+]] = fly.make_int_tuple(%[[SWIZZLED]])
// CHECK: fly.add_offset(%{{.+}}, %[[TUPLE]])
// CHECK: fly.copy_atom_call(%{{.+}}, %{{.+}}, %{{.+}}) : (!fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.memref<f16, register, 8:1>, !fly.memref<f16, shared, 8:1, align<16>>)
// CHECK: return
func.func @one_call(%p: !fly.ptr<f16, shared, align<16>>, %q: !fly.ptr<f16, register>, %i: i32) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !atom
  %each = fly.static : !fly.layout<8:1>
  %registers = fly.make_view(%q, %each) : (!fly.ptr<f16, register>, !fly.layout<8:1>) -> !fragment
  %offset = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?{div=8}>
  %s = fly.static : !fly.swizzle<S<3,3,3>>
  %l = fly.make_composed_layout(%s, %offset, %each) : (!fly.swizzle<S<3,3,3>>, !fly.int_tuple<?{div=8}>, !fly.layout<8:1>) -> !fly.composed_layout<S<3,3,3> o ?{div=8} o 8:1>
  %a = fly.make_view(%p, %l) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<S<3,3,3> o ?{div=8} o 8:1>) -> !tile
  fly.copy_atom_call(%atom, %registers, %a) : (!atom, !fragment, !tile) -> ()
  return
}

// -----

!load = !fly.copy_atom<!fly.universal_copy<128>, 32>

// One element in memory may stand for where an access of the whole fragment begins.
// CHECK-LABEL: func.func @address(
// CHECK: fly.copy_atom_call(
func.func @address(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !load
  %one = fly.static : !fly.layout<1:1>
  %four = fly.static : !fly.layout<4:1>
  %src = fly.make_view(%p, %one) : (!fly.ptr<f32, global>, !fly.layout<1:1>) -> !fly.memref<f32, global, 1:1>
  %dst = fly.make_view(%q, %four) : (!fly.ptr<f32, register>, !fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
  fly.copy(%atom, %src, %dst) : (!load, !fly.memref<f32, global, 1:1>, !fly.memref<f32, register, 4:1>) -> ()
  return
}
