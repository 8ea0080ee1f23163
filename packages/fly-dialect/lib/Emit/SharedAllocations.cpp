// SPDX-License-Identifier: Apache-2.0
//
// Where libLLVM.so and libMLIR.so are libraries of their own, no option of our link reaches their
// calls of malloc. The loader has written the addresses of the functions that they import into
// tables; the entries of malloc and its like get those of our functions instead. A release has
// LLVM and MLIR inside of it, and not this file.

#include "fly/Emit/MemoryReserve.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <iterator>

using namespace llvm;

extern "C" {
void *__wrap_malloc(std::size_t size);
void *__wrap_calloc(std::size_t count, std::size_t size);
void *__wrap_realloc(void *old, std::size_t size);
char *__wrap_strdup(const char *text);
}

namespace {

#if defined(__x86_64__)
constexpr unsigned jumpSlot = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
constexpr unsigned jumpSlot = R_AARCH64_JUMP_SLOT;
#else
#error "the relocation of an imported function on this processor"
#endif

struct Replacement {
  StringLiteral name;
  void *function;
};

const Replacement replacements[] = {
    {"malloc", reinterpret_cast<void *>(__wrap_malloc)},
    {"calloc", reinterpret_cast<void *>(__wrap_calloc)},
    {"realloc", reinterpret_cast<void *>(__wrap_realloc)},
    {"strdup", reinterpret_cast<void *>(__wrap_strdup)},
};

bool isReserved(StringRef path) {
  StringRef name = path.rsplit('/').second;
  return name.starts_with("libLLVM") || name.starts_with("libMLIR") ||
         name.starts_with("libnanobind-flydsl");
}

/// Writes to an entry, which may stand in what the loader has made read-only.
void replace(void **entry, void *function, bool isReadOnly) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  void *start = reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(entry) & ~(page - 1));
  if (isReadOnly && ::mprotect(start, page, PROT_READ | PROT_WRITE))
    return; // No memory for it: the library's allocations are what they were.
  __atomic_store_n(entry, function, __ATOMIC_RELEASE);
  if (isReadOnly)
    ::mprotect(start, page, PROT_READ);
}

/// Of a loaded library: looks through the table of its imported functions.
int replaceImports(dl_phdr_info *info, std::size_t, void *) {
  if (!isReserved(info->dlpi_name))
    return 0;
  const ElfW(Dyn) *dynamic = nullptr;
  std::uintptr_t readOnly = 0, readOnlyEnd = 0;
  for (const ElfW(Phdr) &header : ArrayRef(info->dlpi_phdr, info->dlpi_phnum)) {
    if (header.p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn) *>(info->dlpi_addr + header.p_vaddr);
    if (header.p_type == PT_GNU_RELRO) {
      readOnly = info->dlpi_addr + header.p_vaddr;
      readOnlyEnd = readOnly + header.p_memsz;
    }
  }
  const ElfW(Rela) *imports = nullptr;
  const ElfW(Sym) *symbols = nullptr;
  const ElfW(Word) *hashes = nullptr;
  const char *names = nullptr;
  std::size_t bytes = 0;
  for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic)
    switch (dynamic->d_tag) {
    case DT_JMPREL:
      imports = reinterpret_cast<const ElfW(Rela) *>(dynamic->d_un.d_ptr);
      break;
    case DT_PLTRELSZ:
      bytes = dynamic->d_un.d_val;
      break;
    case DT_SYMTAB:
      symbols = reinterpret_cast<const ElfW(Sym) *>(dynamic->d_un.d_ptr);
      break;
    case DT_GNU_HASH:
      hashes = reinterpret_cast<const ElfW(Word) *>(dynamic->d_un.d_ptr);
      break;
    case DT_STRTAB:
      names = reinterpret_cast<const char *>(dynamic->d_un.d_ptr);
      break;
    default:
      break;
    }
  if (!imports || !symbols || !names || !hashes)
    return 0;
  // Symbols that a library does not define stand before those that its table of hashes has.
  const std::size_t undefined = hashes[1];
  std::array<std::size_t, std::size(replacements)> numbers{};
  for (std::size_t number = 1; number < undefined; ++number)
    for (std::size_t index = 0; index < numbers.size(); ++index)
      if (replacements[index].name == names + symbols[number].st_name)
        numbers[index] = number;
  for (const ElfW(Rela) &import : ArrayRef(imports, bytes / sizeof(*imports))) {
    if (ELF64_R_TYPE(import.r_info) != jumpSlot || ELF64_R_SYM(import.r_info) >= undefined)
      continue;
    const auto *found = llvm::find(numbers, ELF64_R_SYM(import.r_info));
    if (found == numbers.end())
      continue;
    const std::uintptr_t at = info->dlpi_addr + import.r_offset;
    replace(reinterpret_cast<void **>(at), replacements[found - numbers.begin()].function,
            at >= readOnly && at < readOnlyEnd);
  }
  return 0;
}

} // namespace

void fly::reserveForSharedLibraries() {
  static const bool done = (dl_iterate_phdr(replaceImports, nullptr), true);
  (void)done;
}
