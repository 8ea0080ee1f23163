# SPDX-License-Identifier: Apache-2.0
"""Static statistics of compiled kernels of gfx942, gfx950, gfx1100 and gfx1201: `isa.statistics.of_image`.

code_object     kernels of a code object: instructions, resources, targets of branches
instruction     classes of instructions, widths of accesses, issue cycles, matrix instructions
loops           natural loops
occupancy       waves on a SIMD
statistics      all of it, for a kernel and for its main loop
"""
