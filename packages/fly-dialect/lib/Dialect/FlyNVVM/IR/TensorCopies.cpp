// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps and the copies that are made of them: what exists, text, geometry, state.

#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"

#include "../../AtomSyntax.h"
#include "Availability.h"

#include <limits>

using namespace mlir;

namespace fly::nvvm {

using EmitError = function_ref<InFlightDiagnostic()>;

static constexpr int32_t mostInBox = 256; // Elements on each axis.
static constexpr size_t mostAxes = 5;

// --- what exists ---------------------------------------------------------------------------------

/// The limits of CUDA's cuTensorMapEncodeTiled.
static LogicalResult verifyBox(EmitError emitError, ArrayRef<int32_t> box, Type elem,
                               int32_t swizzle) {
  const int32_t bits = getElementBitWidth(elem);
  if (bits < 8 || bits > 64 || !elem.isIntOrFloat())
    return emitError() << "a tensor map has elements of 8 to 64 bits, got " << elem;
  if (box.empty() || box.size() > mostAxes)
    return emitError() << "a tensor map has 1 to 5 axes, got a box of " << box.size();
  for (int32_t extent : box)
    if (extent < 1 || extent > mostInBox)
      return emitError() << "a box has 1 to 256 elements on each axis, got " << extent;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "the swizzle of a tensor map is of 0, 32, 64 or 128 bytes, got "
                       << swizzle;
  const int32_t row = box.back() * bits / 8;
  if (row % 16 != 0 || (swizzle != 0 && row > swizzle))
    return emitError() << "the rows of a box are multiples of 16 bytes and not wider than the "
                          "swizzle; got rows of "
                       << row << " bytes and a swizzle of " << swizzle;
  return success();
}

LogicalResult TensorMapType::verify(EmitError emitError, ArrayRef<int32_t> box, Type elem,
                                    int32_t swizzle) {
  return verifyBox(emitError, box, elem, swizzle);
}
LogicalResult SM90TMALoadType::verify(EmitError emitError, ArrayRef<int32_t> box, Type elem,
                                      int32_t swizzle, bool, bool) {
  return verifyBox(emitError, box, elem, swizzle);
}
LogicalResult SM90TMAStoreType::verify(EmitError emitError, ArrayRef<int32_t> box, Type elem,
                                       int32_t swizzle) {
  return verifyBox(emitError, box, elem, swizzle);
}

/// The table of `cp.reduce.async.bulk.tensor` in the PTX ISA.
LogicalResult SM90TMAReduceType::verify(EmitError emitError, ArrayRef<int32_t> box, Type elem,
                                        int32_t swizzle, StringRef kind) {
  const bool isInteger = elem.isInteger(32) || elem.isInteger(64);
  const bool isHalf = elem.isF16() || elem.isBF16();
  bool exists = isInteger;
  StringRef types = "i32 and i64";
  if (kind == "add") {
    exists |= isHalf || elem.isF32();
    types = "i32, i64, f32, f16 and bf16";
  } else if (kind == "min" || kind == "max") {
    exists |= isHalf;
    types = "i32, i64, f16 and bf16";
  } else if (kind != "and" && kind != "or" && kind != "xor") {
    return emitError() << "a reduction is add, min, max, and, or or xor, got " << kind;
  }
  if (!exists)
    return emitError() << "the copy engine has the reduction " << kind << " of " << types
                       << ", got " << elem;
  return verifyBox(emitError, box, elem, swizzle);
}

static constexpr StringLiteral instead = "fx.UniversalCopy by the threads";
std::optional<std::string> SM90TMALoadType::whyUnavailable(StringRef target) const {
  return whyNotHopper(*this, target, instead);
}
std::optional<std::string> SM90TMAStoreType::whyUnavailable(StringRef target) const {
  return whyNotHopper(*this, target, instead);
}

std::optional<std::string> SM90TMAReduceType::whyUnavailable(StringRef target) const {
  return whyNotHopper(*this, target, "fx.UniversalAtomic by the threads");
}

// --- text ----------------------------------------------------------------------------------------

namespace {
struct Box {
  SMLoc loc;
  SmallVector<int32_t> extents;
  Type elem;
  int32_t swizzle = 0;
};
} // namespace

static ParseResult parseBox(AsmParser &parser, Box &box) {
  box.loc = parser.getCurrentLocation();
  auto parseExtent = [&] { return parser.parseInteger(box.extents.emplace_back()); };
  return failure(parser.parseLess() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseExtent) ||
                 parser.parseComma() || parser.parseType(box.elem) ||
                 parseNextKey(parser, "swizzle", box.swizzle));
}

template <typename Map> static void printBox(AsmPrinter &printer, Map map) {
  printer << "<[";
  llvm::interleaveComma(map.getBox(), printer);
  printer << "], " << map.getElem();
  printKey(printer, "swizzle", map.getSwizzle());
}

