// SPDX-License-Identifier: Apache-2.0
//
// Everything around a lane kernel: fetch, the float mode, EXEC, write-back. What modifiers do
// stands in operand_modifiers.cpp, DPP and SDWA in data_parallel.cpp.
#include "execute/vector_alu.h"

#include <cstring>
#include <xmmintrin.h>

#include "execute/data_parallel.h"
#include "execute/lane_tables.h"
#include "execute/opcode.h"
#include "execute/operand_modifiers.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

constexpr unsigned kMaxRows = 4;
using Rows = uint32_t[kMaxRows * kLanes];

/// An operand that is no vector register as rows: the same value in every lane.
[[gnu::noinline]] const uint32_t *splatRows(Wave &wave, const Operand &operand, unsigned dwords,
                                            uint32_t *buffer) {
  const auto splat = wave.launch->helpers->splat;
  if (operand.kind == OperandKind::Scalar) {
    for (unsigned i = 0; i < dwords; ++i)
      splat(buffer + i * kLanes, wave.scalar[operand.index + i]);
  } else if (dwords == 1) {
    splat(buffer, readScalar(wave, operand));
  } else {
    const uint64_t value = readScalar64(wave, operand);
    splat(buffer, static_cast<uint32_t>(value));
    splat(buffer + kLanes, static_cast<uint32_t>(value >> 32));
    for (unsigned i = 2; i < dwords; ++i)
      splat(buffer + i * kLanes, 0);
  }
  return buffer;
}

/// The bits of an operand as rows, without any modifier. Registers are used in place.
inline const uint32_t *fetchRows(Wave &wave, const Operand &operand, Type type, uint32_t *buffer) {
  return operand.isVector() ? wave.row(operand.index)
                            : splatRows(wave, operand, dwordsOf(type), buffer);
}

void copyRows(uint32_t *to, const uint32_t *from, unsigned dwords) {
  if (to != from)
    std::memcpy(to, from, dwords * kLanes * sizeof(uint32_t));
}

/// A packed operand that is a constant: f32 pairs see it in the low half only.
void checkPackedConstant(const Operand &operand, Type type) {
  if (type == Type::PkF32 && operand.kind == OperandKind::Constant && operand.constant != 0 &&
      (operand.modifiers & modifier::kOpSelHi) != 0)
    throw Fault{"a packed f32 instruction reads the high half of an inline constant, which the "
                "architecture does not define"};
}

/// A source with all its modifiers, as rows; `buffer` is used where it isn't a plain register.
const uint32_t *fetchSource(Wave &wave, const Instruction &inst, const LaneRow &kernel,
                            unsigned index, uint32_t *buffer) {
  const Operand &operand = inst.src[index];
  const Type type = kernel.src[index];
  const unsigned dwords = dwordsOf(type);
  const uint32_t *rows = fetchRows(wave, operand, type, buffer);
  if ((kernel.flags & kOwnOpSel) != 0)
    return rows;
  const Modifiers &m = inst.modifiers;
  if (m.encoding == Encoding::Dpp && index == 0) {
    dppRows(buffer, rows, dwords, m.dpp, wave.exec());
    rows = buffer;
  }
  if (m.encoding == Encoding::Sdwa && index < 2) {
    copyRows(buffer, rows, dwords);
    sdwaSource(buffer, m.sdwa.src[index], (operand.modifiers & modifier::kSext) != 0);
    rows = buffer;
  }
  const uint8_t modifiers = operand.modifiers;
  if (isPackedHalf(type)) {
    // Without modifiers the halves are in place: op_sel_hi is set by default.
    if (modifiers != modifier::kOpSelHi) {
      copyRows(buffer, rows, dwords);
      selectPackedHalves(buffer, type, modifiers);
      rows = buffer;
    }
    return rows;
  }
  if (type == Type::PkF32) {
    checkPackedConstant(operand, type);
    if (modifiers != modifier::kOpSelHi) {
      copyRows(buffer, rows, dwords);
      selectPackedFloats(buffer, modifiers);
      rows = buffer;
    }
    return rows;
  }
  if (isHalf(type) && (modifiers & modifier::kOpSel) != 0 && m.encoding != Encoding::Sdwa) {
    if (rows != buffer)
      copyRows(buffer, rows, dwords);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      buffer[lane] >>= 16;
    rows = buffer;
  }
  if ((modifiers & (modifier::kNeg | modifier::kAbs)) != 0) {
    if (!isFloat(type))
      throw Fault{"a float modifier on an integer operand"};
    if (rows != buffer)
      copyRows(buffer, rows, dwords);
    applyFloatModifiers(buffer, type, modifiers);
    rows = buffer;
  }
  return rows;
}

