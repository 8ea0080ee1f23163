// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace flyemu {

enum class MatrixElement : uint8_t { Fp8, Bf8, Fp6, Bf6, Fp4, I8, F16, Bf16, F32, Xf32, F64, I32 };

unsigned bitsOf(MatrixElement element);

/// Shape and operands of one matrix instruction, as its mnemonic spells them. Where elements live
/// follows the pattern that AMD publishes: lane l holds row (column) l mod M of A (B), and as many
/// consecutive k as fit, k growing with l / M; with several blocks, l / M is the block.
struct MatrixShape {
  unsigned m = 0;
  unsigned n = 0;
  unsigned k = 0;
  unsigned blocks = 1;
  MatrixElement a = MatrixElement::F32;
  MatrixElement b = MatrixElement::F32;
  MatrixElement out = MatrixElement::F32;
  bool sparse = false;    ///< SMFMAC: two of four elements of A, with indices in a third operand
  bool anyFormat = false; ///< f8f6f4: the formats are in cbsz and blgp
  bool scaled = false;

  /// Elements of B (of a dense A) in one lane.
  unsigned perLane() const { return k * m * blocks / 64; }

  /// "v_mfma_f32_16x16x16_f16", "v_smfmac_i32_16x16x64_i8", ...; false for another name.
  static bool parse(const std::string &mnemonic, MatrixShape &out);
};

} // namespace flyemu
