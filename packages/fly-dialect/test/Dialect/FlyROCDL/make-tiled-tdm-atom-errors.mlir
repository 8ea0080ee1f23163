// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics

func.func @warps(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.layout<(128,64):(64,1)>) {
  %tile = fly.static : !fly.tile<[128|64]>
  // expected-error @+1 {{num_warps cuts a descriptor axis unevenly}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile {numWarps = 3 : i32} : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[128|64]>
  return
}

// -----

func.func @size(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.layout<(128,64):(64,1)>) {
  %tile = fly.static : !fly.tile<[64|64]>
  // expected-error @+1 {{the tiler holds 4096 elements but the LDS tile holds 8192}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[64|64]>
  return
}

// -----

func.func @keep(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.layout<(128,64):(64,1)>) {
  %tile = fly.static : !fly.tile<[128|*]>
  // expected-error @+1 {{the tiler holds 0 elements but the LDS tile holds 8192}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[128|*]>
  return
}

// -----

func.func @dynamic(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.layout<(128,64):(?,1)>) {
  %tile = fly.static : !fly.tile<[128|64]>
  // expected-error @+1 {{the LDS tile must be fully static, mode 0 is not}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(?,1)>, !fly.tile<[128|64]>
  return
}

// -----

func.func @strided(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.layout<(128,64):(64,1)>) {
  %tile = fly.static : !fly.tile<[128:2|64]>
  // expected-error @+1 {{a strided (layout) tiler mode is not modelled}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[128:2|64]>
  return
}

// -----

func.func @composed(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.composed_layout<S<3,3,3> o 0 o (128,64):(64,1)>) {
  %tile = fly.static : !fly.tile<[128|64]>
  // expected-error @+1 {{expected !fly.layout for the LDS layout}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.composed_layout<S<3,3,3> o 0 o (128,64):(64,1)>, !fly.tile<[128|64]>
  return
}

// -----

func.func @major(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.layout<(128,64):(1,128)>) {
  %tile = fly.static : !fly.tile<[128|64]>
  // expected-error @+1 {{the majorness of the LDS tile and of the tensor differ}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(1,128)>, !fly.tile<[128|64]>
  return
}

// -----

func.func @inner(%t: !fly.memref<f16, global, (512,1024):(2048,2)>, %lds: !fly.layout<(128,64):(64,1)>) {
  %tile = fly.static : !fly.tile<[128|64]>
  // expected-error @+1 {{the innermost descriptor dim is not contiguous in global memory}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(2048,2)>, !fly.layout<(128,64):(64,1)>, !fly.tile<[128|64]>
  return
}

// -----

func.func @fastest(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.layout<(128,64):(128,2)>) {
  %tile = fly.static : !fly.tile<[128|64]>
  // expected-error @+1 {{the LDS tile is not contiguous along its fastest axis}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(128,64):(128,2)>, !fly.tile<[128|64]>
  return
}

// -----

func.func @too_many_warps(%t: !fly.memref<f16, global, (512,1024):(1024,1)>, %lds: !fly.layout<(2,2):(2,1)>) {
  %tile = fly.static : !fly.tile<[2|2]>
  // expected-error @+1 {{fly_rocdl.make_tiled_tdm_load_atom: num_warps exceeds the logical descriptor box}}
  %atom, %coord = fly_rocdl.make_tiled_tdm_load_atom %t, %lds, %tile {numWarps = 8 : i32} : !fly.memref<f16, global, (512,1024):(1024,1)>, !fly.layout<(2,2):(2,1)>, !fly.tile<[2|2]>
  return
}
