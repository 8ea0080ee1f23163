// SPDX-License-Identifier: Apache-2.0
#include "decode/register_names.h"

#include <cstdlib>

namespace flyemu {
namespace {

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// "VGPR2_VGPR3_VGPR4": the number after the prefix, and how many registers there are.
bool numbered(const std::string &name, const char *prefix, uint16_t base, OperandKind kind,
              Operand &out) {
  if (!startsWith(name, prefix))
    return false;
  const std::string rest = name.substr(std::char_traits<char>::length(prefix));
  if (rest.empty() || rest[0] < '0' || rest[0] > '9')
    return false;
  out.kind = kind;
  out.index = static_cast<uint16_t>(base + std::strtoul(rest.c_str(), nullptr, 10));
  // Once for each register: "TTMP4_gfx9plus_TTMP5_gfx9plus".
  out.dwords = 0;
  for (size_t at = name.find(prefix); at != std::string::npos; at = name.find(prefix, at + 1))
    ++out.dwords;
  return true;
}

} // namespace

Operand parseRegister(const std::string &fullName) {
  Operand out;
  std::string name = fullName;
  bool high = false;
  bool low = false;
  for (const char *half : {"_LO16", "_HI16"})
    if (const size_t at = name.find(half); at != std::string::npos) {
      high = half[1] == 'H';
      low = !high;
      name.erase(at, 5);
    }
  if (startsWith(name, "SGPR_NULL")) {
    out.kind = OperandKind::Scalar;
    out.index = scalar::kNull;
    out.dwords = startsWith(name, "SGPR_NULL64") ? 2 : 1;
    return out;
  }
  out.modifiers = high ? modifier::kHigh : 0;
  out.halves = high ? 2 : low ? 1 : 3;
  if (numbered(name, "VGPR", 0, OperandKind::Vector, out) ||
      numbered(name, "AGPR", kFirstAccVgpr, OperandKind::Vector, out) ||
      numbered(name, "SGPR", 0, OperandKind::Scalar, out) ||
      numbered(name, "TTMP", scalar::kTtmp, OperandKind::Scalar, out))
    return out;
  static const struct {
    const char *name;
    uint16_t index;
    uint8_t dwords;
  } scalars[] = {{"VCC", scalar::kVcc, 2},
                 {"VCC_LO", scalar::kVcc, 1},
                 {"VCC_HI", scalar::kVcc + 1, 1},
                 {"EXEC", scalar::kExec, 2},
                 {"EXEC_LO", scalar::kExec, 1},
                 {"EXEC_HI", scalar::kExec + 1, 1},
                 {"M0", scalar::kM0, 1},
                 {"FLAT_SCR", scalar::kFlatScratch, 2},
                 {"FLAT_SCR_LO", scalar::kFlatScratch, 1},
                 {"FLAT_SCR_HI", scalar::kFlatScratch + 1, 1},
                 {"XNACK_MASK", scalar::kXnackMask, 2},
                 {"XNACK_MASK_LO", scalar::kXnackMask, 1},
                 {"XNACK_MASK_HI", scalar::kXnackMask + 1, 1}};
  // Names may carry the generation that they belong to: "TTMP4_vi", "M0_gfxpre11".
  for (const auto &entry : scalars)
    if (name == entry.name || startsWith(name, (std::string(entry.name) + "_gfx").c_str()) ||
        name == std::string(entry.name) + "_vi") {
      out.kind = OperandKind::Scalar;
      out.index = entry.index;
      out.dwords = entry.dwords;
      return out;
    }
  static const struct {
    const char *prefix;
    SpecialSource source;
  } specials[] = {{"SRC_SHARED_BASE", SpecialSource::SharedBase},
                  {"SRC_SHARED_LIMIT", SpecialSource::SharedLimit},
                  {"SRC_PRIVATE_BASE", SpecialSource::PrivateBase},
                  {"SRC_PRIVATE_LIMIT", SpecialSource::PrivateLimit},
                  {"SRC_POPS_EXITING_WAVE_ID", SpecialSource::PopsExitingWaveId},
                  {"SRC_VCCZ", SpecialSource::Vccz},
                  {"SRC_EXECZ", SpecialSource::Execz},
                  {"SRC_SCC", SpecialSource::Scc},
                  {"LDS_DIRECT", SpecialSource::LdsDirect},
                  {"SRC_FLAT_SCRATCH_BASE_HI", SpecialSource::FlatScratchBaseHigh},
                  {"SRC_FLAT_SCRATCH_BASE", SpecialSource::FlatScratchBase}};
  for (const auto &entry : specials)
    if (startsWith(name, entry.prefix)) {
      out.kind = OperandKind::Special;
      out.index = static_cast<uint16_t>(entry.source);
      out.dwords = 1;
      return out;
    }
  return out;
}

} // namespace flyemu
