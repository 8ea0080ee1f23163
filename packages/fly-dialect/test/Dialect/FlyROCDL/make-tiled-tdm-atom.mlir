// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --mlir-print-local-scope -mlir-print-op-generic | FileCheck %s
// RUN: fly-opt %s --split-input-file | fly-opt --split-input-file | FileCheck %s --check-prefix=PRETTY

// The box that a tensor's tile and its place in LDS share, and the coordinates of the tensor.

// CHECK: sym_name = "same_order"
// CHECK: make_tiled_tdm_load_atom
// CHECK-SAME: -> (!fly.copy_atom<!fly_rocdl.cdna5.tensor_load<shape = [128, 64], elem = f16, tensor2tdm = (1E0,1E1)>, 16>, !fly.coord_tensor<(0,0), (512,1024):(1E1,1E0)>)
// PRETTY: fly_rocdl.make_tiled_tdm_load_atom %{{.*}}, %{{.*}}, %{{.*}} : !fly.memref<f16, global, (512,1024):(1024,1)>
func.func @same_order(%t: !fly.memref<f16, global, (512,1024):(1024,1)>) {
  %lds = fly.static : !fly.layout<(128,64):(64,1)>
  %tile = fly.static : !fly.tile<[128|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[128|64]>
  return
}

// -----

// CHECK: sym_name = "padded_rows"
// CHECK: shape = [128, 64], elem = f16, tensor2tdm = (1E0,1E1), padInterval = 64, padAmount = 8>
func.func @padded_rows(%t: !fly.memref<f16, global, (512,1024):(1024,1)>) {
  %lds = fly.static : !fly.layout<(128,64):(72,1)>
  %tile = fly.static : !fly.tile<[128|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(72,1)>, !fly.tile<[128|64]>
  return
}

// -----

// CHECK: sym_name = "padded_blocks"
// CHECK: shape = [128, 64], elem = f16, tensor2tdm = (1E0,1E1), padInterval = 512, padAmount = 64>
func.func @padded_blocks(%t: !fly.memref<f16, global, (512,1024):(1024,1)>) {
  %lds = fly.static : !fly.layout<((8,16),64):((64,576),1)>
  %tile = fly.static : !fly.tile<[128|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<((8,16),64):((64,576),1)>, !fly.tile<[128|64]>
  return
}

// -----

// CHECK: sym_name = "four_warps"
// CHECK: shape = [32, 64]
func.func @four_warps(%t: !fly.memref<f16, global, (512,1024):(1024,1)>) {
  %lds = fly.static : !fly.layout<(128,64):(64,1)>
  %tile = fly.static : !fly.tile<[128|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile {numWarps = 4 : i32} : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[128|64]>
  return
}

// -----

// CHECK: sym_name = "one_row"
// CHECK: shape = [1, 64]
// CHECK-SAME: (512,1024):(1E1,1E0)>
func.func @one_row(%t: !fly.memref<f16, global, (512,1024):(1024,1)>) {
  %lds = fly.static : !fly.layout<64:1>
  %tile = fly.static : !fly.tile<[1|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<64:1>, !fly.tile<[1|64]>
  return
}

// -----

// One box of a blocked tile.
// CHECK: sym_name = "blocked"
// CHECK: shape = [8, 16]
func.func @blocked(%t: !fly.memref<f16, global, (512,1024):(1024,1)>) {
  %lds = fly.static : !fly.layout<((8,16),(16,4)):((16,512),(1,128))>
  %tile = fly.static : !fly.tile<[128|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<((8,16),(16,4)):((16,512),(1,128))>, !fly.tile<[128|64]>
  return
}

// -----

// CHECK: sym_name = "column_major"
// CHECK: shape = [64, 128], elem = f16, tensor2tdm = (1E1,1E0)>
// CHECK-SAME: (512,1024):(1E0,1E1)>
func.func @column_major(%t: !fly.memref<f16, global, (512,1024):(1,512)>) {
  %lds = fly.static : !fly.layout<(128,64):(1,128)>
  %tile = fly.static : !fly.tile<[128|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1,512)>, !fly.layout<(128,64):(1,128)>, !fly.tile<[128|64]>
  return
}

// -----

// CHECK: sym_name = "nested_mode"
// CHECK: shape = [32, 4, 64], elem = f16, tensor2tdm = ((1E1,1E0),1E2)>
// CHECK-SAME: ((4,128),1024):((1E1,1E2),1E0)>
func.func @nested_mode(%t: !fly.memref<f16, global, ((4,128),1024):((524288,1024),1)>) {
  %lds = fly.static : !fly.layout<(128,64):(64,1)>
  %tile = fly.static : !fly.tile<[128|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, ((4,128),1024):((524288,1024),1)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[128|64]>
  return
}

// -----

// CHECK: sym_name = "store"
// CHECK: !fly_rocdl.cdna5.tensor_store<shape = [128, 64], elem = f16, tensor2tdm = (1E0,1E1)>
// PRETTY: fly_rocdl.make_tiled_tdm_store_atom %{{.*}}, %{{.*}}, %{{.*}} {initBoundaryCheck = false} :
func.func @store(%t: !fly.memref<f16, global, (512,1024):(1024,1)>) {
  %lds = fly.static : !fly.layout<(128,64):(64,1)>
  %tile = fly.static : !fly.tile<[128|64]>
  %atom, %coord = fly_rocdl.make_tiled_tdm_store_atom %t, %lds, %tile {initBoundaryCheck = false} : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[128|64]>
  return
}
