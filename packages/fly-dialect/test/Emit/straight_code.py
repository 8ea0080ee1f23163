# SPDX-License-Identifier: Apache-2.0
"""Print a kernel that copies N dwords one by one, in one block: `straight_code.py N [NAME-OF-INTRINSIC ...]`.

The intrinsics, of `llvm.amdgcn`, are called at the start, with zeros as arguments: `NAME:COUNT`.
"""

import sys

count = int(sys.argv[1])
print("""gpu.module @m [#rocdl.target<chip = "gfx942">] {
  llvm.func @straight(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32""")
for one in sys.argv[2:]:
    name, _, arguments = one.partition(":")
    operands, types = ", ".join(["%zero"] * int(arguments)), ", ".join(["i32"] * int(arguments))
    print(f'    llvm.call_intrinsic "llvm.amdgcn.{name}"({operands}) : ({types}) -> ()')
for i in range(count):
    print(f"    %a{i} = llvm.getelementptr %from[{128 * i}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32")
    print(f"    %b{i} = llvm.getelementptr %to[{128 * i}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32")
    print(f"    %v{i} = llvm.load %a{i} : !llvm.ptr<1> -> i32")
    print(f"    llvm.store %v{i}, %b{i} : i32, !llvm.ptr<1>")
print("    llvm.return\n  }\n}")
