// SPDX-License-Identifier: Apache-2.0
#include "code_object/line_header.h"

#include <cstdint>
#include <vector>

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/DataExtractor.h"

namespace flyemu {
namespace {

using Cursor = llvm::DataExtractor::Cursor;

/// Skip one value of a form that DWARF 5 allows in a line table's header; false for another form.
bool skipForm(const llvm::DataExtractor &data, Cursor &at, uint64_t form) {
  constexpr uint64_t kWide = 16;
  switch (form) {
  case llvm::dwarf::DW_FORM_string:
    data.getCStrRef(at);
    return true;
  case llvm::dwarf::DW_FORM_line_strp:
  case llvm::dwarf::DW_FORM_strp:
  case llvm::dwarf::DW_FORM_data4:
    data.skip(at, 4);
    return true;
  case llvm::dwarf::DW_FORM_udata:
    data.getULEB128(at);
    return true;
  case llvm::dwarf::DW_FORM_data1:
    data.skip(at, 1);
    return true;
  case llvm::dwarf::DW_FORM_data2:
    data.skip(at, 2);
    return true;
  case llvm::dwarf::DW_FORM_data8:
    data.skip(at, 8);
    return true;
  case llvm::dwarf::DW_FORM_data16:
    data.skip(at, kWide);
    return true;
  case llvm::dwarf::DW_FORM_block:
    data.skip(at, data.getULEB128(at));
    return true;
  default:
    return false;
  }
}

/// Directories or files: the forms of an entry, and the entries.
bool skipEntries(const llvm::DataExtractor &data, Cursor &at) {
  std::vector<uint64_t> forms(data.getU8(at));
  for (uint64_t &form : forms) {
    data.getULEB128(at); // what it is
    form = data.getULEB128(at);
  }
  uint64_t count = data.getULEB128(at);
  // Entries without any form take no bytes: nothing would end the loop but the count.
  if (!at || (forms.empty() && count != 0))
    return false;
  for (; count != 0; --count)
    for (const uint64_t form : forms)
      if (!skipForm(data, at, form) || !at)
        return false;
  return true;
}

/// The header of one DWARF 5 unit, from its address size on.
bool headerIsKnown(const llvm::DataExtractor &data, Cursor &at) {
  // Sizes of addresses and selectors, header length; then what instructions look like.
  data.skip(at, 2 + 4 + 5);
  const uint8_t opcodeBase = data.getU8(at);
  data.skip(at, opcodeBase == 0 ? 0 : opcodeBase - 1U);
  return at && skipEntries(data, at) && skipEntries(data, at);
}

} // namespace

bool hasKnownLineForms(llvm::StringRef section) {
  const llvm::DataExtractor data(section, /*IsLittleEndian=*/true, /*AddressSize=*/8);
  for (uint64_t begin = 0; begin < section.size();) {
    Cursor at(begin);
    const uint32_t length = data.getU32(at);
    const uint16_t version = data.getU16(at);
    const bool known = at && length < section.size() - begin && version >= 2 && version <= 5 &&
                       (version < 5 || headerIsKnown(data, at));
    llvm::consumeError(at.takeError());
    if (!known)
      return false;
    begin += 4 + uint64_t{length};
  }
  return true;
}

} // namespace flyemu