bool isSingle(Type type) { return type == Type::F32 || type == Type::PkF32; }

/// Rounding and denormals of MODE in the host's control register, for one instruction.
class FloatEnvironment {
public:
  FloatEnvironment(uint32_t mode, Type type) {
    const bool single = isSingle(type);
    const uint32_t round = single ? mode & 3U : mode >> 2 & 3U;
    const uint32_t denormals = single ? mode >> 4 & 3U : mode >> 6 & 3U;
    if (round == 0 && denormals == 3)
      return;
    if (round != 0 && isFloatHalf(type) && !laneTable().helpers.halfRounding)
      throw Fault{"half-precision rounding other than to nearest needs a host with F16C"};
    // AMD: nearest, +inf, -inf, zero. x86: nearest, -inf, +inf, zero.
    static const uint32_t rounding[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN,
                                        _MM_ROUND_TOWARD_ZERO};
    saved_ = _mm_getcsr();
    uint32_t csr = (saved_ & ~static_cast<uint32_t>(_MM_ROUND_MASK)) | rounding[round];
    constexpr uint32_t kDenormalsAreZero = 0x40;
    constexpr uint32_t kFlushToZero = 0x8000;
    if ((denormals & 1U) == 0)
      csr |= kDenormalsAreZero;
    if ((denormals & 2U) == 0)
      csr |= kFlushToZero;
    _mm_setcsr(csr);
    changed_ = true;
  }
  ~FloatEnvironment() {
    if (changed_)
      _mm_setcsr(saved_);
  }
  FloatEnvironment(const FloatEnvironment &) = delete;
  FloatEnvironment &operator=(const FloatEnvironment &) = delete;

private:
  uint32_t saved_ = 0;
  bool changed_ = false;
};

constexpr uint32_t kFloatMode = 0xff;        ///< MODE's rounding and denormals
constexpr uint32_t kDefaultFloatMode = 0xf0; ///< round to nearest, keep denormals
constexpr uint32_t kKeepHalfSources = 1U << 6;

template <bool plain>
[[gnu::always_inline]] inline void fillArguments(const Wave &wave, const Instruction &inst,
                                                 const LaneRow &kernel, LaneArguments &x) {
  x.exec = wave.exec();
  x.maskIn = 0;
  x.maskOut = 0;
  x.fault = nullptr;
  x.clamp = inst.modifiers.clamp;
  x.ieee = (wave.mode & (1U << 9)) != 0;
  x.ocp = wave.launch->ocpFloat8;
  x.fp16Overflow = (wave.mode & (1U << 23)) != 0;
  x.flushHalves = !plain && (wave.mode & kKeepHalfSources) == 0;
  x.bitOp3 = inst.modifiers.bitOp3;
  x.byteSelect = inst.modifiers.byteSelect;
  x.generation = static_cast<uint8_t>(wave.launch->generation);
  x.opSel = 0;
  x.opSelHi = 0;
  x.neg = 0;
  x.abs = 0;
  if (!plain && (kernel.flags & kOwnOpSel) != 0)
    for (unsigned i = 0; i < inst.srcCount; ++i) {
      const uint8_t bits = inst.src[i].modifiers;
      x.opSel |= static_cast<uint8_t>(((bits & modifier::kOpSel) != 0 ? 1U : 0U) << i);
      x.opSelHi |= static_cast<uint8_t>(((bits & modifier::kOpSelHi) != 0 ? 1U : 0U) << i);
      x.neg |= static_cast<uint8_t>(((bits & modifier::kNeg) != 0 ? 1U : 0U) << i);
      x.abs |= static_cast<uint8_t>(((bits & modifier::kAbs) != 0 ? 1U : 0U) << i);
    }
  if ((kernel.flags & kReadsVcc) != 0)
    x.maskIn = wave.vcc();
  if ((kernel.flags & kCarryIn) != 0)
    x.maskIn = readMask(wave, inst.src[kernel.srcCount]);
}

