// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_LONGBLOCKS_H
#define FLY_LIB_EMIT_LONGBLOCKS_H

namespace fly {

/// Keeps the time that code generation takes linear in the length of straight code.
///
/// LLVM's load and store vectorizer takes time squared in the accesses of a block, its machine
/// schedulers cubed, and common subexpressions of machine code squared in the instructions.
/// Unrolled code of tens of thousands of operations is one such block. This cuts long blocks into
/// pieces, directly before the vectorizer: each piece is a block, and begins with a
/// `llvm.amdgcn.sched.barrier` of mask 0, which is no instruction, but keeps pieces apart for the
/// scheduler that runs after the blocks were merged again. Code moves less across the cuts; results
/// are the same.
///
/// Blocks of the length that hand-unrolled main loops have stay as they are, and so do blocks whose
/// schedule the program spells out (`sched.group.barrier`, `iglp.opt`), which a cut would tear
/// apart.
///
/// From the first call on, all code generation of this process for AMD GPUs does it.
void cutLongBlocks();

} // namespace fly

#endif // FLY_LIB_EMIT_LONGBLOCKS_H
