// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/LLVMOptions.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"

#include <mutex>
#include <string>

using namespace llvm;

namespace {

/// The texts pushed per option, and the lock that guards them.
struct PushedOptions {
  std::mutex mutex;
  StringMap<SmallVector<std::string>> texts;

  static PushedOptions &get() {
    static PushedOptions instance;
    return instance;
  }
};

/// Makes `option` look as if it had been given once, with `text`, or not at all. LLVM asks for
/// both: the value, and whether there is one.
bool giveOption(cl::Option &option, const SmallVector<std::string> &texts) {
  option.reset();
  return texts.empty() || !option.addOccurrence(/*pos=*/1, option.ArgStr, texts.back());
}

} // namespace

Error fly::pushLLVMOption(StringRef name, StringRef text) {
  cl::Option *option = cl::getRegisteredOptions().lookup(name);
  if (!option)
    return createStringError("Unknown LLVM option: '" + name + "'");
  PushedOptions &pushed = PushedOptions::get();
  std::lock_guard<std::mutex> lock(pushed.mutex);
  SmallVector<std::string> &texts = pushed.texts[name];
  texts.push_back(text.str());
  if (giveOption(*option, texts))
    return Error::success();
  texts.pop_back();
  giveOption(*option, texts);
  return createStringError("LLVM option '" + name + "' does not accept '" + text + "'");
}

Error fly::popLLVMOption(StringRef name) {
  PushedOptions &pushed = PushedOptions::get();
  std::lock_guard<std::mutex> lock(pushed.mutex);
  auto entry = pushed.texts.find(name);
  cl::Option *option = cl::getRegisteredOptions().lookup(name);
  if (!option || entry == pushed.texts.end() || entry->second.empty())
    return createStringError("LLVM option '" + name + "' was not set");
  entry->second.pop_back();
  giveOption(*option, entry->second);
  return Error::success();
}
