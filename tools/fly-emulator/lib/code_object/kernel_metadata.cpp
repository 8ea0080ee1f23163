// SPDX-License-Identifier: Apache-2.0
#include "code_object/kernel_metadata.h"

#include <algorithm>

#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/BinaryFormat/MsgPackReader.h"

#include "support/error.h"

namespace flyemu {
namespace {

using llvm::msgpack::DocNode;
using llvm::msgpack::MapDocNode;
using llvm::msgpack::Type;

[[noreturn]] void malformed(const std::string &what) {
  throw EmulatorError(hipErrorInvalidImage, "AMDGPU metadata note: " + what);
}

/// Is one value well-formed, with strings for keys and not too deep? LLVM's document takes
/// anything, and has undefined behaviour for keys that are maps or arrays.
bool isWellFormed(llvm::msgpack::Reader &reader, unsigned depth) {
  constexpr unsigned kDeepest = 16;
  llvm::msgpack::Object object;
  const auto next = [&] {
    llvm::Expected<bool> more = reader.read(object);
    if (more)
      return *more;
    llvm::consumeError(more.takeError());
    return false;
  };
  if (depth > kDeepest || !next())
    return false;
  if (object.Kind != Type::Map && object.Kind != Type::Array)
    return true;
  const bool map = object.Kind == Type::Map;
  for (size_t i = 0, count = object.Length; i < count; ++i) {
    if (map && (!next() || object.Kind != Type::String))
      return false;
    if (!isWellFormed(reader, depth + 1))
      return false;
  }
  return true;
}

DocNode *find(MapDocNode &map, const char *key) {
  auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

uint32_t number(MapDocNode &map, const char *key, uint32_t fallback) {
  DocNode *node = find(map, key);
  if (node == nullptr)
    return fallback;
  if (node->getKind() == Type::UInt)
    return static_cast<uint32_t>(node->getUInt());
  if (node->getKind() == Type::Int)
    return static_cast<uint32_t>(node->getInt());
  malformed(std::string(key) + " is not a number");
}

std::string text(MapDocNode &map, const char *key) {
  DocNode *node = find(map, key);
  if (node == nullptr)
    return {};
  if (node->getKind() != Type::String)
    malformed(std::string(key) + " is not a string");
  return node->getString().str();
}

bool flag(MapDocNode &map, const char *key) {
  DocNode *node = find(map, key);
  return node != nullptr && node->getKind() == Type::Boolean && node->getBool();
}

KernelArgument parseArgument(DocNode &node) {
  if (!node.isMap())
    malformed("an argument is not a map");
  MapDocNode &map = node.getMap();
  KernelArgument argument;
  argument.name = text(map, ".name");
  argument.valueKind = text(map, ".value_kind");
  argument.offset = number(map, ".offset", 0);
  argument.size = number(map, ".size", 0);
  return argument;
}

/// LLVM writes 1024 for each extent that only the launch says.
void parseClusterDims(MapDocNode &map, KernelMetadata &kernel) {
  DocNode *node = find(map, ".cluster_dims");
  if (node == nullptr)
    return;
  if (!node->isArray() || node->getArray().size() != 3)
    malformed(".cluster_dims is not an array of three numbers");
  uint32_t extents[3];
  for (size_t i = 0; i < 3; ++i) {
    DocNode &extent = node->getArray()[i];
    if (extent.getKind() != Type::UInt)
      malformed(".cluster_dims is not an array of three numbers");
    extents[i] = static_cast<uint32_t>(extent.getUInt());
  }
  constexpr uint32_t kVariable = 1024;
  if (extents[0] != kVariable)
    std::copy(extents, extents + 3, kernel.clusterDims);
}

KernelMetadata parseKernel(DocNode &node) {
  if (!node.isMap())
    malformed("a kernel is not a map");
  MapDocNode &map = node.getMap();
  KernelMetadata kernel;
  kernel.name = text(map, ".name");
  kernel.symbol = text(map, ".symbol");
  kernel.kernargSize = number(map, ".kernarg_segment_size", 0);
  kernel.kernargAlign = number(map, ".kernarg_segment_align", 8);
  kernel.groupSegmentSize = number(map, ".group_segment_fixed_size", 0);
  kernel.privateSegmentSize = number(map, ".private_segment_fixed_size", 0);
  kernel.wavefrontSize = number(map, ".wavefront_size", 64);
  kernel.maxFlatWorkgroupSize = number(map, ".max_flat_workgroup_size", 1024);
  kernel.vgprCount = number(map, ".vgpr_count", 0);
  kernel.agprCount = number(map, ".agpr_count", 0);
  kernel.sgprCount = number(map, ".sgpr_count", 0);
  kernel.vgprSpills = number(map, ".vgpr_spill_count", 0);
  kernel.sgprSpills = number(map, ".sgpr_spill_count", 0);
  kernel.usesDynamicStack = flag(map, ".uses_dynamic_stack");
  parseClusterDims(map, kernel);
  if (kernel.name.empty() || kernel.symbol.empty())
    malformed("a kernel has no .name or .symbol");
  constexpr uint32_t kMaxKernarg = 1U << 20;
  if (kernel.kernargSize > kMaxKernarg)
    malformed("the kernarg segment of " + kernel.name + " has " +
              std::to_string(kernel.kernargSize) + " bytes");
  if (DocNode *arguments = find(map, ".args")) {
    if (!arguments->isArray())
      malformed(".args is not an array");
    for (DocNode &argument : arguments->getArray()) {
      kernel.arguments.push_back(parseArgument(argument));
      const KernelArgument &last = kernel.arguments.back();
      if (uint64_t{last.offset} + last.size > kernel.kernargSize)
        malformed("an argument of " + kernel.name + " lies outside its kernarg segment");
    }
  }
  return kernel;
}

} // namespace

std::vector<KernelMetadata> parseKernelMetadata(const std::string &messagePack) {
  llvm::msgpack::Reader reader{llvm::StringRef(messagePack)};
  if (!isWellFormed(reader, 0))
    malformed("not a msgpack map with strings for keys");
  llvm::msgpack::Document document;
  if (!document.readFromBlob(messagePack, /*Multi=*/false) || !document.getRoot().isMap())
    malformed("not a msgpack map");
  std::vector<KernelMetadata> kernels;
  DocNode *list = find(document.getRoot().getMap(), "amdhsa.kernels");
  if (list == nullptr)
    return kernels;
  if (!list->isArray())
    malformed("amdhsa.kernels is not an array");
  for (DocNode &node : list->getArray())
    kernels.push_back(parseKernel(node));
  return kernels;
}

} // namespace flyemu
