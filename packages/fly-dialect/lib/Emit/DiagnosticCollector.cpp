// SPDX-License-Identifier: Apache-2.0
#include "DiagnosticCollector.h"

#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace fly;

static std::string textOf(const DiagnosticInfo &info) {
  std::string text;
  raw_string_ostream stream(text);
  DiagnosticPrinterRawOStream printer(stream);
  info.print(printer);
  return text;
}

bool DiagnosticCollector::handleDiagnostics(const DiagnosticInfo &info) {
  if (info.getSeverity() == DS_Error) {
    sink.errors.push_back(textOf(info));
  } else if (info.getSeverity() == DS_Warning) {
    sink.warnings.push_back(textOf(info));
  } else if (const auto *remark = dyn_cast<DiagnosticInfoOptimizationBase>(&info);
             remark && remark->getRemarkName() == "Occupancy") {
    uint32_t waves = 0;
    for (const DiagnosticInfoOptimizationBase::Argument &argument : remark->getArgs())
      if (argument.Key == "Occupancy" && !StringRef(argument.Val).getAsInteger(10, waves))
        sink.occupancy[remark->getFunction().getName()] = waves;
  }
  return true; // Handled: LLVM must neither print nor exit.
}
