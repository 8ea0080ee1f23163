// SPDX-License-Identifier: Apache-2.0
#include "sanitize/definedness.h"

#include <cstring>

#include "execute/data_parallel.h"
#include "execute/matrix_shape.h"
#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "sanitize/halves.h"

namespace flyemu {
namespace {

constexpr uint64_t kAll = ~uint64_t{0};

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

bool isMemory(OpClass cls) {
  return cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch ||
         cls == OpClass::Lds;
}

bool isVectorAlu(OpClass cls) {
  return cls == OpClass::VectorAlu || cls == OpClass::Transcendental;
}

/// Instructions that move whole registers between lanes and do nothing else.
bool movesBetweenLanes(const std::string &name) {
  return startsWith(name, "ds_bpermute") || startsWith(name, "ds_permute") ||
         startsWith(name, "ds_swizzle") || startsWith(name, "v_permlane") || name == "v_swap_b32";
}

bool movesWhole(const Instruction &inst) {
  const std::string &name = inst.opcode->name;
  return name == "v_mov_b32" || startsWith(name, "v_accvgpr_");
}

/// 8, 16 or 32 numbers of one source: v_cvt_scale_pk8_f32_fp8, v_cvt_scalef32_sr_pk16_fp6_f16.
bool convertsPack(const Instruction &inst) {
  const std::string &name = inst.opcode->name;
  if (!startsWith(name, "v_cvt_scale") || name.find("_2xpk") != std::string::npos)
    return false;
  for (const char *count : {"_pk8_", "_pk16_", "_pk32_"})
    if (name.find(count) != std::string::npos)
      return inst.src[0].isVector();
  return false;
}

bool isPackedPair(const Instruction &inst) {
  return startsWith(inst.opcode->name, "v_pk_") && inst.dstCount == 1 && inst.dst[0].dwords == 2;
}

/// The lanes whose column (lane modulo n) all lanes of that column agree on; with several blocks,
/// within each block.
uint64_t wholeColumns(uint64_t defined, unsigned n, unsigned blocks) {
  uint64_t out = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint64_t column = 0;
    for (unsigned other = lane % n; other < kLanes; other += n)
      if (blocks == 1 || other / n % blocks == lane / n % blocks)
        column |= uint64_t{1} << other;
    if ((defined & column) == column)
      out |= uint64_t{1} << lane;
  }
  return out;
}

/// Is the row of D that a lane's dword belongs to among those marked in `rows` (lane modulo m)?
bool hasRow(const MatrixShape &shape, uint64_t rows, unsigned dword, unsigned lane) {
  if (shape.blocks > 1) // where the blocks of D lie is not looked up: all of A has to be defined
    return false;
  unsigned row = 0;
  if (shape.out == MatrixElement::F64)
    row = 4 * (dword / 2) + lane / 16;
  else if (shape.m == 16)
    row = 4 * (lane / 16) + dword % 4;
  else
    row = 8 * (dword / 4) + 4 * (lane / 32) + dword % 4;
  return (rows >> row % kLanes & 1U) != 0;
}

} // namespace

Definedness::Definedness(uint64_t setUpScalars) : vector_(kVectorRows, 0) {
  vector_[0] = kAll;
  undefined_.fill(~0U);
  const auto define = [&](unsigned first, unsigned end) {
    for (unsigned s = first; s < end; ++s)
      undefined_[s] = 0;
  };
  for (unsigned s = 0; s < 64; ++s)
    if ((setUpScalars >> s & 1U) != 0)
      define(s, s + 1);
  define(scalar::kFlatScratch, scalar::kVcc);
  // All registers of the trap handler but the one that compilers mark with.
  define(scalar::kTtmp, kNeverWritten);
  define(kNeverWritten + 1, scalar::kTtmp + 16);
  define(scalar::kExec, scalar::kExec + 2);
}

