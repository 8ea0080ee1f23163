// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "decode/instruction.h"
#include "execute/lanes/lane_kernel.h"

namespace flyemu {

/// What kind of work an instruction is, for counters, waits and the opcode table.
enum class OpClass : uint8_t {
  ScalarAlu,
  ScalarMemory,
  VectorAlu,
  Transcendental,
  Matrix,
  Global, ///< global and buffer memory
  Flat,
  Scratch,
  Lds,
  Branch,
  Wait,
  Barrier,
  Control, ///< s_nop, s_endpgm, caches, messages
};

const char *opClassName(OpClass cls);

/// Does MODE.VSKIP pass over instructions of this class?
bool isVectorClass(OpClass cls);

/// The semantics of one mnemonic.
struct Opcode {
  std::string name; ///< of the operation, as gfx9 spells it where gfx9 has it
  OpClass cls = OpClass::ScalarAlu;
  Handler handler = nullptr;
  const LaneRow *lanes = nullptr; ///< of vector ALU instructions
  uint32_t parameter = 0;         ///< the handler's own
  Fidelity fidelity = Fidelity::Exact;
  const char *refusal = nullptr; ///< why the opcode is not executed
  std::string spelling = {};     ///< of the mnemonic, where it is another one

  const std::string &mnemonic() const { return spelling.empty() ? name : spelling; }
};

/// All opcodes by mnemonic. Built once.
/// The entry of all opcodes of images, whose names begin so.
constexpr char kImageOpcodes[] = "image_";

class OpcodeTable {
public:
  static const OpcodeTable &instance();

  const Opcode *find(const std::string &mnemonic) const;
  void add(Opcode opcode);
  /// The same operation under the name that a later instruction set gave it.
  void rename(const std::string &mnemonic, const std::string &operation);

private:
  OpcodeTable();

  std::unordered_map<std::string, Opcode> opcodes_;
};

// Each file of execute/ contributes its rows.
void addRefusedOpcodes(OpcodeTable &table);
void addRenamedOpcodes(OpcodeTable &table);
void addScalarFloatOpcodes(OpcodeTable &table);
void addRdnaControlOpcodes(OpcodeTable &table);
void addBarrierOpcodes(OpcodeTable &table);
void addWaveMatrixOpcodes(OpcodeTable &table);
void addWaveMatrix1250Opcodes(OpcodeTable &table);
void addAsyncMemoryOpcodes(OpcodeTable &table);
void addTensorDataOpcodes(OpcodeTable &table);
void addScalarAluOpcodes(OpcodeTable &table);
void addScalarCompareOpcodes(OpcodeTable &table);
void addScalarControlOpcodes(OpcodeTable &table);
void addScalarForkOpcodes(OpcodeTable &table);
void addScalarMemoryOpcodes(OpcodeTable &table);
void addVectorAluOpcodes(OpcodeTable &table);
void addCrossLaneOpcodes(OpcodeTable &table);
void addScaledBlockOpcodes(OpcodeTable &table);
void addMatrixOpcodes(OpcodeTable &table);
void addGlobalSyncOpcodes(OpcodeTable &table);
void addFlatMemoryOpcodes(OpcodeTable &table);
void addBufferMemoryOpcodes(OpcodeTable &table);
void addBufferTypedOpcodes(OpcodeTable &table);
void addLdsOpcodes(OpcodeTable &table);
void addLdsAtomicOpcodes(OpcodeTable &table);
void addTransposedLoadOpcodes(OpcodeTable &table);

} // namespace flyemu
