// SPDX-License-Identifier: Apache-2.0
#include "execute/wave.h"

namespace flyemu {
namespace {

uint64_t readSpecial(const Wave &wave, SpecialSource source) {
  switch (source) {
  case SpecialSource::SharedBase:
    return wave.launch->sharedBase;
  case SpecialSource::SharedLimit:
    return wave.launch->sharedBase + 0xffffffffU;
  case SpecialSource::PrivateBase:
    return wave.launch->privateBase;
  case SpecialSource::PrivateLimit:
    return wave.launch->privateBase + 0xffffffffU;
  case SpecialSource::Vccz:
    return wave.vcc() == 0 ? 1 : 0;
  case SpecialSource::Execz:
    return wave.exec() == 0 ? 1 : 0;
  case SpecialSource::Scc:
    return wave.scc ? 1 : 0;
  case SpecialSource::PopsExitingWaveId:
    // Of pixel shaders; zero in compute. Compilers that mark registers nobody wrote read it for
    // that (see sanitize/definedness.h).
    return 0;
  case SpecialSource::FlatScratchBase:
    return wave.launch->privateBase;
  case SpecialSource::FlatScratchBaseHigh:
    return wave.launch->privateBase >> 32;
  case SpecialSource::LdsDirect:
    throw Fault{"the source src_lds_direct is not modelled"};
  }
  return 0;
}

} // namespace

uint32_t readScalar(const Wave &wave, const Operand &operand) {
  switch (operand.kind) {
  case OperandKind::Scalar:
    return wave.scalar[operand.index];
  case OperandKind::Constant:
    return static_cast<uint32_t>(operand.constant);
  case OperandKind::Special: {
    // The apertures' 32-bit reads give the high half, which is what addresses are made of.
    const uint64_t value = readSpecial(wave, static_cast<SpecialSource>(operand.index));
    const bool aperture = operand.index <= static_cast<uint16_t>(SpecialSource::PrivateLimit);
    return static_cast<uint32_t>(aperture ? value >> 32 : value);
  }
  case OperandKind::Vector:
    // A vector register where a scalar is wanted (v_readlane's operands aside): lane 0.
    return wave.row(operand.index)[0];
  case OperandKind::None:
    break;
  }
  throw Fault{"an operand is missing"};
}

uint64_t readMask(const Wave &wave, const Operand &operand) {
  if (operand.dwords == 1 && operand.isScalarRegister())
    return wave.scalar[operand.index];
  return readScalar64(wave, operand) & wave.laneMask;
}

uint64_t readScalar64(const Wave &wave, const Operand &operand) {
  switch (operand.kind) {
  case OperandKind::Scalar:
    return wave.scalar64(operand.index);
  case OperandKind::Constant:
    return operand.constant;
  case OperandKind::Special:
    return readSpecial(wave, static_cast<SpecialSource>(operand.index));
  case OperandKind::Vector:
  case OperandKind::None:
    break;
  }
  throw Fault{"an operand is no scalar"};
}

} // namespace flyemu