bool Definedness::isRealSource(const Instruction &inst, unsigned i) {
  const Opcode &opcode = *inst.opcode;
  if (opcode.lanes != nullptr)
    return i < opcode.lanes->srcCount ||
           ((opcode.lanes->flags & kCarryIn) != 0 && i == opcode.lanes->srcCount);
  if (isMemory(opcode.cls)) {
    // Loads into half a register list it behind their address.
    const bool half = opcode.name.find("d16") != std::string::npos;
    return !half || inst.dstCount == 0 || i == 0 || !inst.src[i].isVector();
  }
  if (opcode.name == "v_writelane_b32")
    return i < 2;
  return true;
}

uint64_t Definedness::lanesOf(const Operand &operand, unsigned dword) const {
  if (operand.isVector())
    return operand.index + dword < kVectorRows ? vector_[operand.index + dword] : 0;
  if (operand.isScalarRegister()) {
    const unsigned index = operand.index + (dword < operand.dwords ? dword : 0U);
    return index >= scalar::kNull || undefined_[index] == 0 ? kAll : 0;
  }
  return scalar(operand) ? kAll : 0;
}

uint64_t Definedness::lanes(const Operand &operand) const {
  if (!operand.isVector())
    return scalar(operand) ? kAll : 0;
  uint64_t lanes = kAll;
  for (unsigned i = 0; i < operand.dwords; ++i)
    lanes &= lanesOf(operand, i);
  return lanes;
}

/// Of one dword.
uint64_t Definedness::halfLanes(const Operand &operand, uint8_t halves) const {
  uint64_t lanes = lanesOf(operand, 0);
  const auto found = operand.isVector() ? halves_.find(operand.index) : halves_.end();
  if (found == halves_.end() || halves == half::kBoth)
    return lanes;
  return lanes | found->second[halves == half::kLow ? 0 : 1];
}

uint64_t Definedness::lanesRead(const Instruction &inst, unsigned i) const {
  const Operand &operand = inst.src[i];
  if (halves_.empty() || !operand.isVector() || operand.dwords != 1)
    return lanes(operand);
  return halfLanes(operand, halvesRead(inst, i));
}

/// A dword made of halves: each is defined where its sources are.
void Definedness::putTogether(const Wave &wave, const Instruction &inst) {
  std::array<HalfSources, 2> sources;
  if (!halvesOfResult(wave, inst, sources[0], sources[1]))
    return;
  for (unsigned h = 0; h < 2; ++h) {
    halfResult_[0][h] = kAll;
    for (unsigned i = 0; i < inst.srcCount && i < sources[h].size(); ++i)
      if (sources[h][i] != 0)
        halfResult_[0][h] &= halfLanes(inst.src[i], sources[h][i]);
  }
  result_[0][0] = halfResult_[0][0] & halfResult_[0][1];
}

/// After a row has been written.
void Definedness::noteHalves(unsigned row, uint64_t low, uint64_t high) {
  const uint64_t news = (low | high) & ~(low & high) & written_;
  auto found = halves_.find(row);
  if (found == halves_.end()) {
    if (news == 0)
      return;
    found = halves_.emplace(row, std::array<uint64_t, 2>()).first;
  }
  std::array<uint64_t, 2> &halves = found->second;
  halves[0] = (halves[0] & ~written_) | (low & news);
  halves[1] = (halves[1] & ~written_) | (high & news);
  if ((halves[0] | halves[1]) == 0)
    halves_.erase(found);
}

uint64_t Definedness::pairAt(unsigned index) const {
  uint64_t bits = index < scalar::kCount ? undefined_[index] : 0U;
  if (index + 1 < scalar::kCount)
    bits |= uint64_t{undefined_[index + 1]} << 32;
  return bits;
}

/// Of a scalar operand of one or two dwords.
uint64_t Definedness::undefinedBits(const Operand &operand) const {
  if (operand.kind == OperandKind::Special)
    return scalar(operand) ? 0 : kAll;
  if (!operand.isScalarRegister())
    return 0;
  const uint64_t bits = pairAt(operand.index);
  return operand.dwords > 1 ? bits : bits & 0xffffffffU;
}

