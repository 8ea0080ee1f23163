// SPDX-License-Identifier: Apache-2.0
#include "decode/modifier_text.h"

#include <cctype>
#include <cstdlib>
#include <vector>

namespace flyemu {
namespace {

/// Split at blanks that are not inside brackets; the first token is the mnemonic.
std::vector<std::string> tokens(const std::string &text) {
  std::vector<std::string> out;
  std::string current;
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '(')
      ++depth;
    else if (c == ']' || c == ')')
      --depth;
    if (depth == 0 && (c == ' ' || c == '\t')) {
      if (!current.empty())
        out.push_back(std::move(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!current.empty())
    out.push_back(std::move(current));
  return out;
}

/// "[1,0,1]" to a number with one bit (or `bits` bits) an element, the first lowest.
uint32_t bitList(const std::string &value, unsigned bits) {
  uint32_t out = 0;
  unsigned shift = 0;
  for (const char c : value)
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      out |= static_cast<uint32_t>(c - '0') << shift;
      shift += bits;
    }
  return out;
}

bool sdwaSelect(const std::string &value, SdwaSelect &out) {
  static const char *const names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                      "WORD_0", "WORD_1", "DWORD"};
  for (unsigned i = 0; i < 7; ++i)
    if (value == names[i]) {
      out = static_cast<SdwaSelect>(i);
      return true;
    }
  return false;
}

bool parseFlag(const std::string &name, Modifiers &m) {
  static const struct {
    const char *name;
    bool Modifiers::*field;
  } flags[] = {{"clamp", &Modifiers::clamp}, {"sc0", &Modifiers::sc0},
               {"sc1", &Modifiers::sc1},     {"nt", &Modifiers::nt},
               {"lds", &Modifiers::lds},     {"gds", &Modifiers::gds},
               {"slc", &Modifiers::nt},      {"offen", &Modifiers::offen},
               {"idxen", &Modifiers::idxen}, {"tfe", &Modifiers::tfe}};
  for (const auto &flag : flags)
    if (name == flag.name) {
      m.*(flag.field) = true;
      return true;
    }
  // gfx11: past the caches that waves of one compute unit share; which scope is meant, it doesn't
  // say. DLC is about the memory-side cache.
  if (name == "glc")
    m.sc0 = m.sc1 = true;
  if (name == "glc" || name == "dlc")
    return true;
  if (name == "scale_offset") {
    m.offsetScale = 1; // the decoder knows of how many bytes
    return true;
  }
  // gfx1250: registers of operands may be read once for two instructions, and what lies in caches
  // is about time, too.
  if (name == "matrix_a_reuse" || name == "matrix_b_reuse" || name == "nv")
    return true;
  if (name == "row_mirror" || name == "row_half_mirror") {
    m.dpp.control = name == "row_mirror" ? DppControl::RowMirror : DppControl::RowHalfMirror;
    return true;
  }
  // The last operand of a memory instruction without a scalar address.
  return name == "off";
}

bool parseDpp(const std::string &key, const std::string &value, Dpp &dpp) {
  static const struct {
    const char *name;
    DppControl control;
  } controls[] = {{"row_shl", DppControl::RowShl},   {"row_shr", DppControl::RowShr},
                  {"row_ror", DppControl::RowRor},   {"wave_shl", DppControl::WaveShl},
                  {"wave_rol", DppControl::WaveRol}, {"wave_shr", DppControl::WaveShr},
                  {"wave_ror", DppControl::WaveRor}, {"row_newbcast", DppControl::RowNewBcast}};
  const auto number = static_cast<uint8_t>(std::strtoul(value.c_str(), nullptr, 0));
  for (const auto &control : controls)
    if (key == control.name) {
      dpp.control = control.control;
      dpp.argument = number;
      return true;
    }
  if (key == "row_share" || key == "row_xmask") {
    dpp.control = key == "row_share" ? DppControl::RowNewBcast : DppControl::RowXmask;
    dpp.argument = number;
  } else if (key == "dpp8") {
    dpp.control = DppControl::Lanes8;
    dpp.argument = bitList(value, 3);
    dpp.boundCtrl = true; // every lane has a source
  } else if (key == "fi") {
    dpp.fetchInactive = number != 0;
  } else if (key == "quad_perm") {
    dpp.control = DppControl::QuadPerm;
    dpp.argument = static_cast<uint8_t>(bitList(value, 2));
  } else if (key == "row_bcast") {
    dpp.control = number == 15 ? DppControl::RowBcast15 : DppControl::RowBcast31;
  } else if (key == "row_mask") {
    dpp.rowMask = number;
  } else if (key == "bank_mask") {
    dpp.bankMask = number;
  } else if (key == "bound_ctrl") {
    dpp.boundCtrl = true; // printed only where lanes without a source read zero
  } else {
    return false;
  }
  return true;
}

/// "MATRIX_FMT_FP6" and the like, by number.
template <size_t n>
bool named(const std::string &value, const char *const (&names)[n], uint8_t &out) {
  for (size_t i = 0; i < n; ++i)
    if (value == names[i]) {
      out = static_cast<uint8_t>(i);
      return true;
    }
  return false;
}

/// Formats and scales of gfx1250's matrix instructions.
bool parseMatrix(const std::string &key, const std::string &value, Modifiers &m) {
  static const char *const formats[] = {"MATRIX_FMT_FP8", "MATRIX_FMT_BF8", "MATRIX_FMT_FP6",
                                        "MATRIX_FMT_BF6", "MATRIX_FMT_FP4"};
  static const char *const rows[] = {"MATRIX_SCALE_ROW0", "MATRIX_SCALE_ROW1"};
  static const char *const scales[] = {"MATRIX_SCALE_FMT_E8", "MATRIX_SCALE_FMT_E5M3",
                                       "MATRIX_SCALE_FMT_E4M3"};
  if (key == "matrix_a_fmt")
    return named(value, formats, m.cbsz);
  if (key == "matrix_b_fmt")
    return named(value, formats, m.blgp);
  if (key == "matrix_a_scale")
    return named(value, rows, m.scaleRowA);
  if (key == "matrix_b_scale")
    return named(value, rows, m.scaleRowB);
  if (key == "matrix_a_scale_fmt")
    return named(value, scales, m.scaleFormatA);
  if (key == "matrix_b_scale_fmt")
    return named(value, scales, m.scaleFormatB);
  return false;
}

bool parseKeyed(const std::string &key, const std::string &value, Modifiers &m) {
  const long number = std::strtol(value.c_str(), nullptr, 0);
  const auto byte = static_cast<uint8_t>(number);
  if (key == "offset")
    m.offset = static_cast<int32_t>(number); // ds_swizzle's textual patterns read as 0: see decoder
  else if (key == "offset0")
    m.offset0 = byte;
  else if (key == "offset1")
    m.offset1 = byte;
  else if (key == "mul")
    m.outputModifier = number == 2 ? 1 : 2;
  else if (key == "div")
    m.outputModifier = 3;
  else if (key == "cbsz")
    m.cbsz = byte;
  else if (key == "abid")
    m.abid = byte;
  else if (key == "blgp")
    m.blgp = byte;
  else if (key == "neg" || key == "neg_lo")
    m.negLo = static_cast<uint8_t>(bitList(value, 1));
  else if (key == "neg_hi")
    ; // carried by the sources' modifier operands
  else if (key == "op_sel")
    m.scaleSelect = static_cast<uint8_t>(bitList(value, 1));
  else if (key == "op_sel_hi")
    m.scaleSelectHi = static_cast<uint8_t>(bitList(value, 1));
  else if (key == "bitop3")
    m.bitOp3 = byte;
  else if (key == "dst_sel")
    return sdwaSelect(value, m.sdwa.dst);
  else if (key == "src0_sel")
    return sdwaSelect(value, m.sdwa.src[0]);
  else if (key == "src1_sel")
    return sdwaSelect(value, m.sdwa.src[1]);
  else if (key == "dst_unused")
    m.sdwa.unused = value == "UNUSED_PAD"    ? SdwaUnused::Pad
                    : value == "UNUSED_SEXT" ? SdwaUnused::Sext
                                             : SdwaUnused::Preserve;
  else if (key == "byte_sel" || key == "scale_sel")
    m.byteSelect = byte;
  else if (key.rfind("matrix_", 0) == 0)
    return parseMatrix(key, value, m);
  else if (key == "index_key")
    m.indexKey = byte;
  else if (key == "scope")
    m.sc0 = value != "SCOPE_CU", m.sc1 = value == "SCOPE_DEV" || value == "SCOPE_SYS";
  else if (key == "th")
    m.nt |= value.find("NT") != std::string::npos;
  else if (key == "wait_exp" || key == "wait_vdst" || key == "wait_va_vdst" ||
           key == "wait_vm_vsrc")
    ; // waits inside of an instruction: results are there at once
  else if (key == "format")
    ; // the operand list has the number
  else
    return parseDpp(key, value, m.dpp);
  return true;
}

bool isKey(const std::string &token, size_t colon) {
  if (colon == std::string::npos || colon == 0)
    return false;
  for (size_t i = 0; i < colon; ++i)
    if (std::islower(static_cast<unsigned char>(token[i])) == 0 && token[i] != '_' &&
        std::isdigit(static_cast<unsigned char>(token[i])) == 0)
      return false;
  return true;
}

} // namespace

std::string parseModifiers(const std::string &text, Modifiers &out) {
  const std::vector<std::string> parts = tokens(text);
  // Operands end with a comma, the last excepted; modifiers follow without one.
  size_t first = 1;
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].back() == ',')
      first = i + 1;
  for (size_t i = first; i < parts.size(); ++i) {
    const std::string &token = parts[i];
    const size_t colon = token.find(':');
    if (isKey(token, colon)) {
      if (!parseKeyed(token.substr(0, colon), token.substr(colon + 1), out))
        return token;
    } else if (!parseFlag(token, out) && i != first) {
      return token; // parts[first] is the last operand
    }
  }
  return {};
}

} // namespace flyemu