/// The lanes that an instruction writes: EXEC, without those that DPP turns off.
uint64_t writtenLanes(const Instruction &inst, uint64_t exec) {
  return inst.modifiers.encoding == Encoding::Dpp ? exec & dppWrittenLanes(inst.modifiers.dpp, exec)
                                                  : exec;
}

void writeMasks(Wave &wave, const Instruction &inst, const LaneRow &kernel, uint64_t lanes,
                uint64_t mask) {
  if ((kernel.flags & kCompare) != 0) {
    const uint64_t result = mask & lanes;
    writeMask(wave, inst.dst[0], result);
    if ((kernel.flags & kCompareExec) != 0)
      wave.setExec(result);
  } else if ((kernel.flags & kCarryOut) != 0) {
    // Lanes that don't execute give zero.
    writeMask(wave, inst.dst[1], mask & lanes);
  }
}

/// MODE.FP_DENORM: denormal sources of a format that is not to have any become zeros. The host's
/// control register does that in arithmetic of the format that it is set up for; what else there is
/// needs it here: halves, and kernels that hand their sources on.
void flushSources(const Wave &wave, const LaneRow &kernel, Type arithmetic, LaneArguments &x,
                  Rows *buffers) {
  if ((kernel.flags & kAsBits) != 0)
    return;
  for (unsigned i = 0; i < kernel.srcCount; ++i)
    if (isFlushed(kernel.src[i], wave.mode, false) &&
        (isFloatHalf(kernel.src[i]) || (kernel.flags & kHandsOn) != 0 ||
         isSingle(kernel.src[i]) != isSingle(arithmetic))) {
      copyRows(buffers[i], x.s[i], dwordsOf(kernel.src[i]));
      flushDenormals(buffers[i], kernel.src[i]);
      x.s[i] = buffers[i];
    }
}

void executeVectorAlu(Wave &wave, const Instruction &inst);

/// S_SET_GPR_IDX: vector registers count from M0[7:0], for the operands that M0[15:12] names.
void executeIndexed(Wave &wave, const Instruction &inst) {
  const auto &kernel = *static_cast<const LaneRow *>(inst.lanes);
  const uint32_t m0 = wave.scalar[scalar::kM0];
  if (inst.modifiers.encoding != Encoding::Plain || (kernel.flags & kReadsDst) != 0 ||
      inst.srcCount > kernel.srcCount)
    throw Fault{
        "only plain vector instructions are modelled with indexed registers (s_set_gpr_idx)"};
  Instruction moved = inst;
  const auto move = [&](Operand &operand) {
    const uint32_t index = operand.index + (m0 & 0xffU);
    const uint32_t end = operand.index < kFirstAccVgpr ? kFirstAccVgpr : kVectorRows;
    if (index + operand.dwords > end)
      throw Fault{"M0 leads an indexed vector register out of the register file"};
    operand.index = static_cast<uint16_t>(index);
  };
  for (unsigned i = 0; i < 3 && i < inst.srcCount; ++i)
    if ((m0 >> (12 + i) & 1U) != 0 && moved.src[i].isVector())
      move(moved.src[i]);
  if ((m0 >> 15 & 1U) != 0 && moved.dst[0].isVector())
    move(moved.dst[0]);
  wave.mode &= ~kIndexedRegisters;
  executeVectorAlu(wave, moved);
  wave.mode |= kIndexedRegisters;
}

/// An operation's result in rows of its own: nothing is written yet.
struct Evaluation {
  alignas(64) Rows result;
  uint64_t lanes;
  uint64_t mask;
};

[[noreturn, gnu::noinline]] void refuse(const char *fault) { throw Fault{fault}; }