bool Definedness::scalar(const Operand &operand) const {
  if (operand.kind == OperandKind::Special)
    return operand.index != static_cast<uint16_t>(SpecialSource::Scc) || scc_;
  if (!operand.isScalarRegister())
    return true;
  for (unsigned i = 0; i < operand.dwords && operand.index + i < scalar::kNull; ++i)
    if (undefined_[operand.index + i] != 0)
      return false;
  return true;
}

bool Definedness::vccZero(const Wave &wave) const {
  const uint64_t undefined = pairAt(scalar::kVcc) & wave.laneMask;
  return undefined == 0 || (wave.vcc() & ~undefined) != 0;
}

uint64_t Definedness::throughDpp(const Instruction &inst, uint64_t lanes) const {
  uint32_t row[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    row[lane] = (lanes >> lane & 1U) != 0 ? 0 : 1;
  dppRows(row, row, 1, inst.modifiers.dpp, exec_); // a lane without a source reads zero
  uint64_t out = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out |= uint64_t{row[lane] == 0} << lane;
  return out;
}

/// Scalar logic, bit by bit: a defined 0 decides an AND, a defined 1 an OR.
void Definedness::scalarLogic(const Wave &wave, const Instruction &inst) {
  const std::string &name = inst.opcode->name;
  const auto is = [&](const char *prefix) { return startsWith(name, prefix); };
  const bool wide = name.find("b64") != std::string::npos;
  const bool saves = name.find("saveexec") != std::string::npos; // the other operand is EXEC
  const bool binary = inst.srcCount > 1 || saves;
  const auto valueOf = [&](unsigned i) {
    const uint64_t value = wide ? readScalar64(wave, inst.src[i]) : readScalar(wave, inst.src[i]);
    return value;
  };
  uint64_t first = inst.srcCount > 0 ? valueOf(0) : 0;
  uint64_t second = saves ? exec_ : inst.srcCount > 1 ? valueOf(1) : 0;
  const uint64_t u = inst.srcCount > 0 ? undefinedBits(inst.src[0]) : 0;
  const uint64_t v = binary && !saves ? undefinedBits(inst.src[1]) : 0;
  if (is("s_andn2") || is("s_orn2"))
    second = ~second;
  if (is("s_andn1") || is("s_orn1"))
    first = ~first;
  uint64_t bits = (u | v) != 0 ? kAll : 0;
  if (is("s_and") || is("s_nand"))
    bits = (u & (second | v)) | (v & (first | u));
  else if (is("s_or") || is("s_nor"))
    bits = (u & (~second | v)) | (v & (~first | u));
  else if (is("s_xor") || is("s_xnor") || is("s_mov_b") || is("s_not"))
    bits = u | v;
  else if (is("s_cselect"))
    bits = !scc_ ? kAll : wave.scc ? u : v;
  const uint64_t shown = wide ? bits : bits & 0xffffffffU;
  sccKnown_ = shown == 0 || is("s_mov") || is("s_cselect");
  if (!sccKnown_ && (is("s_and") || is("s_or_") || is("s_orn")))
    // A defined one decides that the result is not zero.
    sccKnown_ = ((is("s_and") ? first & second : first | second) & ~bits &
                 (wide ? kAll : 0xffffffffU)) != 0;
  if (saves) {
    execBits_ = bits;
    bits = 0;
  }
  resultBits_.fill(bits);
}

/// A result is defined where all sources are.
void Definedness::sources(const Wave &wave, const Instruction &inst) {
  uint64_t all = kAll;
  uint64_t low = kAll; // the low half of a 64-bit sum does not depend on high halves
  const LaneRow *kernel = inst.opcode->lanes;
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    if (!isRealSource(inst, i))
      continue;
    const bool dpp = i == 0 && inst.modifiers.encoding == Encoding::Dpp;
    const bool mask = kernel != nullptr && i == kernel->srcCount; // a carry: a bit for each lane
    uint64_t whole = mask ? ~undefinedBits(inst.src[i]) : lanesRead(inst, i);
    uint64_t first =
        inst.src[i].isVector() && inst.src[i].dwords > 1 ? lanesOf(inst.src[i], 0) : whole;
    if (dpp) {
      whole = throughDpp(inst, whole);
      first = throughDpp(inst, first);
    }
    all &= whole;
    low &= first;
  }
  if (kernel != nullptr && (kernel->flags & kReadsVcc) != 0)
    all &= ~pairAt(scalar::kVcc);
  for (Rows &rows : result_)
    rows.fill(all);
  if (inst.dstCount != 0 && inst.dst[0].dwords == 2)
    result_[0][0] = low;
  if (inst.modifiers.encoding == Encoding::Dpp)
    written_ = exec_ & dppWrittenLanes(inst.modifiers.dpp, exec_);
  resultBits_.fill(exec_ & ~all); // of masks: lanes that are off give zero
  const std::string &name = inst.opcode->name;
  if (kernel != nullptr && (kernel->flags & kCompareExec) != 0)
    execBits_ = exec_ & ~all;
  if (name == "v_readlane_b32" || name == "v_readfirstlane_b32") {
    const unsigned lane = name == "v_readlane_b32"
                              ? readScalar(wave, inst.src[1]) & (wave.lanes() - 1)
                          : exec_ == 0 ? 0U
                                       : static_cast<unsigned>(__builtin_ctzll(exec_));
    const bool known =
        inst.src[0].isVector() ? (lanes(inst.src[0]) >> lane & 1U) != 0 : scalar(inst.src[0]);
    const auto spilled =
        inst.src[0].isVector() ? spilled_.find(kLanes * inst.src[0].index + lane) : spilled_.end();
    if (name == "v_readlane_b32" && !scalar(inst.src[1]))
      resultBits_.fill(kAll);
    else
      resultBits_.fill(known ? 0 : spilled != spilled_.end() ? spilled->second : kAll);
  } else if (name == "v_writelane_b32") {
    written_ = uint64_t{1} << (readScalar(wave, inst.src[1]) & (wave.lanes() - 1));
  }
}

