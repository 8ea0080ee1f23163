// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_SIGNEDBYTESHIFTS_H
#define FLY_LIB_EMIT_SIGNEDBYTESHIFTS_H

namespace fly {

/// Keeps the upper half of a 16-bit arithmetic shift by 8 zero.
///
/// gfx9's 16-bit instructions clear the upper half of their result, and LLVM 22 lets 32-bit
/// instructions read it. Its SDWA peephole then puts the sign-extended upper byte in place of the
/// shift, which has 32 bits: `zext(ashr i16 x, 8)` of a negative x is read as a negative number.
/// This splits such a shift into shifts by 7 and by 1, which that peephole does not know.
///
/// From the first call on, all code generation of this process for AMD GPUs does it.
void splitSignedByteShifts();

} // namespace fly

#endif // FLY_LIB_EMIT_SIGNEDBYTESHIFTS_H
