// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s | FileCheck %s
// RUN: fly-opt %s | fly-opt | FileCheck %s

module attributes {
  // CHECK: test.mma = #fly<mma_operand c>
  test.mma = #fly<mma_operand c>,
  // CHECK-SAME: test.module = #fly.explicit_module
  test.module = #fly.explicit_module,
  // CHECK-SAME: test.op = [#fly<atomic_op add>, #fly<atomic_op dec>]
  test.op = [#fly<atomic_op add>, #fly<atomic_op dec>],
  // CHECK-SAME: test.order = [#fly<gemm_traversal_order kmn>, #fly<gemm_traversal_order nmk_serpentine>]
  test.order = [#fly<gemm_traversal_order kmn>, #fly<gemm_traversal_order nmk_serpentine>],
  // CHECK-SAME: test.policy = #fly<cache_policy cache_always>
  test.policy = #fly<cache_policy cache_always>,
  // CHECK-SAME: test.space = [#fly<address_space generic>, #fly<address_space register>, #fly_rocdl.buffer_desc]
  test.space = [#fly<address_space generic>, #fly<address_space register>, #fly_rocdl.buffer_desc],
  // CHECK-SAME: test.value = [#fly.int_tuple1, #fly<int_tuple(4,?)>, #fly<layout(4,8):(8,1)>,
  // CHECK-SAME: #fly<composed_layoutS<1,0,2> o 0 o 8:1>, #fly<tile[4|8]>, #fly.tile4, #fly.swizzleS<3,4,3>]
  test.value = [#fly.int_tuple1, #fly<int_tuple(4,?)>, #fly<layout(4,8):(8,1)>,
    #fly<composed_layoutS<1,0,2> o 0 o 8:1>, #fly<tile[4|8]>, #fly<tile 4>, #fly<swizzle S<3,4,3>>]
} {}
