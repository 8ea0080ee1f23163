# SPDX-License-Identifier: Apache-2.0
"""Print a function of N branches, one behind the other: `unrolled_branches.py N`."""

import sys

count = int(sys.argv[1])
print("func.func @branches(%v0: f32, %c: i1) -> f32 {")
for i in range(count):
    print(f"  %v{i + 1} = scf.if %c -> f32 {{\n    %s{i} = arith.mulf %v{i}, %v{i} : f32\n    scf.yield %s{i} : f32")
    print(f"  }} else {{\n    scf.yield %v{i} : f32\n  }}")
print(f"  return %v{count} : f32\n}}")
