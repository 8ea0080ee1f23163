// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s --check-prefix=FNUZ
// RUN: %isa-gfx950 | FileCheck %s --check-prefix=OCP

// Conversions of 8-bit floats are the chip's own instructions, two elements each.

gpu.module @kernels {
  // FNUZ-LABEL: fnuz:
  // FNUZ-COUNT-2: v_cvt_pk_fp8_f32
  // FNUZ: global_store_dword
  // FNUZ-NOT: v_cmp
  // FNUZ: s_endpgm
  gpu.func @fnuz(%x: !fly.ptr<f32, global, align<16>>, %y: !fly.ptr<i8, global, align<4>>) kernel {
    %v = fly.ptr.load(%x) : (!fly.ptr<f32, global, align<16>>) -> vector<4xf32>
    %w = arith.mulf %v, %v : vector<4xf32>
    %s = arith.truncf %w : vector<4xf32> to vector<4xf8E4M3FNUZ>
    %b = arith.bitcast %s : vector<4xf8E4M3FNUZ> to vector<4xi8>
    fly.ptr.store(%b, %y) : (vector<4xi8>, !fly.ptr<i8, global, align<4>>) -> ()
    gpu.return
  }

  // OCP-LABEL: ocp:
  // OCP-COUNT-2: v_cvt_pk_bf8_f32
  // OCP-NOT: v_cmp
  // OCP: s_endpgm
  gpu.func @ocp(%x: !fly.ptr<f32, global, align<16>>, %y: !fly.ptr<i8, global, align<4>>) kernel {
    %v = fly.ptr.load(%x) : (!fly.ptr<f32, global, align<16>>) -> vector<4xf32>
    %w = arith.mulf %v, %v : vector<4xf32>
    %s = arith.truncf %w : vector<4xf32> to vector<4xf8E5M2>
    %b = arith.bitcast %s : vector<4xf8E5M2> to vector<4xi8>
    fly.ptr.store(%b, %y) : (vector<4xi8>, !fly.ptr<i8, global, align<4>>) -> ()
    gpu.return
  }
}
