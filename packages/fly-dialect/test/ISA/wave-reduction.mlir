// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// The sum over a wave as `fx.coop` emits it: each step is one instruction that reads its operand from another lane, and
// the result is in a scalar register. No LDS, no permutes.

gpu.module @kernels {
  // CHECK-LABEL: sum:
  // CHECK-NOT: {{ds_|v_mov_b32_dpp}}
  // CHECK: v_add_f32_dpp {{.*}} quad_perm:{{\[}}1,0,3,2{{\]}} row_mask:0xf bank_mask:0xf bound_ctrl:1
  // CHECK: v_add_f32_dpp {{.*}} quad_perm:{{\[}}2,3,0,1{{\]}} row_mask:0xf bank_mask:0xf bound_ctrl:1
  // CHECK: v_add_f32_dpp {{.*}} row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
  // CHECK: v_add_f32_dpp {{.*}} row_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
  // CHECK: v_add_f32_dpp {{.*}} row_bcast:15 row_mask:0xf bank_mask:0xf bound_ctrl:1
  // CHECK: v_add_f32_dpp {{.*}} row_bcast:31 row_mask:0xf bank_mask:0xf bound_ctrl:1
  // CHECK-NOT: {{ds_|v_add_f32}}
  // CHECK: v_readlane_b32 s{{[0-9]+}}, v{{[0-9]+}}, 63
  gpu.func @sum(%x: !fly.memref<f32, global, 64:1>, %y: !fly.memref<f32, global, 1:1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tid = gpu.thread_id x
    %i = arith.index_cast %tid : index to i32
    %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<?>
    %v0 = fly.memref.load(%x, %c) : (!fly.memref<f32, global, 64:1>, !fly.int_tuple<?>) -> f32
    %m0 = rocdl.update.dpp %v0, %v0 with 177, 0xf, 0xf, true : f32
    %v1 = arith.addf %v0, %m0 : f32
    %m1 = rocdl.update.dpp %v1, %v1 with 78, 0xf, 0xf, true : f32
    %v2 = arith.addf %v1, %m1 : f32
    %m2 = rocdl.update.dpp %v2, %v2 with 321, 0xf, 0xf, true : f32
    %v3 = arith.addf %v2, %m2 : f32
    %m3 = rocdl.update.dpp %v3, %v3 with 320, 0xf, 0xf, true : f32
    %v4 = arith.addf %v3, %m3 : f32
    %m4 = rocdl.update.dpp %v4, %v4 with 322, 0xf, 0xf, true : f32
    %v5 = arith.addf %v4, %m4 : f32
    %m5 = rocdl.update.dpp %v5, %v5 with 323, 0xf, 0xf, true : f32
    %v6 = arith.addf %v5, %m5 : f32
    %last = arith.constant 63 : i32
    %r = rocdl.readlane %v6, %last : (f32, i32) -> f32
    %zero = fly.make_coord() : () -> !fly.int_tuple<0>
    fly.memref.store(%r, %y, %zero) : (f32, !fly.memref<f32, global, 1:1>, !fly.int_tuple<0>) -> ()
    gpu.return
  }
}