// `plain`: known to be without modifiers (Instruction::simple) and in the default float mode, as
// nearly all are. Inlined where those run, since a call and a way through memory for each of them
// cost a tenth of their time.
template <bool plain>
[[gnu::always_inline]] inline void evaluateHere(Wave &wave, const Instruction &inst, Rows &result,
                                                uint64_t &lanes, uint64_t &mask) {
  const auto &kernel = *static_cast<const LaneRow *>(inst.lanes);
  alignas(64) Rows buffers[4];
  LaneArguments x;
  x.d = result;
  for (unsigned i = 0; i < kernel.srcCount; ++i)
    x.s[i] = plain || inst.simple ? fetchRows(wave, inst.src[i], kernel.src[i], buffers[i])
                                  : fetchSource(wave, inst, kernel, i, buffers[i]);
  fillArguments<plain>(wave, inst, kernel, x);
  lanes = plain ? x.exec : writtenLanes(inst, x.exec);
  if (plain || (wave.mode & kFloatMode) == kDefaultFloatMode) {
    kernel.function(x);
  } else {
    const Type type = kernel.dst == Type::Mask || !isFloat(kernel.dst) ? kernel.src[0] : kernel.dst;
    const bool floats = isFloat(type) || type == Type::PkF16 || type == Type::PkF32;
    flushSources(wave, kernel, type, x, buffers);
    {
      const FloatEnvironment environment(floats ? wave.mode : kDefaultFloatMode, type);
      kernel.function(x);
    }
    if ((isFloatHalf(kernel.dst) || (kernel.flags & kHandsOn) != 0) &&
        isFlushed(kernel.dst, wave.mode, true))
      flushDenormals(result, kernel.dst);
  }
  if (x.fault != nullptr) [[unlikely]]
    refuse(x.fault);
  mask = x.maskOut;
}

template <bool plain>
[[gnu::always_inline]] inline void writeBackHere(Wave &wave, const Instruction &inst, Rows &result,
                                                 uint64_t lanes, uint64_t mask) {
  const auto &kernel = *static_cast<const LaneRow *>(inst.lanes);
  if ((kernel.flags & (kCompare | kCarryOut)) != 0)
    writeMasks(wave, inst, kernel, lanes, mask);
  if (kernel.dst == Type::Mask)
    return;
  const Operand &dst = inst.dst[0];
  uint32_t *rows = wave.row(dst.index);
  if (!plain && !inst.simple) {
    const Modifiers &m = inst.modifiers;
    if (m.outputModifier != 0 || (m.clamp && (kernel.flags & kOwnClamp) == 0))
      finishFloat(result, kernel.dst, m, wave.mode);
    if (m.encoding == Encoding::Sdwa)
      sdwaResult(result, rows, m.sdwa);
    else if (inst.mergesHalf)
      mergeHalf(result, rows,
                (kernel.flags & kWritesHigh) != 0 ||
                    ((kernel.flags & kOwnOpSel) == 0 &&
                     (inst.src[0].modifiers & modifier::kOpSelHi) != 0));
  }
  wave.launch->helpers->blend(rows, result, lanes, dwordsOf(kernel.dst));
}

template <bool plain>
[[gnu::always_inline]] inline void executeHere(Wave &wave, const Instruction &inst) {
  // Apart, so that what no lane kernel has a pointer to stays in registers.
  alignas(64) Rows result;
  uint64_t lanes;
  uint64_t mask;
  evaluateHere<plain>(wave, inst, result, lanes, mask);
  writeBackHere<plain>(wave, inst, result, lanes, mask);
}

[[gnu::noinline]] void executeUnusual(Wave &wave, const Instruction &inst) {
  if ((wave.mode & kIndexedRegisters) != 0)
    executeIndexed(wave, inst);
  else
    executeHere<false>(wave, inst);
}

void executeVectorAlu(Wave &wave, const Instruction &inst) {
  if (inst.simple && (wave.mode & (kFloatMode | kIndexedRegisters)) == kDefaultFloatMode)
    executeHere<true>(wave, inst);
  else
    executeUnusual(wave, inst);
}

void evaluate(Wave &wave, const Instruction &inst, Evaluation &out) {
  evaluateHere<false>(wave, inst, out.result, out.lanes, out.mask);
}
void writeBack(Wave &wave, const Instruction &inst, Evaluation &value) {
  writeBackHere<false>(wave, inst, value.result, value.lanes, value.mask);
}

/// VOPD: both operations read their sources before either writes.
void executeDual(Wave &wave, const Instruction &inst) {
  Evaluation values[2];
  for (unsigned i = 0; i < 2; ++i)
    evaluate(wave, inst.parts[i], values[i]);
  for (unsigned i = 0; i < 2; ++i)
    writeBack(wave, inst.parts[i], values[i]);
}

