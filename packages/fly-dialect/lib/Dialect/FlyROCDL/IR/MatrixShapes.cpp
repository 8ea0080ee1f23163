// SPDX-License-Identifier: Apache-2.0
#include "fly/Dialect/FlyROCDL/IR/MatrixShapes.h"

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace fly::rocdl {

// --- types that one operation mixes
// --------------------------------------------------------------------------------------------

static constexpr StringLiteral f64[] = {"f64"}, f32[] = {"f32"}, xf32[] = {"tf32"}, f16[] = {"f16"},
                               bf16[] = {"bf16"}, i8[] = {"i8"}, i4[] = {"i4"};
static constexpr StringLiteral fnuz[] = {"f8E4M3FNUZ", "f8E5M2FNUZ"};
static constexpr StringLiteral ocp[] = {"f8E4M3FN", "f8E5M2"};
static constexpr StringLiteral scaled[] = {"f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN",
                                           "f4E2M1FN"};
static constexpr StringLiteral f4[] = {"f4E2M1FN"};

// --- shapes
// --------------------------------------------------------------------------------------------

// K = 2 of bf16 is what gfx908 had before the instructions of the others' K.
// clang-format off: a row a shape
static const MatrixShape mfma[] = {
    {4, 4, 4, f64, "f64", 4},
    {16, 16, 4, f64, "f64"},
    {32, 32, 1, f32, "f32", 2},
    {16, 16, 1, f32, "f32", 4},
    {4, 4, 1, f32, "f32", 16},
    {32, 32, 2, f32, "f32"},
    {16, 16, 4, f32, "f32"},
    {16, 16, 8, xf32, "f32"},
    {32, 32, 4, xf32, "f32"},
    {32, 32, 4, f16, "f32", 2},
    {16, 16, 4, f16, "f32", 4},
    {4, 4, 4, f16, "f32", 16},
    {32, 32, 8, f16, "f32"},
    {16, 16, 16, f16, "f32"},
    {16, 16, 32, f16, "f32"},
    {32, 32, 16, f16, "f32"},
    {32, 32, 2, bf16, "f32", 0},
    {16, 16, 2, bf16, "f32", 0},
    {4, 4, 2, bf16, "f32", 0},
    {32, 32, 4, bf16, "f32", 2},
    {16, 16, 4, bf16, "f32", 4},
    {4, 4, 4, bf16, "f32", 16},
    {16, 16, 8, bf16, "f32"},
    {32, 32, 8, bf16, "f32"},
    {16, 16, 16, bf16, "f32"},
    {16, 16, 32, bf16, "f32"},
    {32, 32, 16, bf16, "f32"},
    {32, 32, 4, i8, "i32", 2},
    {16, 16, 4, i8, "i32", 4},
    {4, 4, 4, i8, "i32", 16},
    {16, 16, 32, i8, "i32"},
    {32, 32, 16, i8, "i32"},
    {16, 16, 64, i8, "i32"},
    {32, 32, 32, i8, "i32"},
    {16, 16, 32, fnuz, "f32"},
    {32, 32, 16, fnuz, "f32"},
    {16, 16, 32, ocp, "f32"},
    {32, 32, 16, ocp, "f32"},
};
// clang-format on

// gfx950 has each with twice the K, too, but for FNUZ.
static const MatrixShape smfmac[] = {
    {16, 16, 32, f16, "f32", 1, 4},  {32, 32, 16, f16, "f32", 1, 4},
    {16, 16, 64, f16, "f32", 1, 2},  {32, 32, 32, f16, "f32", 1, 2},
    {16, 16, 32, bf16, "f32", 1, 4}, {32, 32, 16, bf16, "f32", 1, 4},
    {16, 16, 64, bf16, "f32", 1, 2}, {32, 32, 32, bf16, "f32", 1, 2},
    {16, 16, 64, i8, "i32", 1, 2},   {32, 32, 32, i8, "i32", 1, 2},
    {16, 16, 128, i8, "i32", 1, 1},  {32, 32, 64, i8, "i32", 1, 1},
    {16, 16, 64, fnuz, "f32", 1, 2}, {32, 32, 32, fnuz, "f32", 1, 2},
    {16, 16, 64, ocp, "f32", 1, 2},  {32, 32, 32, ocp, "f32", 1, 2},
    {16, 16, 128, ocp, "f32", 1, 1}, {32, 32, 64, ocp, "f32", 1, 1},
};

static const MatrixShape mfmaScale[] = {
    {16, 16, 128, scaled, "f32"},
    {32, 32, 64, scaled, "f32"},
};

static const MatrixShape gfx11[] = {
    {16, 16, 16, f16, "f32"},   {16, 16, 16, f16, "f16"}, {16, 16, 16, bf16, "f32"},
    {16, 16, 16, bf16, "bf16"}, {16, 16, 16, i8, "i32"},  {16, 16, 16, i4, "i32"},
};

static const MatrixShape gfx120x[] = {
    {16, 16, 16, f16, "f32"},   {16, 16, 16, f16, "f16"}, {16, 16, 16, bf16, "f32"},
    {16, 16, 16, bf16, "bf16"}, {16, 16, 16, ocp, "f32"}, {16, 16, 16, i8, "i32"},
    {16, 16, 16, i4, "i32"},    {16, 16, 32, i4, "i32"},
};

static const MatrixShape gfx1250[] = {
    {16, 16, 4, f32, "f32"},   {16, 16, 32, f16, "f32"},   {16, 16, 32, f16, "f16"},
    {16, 16, 32, bf16, "f32"}, {16, 16, 32, bf16, "bf16"}, {16, 16, 64, ocp, "f32"},
    {16, 16, 128, ocp, "f32"}, {16, 16, 64, ocp, "f16"},   {16, 16, 128, ocp, "f16"},
    {16, 16, 64, i8, "i32"},   {16, 16, 32, i4, "i32"},
};

static const MatrixShape wmmaScale[] = {
    {16, 16, 128, scaled, "f32"},
    {32, 16, 128, f4, "f32"},
};

ArrayRef<MatrixShape> getMatrixShapes(StringRef operation) {
  if (operation == CDNA3MFMAType::getMnemonic())
    return mfma;
  if (operation == CDNA3SMFMACType::getMnemonic())
    return smfmac;
  if (operation == CDNA4MFMAScaleType::getMnemonic())
    return mfmaScale;
  if (operation == GFX11WMMAType::getMnemonic())
    return gfx11;
  if (operation == GFX120XWMMAType::getMnemonic())
    return gfx120x;
  if (operation == GFX1250WMMAType::getMnemonic())
    return gfx1250;
  if (operation == GFX1250WMMAScaleType::getMnemonic())
    return wmmaScale;
  return {};
}

// --- lookup
// --------------------------------------------------------------------------------------------

static std::string spelled(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

const MatrixShape *findMatrixShape(StringRef operation, int32_t m, int32_t n, int32_t k, Type a,
                                   Type b, Type acc) {
  const std::string nameA = spelled(a), nameB = spelled(b), nameAcc = spelled(acc);
  for (const MatrixShape &shape : getMatrixShapes(operation))
    if (shape.m == m && shape.n == n && shape.k == k && shape.acc == nameAcc &&
        llvm::is_contained(shape.elements, nameA) && llvm::is_contained(shape.elements, nameB))
      return &shape;
  return nullptr;
}

int32_t getMFMABlocks(int32_t m, int32_t n, int32_t k, Type a, Type b) {
  if (a != b)
    return 1;
  const std::string name = spelled(a);
  for (const MatrixShape &shape : mfma)
    if (shape.blocks > 1 && shape.m == m && shape.n == n && shape.k == k &&
        llvm::is_contained(shape.elements, name))
      return shape.blocks;
  return 1;
}

} // namespace fly::rocdl