/// v_cndmask: what is selected has to be defined, and the mask's bit.
void Definedness::selected(const Wave &wave, const Instruction &inst) {
  const bool named = inst.srcCount > 2 && isRealSource(inst, 2);
  const uint64_t mask = named ? readScalar64(wave, inst.src[2]) : wave.vcc();
  const uint64_t unknown = named ? undefinedBits(inst.src[2]) : pairAt(scalar::kVcc);
  uint64_t first = lanes(inst.src[0]);
  if (inst.modifiers.encoding == Encoding::Dpp)
    first = throughDpp(inst, first);
  const uint64_t chosen = (first & ~mask) | (lanes(inst.src[1]) & mask);
  result_[0].fill(chosen & ~unknown);
  if (halves_.empty() || inst.modifiers.encoding != Encoding::Plain)
    return;
  for (const uint8_t which : {half::kLow, half::kHigh})
    halfResult_[0][which == half::kLow ? 0 : 1] =
        ((halfLanes(inst.src[0], which) & ~mask) | (halfLanes(inst.src[1], which) & mask)) &
        ~unknown;
}

/// Packed 32-bit operations: op_sel and op_sel_hi choose the dword for each half of the result.
void Definedness::packedPair(const Instruction &inst) {
  const auto half = [&](unsigned i, uint8_t bit) {
    return lanesOf(inst.src[i], (inst.src[i].modifiers & bit) != 0 ? 1 : 0);
  };
  if (inst.opcode->name == "v_pk_mov_b32") {
    result_[0][0] = half(0, modifier::kOpSel);
    result_[0][1] = half(1, modifier::kOpSel);
    return;
  }
  result_[0][0] = result_[0][1] = kAll;
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    if (!isRealSource(inst, i))
      continue;
    result_[0][0] &= half(i, modifier::kOpSel);
    result_[0][1] &= half(i, modifier::kOpSelHi);
  }
}