/// What the first operation of a dual instruction can be.
constexpr const char *kDualOperations[] = {
    "fmac_f32", "fmaak_f32", "fmamk_f32", "mul_f32", "add_f32", "sub_f32", "subrev_f32",
    "mul_dx9_zero_f32", "mov_b32", "cndmask_b32", "max_f32", "min_f32", "max_num_f32",
    "min_num_f32", "dot2acc_f32_f16", "dot2acc_f32_bf16",
    // gfx1250's beside them.
    "fma_f32", "fma_f64", "add_f64", "mul_f64", "max_num_f64", "min_num_f64", "add_nc_u32",
    "sub_nc_u32", "lshlrev_b32", "lshrrev_b32", "ashrrev_i32"};

/// gfx12's v_s_exp_f32 and the like: the vector operation on a scalar register.
void executeScalarLane(Wave &wave, const Instruction &inst) {
  Evaluation value;
  evaluate(wave, inst, value);
  const auto &kernel = *static_cast<const LaneRow *>(inst.lanes);
  if (inst.modifiers.outputModifier != 0 || inst.modifiers.clamp)
    finishFloat(value.result, kernel.dst, inst.modifiers, wave.mode);
  writeScalar(wave, inst.dst[0], value.result[0]);
}

/// gfx12's s_cmp_lt_f32 and the like.
void executeScalarComparison(Wave &wave, const Instruction &inst) {
  Evaluation value;
  evaluate(wave, inst, value);
  wave.scc = (value.mask & 1U) != 0;
}

/// s_cvt_hi_f32_f16: of the upper half.
void executeScalarHigh(Wave &wave, const Instruction &inst) {
  Instruction moved = inst;
  moved.src[0].kind = OperandKind::Constant;
  moved.src[0].constant = readScalar(wave, inst.src[0]) >> 16;
  executeScalarLane(wave, moved);
}

} // namespace

unsigned dwordsOf(Type type) {
  switch (type) {
  case Type::B64:
  case Type::U64:
  case Type::I64:
  case Type::F64:
  case Type::PkB32:
  case Type::PkF32:
    return 2;
  case Type::B96:
    return 3;
  case Type::B128:
    return 4;
  default:
    return 1;
  }
}

namespace {

/// LLVM reads the inline constants of v_fma_mix as those of halves. Where op_sel_hi says that a
/// source is f32, so is the constant (assumed: AMD's documents do not say it of constants).
void widenMixedConstants(Instruction &inst) {
  constexpr uint32_t kLiteralSize = 12; // of the instruction with a literal
  if (inst.size == kLiteralSize)
    return;
  const bool brain = inst.opcode->name.find("bf16") != std::string::npos;
  constexpr struct {
    uint16_t half, brain;
    uint32_t single;
  } kConstants[] = {
      {0x3800, 0x3f00, 0x3f000000}, {0xb800, 0xbf00, 0xbf000000}, {0x3c00, 0x3f80, 0x3f800000},
      {0xbc00, 0xbf80, 0xbf800000}, {0x4000, 0x4000, 0x40000000}, {0xc000, 0xc000, 0xc0000000},
      {0x4400, 0x4080, 0x40800000}, {0xc400, 0xc080, 0xc0800000}, {0x3118, 0x3e22, 0x3e22f983}};
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    Operand &source = inst.src[i];
    if (source.kind != OperandKind::Constant || (source.modifiers & modifier::kOpSelHi) != 0)
      continue;
    for (const auto &constant : kConstants)
      if (source.constant == (brain ? constant.brain : constant.half)) {
        source.constant = constant.single;
        break;
      }
  }
}

} // namespace

