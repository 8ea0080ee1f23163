// SPDX-License-Identifier: Apache-2.0
#include "execute/matrix_shape.h"

#include <cstdlib>
#include <vector>

namespace flyemu {
namespace {

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

bool element(const std::string &name, MatrixElement &out) {
  static const struct {
    const char *name;
    MatrixElement element;
  } names[] = {
      {"fp8", MatrixElement::Fp8},   {"bf8", MatrixElement::Bf8},   {"i8", MatrixElement::I8},
      {"f16", MatrixElement::F16},   {"bf16", MatrixElement::Bf16}, {"f32", MatrixElement::F32},
      {"xf32", MatrixElement::Xf32}, {"f64", MatrixElement::F64},   {"i32", MatrixElement::I32}};
  for (const auto &entry : names)
    if (name == entry.name) {
      out = entry.element;
      return true;
    }
  return false;
}

} // namespace

unsigned bitsOf(MatrixElement element) {
  switch (element) {
  case MatrixElement::Fp4:
    return 4;
  case MatrixElement::Fp6:
  case MatrixElement::Bf6:
    return 6;
  case MatrixElement::Fp8:
  case MatrixElement::Bf8:
  case MatrixElement::I8:
    return 8;
  case MatrixElement::F16:
  case MatrixElement::Bf16:
    return 16;
  case MatrixElement::F64:
    return 64;
  default:
    return 32;
  }
}

bool MatrixShape::parse(const std::string &mnemonic, MatrixShape &out) {
  std::vector<std::string> parts = split(mnemonic, '_');
  if (parts.size() < 5 || parts[0] != "v" || (parts[1] != "mfma" && parts[1] != "smfmac"))
    return false;
  out = MatrixShape();
  out.sparse = parts[1] == "smfmac";
  size_t next = 2;
  if (parts[next] == "scale") {
    out.scaled = true;
    ++next;
  }
  if (!element(parts[next++], out.out))
    return false;
  const std::vector<std::string> sizes = split(parts[next++], 'x');
  if (sizes.size() != 3 || next >= parts.size())
    return false;
  out.m = static_cast<unsigned>(std::strtoul(sizes[0].c_str(), nullptr, 10));
  out.n = static_cast<unsigned>(std::strtoul(sizes[1].c_str(), nullptr, 10));
  out.k = static_cast<unsigned>(std::strtoul(sizes[2].c_str(), nullptr, 10));
  if (parts[next].size() > 1 && parts[next].back() == 'b' && next + 1 < parts.size()) {
    out.blocks = static_cast<unsigned>(std::strtoul(parts[next].c_str(), nullptr, 10));
    ++next;
  }
  if (parts[next] == "f8f6f4") {
    out.anyFormat = true;
    out.a = out.b = MatrixElement::Fp8;
  } else if (!element(parts[next], out.a)) {
    return false;
  } else if (next + 1 == parts.size()) {
    out.b = out.a;
  } else if (!element(parts[next + 1], out.b)) {
    return false;
  }
  return out.m == out.n && (out.m == 4 || out.m == 16 || out.m == 32) && out.k != 0 &&
         out.blocks != 0;
}

} // namespace flyemu