/// Conversions of many packed numbers: each dword of the result by its part of the first source.
void Definedness::convertedPack(const Instruction &inst) {
  uint64_t others = kAll;
  for (unsigned i = 1; i < inst.srcCount; ++i)
    if (isRealSource(inst, i))
      others &= lanesRead(inst, i);
  const unsigned from = inst.src[0].dwords;
  const unsigned to = std::min<unsigned>(inst.dst[0].dwords, kMostDwords);
  for (unsigned i = 0; i < to; ++i) {
    result_[0][i] = others;
    for (unsigned part = i * from / to; part * to < (i + 1) * from; ++part)
      result_[0][i] &= lanesOf(inst.src[0], part);
  }
}

/// Matrix instructions read and write all lanes, whatever EXEC is. An element of D needs its row of
/// A, its column of B and its C.
void Definedness::matrix(const Instruction &inst) {
  written_ = kAll;
  if (inst.srcCount < 3)
    return;
  const uint64_t a = lanes(inst.src[0]);
  const uint64_t b = lanes(inst.src[1]);
  const Operand &c = inst.src[2].isVector() && inst.src[2].dwords == inst.dst[0].dwords
                         ? inst.src[2]
                         : inst.dst[0]; // of sparse ones, which have the indices in its place
  const bool accumulates = inst.src[2].isVector();
  MatrixShape shape;
  if ((a & b) != kAll && !MatrixShape::parse(inst.opcode->name, shape))
    return;
  const uint64_t columns = b == kAll ? kAll : wholeColumns(b, shape.n, shape.blocks);
  const uint64_t rows = a == kAll ? kAll : wholeColumns(a, shape.m, shape.blocks);
  for (unsigned i = 0; i < kMostDwords; ++i) {
    uint64_t out = columns;
    if (rows != kAll)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (!hasRow(shape, rows, i, lane))
          out &= ~(uint64_t{1} << lane);
    if (accumulates && i < c.dwords)
      out &= lanesOf(c, i);
    result_[0][i] = out;
  }
}

/// The instruction itself moves the marks, in place of the values: it then needs no second
/// description of where lanes go.
void Definedness::movedBetweenLanes(Wave &wave, const Instruction &inst) {
  const bool swaps = inst.dstCount == 2;
  const bool addressed = inst.opcode->name.find("permute_b32") != std::string::npos;
  const unsigned data = addressed ? 1 : 0;
  std::array<uint16_t, 3> rows = {inst.dst[0].index, inst.src[data].index,
                                  swaps ? inst.dst[1].index : inst.src[data].index};
  uint32_t saved[3][kLanes];
  for (unsigned i = 0; i < rows.size(); ++i)
    std::memcpy(saved[i], wave.row(rows[i]), sizeof saved[i]);
  const auto mark = [&](uint16_t row) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      wave.row(row)[lane] = (vector_[row] >> lane & 1U) != 0 ? 0 : 1;
  };
  // An address in the same register as the data cannot be marked; its lanes count as defined.
  const bool same = addressed && inst.src[0].index == inst.src[1].index;
  if (!same)
    mark(rows[1]);
  if (swaps) {
    mark(rows[0]);
    mark(rows[2]);
  }
  const uint64_t addresses = addressed ? lanes(inst.src[0]) : kAll;
  const auto restore = [&] {
    for (size_t i = rows.size(); i-- > 0;)
      std::memcpy(wave.row(rows[i]), saved[i], sizeof saved[i]);
  };
  try {
    inst.execute(wave, inst);
  } catch (...) {
    restore();
    throw;
  }
  for (unsigned d = 0; d < inst.dstCount; ++d) {
    uint64_t moved = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      moved |= uint64_t{same || wave.row(inst.dst[d].index)[lane] == 0} << lane;
    result_[d][0] = moved & addresses;
  }
  restore();
  if (swaps)
    written_ = kAll; // lanes that stay have moved to themselves
}

