// SPDX-License-Identifier: Apache-2.0
//
// The file: "FLYLNCH1", the length of a JSON text (64 bits, little endian), the text, then blobs,
// one after the other, compressed with zlib. The text says where each lies.
#include "hip/launch_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Compression.h"

#include "device/memory_map.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr uint64_t kAllBelow = uint64_t{64} << 20;

unsigned long long number(uint64_t value) { return static_cast<unsigned long long>(value); }

/// Blobs as they follow each other, and where each is.
class Blobs {
public:
  /// Its description as JSON.
  std::string add(const void *data, uint64_t size) {
    llvm::SmallVector<uint8_t, 0> packed;
    llvm::compression::zlib::compress(
        llvm::ArrayRef<uint8_t>(static_cast<const uint8_t *>(data), size), packed,
        llvm::compression::zlib::BestSpeedCompression);
    const std::string out = format("{\"offset\": %llu, \"size\": %llu, \"bytes\": %llu}",
                                   number(bytes_.size()), number(packed.size()), number(size));
    bytes_.insert(bytes_.end(), packed.begin(), packed.end());
    return out;
  }
  const std::vector<uint8_t> &bytes() const { return bytes_; }

private:
  std::vector<uint8_t> bytes_;
};

bool belongsToClient(const MemoryRange &range) {
  return range.kind != MemoryKind::CodeObject && range.kind != MemoryKind::Internal &&
         range.end > range.begin;
}

/// Does a pointer among the arguments lead into the range?
bool isPointedAt(const MemoryRange &range, const std::vector<uint8_t> &arguments) {
  for (size_t at = 0; at + 8 <= arguments.size(); at += 4) {
    uint64_t value;
    std::memcpy(&value, arguments.data() + at, sizeof value);
    if (value >= range.begin && value < range.end)
      return true;
  }
  return false;
}

std::vector<MemoryRange> rangesOf(const std::vector<uint8_t> &arguments) {
  std::vector<MemoryRange> all;
  uint64_t total = 0;
  for (const MemoryRange &range : MemoryMap::instance().view()->ranges())
    if (belongsToClient(range)) {
      total += range.end - range.begin;
      all.push_back(range);
    }
  if (total <= kAllBelow)
    return all;
  std::vector<MemoryRange> some;
  for (const MemoryRange &range : all)
    if (isPointedAt(range, arguments))
      some.push_back(range);
  return some;
}

std::string listJson(const std::vector<int64_t> &values) {
  std::string out = "[";
  for (const int64_t value : values)
    out += (out.size() > 1 ? ", " : "") + std::to_string(value);
  return out + "]";
}

std::string rangeJson(const MemoryRange &range, Blobs &blobs) {
  std::string out = format("{\"begin\": %llu, \"writable\": %s, \"name\": ", number(range.begin),
                           range.writable ? "true" : "false") +
                    jsonString(range.name);
  if (range.tensor != nullptr)
    out += format(", \"data\": %llu, \"item_bytes\": %u, \"shape\": ", number(range.tensor->data),
                  range.tensor->itemBytes) +
           listJson(range.tensor->shape) + ", \"strides\": " + listJson(range.tensor->strides);
  return out + ", \"contents\": " +
         blobs.add(reinterpret_cast<const void *>(range.begin), range.end - range.begin) + "}";
}

/// What the module's memory holds besides code: its variables, as the host and earlier launches
/// left them.
std::string moduleJson(const CodeObject &object, Blobs &blobs) {
  const uint8_t *base = object.base();
  return format("{\"base\": %llu, \"bytes\": %llu, \"text\": [%llu, %llu], \"before\": ",
                number(reinterpret_cast<uint64_t>(base)), number(object.memorySize()),
                number(object.textBegin()), number(object.textEnd())) +
         blobs.add(base, object.textBegin()) + ", \"behind\": " +
         blobs.add(base + object.textEnd(), object.memorySize() - object.textEnd()) + "}";
}

std::string describe(const Module &module, const KernelMetadata &kernel,
                     const LaunchGeometry &geometry, const std::vector<uint8_t> &arguments,
                     bool cooperative, Blobs &blobs) {
  const LaunchOptions options = Runtime::instance().launchOptions();
  std::string out = "{\"version\": 1, \"emulator\": \"" FLYEMU_VERSION "\", \"kernel\": " +
                    jsonString(kernel.name) + ", \"arch\": " + jsonString(module.object->arch());
  out += format(", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"lds\": %u, "
                "\"cooperative\": %s, \"seed\": %llu",
                geometry.groups[0], geometry.groups[1], geometry.groups[2], geometry.groupSize[0],
                geometry.groupSize[1], geometry.groupSize[2], geometry.dynamicLds,
                cooperative ? "true" : "false", number(options.seed));
  const std::string &image = module.object->image();
  out += ", \"code\": " + blobs.add(image.data(), image.size());
  out += ", \"module\": " + moduleJson(*module.object, blobs);
  out += ", \"arguments\": " + blobs.add(arguments.data(), arguments.size()) + ", \"memory\": [";
  bool first = true;
  for (const MemoryRange &range : rangesOf(arguments)) {
    out += (first ? "" : ", ") + rangeJson(range, blobs);
    first = false;
  }
  return out + "]}";
}

/// Numbered within its folder, from 1 in each process.
std::string fileName(const std::string &folder, const std::string &kernel) {
  static std::mutex mutex;
  static std::map<std::string, unsigned> launches;
  const std::lock_guard<std::mutex> lock(mutex);
  std::string name = format("%04u-", ++launches[folder]);
  for (const char c : kernel.substr(0, 100))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name + ".flylaunch";
}

} // namespace

void saveLaunch(const std::string &folder, const Module &module, const KernelMetadata &kernel,
                const LaunchGeometry &geometry, const std::vector<uint8_t> &arguments,
                bool cooperative) {
  Blobs blobs;
  const std::string text = describe(module, kernel, geometry, arguments, cooperative, blobs);
  const std::string path = folder + "/" + fileName(folder, kernel.name);
  const std::string temporary = path + ".part";
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(temporary.c_str(), "wbe"));
  const uint64_t length = text.size();
  bool written = file != nullptr && std::fwrite("FLYLNCH1", 8, 1, file.get()) == 1 &&
                 std::fwrite(&length, sizeof length, 1, file.get()) == 1 &&
                 std::fwrite(text.data(), text.size(), 1, file.get()) == 1 &&
                 std::fwrite(blobs.bytes().data(), blobs.bytes().size(), 1, file.get()) == 1;
  written =
      written && std::fflush(file.get()) == 0 && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written)
    throw EmulatorError(hipErrorFileNotFound, "cannot save the launch of " + kernel.name + " as " +
                                                  path + ": " + std::strerror(errno));
}

} // namespace flyemu