void prepareVectorAlu(Instruction &inst, bool shortEncoding, uint32_t generation, uint32_t lanes) {
  const LaneRow &kernel = *inst.opcode->lanes;
  inst.lanes = &kernel;
  if (inst.opcode->name.rfind("v_fma_mix", 0) == 0)
    widenMixedConstants(inst);
  if (inst.modifiers.encoding == Encoding::Dpp)
    inst.modifiers.dpp.lanes = &dppLanes(inst.modifiers.dpp);
  Operand vcc;
  vcc.kind = OperandKind::Scalar;
  vcc.index = scalar::kVcc;
  vcc.dwords = lanes == 32 ? 1 : 2;
  const bool scalarResult = inst.opcode->cls == OpClass::ScalarAlu; // SCC
  if ((kernel.flags & kCompare) != 0 && inst.dstCount == 0 && !scalarResult) {
    inst.dst[inst.dstCount] = vcc;
    if ((kernel.flags & kCompareExec) != 0 && generation >= 10) // writes EXEC and nothing else
      inst.dst[inst.dstCount].index = scalar::kExec;
    ++inst.dstCount;
  }
  if ((kernel.flags & kCarryOut) != 0 && inst.dstCount == 1)
    inst.dst[inst.dstCount++] = vcc;
  if ((kernel.flags & kCarryIn) != 0 && inst.srcCount == kernel.srcCount)
    inst.src[inst.srcCount++] = vcc;
  if ((kernel.flags & kReadsDst) != 0 && inst.srcCount + 1 == kernel.srcCount)
    inst.src[inst.srcCount++] = inst.dst[0];
  // gfx9 clears the other half in most instructions, RDNA in none.
  inst.mergesHalf =
      (kernel.flags & kPreservesHigh) != 0 || (generation >= 10 && isHalf(kernel.dst));
  bool plain = inst.modifiers.encoding == Encoding::Plain && !inst.mergesHalf &&
               (kernel.flags & kOwnOpSel) == 0 && inst.modifiers.outputModifier == 0 &&
               (!inst.modifiers.clamp || (kernel.flags & kOwnClamp) != 0);
  for (unsigned i = 0; i < kernel.srcCount; ++i) {
    const uint8_t modifiers = inst.src[i].modifiers;
    const bool packed = isPackedHalf(kernel.src[i]) || kernel.src[i] == Type::PkF32;
    // VOP2 forms of packed instructions have no modifiers at all: their halves are in place.
    if (packed && shortEncoding)
      inst.src[i].modifiers = modifier::kOpSelHi;
    else if (modifiers != (packed ? modifier::kOpSelHi : 0))
      plain = false;
  }
  inst.simple = plain;
}

void addVectorAluOpcodes(OpcodeTable &table) {
  const LaneTable &lanes = laneTable();
  for (size_t g = 0; g < lanes.groupCount; ++g)
    for (size_t r = 0; r < lanes.groups[g].count; ++r) {
      const LaneRow &row = lanes.groups[g].rows[r];
      Opcode opcode;
      opcode.name = row.name;
      opcode.cls = row.fidelity == Fidelity::Bounded ? OpClass::Transcendental : OpClass::VectorAlu;
      opcode.handler = executeVectorAlu;
      opcode.lanes = &row;
      opcode.fidelity = row.fidelity;
      table.add(opcode);
    }
  for (const char *name : kDualOperations) {
    Opcode opcode;
    opcode.name = std::string("v_dual_") + name;
    opcode.cls = OpClass::VectorAlu;
    opcode.handler = executeDual;
    table.add(opcode);
  }
}

void addScalarFloatOpcodes(OpcodeTable &table) {
  const auto add = [&](const std::string &name, const std::string &vector, Handler handler) {
    Opcode opcode = *table.find(vector);
    opcode.name = name;
    if (opcode.cls == OpClass::VectorAlu)
      opcode.cls = OpClass::ScalarAlu;
    opcode.handler = handler;
    table.add(opcode);
  };
  for (const std::string type : {"_f32", "_f16"}) {
    for (const char *name : {"exp", "log", "rcp", "rsq", "sqrt"})
      add(std::string("v_s_") + name + type, std::string("v_") + name + type, executeScalarLane);
    for (const char *name : {"add", "sub", "mul", "min_num", "max_num", "minimum", "maximum",
                             "fmac", "ceil", "floor", "trunc", "rndne"})
      add(std::string("s_") + name + type, std::string("v_") + name + type, executeScalarLane);
    for (const char *name : {"min", "max"})
      add(std::string("s_") + name + type, std::string("v_") + name + "_num" + type,
          executeScalarLane);
    for (const char *name :
         {"lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt"})
      add(std::string("s_cmp_") + name + type, std::string("v_cmp_") + name + type,
          executeScalarComparison);
  }
  for (const char *name : {"fmaak_f32", "fmamk_f32", "cvt_f32_i32", "cvt_f32_u32", "cvt_i32_f32",
                           "cvt_u32_f32", "cvt_f16_f32", "cvt_f32_f16"})
    add(std::string("s_") + name, std::string("v_") + name, executeScalarLane);
  add("s_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32", executeScalarLane);
  add("s_cvt_hi_f32_f16", "v_cvt_f32_f16", executeScalarHigh);
}

} // namespace flyemu
