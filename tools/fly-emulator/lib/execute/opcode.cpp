// SPDX-License-Identifier: Apache-2.0
#include "execute/opcode.h"

namespace flyemu {

const char *opClassName(OpClass cls) {
  switch (cls) {
  case OpClass::ScalarAlu:
    return "salu";
  case OpClass::ScalarMemory:
    return "smem";
  case OpClass::VectorAlu:
    return "valu";
  case OpClass::Transcendental:
    return "transcendental";
  case OpClass::Matrix:
    return "mfma";
  case OpClass::Global:
    return "vmem";
  case OpClass::Flat:
    return "flat";
  case OpClass::Scratch:
    return "scratch";
  case OpClass::Lds:
    return "lds";
  case OpClass::Branch:
    return "branch";
  case OpClass::Wait:
    return "wait";
  case OpClass::Barrier:
    return "barrier";
  case OpClass::Control:
    return "control";
  }
  return "unknown";
}

bool isVectorClass(OpClass cls) {
  switch (cls) {
  case OpClass::VectorAlu:
  case OpClass::Transcendental:
  case OpClass::Matrix:
  case OpClass::Global:
  case OpClass::Flat:
  case OpClass::Scratch:
  case OpClass::Lds:
    return true;
  case OpClass::ScalarAlu:
  case OpClass::ScalarMemory:
  case OpClass::Branch:
  case OpClass::Wait:
  case OpClass::Barrier:
  case OpClass::Control:
    return false;
  }
  return false;
}

const OpcodeTable &OpcodeTable::instance() {
  static const OpcodeTable table;
  return table;
}

OpcodeTable::OpcodeTable() {
  addRefusedOpcodes(*this);
  addScalarAluOpcodes(*this);
  addScalarCompareOpcodes(*this);
  addScalarControlOpcodes(*this);
  addScalarForkOpcodes(*this);
  addScalarMemoryOpcodes(*this);
  addVectorAluOpcodes(*this);
  addCrossLaneOpcodes(*this);
  addScaledBlockOpcodes(*this);
  addMatrixOpcodes(*this);
  addGlobalSyncOpcodes(*this);
  addFlatMemoryOpcodes(*this);
  addBufferMemoryOpcodes(*this);
  addBufferTypedOpcodes(*this);
  addLdsOpcodes(*this);
  addLdsAtomicOpcodes(*this);
  addTransposedLoadOpcodes(*this);
  addScalarFloatOpcodes(*this);
  addRdnaControlOpcodes(*this);
  addBarrierOpcodes(*this);
  addWaveMatrixOpcodes(*this);
  addWaveMatrix1250Opcodes(*this);
  addAsyncMemoryOpcodes(*this);
  addTensorDataOpcodes(*this);
  addRenamedOpcodes(*this);
}

const Opcode *OpcodeTable::find(const std::string &mnemonic) const {
  auto it = opcodes_.find(mnemonic);
  if (it == opcodes_.end() && mnemonic.rfind(kImageOpcodes, 0) == 0)
    it = opcodes_.find(kImageOpcodes);
  return it == opcodes_.end() ? nullptr : &it->second;
}

void OpcodeTable::add(Opcode opcode) {
  std::string name = opcode.mnemonic();
  opcodes_.insert_or_assign(std::move(name), std::move(opcode));
}

void OpcodeTable::rename(const std::string &mnemonic, const std::string &operation) {
  Opcode opcode = *find(operation);
  opcode.spelling = mnemonic;
  add(std::move(opcode));
}

} // namespace flyemu
