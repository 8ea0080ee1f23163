// SPDX-License-Identifier: Apache-2.0
//
// Which matrix operations exist.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"
#include "fly/Dialect/FlyROCDL/IR/MatrixShapes.h"

using namespace mlir;

namespace fly::rocdl {

using EmitError = function_ref<InFlightDiagnostic()>;

namespace {
struct Extents {
  int32_t m, n, k;
  bool operator==(const Extents &other) const {
    return m == other.m && n == other.n && k == other.k;
  }
  friend Diagnostic &operator<<(Diagnostic &diagnostic, const Extents &extents) {
    return diagnostic << extents.m << 'x' << extents.n << 'x' << extents.k;
  }
};
} // namespace

static LogicalResult unsupported(EmitError emitError, StringRef family, Extents extents, Type a,
                                 Type b, Type acc) {
  return emitError() << "unsupported " << family << " configuration: " << extents << " with A=" << a
                     << ", B=" << b << ", Acc=" << acc;
}

// fp8 and bf8 of the OCP formats.
static bool isOCPFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

// The formats of the scaled instructions, down to 4 bits.
static bool isScaledFormat(Type type) {
  return isOCPFloat8(type) || isa<Float6E2M3FNType, Float6E3M2FNType, Float4E2M1FNType>(type);
}

static LogicalResult verifyScaledFormats(EmitError emitError, Type a, Type b, Type acc) {
  constexpr StringLiteral formats =
      " must be one of f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN, f4E2M1FN, got ";
  if (!acc.isF32())
    return emitError() << "elemTyAcc must be f32, got " << acc;
  if (!isScaledFormat(a))
    return emitError() << "elemTyA" << formats << a;
  if (!isScaledFormat(b))
    return emitError() << "elemTyB" << formats << b;
  return success();
}

static LogicalResult verifyRange(EmitError emitError, StringRef key, int32_t value, int32_t last,
                                 StringRef note = "") {
  if (value < 0 || value > last)
    return emitError() << key << " must be in [0, " << last << "]" << note << ", got " << value;
  return success();
}

// --- MFMA
// --------------------------------------------------------------------------------------------------

static bool isMFMAFloat(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, FloatTF32Type, Float8E4M3FNUZType,
             Float8E5M2FNUZType, Float8E4M3FNType, Float8E5M2Type>(type);
}

LogicalResult CDNA3MFMAType::verify(EmitError emitError, int32_t m, int32_t n, int32_t k, Type a,
                                    Type b, Type acc, int32_t blocks) {
  if (m != n)
    return emitError() << "MFMA requires M=N, got " << Extents{m, n, k};
  // Which of these have an instruction is for the lowering to say; these bounds keep layouts
  // finite.
  if (m < 1 || m > 64 || k < 1 || k > 1024)
    return emitError() << "MFMA requires M in [1, 64] and K in [1, 1024], got " << Extents{m, n, k};
  if (blocks != 1 && blocks != getMFMABlocks(m, n, k, a, b))
    return emitError()
           << "no MFMA " << Extents{m, n, k} << " of " << a << " and " << b << " on " << blocks
           << " blocks; there are 32x32xK on 2, 16x16xK on 4 and 4x4xK on 16, with K = 1 "
              "for f32 and K = 4 for f16, bf16 and i8, and 4x4x4 of f64 on 4";
  if (a.isInteger(8) || b.isInteger(8)) {
    if (!a.isInteger(8) || !b.isInteger(8))
      return emitError() << "integer MFMA requires both A and B to be i8, got A=" << a
                         << ", B=" << b;
    if (!acc.isInteger(32))
      return emitError() << "integer MFMA requires i32 accumulator, got " << acc;
    return success();
  }
  const bool isFloat64 = a.isF64() && b.isF64() && acc.isF64();
  if (isFloat64 && (blocks != 1 || Extents{m, n, k} == Extents{16, 16, 4}))
    return success();
  if (!acc.isF32())
    return emitError() << "elemTyAcc must be f32, got " << acc
                       << (isFloat64 ? "; of f64 there are 16x16x4, and 4x4x4 on 4 blocks" : "");
  constexpr StringLiteral formats = " must be f16, bf16, f32, f8E4M3FNUZ, f8E5M2FNUZ, got ";
  if (!isMFMAFloat(a))
    return emitError() << "elemTyA" << formats << a;
  if (!isMFMAFloat(b))
    return emitError() << "elemTyB" << formats << b;
  return success();
}

/// Types that one sparse operation multiplies: 8-bit floats mix within an encoding.
static bool isSparsePair(Type a, Type b) {
  if (isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(a))
    return isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(b);
  if (isOCPFloat8(a))
    return isOCPFloat8(b);
  return a == b && (a.isInteger(8) || isa<Float16Type, BFloat16Type>(a));
}

LogicalResult CDNA3SMFMACType::verify(EmitError emitError, int32_t m, int32_t n, int32_t k, Type a,
                                      Type b, Type acc, int32_t indexSet) {
  const Extents extents{m, n, k};
  const bool accumulates = a.isInteger(8) ? acc.isInteger(32) : acc.isF32();
  if (!isSparsePair(a, b) || !accumulates)
    return unsupported(emitError, "SMFMAC", extents, a, b, acc);
  const MatrixShape *shape = findMatrixShape(getMnemonic(), m, n, k, a, b, acc);
  if (!shape) {
    const int32_t k16 = 512 / getElementBitWidth(a);
    const bool isFNUZ = isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(a);
    return emitError() << "unsupported SMFMAC configuration: " << extents << " with A=" << a
                       << ", B=" << b << ", Acc=" << acc << " (expected 16x16x" << k16
                       << " or 32x32x" << k16 / 2 << (isFNUZ ? ")" : ", or twice that K)");
  }
  return verifyRange(emitError, "indexSet", indexSet, shape->indexSets - 1);
}

LogicalResult CDNA4MFMAScaleType::verify(EmitError emitError, int32_t m, int32_t n, int32_t k,
                                         Type a, Type b, Type acc, int32_t opselA, int32_t opselB) {
  Extents extents{m, n, k};
  if (!(extents == Extents{16, 16, 128}) && !(extents == Extents{32, 32, 64}))
    return emitError() << "unsupported MNK for CDNA4 MFMA_Scale: " << extents
                       << " (expected 16x16x128 or 32x32x64)";
  if (failed(verifyScaledFormats(emitError, a, b, acc)) ||
      failed(verifyRange(emitError, "opselA", opselA, 3)) ||
      failed(verifyRange(emitError, "opselB", opselB, 3)))
    return failure();
  return success();
}

// --- WMMA
// --------------------------------------------------------------------------------------------------

static LogicalResult noIntegerOptions(EmitError emitError, StringRef form, bool signA, bool signB,
                                      bool clamp) {
  return emitError() << form
                     << " path does not accept signA/signB/clamp (the ROCDL fp WMMA intrinsics "
                        "have no such operands); got signA="
                     << int(signA) << ", signB=" << int(signB) << ", clamp=" << int(clamp);
}

LogicalResult GFX11WMMAType::verify(EmitError emitError, int32_t m, int32_t n, int32_t k, Type a,
                                    Type b, Type acc, bool signA, bool signB, bool clamp) {
  Extents extents{m, n, k};
  if (!(extents == Extents{16, 16, 16}))
    return emitError() << "GFX11 WMMA requires M=N=K=16, got " << extents;
  if (!findMatrixShape(getMnemonic(), m, n, k, a, b, acc))
    return unsupported(emitError, "GFX11 WMMA", extents, a, b, acc);
  if (!a.isInteger() && (signA || signB || clamp))
    return noIntegerOptions(emitError, "GFX11 WMMA fp16/bf16", signA, signB, clamp);
  return success();
}

LogicalResult GFX120XWMMAType::verify(EmitError emitError, int32_t m, int32_t n, int32_t k, Type a,
                                      Type b, Type acc, bool signA, bool signB, bool clamp) {
  Extents extents{m, n, k};
  if (m != 16 || n != 16)
    return emitError() << "GFX120X WMMA requires M=N=16, got " << m << 'x' << n;
  const bool isKnown = findMatrixShape(getMnemonic(), m, n, k, a, b, acc);
  if (!isKnown && !findMatrixShape(getMnemonic(), m, n, /*k=*/16, a, b, acc))
    return unsupported(emitError, "GFX120X WMMA", extents, a, b, acc);
  if (!isKnown && a.isInteger(4))
    return emitError() << "GFX120X WMMA IU4 requires K=16 or K=32, got " << extents;
  if (!isKnown && a.isInteger(8))
    return emitError() << "GFX120X WMMA IU8 requires K=16, got " << extents;
  if (!isKnown)
    return emitError() << "GFX120X WMMA floating-point forms require M=N=K=16, got " << extents;
  if (!a.isInteger() && (signA || signB || clamp))
    return noIntegerOptions(emitError, "GFX120X WMMA floating-point", signA, signB, clamp);
  return success();
}

static LogicalResult verifyModC(EmitError emitError, int32_t modC) {
  if (modC < 0 || modC > 65535)
    return emitError() << "modC must fit the i16 intrinsic field [0, 65535], got " << modC;
  return success();
}

LogicalResult GFX1250WMMAType::verify(EmitError emitError, int32_t m, int32_t n, int32_t k, Type a,
                                      Type b, Type acc, bool signA, bool signB, bool clamp,
                                      int32_t modC) {
  if (m != 16 || n != 16)
    return emitError() << "GFX1250 WMMA requires M=N=16, got " << m << 'x' << n;
  const bool isInteger = a.isInteger(4) || a.isInteger(8);
  if ((signA || signB || clamp) && !isInteger)
    return emitError() << "signA/signB/clamp are only valid for integer (iu4/iu8) WMMA, got A=" << a
                       << ", B=" << b;
  if (!findMatrixShape(getMnemonic(), m, n, k, a, b, acc))
    return unsupported(emitError, "GFX1250 WMMA", {m, n, k}, a, b, acc);
  return verifyModC(emitError, modC);
}

LogicalResult GFX1250WMMAScaleType::verify(EmitError emitError, int32_t m, int32_t n, int32_t k,
                                           Type a, Type b, Type acc, int32_t opselA, int32_t opselB,
                                           int32_t modC, bool, bool, int32_t blockSize) {
  Extents extents{m, n, k};
  if (blockSize != 16 && blockSize != 32)
    return emitError() << "blockSize must be 16 or 32, got " << blockSize;
  if (!(extents == Extents{16, 16, 128}) && !(extents == Extents{32, 16, 128}))
    return emitError() << "unsupported MNK for GFX1250 WMMA_Scale: " << extents
                       << " (expected 16x16x128 or 32x16x128)";
  if (failed(verifyScaledFormats(emitError, a, b, acc)))
    return failure();
  if (m == 32 && !(isa<Float4E2M1FNType>(a) && isa<Float4E2M1FNType>(b)))
    return emitError() << "GFX1250 WMMA_Scale 32x16x128 requires f4E2M1FN A and B, got A=" << a
                       << ", B=" << b;
  if (failed(verifyRange(emitError, "opselA", opselA, 1, " (row0/row1)")) ||
      failed(verifyRange(emitError, "opselB", opselB, 1, " (row0/row1)")))
    return failure();
  return verifyModC(emitError, modC);
}

} // namespace fly::rocdl
