// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-rocdl --canonicalize --cse | FileCheck %s

!tdm = !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 3, barrier = false, timeout = false>, 16>
!global = !fly.memref<f16, global, (32,64):(1024,1)>
!shared = !fly.memref<f16, shared, (32,64):(64,1)>

// CHECK-LABEL: func.func @load(
// CHECK-SAME: %[[G:.*]]: !llvm.ptr<1>, %[[S:.*]]: !llvm.ptr<3>, %[[ROWS:.*]]: i32)
func.func @load(%g: !global, %s: !shared, %rows: i32) {
  // Words 3 and 4 of group 1: the tile's extents, 64 and 32.
  // CHECK-DAG: %[[WORD4:.*]] = arith.constant 32 : i32
  // The static stride.
  // CHECK-DAG: %[[STRIDE:.*]] = arith.constant 1024 : i64
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  %default = fly.make_copy_atom {valBits = 16 : i32} : !tdm
  %atom = fly.atom.set_value(%default, "extent_0", %rows) : (!tdm, i32) -> !tdm
  // CHECK-DAG: %[[LDS:.*]] = llvm.ptrtoint %[[S]] : !llvm.ptr<3> to i32
  // CHECK: %[[GROUP0:.*]] = vector.from_elements %{{.*}}, %[[LDS]], %{{.*}}, %{{.*}} : vector<4xi32>
  // CHECK: %[[LEFT:.*]] = arith.maxsi %[[ROWS]], %[[ZERO]] : i32
  // CHECK: %[[STRIDE_LOW:.*]] = llvm.trunc %[[STRIDE]] : i64 to i32
  // CHECK: %[[GROUP1:.*]] = vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[WORD4]], %[[STRIDE_LOW]], %{{.*}}, %[[ZERO]] : vector<8xi32>
  // CHECK: rocdl.tensor.load.to.lds %[[GROUP0]], %[[GROUP1]], %{{.*}}, %{{.*}} cachepolicy 3 : vector<4xi32>, vector<8xi32>
  fly.copy_atom_call(%atom, %g, %s) : (!tdm, !global, !shared) -> ()
  return
}

// -----

!tdm = !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 4, pad = 64, 8, cache = 0, barrier = true, timeout = true>, 16>
!global = !fly.memref<f16, global, (32,64):(1024,1)>
!shared = !fly.memref<f16, shared, (32,64):(72,1)>

// Four warps take eight rows each; the row in LDS is 72 elements long.

// CHECK-LABEL: func.func @store_padded(
func.func @store_padded(%g: !global, %s: !shared) {
  // 2 bytes per element (1 << 16), barrier, padding, timeout, interval of 32 dwords (code 4), amount of 4 (code 3).
  // CHECK-DAG: arith.constant 120913920 : i32
  // CHECK-DAG: %[[ROWS:.*]] = arith.constant 8 : i32
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !tdm
  // CHECK: %[[T:.*]] = rocdl.workitem.id.x : i32
  // CHECK: %[[W:.*]] = arith.divui %[[T]], %{{.*}} : i32
  // CHECK: %[[WAVE:.*]] = rocdl.readfirstlane %[[W]] : i32
  // CHECK: %[[X:.*]] = arith.remui %[[WAVE]], %{{.*}} : i32
  // CHECK: %[[START:.*]] = arith.muli %[[X]], %[[ROWS]] : i32
  // CHECK: rocdl.tensor.store.from.lds
  fly.copy_atom_call(%atom, %s, %g) : (!tdm, !shared, !global) -> ()
  return
}

// -----

!load = !fly.copy_atom<!fly_rocdl.cdna5.tensor_load<shape = [32, 64], elem = f16, tensor2tdm = (1E0,1E1)>, 16>

// Built from a tensor: the coordinate tensor says where the tile starts, innermost first.

// CHECK-LABEL: func.func @tensor_load(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1>, %[[S:.*]]: !llvm.ptr<3>, %[[X:.*]]: i32, %[[Y:.*]]: i32)
func.func @tensor_load(%p: !fly.ptr<f16, global>, %s: !fly.memref<f16, shared, (32,64):(64,1)>, %x: i32, %y: i32) {
  %pitch = arith.constant 1024 : i64
  %rows = arith.constant 500 : i32
  %columns = arith.constant 1000 : i32
  %default = fly.make_copy_atom(%p, %pitch, %rows, %columns : !fly.ptr<f16, global>, i64, i32, i32) {valBits = 16 : i32} : !load
  %axes = fly.make_int_tuple() : () -> !fly.int_tuple<(1,0)>
  %atom = fly.atom.set_value(%default, "boundary_check_axes", %axes) : (!load, !fly.int_tuple<(1,0)>) -> !load
  %base = fly.make_int_tuple(%x, %y) : (i32, i32) -> !fly.int_tuple<(?,?)>
  %shape = fly.make_int_tuple() : () -> !fly.int_tuple<(32,64)>
  %stride = fly.make_int_tuple() : () -> !fly.int_tuple<(1E1,1E0)>
  %layout = fly.make_layout(%shape, %stride) : (!fly.int_tuple<(32,64)>, !fly.int_tuple<(1E1,1E0)>) -> !fly.layout<(32,64):(1E1,1E0)>
  %tile = fly.make_view(%base, %layout) : (!fly.int_tuple<(?,?)>, !fly.layout<(32,64):(1E1,1E0)>) -> !fly.coord_tensor<(?,?), (32,64):(1E1,1E0)>
  // CHECK: llvm.intr.assume
  // CHECK: llvm.intr.assume
  // The rows are checked.
  // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[Y]] : i32
  // CHECK: arith.maxsi %[[LEFT]]
  // CHECK: rocdl.tensor.load.to.lds
  fly.copy_atom_call(%atom, %tile, %s) : (!load, !fly.coord_tensor<(?,?), (32,64):(1E1,1E0)>, !fly.memref<f16, shared, (32,64):(64,1)>) -> ()
  return
}
