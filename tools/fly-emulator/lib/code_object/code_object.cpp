// SPDX-License-Identifier: Apache-2.0
#include "code_object/code_object.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"

#include "device/architecture.h"
#include "support/error.h"
#include "support/format.h"

namespace flyemu {
namespace {

using llvm::object::ELF64LEObjectFile;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxImage = uint64_t{1} << 31;

[[noreturn]] void invalid(const std::string &what) {
  throw EmulatorError(hipErrorInvalidImage, "code object: " + what);
}

template <typename T> T unwrap(llvm::Expected<T> value, const char *what) {
  if (!value)
    invalid(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

} // namespace

void CodeObject::Aligned::operator()(uint8_t *memory) const { std::free(memory); }

CodeObject::CodeObject(const void *image, size_t size, const std::string &arch)
    : file_(static_cast<const char *>(image), size) {
  namespace ELF = llvm::ELF;
  if (size < sizeof(ELF::Elf64_Ehdr) || std::memcmp(image, ELF::ElfMagic, 4) != 0)
    invalid("not an ELF file");
  ELF::Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (header.e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 || header.e_machine != ELF::EM_AMDGPU)
    invalid("an ELF file, but not for AMDGPU");
  if (header.e_type != ELF::ET_DYN)
    invalid("a relocatable object, not a linked code object; link it with ld.lld -shared");
  if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
    invalid("its OS ABI is not amdhsa");
  switch (header.e_ident[ELF::EI_ABIVERSION]) {
  case ELF::ELFABIVERSION_AMDGPU_HSA_V4:
    abiVersion_ = 4;
    break;
  case ELF::ELFABIVERSION_AMDGPU_HSA_V5:
    abiVersion_ = 5;
    break;
  case ELF::ELFABIVERSION_AMDGPU_HSA_V6:
    abiVersion_ = 6;
    break;
  default:
    invalid("code object version with ABI version " +
            std::to_string(header.e_ident[ELF::EI_ABIVERSION]) + " (4, 5 and 6 are read)");
  }
  loadSegments(reinterpret_cast<const uint8_t *>(image), size);
  readSections();
  if (arch.empty())
    return;
  if (!runsCodeFor(arch, arch_))
    throw EmulatorError(
        hipErrorNoBinaryForGpu,
        "this code object is for " + arch_ +
            (findArchitecture(arch_) == nullptr
                 ? ", which is not emulated (" + architectureNames() + " are)"
                 : ", and the device is " + arch + ": set FLYDSL_GPU_ARCH=" + arch_) +
            ", or compile for " + arch);
  arch_ = arch; // of a generic target: what it runs on
}

void CodeObject::loadSegments(const uint8_t *file, size_t size) {
  namespace ELF = llvm::ELF;
  ELF::Elf64_Ehdr header;
  std::memcpy(&header, file, sizeof header);
  const uint64_t tableEnd = header.e_phoff + uint64_t{header.e_phnum} * sizeof(ELF::Elf64_Phdr);
  if (header.e_phentsize != sizeof(ELF::Elf64_Phdr) || header.e_phoff > size || tableEnd > size)
    invalid("its program headers lie outside the file");
  std::vector<ELF::Elf64_Phdr> segments(header.e_phnum);
  if (!segments.empty())
    std::memcpy(segments.data(), file + header.e_phoff, segments.size() * sizeof(ELF::Elf64_Phdr));
  for (const auto &segment : segments) {
    if (segment.p_type != ELF::PT_LOAD)
      continue;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset ||
        segment.p_filesz > segment.p_memsz || segment.p_memsz > kMaxImage ||
        segment.p_vaddr > kMaxImage)
      invalid("a segment lies outside the file, or is larger than 2 GiB");
    if ((segment.p_flags & ELF::PF_W) != 0 && segment.p_memsz != 0)
      writable_.emplace_back(segment.p_vaddr, segment.p_vaddr + segment.p_memsz);
    memorySize_ = std::max(memorySize_, segment.p_vaddr + segment.p_memsz);
  }
  if (memorySize_ == 0)
    invalid("it has no segments to load");
  memorySize_ = (memorySize_ + kPage - 1) / kPage * kPage;
  memory_.reset(static_cast<uint8_t *>(std::aligned_alloc(kPage, memorySize_)));
  if (memory_ == nullptr)
    throw EmulatorError(hipErrorOutOfMemory, "code object: no memory for its segments");
  std::memset(memory_.get(), 0, memorySize_);
  for (const auto &segment : segments)
    if (segment.p_type == ELF::PT_LOAD)
      std::memcpy(memory_.get() + segment.p_vaddr, file + segment.p_offset, segment.p_filesz);
}

void CodeObject::readSections() {
  namespace ELF = llvm::ELF;
  const auto object = unwrap(
      ELF64LEObjectFile::create(llvm::MemoryBufferRef(llvm::StringRef(file_), "code object")),
      "not a valid ELF file");
  arch_ = object.tryGetCPUName().value_or("").str();
  if (arch_.empty())
    invalid("its header names no AMDGPU architecture");

  const auto &elf = object.getELFFile();
  for (const auto &section : unwrap(elf.sections(), "sections")) {
    const bool executable = (section.sh_flags & ELF::SHF_EXECINSTR) != 0;
    if (executable && section.sh_type == ELF::SHT_PROGBITS) {
      if (section.sh_addr > memorySize_ || section.sh_size > memorySize_ - section.sh_addr)
        invalid("its text lies outside its segments");
      textBegin_ =
          textEnd_ == 0 ? section.sh_addr : std::min<uint64_t>(textBegin_, section.sh_addr);
      textEnd_ = std::max<uint64_t>(textEnd_, section.sh_addr + section.sh_size);
    }
    if (section.sh_type != ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : elf.notes(section, error)) {
      if (note.getName() == "AMDGPU" && note.getType() == ELF::NT_AMDGPU_METADATA)
        kernels_ = parseKernelMetadata(
            note.getDescAsStringRef(std::max<size_t>(section.sh_addralign, 4)).str());
    }
    if (error)
      invalid("notes: " + llvm::toString(std::move(error)));
  }
  for (const bool dynamic : {false, true}) {
    const auto range = dynamic ? object.getDynamicSymbolIterators() : object.symbols();
    for (const auto &entry : range) {
      const llvm::object::ELFSymbolRef symbol(entry);
      const std::string name = unwrap(symbol.getName(), "symbol name").str();
      const uint64_t address = unwrap(symbol.getAddress(), "symbol address");
      if (name.empty() || address >= memorySize_)
        continue;
      const uint64_t size = std::min<uint64_t>(symbol.getSize(), memorySize_ - address);
      const bool function = symbol.getELFType() == ELF::STT_FUNC;
      if (symbol.getELFType() != ELF::STT_FUNC && symbol.getELFType() != ELF::STT_OBJECT &&
          symbol.getELFType() != ELF::STT_NOTYPE)
        continue;
      symbols_[name] = {address, size, function};
      if (function && size != 0)
        functions_[address] = {address + size, name};
    }
  }
  applyRelocations();
  for (const KernelMetadata &kernel : kernels_) {
    const Symbol *symbol = findSymbol(kernel.symbol);
    if (symbol == nullptr || symbol->address + sizeof(KernelDescriptor) > memorySize_)
      invalid("the kernel descriptor " + kernel.symbol + " is missing");
    const uint64_t address = entry(kernel);
    if (address < textBegin_ || address >= textEnd_ || address % 4 != 0)
      invalid("the entry point of " + kernel.name + " lies outside the text");
  }
}

void CodeObject::applyRelocations() {
  namespace ELF = llvm::ELF;
  const auto object = unwrap(
      ELF64LEObjectFile::create(llvm::MemoryBufferRef(llvm::StringRef(file_), "code object")),
      "not a valid ELF file");
  const auto &elf = object.getELFFile();
  const auto base = reinterpret_cast<uint64_t>(memory_.get());
  for (const auto &section : unwrap(elf.sections(), "sections")) {
    if (section.sh_type != ELF::SHT_RELA || (section.sh_flags & ELF::SHF_ALLOC) == 0)
      continue;
    const auto *symbolTable = unwrap(elf.getSection(section.sh_link), "relocation symbols");
    const auto symbols = unwrap(elf.symbols(symbolTable), "relocation symbols");
    const auto names = symbolTable->sh_type == ELF::SHT_DYNSYM
                           ? unwrap(elf.getStringTableForSymtab(*symbolTable), "symbol names")
                           : llvm::StringRef();
    for (const auto &relocation : unwrap(elf.relas(section), "relocations")) {
      const uint64_t offset = relocation.r_offset;
      const uint32_t type = relocation.getType(false);
      const uint32_t index = relocation.getSymbol(false);
      if (offset > memorySize_ - 8)
        invalid("a relocation lies outside its segments");
      uint64_t value = base + relocation.r_addend;
      if (type != ELF::R_AMDGPU_RELATIVE64) {
        if (index >= symbols.size())
          invalid("a relocation names no symbol");
        const auto &symbol = symbols[index];
        if (symbol.st_shndx == ELF::SHN_UNDEF)
          invalid("undefined symbol " + unwrap(symbol.getName(names), "symbol name").str());
        value += symbol.st_value;
      }
      const uint64_t place = base + offset;
      switch (type) {
      case ELF::R_AMDGPU_NONE:
        break;
      case ELF::R_AMDGPU_RELATIVE64:
      case ELF::R_AMDGPU_ABS64:
        std::memcpy(memory_.get() + offset, &value, 8);
        break;
      case ELF::R_AMDGPU_REL64:
        value -= place;
        std::memcpy(memory_.get() + offset, &value, 8);
        break;
      case ELF::R_AMDGPU_ABS32_LO:
      case ELF::R_AMDGPU_ABS32: {
        const auto low = static_cast<uint32_t>(value);
        std::memcpy(memory_.get() + offset, &low, 4);
        break;
      }
      case ELF::R_AMDGPU_ABS32_HI: {
        const auto high = static_cast<uint32_t>(value >> 32);
        std::memcpy(memory_.get() + offset, &high, 4);
        break;
      }
      case ELF::R_AMDGPU_REL32:
      case ELF::R_AMDGPU_REL32_LO: {
        const auto low = static_cast<uint32_t>(value - place);
        std::memcpy(memory_.get() + offset, &low, 4);
        break;
      }
      default:
        invalid("relocation type " + std::to_string(type));
      }
    }
  }
}

const KernelMetadata *CodeObject::findKernel(const std::string &name) const {
  for (const KernelMetadata &kernel : kernels_)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

const Symbol *CodeObject::findSymbol(const std::string &name) const {
  const auto it = symbols_.find(name);
  return it == symbols_.end() ? nullptr : &it->second;
}

KernelDescriptor CodeObject::descriptor(const KernelMetadata &kernel) const {
  KernelDescriptor descriptor;
  std::memcpy(&descriptor, memory_.get() + findSymbol(kernel.symbol)->address, sizeof descriptor);
  return descriptor;
}

uint64_t CodeObject::entry(const KernelMetadata &kernel) const {
  return findSymbol(kernel.symbol)->address + static_cast<uint64_t>(descriptor(kernel).entryOffset);
}

FunctionAt CodeObject::functionAt(uint64_t address) const {
  auto it = functions_.upper_bound(address);
  if (it != functions_.begin()) {
    --it;
    if (address < it->second.first)
      return {it->second.second, it->first, std::min(it->second.first, textEnd_)};
  }
  return {".text", textBegin_, textEnd_};
}

uint32_t CodeObject::lanesAt(uint64_t address) const {
  bool narrow = false;
  bool wide = false;
  const FunctionAt function = functionAt(address);
  for (const KernelMetadata &kernel : kernels_) {
    const KernelDescriptor found = descriptor(kernel);
    const uint64_t begin = entry(kernel);
    if (begin == address ||
        (function.begin <= begin && begin < function.end && function.name != ".text"))
      return found.lanes();
    (found.wave32() ? narrow : wide) = true;
  }
  if (narrow && wide)
    throw EmulatorError(hipErrorNotSupported,
                        "code object: " + function.name +
                            " is no kernel, and kernels of 32 and of 64 lanes could call it; "
                            "compile them into one code object for each wave size");
  return narrow ? 32 : 64;
}

uint64_t CodeObject::nextFunction(uint64_t address) const {
  const auto it = functions_.upper_bound(address);
  return it == functions_.end() ? textEnd_ : it->first;
}

std::string CodeObject::sourceLine(uint64_t address) const {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (lines_ == nullptr)
    lines_ = std::make_unique<LineTable>(file_);
  return lines_->sourceLine(address);
}

} // namespace flyemu
