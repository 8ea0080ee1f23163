// SPDX-License-Identifier: Apache-2.0
#include "hip/offload_bundle.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Error.h"

#include "device/architecture.h"
#include "support/error.h"

namespace flyemu {
namespace {

constexpr char kBundleMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr char kCompressedMagic[] = "CCOB";
constexpr uint32_t kFatBinaryMagic = 0x48495046; // "HIPF"
constexpr uint64_t kUnknown = uint64_t{1} << 40;

[[noreturn]] void invalid(const char *what) {
  throw EmulatorError(hipErrorInvalidImage, std::string("module image: ") + what);
}

template <typename T> T read(const uint8_t *bytes, uint64_t offset, uint64_t size) {
  if (offset > size || sizeof(T) > size - offset)
    invalid("it ends in the middle of a header");
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

/// Where an ELF file ends: the last of its section headers, sections and segments.
uint64_t elfSize(const uint8_t *bytes) {
  namespace ELF = llvm::ELF;
  ELF::Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 || header.e_machine != ELF::EM_AMDGPU)
    invalid("an ELF file, but not for AMDGPU");
  uint64_t end = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  end = std::max(end, header.e_phoff + uint64_t{header.e_phnum} * header.e_phentsize);
  constexpr uint64_t kLargest = uint64_t{1} << 32;
  if (end > kLargest)
    invalid("its ELF header names offsets beyond 4 GiB");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ELF::Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == ELF::PT_LOAD && segment.p_filesz < kLargest &&
        segment.p_offset < kLargest)
      end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

/// The target of an entry; empty for the host's.
std::string targetOf(const std::string &id) {
  // "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+"
  const size_t at = id.rfind("gfx");
  if (at == std::string::npos || id.compare(0, 4, "host") == 0)
    return "";
  return id.substr(at, id.find(':', at) - at);
}

ImageView fromBundle(const uint8_t *bytes, uint64_t size, const std::string &arch) {
  uint64_t offset = sizeof kBundleMagic - 1;
  const auto count = read<uint64_t>(bytes, offset, size);
  std::optional<ImageView> generic; // for the architecture's family, if nothing is for itself
  offset += 8;
  if (count > 4096)
    invalid("an offload bundle with more than 4096 entries");
  std::string present;
  for (uint64_t i = 0; i < count; ++i) {
    const auto begin = read<uint64_t>(bytes, offset, size);
    const auto length = read<uint64_t>(bytes, offset + 8, size);
    const auto idLength = read<uint64_t>(bytes, offset + 16, size);
    offset += 24;
    if (idLength > 4096 || offset > size || idLength > size - offset)
      invalid("an offload bundle whose entry name is out of bounds");
    const std::string id(reinterpret_cast<const char *>(bytes + offset), idLength);
    offset += idLength;
    const std::string target = targetOf(id);
    if (runsCodeFor(arch, target)) {
      if (begin > size || length > size - begin)
        invalid("an offload bundle whose entry is out of bounds");
      const ImageView view(bytes + begin, static_cast<size_t>(length));
      if (target == arch)
        return view;
      generic = view;
    }
    present += (present.empty() ? "" : ", ") + id;
  }
  if (generic)
    return *generic;
  throw EmulatorError(hipErrorNoBinaryForGpu, "the offload bundle has no code object for " + arch +
                                                  " (it has " + present + ")");
}

/// "CCOB", version, method, sizes, hash, then the compressed bundle.
ImageView fromCompressed(const uint8_t *bytes, uint64_t size, const std::string &arch) {
  const auto version = read<uint16_t>(bytes, 4, size);
  const auto method = read<uint16_t>(bytes, 6, size);
  uint64_t total = 0;
  uint64_t plain = 0;
  uint64_t header = 0;
  if (version == 2) {
    total = read<uint32_t>(bytes, 8, size);
    plain = read<uint32_t>(bytes, 12, size);
    header = 24;
  } else if (version == 3) {
    total = read<uint64_t>(bytes, 8, size);
    plain = read<uint64_t>(bytes, 16, size);
    header = 32;
  } else {
    invalid("a compressed offload bundle of a version other than 2 and 3");
  }
  constexpr uint64_t kLargest = uint64_t{1} << 32;
  if (total < header || (size != kUnknown && total > size) || plain > kLargest)
    invalid("a compressed offload bundle whose sizes are out of bounds");
  const llvm::ArrayRef<uint8_t> data(bytes + header, total - header);
  llvm::SmallVector<uint8_t, 0> out;
  const auto format =
      method == 1 ? llvm::compression::Format::Zstd : llvm::compression::Format::Zlib;
  if (llvm::compression::getReasonIfUnsupported(format) != nullptr)
    invalid("a compressed offload bundle whose method this build lacks");
  if (llvm::Error error = llvm::compression::decompress(format, data, out, plain)) {
    llvm::consumeError(std::move(error));
    invalid("a compressed offload bundle that does not decompress");
  }
  const ImageView inner = findImage(out.data(), out.size(), arch);
  const auto *first = static_cast<const uint8_t *>(inner.data());
  return ImageView(std::vector<uint8_t>(first, first + inner.size()));
}

} // namespace

ImageView findImage(const void *image, size_t size, const std::string &arch) {
  if (image == nullptr)
    throw EmulatorError(hipErrorInvalidValue, "module image: a null pointer");
  const auto *bytes = static_cast<const uint8_t *>(image);
  const uint64_t limit = size == 0 ? kUnknown : size;
  if (read<uint32_t>(bytes, 0, limit) == kFatBinaryMagic) {
    const auto inner = read<uint64_t>(bytes, 8, limit);
    return findImage(reinterpret_cast<const void *>(inner), 0, arch);
  }
  if (std::memcmp(bytes, llvm::ELF::ElfMagic, 4) == 0) {
    if (limit < sizeof(llvm::ELF::Elf64_Ehdr))
      invalid("it ends in the middle of a header");
    return {image, size != 0 ? size : static_cast<size_t>(elfSize(bytes))};
  }
  if (std::memcmp(bytes, kCompressedMagic, 4) == 0)
    return fromCompressed(bytes, limit, arch);
  if (limit >= sizeof kBundleMagic + 8 &&
      std::memcmp(bytes, kBundleMagic, sizeof kBundleMagic - 1) == 0)
    return fromBundle(bytes, limit, arch);
  invalid("neither an ELF file nor an offload bundle");
}

} // namespace flyemu
