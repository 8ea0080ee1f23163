// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_SCALEDPRODUCTS_H
#define FLY_LIB_EMIT_SCALEDPRODUCTS_H

namespace fly {

/// Keeps scaled matrix instructions out of divergent branches that use their results.
///
/// A matrix instruction takes its operands from all lanes that EXEC names. LLVM 22 marks the
/// machine instructions of `llvm.amdgcn.mfma.scale.*` as not convergent, unlike the intrinsics and
/// unlike all other matrix instructions. So machine sinking moves one whose result only a branch
/// uses into that branch, behind the change of EXEC: what the other lanes hold is then missing from
/// the sums, without a word. An empty inline assembly with the result as its operand, in the block
/// of the product, keeps it there. It costs no instruction; products whose results are used in
/// their own block, or by the next turn of a loop, get none.
///
/// From the first call on, all code generation of this process for AMD GPUs does it.
void keepScaledProducts();

} // namespace fly

#endif // FLY_LIB_EMIT_SCALEDPRODUCTS_H
