// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// Layout work on static values leaves its result and nothing else.

gpu.module @kernels {
  // CHECK-LABEL: static_layout:
  // CHECK-NOT: {{[sv]_(mul|add|mad|lshl|and)}}
  // CHECK: v_mov_b32_e32 [[V:v[0-9]+]], 0x44
  // CHECK-NOT: {{[sv]_(mul|add|mad|lshl|and)}}
  // CHECK: global_store_dword v{{[0-9]+}}, [[V]], s[
  // CHECK-NEXT: s_endpgm
  gpu.func @static_layout(%p: !fly.ptr<i32, global>) kernel {
    %l = fly.static : !fly.layout<(8,12):(12,1)>
    %t = fly.static : !fly.tile<[4|6]>
    %c = fly.make_coord() : () -> !fly.int_tuple<((1,2),(1,1))>
    %d = fly.zipped_divide(%l, %t) : (!fly.layout<(8,12):(12,1)>, !fly.tile<[4|6]>) -> !fly.layout<((4,6),(2,2)):((12,1),(48,6))>
    %i = fly.crd2idx(%c, %d) : (!fly.int_tuple<((1,2),(1,1))>, !fly.layout<((4,6),(2,2)):((12,1),(48,6))>) -> !fly.int_tuple<68>
    %v = fly.get_scalar(%i) : (!fly.int_tuple<68>) -> i32
    fly.ptr.store(%v, %p) : (i32, !fly.ptr<i32, global>) -> ()
    gpu.return
  }
}
