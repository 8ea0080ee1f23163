// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --fly-rocdl-expand-ops | FileCheck %s
// RUN: fly-opt %s --split-input-file --fly-rewrite-func-signature --fly-canonicalize --fly-rocdl-expand-ops --fly-layout-lowering --canonicalize --convert-fly-to-rocdl --canonicalize | FileCheck %s --check-prefix=LOWERED

!tensor = !fly.memref<f16, global, (512,?):(?{i64},1)>
!layout = !fly.layout<(128,64):(64,1)>
!tile = !fly.tile<[128|64]>
!atom = !fly.copy_atom<!fly_rocdl.cdna5.tensor_load<shape = [128, 64], elem = f16, tensor2tdm = (1E0,1E1)>, 16>
!coord = !fly.coord_tensor<(0,0), (512,?):(1E1,1E0)>
!box = !fly.coord_tensor<(?{div=64},?{div=128}), (128,64):(1E1,1E0)>

// CHECK-LABEL: gpu.func @load
// CHECK-SAME: %[[T:.*]]: !fly.memref<f16, global, (512,?):(?{i64},1)>
// CHECK: %[[SHAPE:.*]] = fly.get_shape(%[[T]])
// CHECK: %[[E:.*]]:2 = fly.get_leaves(%[[SHAPE]])
// CHECK: %[[STRIDE:.*]] = fly.get_stride(%[[T]])
// CHECK: %[[D:.*]]:2 = fly.get_leaves(%[[STRIDE]])
// CHECK: %[[BASE:.*]] = fly.get_iter(%[[T]])
// CHECK: %[[ATOM:.*]] = fly.make_copy_atom(%[[BASE]], %[[D]]#0, %[[E]]#0, %[[E]]#1 : !fly.ptr<f16, global>, i64, i32, i32) {valBits = 16 : i32}
// CHECK: %[[ONES:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<(1,1)>
// CHECK: fly.atom.set_value(%[[ATOM]], "boundary_check_axes", %[[ONES]])
// CHECK: fly.make_view(%{{.*}}, %{{.*}}) : (!fly.int_tuple<(0,0)>, !fly.layout<(512,?):(1E1,1E0)>)

// LOWERED-LABEL: gpu.func @load
// LOWERED: rocdl.tensor.load.to.lds

gpu.module @kernels {
  gpu.func @load(%t: !tensor, %s: !fly.memref<f16, shared, (128,64):(64,1)>) {
    %lds = fly.static : !layout
    %tile = fly.static : !tile
    %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !tensor, !layout, !tile
    %tiled = fly.zipped_divide(%coord, %tile) : (!coord, !tile) -> !fly.coord_tensor<(0,0), ((128,64),(4,?)):((1E1,1E0),(128E1,64E0))>
    %x = gpu.block_id x
    %y = gpu.block_id y
    %bx = arith.index_cast %x : index to i32
    %by = arith.index_cast %y : index to i32
    %at = fly.make_coord(%bx, %by) : (i32, i32) -> !fly.int_tuple<(*,(?,?))>
    %box = fly.slice(%tiled, %at) : (!fly.coord_tensor<(0,0), ((128,64),(4,?)):((1E1,1E0),(128E1,64E0))>, !fly.int_tuple<(*,(?,?))>) -> !box
    fly.copy(%atom, %box, %s) : (!atom, !box, !fly.memref<f16, shared, (128,64):(64,1)>) -> ()
    gpu.return
  }
}

// -----

!atom = !fly.copy_atom<!fly_rocdl.cdna5.tensor_load<shape = [32, 4, 64], elem = f16, tensor2tdm = ((1E1,1E0),1E2)>, 16>

// A check of the tensor's modes is one of the descriptor's dimensions, outermost first.

// CHECK-LABEL: func.func @check
// CHECK-SAME: %{{.*}}: !fly.copy_atom<{{.*}}>, %[[X:.*]]: i32
// CHECK: %[[AXES:.*]] = fly.make_int_tuple(%{{.*}}) : (i32) -> !fly.int_tuple<(1,?,0)>
// CHECK: fly.atom.set_value(%{{.*}}, "boundary_check_axes", %[[AXES]])
func.func @check(%atom: !atom, %x: i32) -> !atom {
  %modes = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<((?,1),0)>
  %0 = fly.atom.set_value(%atom, "boundary_check", %modes) : (!atom, !fly.int_tuple<((?,1),0)>) -> !atom
  return %0 : !atom
}
