// SPDX-License-Identifier: Apache-2.0
#include "code_object/line_table.h"

#include <mutex>

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"

#include "code_object/line_header.h"

namespace flyemu {

struct LineTable::Contents {
  std::mutex mutex;
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> dwarf;
  uint64_t textSection = llvm::object::SectionedAddress::UndefSection;
};

LineTable::LineTable(const std::string &elf) : contents_(std::make_unique<Contents>()) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(elf), "code object"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return;
  }
  contents_->object = std::move(*object);
  for (const auto &section : contents_->object->sections()) {
    auto name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (*name != ".debug_line")
      continue;
    auto bytes = section.getContents();
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      return;
    }
    if (!hasKnownLineForms(*bytes))
      return;
  }
  // Broken debug information must not stop a kernel: reports then have no line.
  auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  contents_->dwarf = llvm::DWARFContext::create(
      *contents_->object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", ignore,
      ignore);
}

LineTable::~LineTable() = default;

std::string LineTable::sourceLine(uint64_t address) {
  const std::lock_guard<std::mutex> lock(contents_->mutex);
  if (contents_->dwarf == nullptr)
    return {};
  llvm::DILineInfoSpecifier specifier(llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                                      llvm::DILineInfoSpecifier::FunctionNameKind::None);
  for (const auto &section : contents_->object->sections()) {
    if (!section.isText() || address < section.getAddress() ||
        address >= section.getAddress() + section.getSize())
      continue;
    const auto info =
        contents_->dwarf->getLineInfoForAddress({address, section.getIndex()}, specifier);
    if (info && info->Line != 0 && info->FileName != llvm::DILineInfo::BadString)
      return info->FileName + ":" + std::to_string(info->Line);
  }
  return {};
}

} // namespace flyemu