void Definedness::prepare(Wave &wave, const Instruction &inst) {
  exec_ = wave.exec();
  written_ = exec_;
  resultBits_.fill(0);
  execBits_ = 0;
  sccKnown_ = true;
  for (Rows &rows : result_)
    rows.fill(kAll);
  const OpClass cls = inst.opcode->cls;
  const std::string &name = inst.opcode->name;
  if (cls == OpClass::Matrix) {
    matrix(inst);
  } else if (movesBetweenLanes(name)) {
    movedBetweenLanes(wave, inst);
  } else if (cls == OpClass::ScalarAlu) {
    scalarLogic(wave, inst);
  } else if (inst.parts != nullptr) {
    // Each operation of a dual instruction by its own sources.
    computed(wave, inst.parts[1]);
    const Rows second = result_[0];
    const std::array<uint64_t, 2> half = halfResult_[0];
    result_[0].fill(kAll);
    computed(wave, inst.parts[0]);
    result_[1] = second;
    halfResult_[1] = half;
  } else if (isVectorAlu(cls)) {
    computed(wave, inst);
  }
}

/// What the vector ALU makes: the first destination.
void Definedness::computed(const Wave &wave, const Instruction &inst) {
  sources(wave, inst);
  halfResult_ = {};
  if (inst.opcode->name == "v_cndmask_b32")
    selected(wave, inst);
  else if (isPackedPair(inst))
    packedPair(inst);
  else if (convertsPack(inst))
    convertedPack(inst);
  else if ((exec_ & ~result_[0][0]) != 0)
    putTogether(wave, inst);
}

void Definedness::forgetSpills(unsigned row) {
  auto it = spilled_.lower_bound(kLanes * row);
  while (it != spilled_.end() && it->first < kLanes * (row + 1))
    it = (written_ >> it->first % kLanes & 1U) != 0 ? spilled_.erase(it) : std::next(it);
}

/// Registers that hold spills are moved to AccVGPRs and back.
void Definedness::moveSpills(const Instruction &inst) {
  if (inst.dstCount != 1 || inst.srcCount == 0 || !inst.dst[0].isVector() ||
      !inst.src[0].isVector() || inst.modifiers.encoding == Encoding::Dpp || !movesWhole(inst))
    return;
  const auto begin = spilled_.lower_bound(kLanes * inst.src[0].index);
  const auto end = spilled_.lower_bound(kLanes * (inst.src[0].index + 1U));
  const std::vector<std::pair<uint32_t, uint32_t>> moved(begin, end);
  for (const auto &[key, bits] : moved)
    if ((written_ >> key % kLanes & 1U) != 0)
      spilled_[kLanes * inst.dst[0].index + key % kLanes] = bits;
}

/// A scalar register of which some bits are undefined goes to a lane.
void Definedness::noteSpill(const Wave &wave, const Instruction &inst) {
  const auto bits = static_cast<uint32_t>(undefinedBits(inst.src[0]));
  if (bits != 0)
    spilled_[kLanes * inst.dst[0].index + (readScalar(wave, inst.src[1]) & (wave.lanes() - 1))] =
        bits;
}

void Definedness::forget(const Operand &operand, unsigned dword, uint64_t lanes,
                         const Origin *origin) {
  if (!operand.isVector() || operand.index + dword >= kVectorRows || lanes == 0)
    return;
  vector_[operand.index + dword] &= ~lanes;
  if (origin != nullptr)
    origins_[operand.index + dword] = *origin;
}

void Definedness::forgetScalar(const Operand &operand, unsigned dword, const Origin &origin) {
  if (!operand.isScalarRegister() || operand.index + dword >= scalar::kCount)
    return;
  undefined_[operand.index + dword] = ~0U;
  origins_[kScalarKeys + operand.index + dword] = origin;
}

