// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies by threads: what exists, geometry.

#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"

#include "Availability.h"

using namespace mlir;

namespace fly::nvvm {

LogicalResult SM80CpAsyncType::verify(function_ref<InFlightDiagnostic()> emitError, int32_t bits,
                                      bool) {
  if (bits != 32 && bits != 64 && bits != 128)
    return emitError() << "cp_async moves 32, 64 or 128 bits, got " << bits;
  return success();
}

std::optional<std::string> SM80CpAsyncType::whyUnavailable(StringRef target) const {
  return whyNotHopper(*this, target,
                      "fx.UniversalCopy by way of registers, or fx.rocdl.BufferCopyLDS, which goes "
                      "straight to LDS");
}

// One thread, whose bits lie in the same order on both sides.
Layout SM80CpAsyncType::getThreadLayout() const { return Layout(1, 1); }
Layout SM80CpAsyncType::getSourceBitLayout() const {
  return Layout(IntTuple::tuple({1, getBits()}), IntTuple::tuple({1, 1}));
}
Layout SM80CpAsyncType::getDestinationBitLayout() const { return getSourceBitLayout(); }
Layout SM80CpAsyncType::getReferenceBitLayout() const { return getSourceBitLayout(); }
std::optional<int32_t> SM80CpAsyncType::getOperandBits() const { return getBits(); }

} // namespace fly::nvvm