Type TensorMapType::parse(AsmParser &parser) {
  Box box;
  if (parseBox(parser, box) || parser.parseGreater())
    return {};
  return parser.getChecked<TensorMapType>(box.loc, parser.getContext(),
                                          ArrayRef<int32_t>(box.extents), box.elem, box.swizzle);
}
void TensorMapType::print(AsmPrinter &printer) const {
  printBox(printer, *this);
  printer << '>';
}

Type SM90TMALoadType::parse(AsmParser &parser) {
  Box box;
  bool multicast = false, evictFirst = false;
  if (parseBox(parser, box) || parseNextKey(parser, "multicast", multicast) ||
      parseNextKey(parser, "evictFirst", evictFirst) || parser.parseGreater())
    return {};
  return parser.getChecked<SM90TMALoadType>(box.loc, parser.getContext(),
                                            ArrayRef<int32_t>(box.extents), box.elem, box.swizzle,
                                            multicast, evictFirst);
}
void SM90TMALoadType::print(AsmPrinter &printer) const {
  printBox(printer, *this);
  printKey(printer, "multicast", getMulticast());
  printKey(printer, "evictFirst", getEvictFirst());
  printer << '>';
}

Type SM90TMAStoreType::parse(AsmParser &parser) {
  Box box;
  if (parseBox(parser, box) || parser.parseGreater())
    return {};
  return parser.getChecked<SM90TMAStoreType>(box.loc, parser.getContext(),
                                             ArrayRef<int32_t>(box.extents), box.elem, box.swizzle);
}
void SM90TMAStoreType::print(AsmPrinter &printer) const {
  printBox(printer, *this);
  printer << '>';
}

Type SM90TMAReduceType::parse(AsmParser &parser) {
  Box box;
  StringRef kind;
  if (parseBox(parser, box) || parser.parseComma() || parser.parseKeyword("kind") ||
      parser.parseEqual() || parser.parseKeyword(&kind) || parser.parseGreater())
    return {};
  return parser.getChecked<SM90TMAReduceType>(
      box.loc, parser.getContext(), ArrayRef<int32_t>(box.extents), box.elem, box.swizzle, kind);
}
void SM90TMAReduceType::print(AsmPrinter &printer) const {
  printBox(printer, *this);
  printer << ", kind = " << getKind() << '>';
}

// --- geometry ------------------------------------------------------------------------------------

/// One thread that moves the box.
static Layout boxBits(ArrayRef<int32_t> box, Type elem) {
  int64_t bits = getElementBitWidth(elem);
  for (int32_t extent : box)
    bits = std::min<int64_t>(bits * extent, std::numeric_limits<int32_t>::max());
  return Layout(IntTuple::tuple({1, static_cast<int32_t>(bits)}), IntTuple::tuple({1, 1}));
}

#define FLY_NVVM_BOX_COPY(TYPE)                                                                    \
  Layout TYPE::getThreadLayout() const { return Layout(1, 1); }                                    \
  Layout TYPE::getSourceBitLayout() const { return boxBits(getBox(), getElem()); }                 \
  Layout TYPE::getDestinationBitLayout() const { return getSourceBitLayout(); }                    \
  Layout TYPE::getReferenceBitLayout() const { return getSourceBitLayout(); }                      \
  bool TYPE::isWholeTileCopy() const { return true; }

FLY_NVVM_BOX_COPY(SM90TMALoadType)
FLY_NVVM_BOX_COPY(SM90TMAStoreType)
FLY_NVVM_BOX_COPY(SM90TMAReduceType)

// --- state ---------------------------------------------------------------------------------------

// The address of the map comes last: no name sets it.
static Type stateOf(MLIRContext *context, ArrayRef<Type> named) {
  SmallVector<Type> fields(named);
  fields.push_back(LLVM::LLVMPointerType::get(context));
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

ArrayRef<StringLiteral> SM90TMALoadType::getStateMembers() const {
  static constexpr StringLiteral members[] = {"barrier", "multicast_mask"};
  return members;
}
Type SM90TMALoadType::getStateType() const {
  return stateOf(getContext(),
                 {LLVM::LLVMPointerType::get(getContext(), 3), IntegerType::get(getContext(), 16)});
}

ArrayRef<StringLiteral> SM90TMAStoreType::getStateMembers() const { return {}; }
Type SM90TMAStoreType::getStateType() const { return stateOf(getContext(), {}); }

ArrayRef<StringLiteral> SM90TMAReduceType::getStateMembers() const { return {}; }
Type SM90TMAReduceType::getStateType() const { return stateOf(getContext(), {}); }

} // namespace fly::nvvm