const Origin *Definedness::originAt(unsigned key) const {
  const auto found = origins_.find(key);
  return found != origins_.end() ? &found->second : nullptr;
}

const Origin *Definedness::originOf(const Operand &operand) const {
  if (origins_.empty() || (!operand.isVector() && !operand.isScalarRegister()))
    return nullptr;
  const unsigned first = operand.index + (operand.isVector() ? 0U : kScalarKeys);
  for (unsigned i = 0; i < operand.dwords; ++i)
    if (const Origin *origin = originAt(first + i); origin != nullptr)
      return origin;
  return nullptr;
}

/// What an instruction makes goes back to what its sources do.
void Definedness::handOrigins(const Instruction &inst) {
  const Origin *found = nullptr;
  for (unsigned i = 0; i < inst.srcCount && found == nullptr; ++i)
    found = originOf(inst.src[i]);
  const LaneRow *kernel = inst.opcode->lanes;
  if (found == nullptr && kernel != nullptr && (kernel->flags & kReadsVcc) != 0)
    found = originOfVcc();
  if (found == nullptr && inst.opcode->name.rfind("s_cselect", 0) == 0)
    found = originOfScc();
  const Origin origin = found != nullptr ? *found : Origin();
  execOrigin_ = origin;
  const auto hand = [&](unsigned key, bool undefined) {
    if (undefined && origin.inst != nullptr)
      origins_[key] = origin;
    else
      origins_.erase(key);
  };
  for (unsigned d = 0; d < inst.dstCount && d < result_.size(); ++d) {
    const Operand &dst = inst.dst[d];
    for (unsigned i = 0; i < dst.dwords; ++i) {
      if (dst.isVector() && dst.index + i < kVectorRows)
        hand(dst.index + i, vector_[dst.index + i] != kAll);
      else if (dst.isScalarRegister() && dst.index + i < scalar::kCount)
        hand(kScalarKeys + dst.index + i, undefined_[dst.index + i] != 0);
    }
  }
  if (inst.opcode->cls == OpClass::ScalarAlu)
    hand(kSccKey, !scc_);
}

bool Definedness::commit(const Wave &wave, const Instruction &inst) {
  for (unsigned d = 0; d < inst.dstCount && d < result_.size(); ++d) {
    const Operand &dst = inst.dst[d];
    if (dst.isVector()) {
      for (unsigned i = 0; i < dst.dwords && dst.index + i < kVectorRows; ++i) {
        uint64_t &row = vector_[dst.index + i];
        row = (row & ~written_) | (result_[d][i < kMostDwords ? i : 0] & written_);
        forgetSpills(dst.index + i);
        const bool whole =
            i != 0 || (d != 0 && inst.parts == nullptr) || !isVectorAlu(inst.opcode->cls);
        noteHalves(dst.index + i, whole ? 0 : halfResult_[d][0], whole ? 0 : halfResult_[d][1]);
      }
    } else if (dst.isScalarRegister()) {
      for (unsigned i = 0; i < dst.dwords && dst.index + i < scalar::kCount; ++i)
        undefined_[dst.index + i] = i < 2 ? static_cast<uint32_t>(resultBits_[d] >> (32 * i)) : 0U;
    }
  }
  if (inst.opcode->cls == OpClass::ScalarAlu)
    scc_ = sccKnown_;
  else if (inst.opcode->name == "v_writelane_b32")
    noteSpill(wave, inst);
  const unsigned operations = inst.parts != nullptr ? 2 : 1;
  for (unsigned i = 0; i < operations; ++i) {
    const Instruction &operation = inst.parts != nullptr ? inst.parts[i] : inst;
    if (!spilled_.empty())
      moveSpills(operation);
    if (!origins_.empty())
      handOrigins(operation);
  }
  const bool sound = wave.exec() == exec_ || (execBits_ == 0 && pairAt(scalar::kExec) == 0);
  undefined_[scalar::kExec] = 0;
  undefined_[scalar::kExec + 1] = 0;
  return sound;
}

} // namespace flyemu
