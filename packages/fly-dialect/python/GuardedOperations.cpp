// SPDX-License-Identifier: Apache-2.0
//
// Stands between MLIR's Python bindings and some functions of the C interface (the linker's
// --wrap), so that no order of calls from Python makes MLIR, which is built without assertions,
// read what is not there:
//  - a builder that infers result types refuses operands that the op does not admit;
//  - an attribute that an op would drop, because it is of another kind than the op's, is refused;
//  - an operation is moved to where there is a block only, and a dimension of a shape is one of it;
//  - an `arith.select` that MLIR's verifier of it would not survive is not made;
//  - a message is UTF-8, whatever names it quotes;
//  - bytecode is read by a child process, which may die of it;
//  - an operation or type of a dialect that the context knows, but has not loaded, loads it, as the
//    parser does: a trace loads few at first;
//  - an operation is made only while the reserve of memory is whole: a trace ends where it is not;
//  - what a pass left when it ran out of memory stays as it is (LeftContexts.h);
//  - an erased operation stays in memory, out of its block and without operands, until its context
//    goes: Python may still hold values of it, and other operations may use its results.

#include "LeftContexts.h"

#include "fly/Emit/MemoryReserve.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/AMDGPU.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/IR.h"
#include "mlir-c/Interfaces.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" {
MlirOperation __real_mlirOperationCreate(MlirOperationState *state);
void __real_mlirOperationDestroy(MlirOperation operation);
void __real_mlirContextDestroy(MlirContext context);
void __real_mlirOperationMoveAfter(MlirOperation operation, MlirOperation other);
void __real_mlirOperationMoveBefore(MlirOperation operation, MlirOperation other);
MlirAffineMap __real_mlirAffineMapPermutationGet(MlirContext context, intptr_t size,
                                                 unsigned *permutation);
bool __real_mlirShapedTypeIsDynamicDim(MlirType type, intptr_t dimension);
int64_t __real_mlirShapedTypeGetDimSize(MlirType type, intptr_t dimension);
MlirModule __real_mlirModuleCreateParse(MlirContext context, MlirStringRef text);
MlirOperation __real_mlirOperationCreateParse(MlirContext context, MlirStringRef text,
                                              MlirStringRef name);
void __real_mlirDiagnosticPrint(MlirDiagnostic diagnostic, MlirStringCallback callback,
                                void *userData);
bool __real_mlirContextIsRegisteredOperation(MlirContext context, MlirStringRef name);
bool __real_mlirOperationImplementsInterfaceStatic(MlirStringRef operation, MlirContext context,
                                                   MlirTypeID interface);
MlirType __real_mlirAMDGPUTDMBaseTypeGet(MlirContext context, MlirType element);
MlirType __real_mlirAMDGPUTDMDescriptorTypeGet(MlirContext context);
MlirType __real_mlirAMDGPUTDMGatherBaseTypeGet(MlirContext context, MlirType element,
                                               MlirType index);
MlirType __real_mlirGPUAsyncTokenTypeGet(MlirContext context);
MlirType __real_mlirLLVMPointerTypeGet(MlirContext context, unsigned addressSpace);
MlirType __real_mlirLLVMStructTypeIdentifiedGet(MlirContext context, MlirStringRef name);
MlirType __real_mlirLLVMStructTypeIdentifiedNewGet(MlirContext context, MlirStringRef name,
                                                   intptr_t count, MlirType const *fields,
                                                   bool isPacked);
MlirType __real_mlirLLVMStructTypeLiteralGet(MlirContext context, intptr_t count,
                                             MlirType const *fields, bool isPacked);
MlirType __real_mlirLLVMStructTypeLiteralGetChecked(MlirLocation location, intptr_t count,
                                                    MlirType const *fields, bool isPacked);
MlirType __real_mlirLLVMStructTypeOpaqueGet(MlirContext context, MlirStringRef name);
}

using namespace mlir;

namespace {

/// Erased operations by their context.
class Graveyard {
public:
  static Graveyard &get() {
    static Graveyard instance;
    return instance;
  }

  void bury(Operation *operation) {
    operation->remove(); // Nothing happens when it is detached.
    operation->dropAllReferences();
    std::lock_guard<std::mutex> lock(mutex);
    erased[operation->getContext()].push_back(operation);
  }

  void clear(MLIRContext *context) {
    std::vector<Operation *> operations;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (auto found = erased.find(context); found != erased.end()) {
        operations = std::move(found->second);
        erased.erase(found);
      }
    }
    // They may use each other's values.
    for (Operation *operation : operations)
      operation->dropAllDefinedValueUses();
    for (Operation *operation : operations)
      __real_mlirOperationDestroy(wrap(operation));
  }

private:
  std::mutex mutex;
  std::unordered_map<MLIRContext *, std::vector<Operation *>> erased;
};

/// Loads the dialect that an operation's name begins with; nothing happens when it is loaded, or
/// when the context's registry does not have it.
void loadDialectOf(MlirStringRef operation, MlirContext context) {
  if (!RegisteredOperationName::lookup(unwrap(operation), unwrap(context)))
    unwrap(context)->getOrLoadDialect(unwrap(operation).split('.').first);
}

/// The context with the dialect of the types of matrix tiles in memory.
MlirContext withAMDGPU(MlirContext context) {
  unwrap(context)->getOrLoadDialect("amdgpu");
  return context;
}

/// The context with the dialect of LLVM's pointers and structures.
MlirContext withGPU(MlirContext context) {
  unwrap(context)->getOrLoadDialect<gpu::GPUDialect>();
  return context;
}

MlirContext withLLVM(MlirContext context) {
  unwrap(context)->getOrLoadDialect<LLVM::LLVMDialect>();
  return context;
}

/// Runs the verifier of the op that `state` describes, with `results` results of no type and with
/// empty regions, and returns its first complaint.
std::string complaintWith(unsigned results, const MlirOperationState &state,
                          RegisteredOperationName name) {
  OperationState probe(unwrap(state.location), name);
  for (intptr_t index = 0; index < state.nOperands; ++index)
    probe.operands.push_back(unwrap(state.operands[index]));
  for (intptr_t index = 0; index < state.nAttributes; ++index)
    probe.addAttribute(unwrap(state.attributes[index].name),
                       unwrap(state.attributes[index].attribute));
  for (intptr_t index = 0; index < state.nRegions; ++index)
    probe.addRegion();
  for (intptr_t index = 0; index < state.nSuccessors; ++index)
    probe.addSuccessors(unwrap(state.successors[index]));
  MLIRContext *context = name.getContext();
  for (unsigned index = 0; index < results; ++index)
    probe.addTypes(NoneType::get(context));
  std::string complaint;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (complaint.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      complaint = diagnostic.str();
    return success();
  });
  Operation *operation = Operation::create(probe);
  if (succeeded(name.verifyInvariants(operation)))
    complaint.clear();
  operation->destroy();
  return complaint;
}

/// Whether inference may look at the operands of `state`. Reports why it may not.
bool admitsOperands(const MlirOperationState &state) {
  std::optional<RegisteredOperationName> name =
      RegisteredOperationName::lookup(unwrap(state.name), unwrap(state.location).getContext());
  if (!name || !name->hasInterface<InferTypeOpInterface>())
    return true;
  // The fly dialects check for themselves. These infer from traits alone, which check, too.
  StringRef dialect = name->getDialectNamespace();
  if (dialect.starts_with("fly") || dialect == "arith" || dialect == "math" || dialect == "index")
    return true;
  constexpr unsigned mostResults = 2; // of ops that infer a fixed number
  constexpr StringRef wrong[] = {"operand", "attribute", "region", "successor"};
  for (unsigned results = 0; results <= mostResults; ++results) {
    std::string complaint = complaintWith(results, state, *name);
    StringRef text = complaint;
    // A complaint about results is about those that were made up here.
    if (llvm::any_of(wrong, [&](StringRef what) { return text.contains(what); }) &&
        !text.contains("result")) {
      mlir::emitError(unwrap(state.location)) << complaint;
      return false;
    }
    if (!text.contains("result"))
      break;
  }
  return true;
}

/// Whether a new operation has kept `attributes`. A property of it stays empty where one is of
/// another kind than the op's; printers and verifiers of MLIR's read it all the same. Reports
/// which.
bool keepsAttributes(Operation *operation, ArrayRef<MlirNamedAttribute> attributes) {
  for (const MlirNamedAttribute &named : attributes) {
    std::optional<Attribute> kept = operation->getInherentAttr(unwrap(named.name).getValue());
    if (!kept || *kept)
      continue;
    mlir::emitError(operation->getLoc())
        << "'" << operation->getName() << "' op has no attribute " << unwrap(named.name)
        << " of the kind of " << unwrap(named.attribute);
    return false;
  }
  return true;
}

/// Throws what Python knows as a ValueError unless an operation can be moved beside another one.
void checkMove(Operation *operation, Operation *other) {
  if (!operation->getBlock() || !other->getBlock())
    throw std::invalid_argument("an operation is moved from one block to another, and this one or "
                                "the one to stand beside is in none");
  if (operation != other && operation->isAncestor(other))
    throw std::invalid_argument("an operation cannot be moved into itself");
}

/// Throws what Python knows as an IndexError unless a shape has a dimension.
void checkDimension(MlirType type, intptr_t dimension) {
  auto shaped = cast<ShapedType>(unwrap(type));
  if (dimension < 0 || !shaped.hasRank() || dimension >= shaped.getRank())
    throw std::out_of_range("the type has no dimension " + std::to_string(dimension));
}

/// Whether `arith.select` of these operands, a condition and two values, survives its verifier:
/// that of MLIR 22 reads the shape of the values if the condition has one, whether they have or
/// not. Reports why not.
bool survivesVerifier(TypeRange operands, TypeRange results, Location where) {
  if (operands.empty() || !isa<ShapedType>(operands.front()))
    return true;
  for (Type value : llvm::concat<const Type>(SmallVector<Type>(operands.drop_front()),
                                             SmallVector<Type>(results)))
    if (!isa<ShapedType>(value)) {
      mlir::emitError(where) << "'arith.select' op has a condition of type " << operands.front()
                             << ", but a value of type " << value << ": values of vectors of "
                             << "conditions are vectors";
      return false;
    }
  return true;
}

bool survivesVerifier(const MlirOperationState &state) {
  if (unwrap(state.name) != "arith.select")
    return true;
  SmallVector<Type> operands, results;
  for (intptr_t index = 0; index < state.nOperands; ++index)
    operands.push_back(unwrap(state.operands[index]).getType());
  for (intptr_t index = 0; index < state.nResults; ++index)
    results.push_back(unwrap(state.results[index]));
  return survivesVerifier(operands, results, unwrap(state.location));
}

/// The same of each one in `text`, which is read without the verifier for that.
bool survivesVerifier(StringRef text, MLIRContext *context) {
  if (!text.contains("arith.select"))
    return true;
  Block block;
  {
    // What else is wrong the reader proper says.
    ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
    if (failed(parseSourceString(text, &block, ParserConfig(context, /*verifyAfterParse=*/false))))
      return true;
  }
  return !block
              .walk([](Operation *operation) {
                bool survives = operation->getName().getStringRef() != "arith.select" ||
                                survivesVerifier(operation->getOperandTypes(),
                                                 operation->getResultTypes(), operation->getLoc());
                return survives ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Seconds that the bytecode of one module may take to be read.
constexpr unsigned mostSeconds = 120;

/// Writes all of `text`; a reader that went away is none of the writer's concern.
void writeAll(int file, StringRef text) {
  while (!text.empty()) {
    ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    text = text.drop_front(written);
  }
}

/// The body of the child: writes 'M' and the text of what `bytecode` holds to `file`, or 'E' and
/// MLIR's first complaint.
void convertBytecode(StringRef bytecode, const DialectRegistry &registry, bool unregistered,
                     int file) {
  // A context of its own: the locks and threads of the parent's may be in use by threads that the
  // child does not have.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(unregistered);
  std::string complaint = "E";
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (complaint.size() == 1 && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      complaint += diagnostic.str();
    return success();
  });
  Block block;
  if (failed(parseSourceString(bytecode, &block, ParserConfig(&context))) || block.empty())
    return writeAll(file, complaint);
  std::string text = "M";
  llvm::raw_string_ostream stream(text);
  for (Operation &operation : block) {
    operation.print(stream, OpPrintingFlags().printGenericOpForm().enableDebugInfo());
    stream << '\n';
  }
  writeAll(file, text);
}

/// Returns the text of what `bytecode` holds; nothing, with the reason reported to `context`, when
/// that cannot be read.
///
/// MLIR's reader believes counts and indices that it finds, and so writes to memory that is not
/// its own. Hence the bytes are read by a child process only. It may die of them.
std::optional<std::string> textOfBytecode(StringRef bytecode, MLIRContext *context) {
  auto refuse = [&](const llvm::Twine &reason) {
    mlir::emitError(UnknownLoc::get(context)) << "damaged bytecode: " << reason;
    return std::nullopt;
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC))
    return refuse("no pipe for the process that reads it: " + llvm::Twine(std::strerror(errno)));
  DialectRegistry registry;
  context->getDialectRegistry().appendTo(registry);
  pid_t child = ::fork();
  if (child < 0) {
    int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return refuse("no process that reads it: " + llvm::Twine(std::strerror(error)));
  }
  if (!child) {
    // Dies silently: without a core, and without handlers and messages of the parent's.
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM, SIGPIPE})
      ::signal(signal, SIG_DFL);
    if (int null = ::open("/dev/null", O_WRONLY); null >= 0)
      ::dup2(null, STDERR_FILENO);
    ::alarm(mostSeconds);
    convertBytecode(bytecode, registry, context->allowsUnregisteredDialects(), ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string answer;
  char buffer[1 << 14];
  for (;;) {
    ssize_t count = ::read(ends[0], buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    answer.append(buffer, count);
  }
  ::close(ends[0]);
  int status = 0;
  pid_t reaped;
  while ((reaped = ::waitpid(child, &status, 0)) < 0 && errno == EINTR)
    ;
  // Where SIGCHLD is ignored, there is no status; `answer` is whole when it ends as it should.
  if (reaped == child && status) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      return refuse("reading it took more than " + llvm::Twine(mostSeconds) + " s");
    return refuse("it ends the process that reads it");
  }
  StringRef text = answer;
  if (text.consume_front("E"))
    return refuse(text);
  if (!text.consume_front("M") || !text.ends_with("\n"))
    return refuse("it ends the process that reads it");
  return text.str();
}

/// Calls `parse` with `text`, or with the text of the bytecode that `text` is.
template <typename Result>
Result parseGuarded(MlirContext context, MlirStringRef text,
                    llvm::function_ref<Result(MlirStringRef)> parse) {
  if (!isBytecode(llvm::MemoryBufferRef(unwrap(text), "bytecode")))
    return survivesVerifier(unwrap(text), unwrap(context)) ? parse(text) : Result{nullptr};
  std::optional<std::string> converted = textOfBytecode(unwrap(text), unwrap(context));
  if (!converted)
    return {nullptr};
  // Parsers of text want a null character behind it, which std::string has.
  return parse(wrap(StringRef(*converted)));
}

} // namespace

extern "C" {

MlirModule __wrap_mlirModuleCreateParse(MlirContext context, MlirStringRef text) {
  return parseGuarded<MlirModule>(context, text, [&](MlirStringRef safe) {
    return __real_mlirModuleCreateParse(context, safe);
  });
}

MlirOperation __wrap_mlirOperationCreateParse(MlirContext context, MlirStringRef text,
                                              MlirStringRef name) {
  return parseGuarded<MlirOperation>(context, text, [&](MlirStringRef safe) {
    return __real_mlirOperationCreateParse(context, safe, name);
  });
}

bool __wrap_mlirContextIsRegisteredOperation(MlirContext context, MlirStringRef name) {
  loadDialectOf(name, context);
  return __real_mlirContextIsRegisteredOperation(context, name);
}

bool __wrap_mlirOperationImplementsInterfaceStatic(MlirStringRef operation, MlirContext context,
                                                   MlirTypeID interface) {
  loadDialectOf(operation, context);
  return __real_mlirOperationImplementsInterfaceStatic(operation, context, interface);
}

MlirType __wrap_mlirAMDGPUTDMBaseTypeGet(MlirContext context, MlirType element) {
  return __real_mlirAMDGPUTDMBaseTypeGet(withAMDGPU(context), element);
}

MlirType __wrap_mlirAMDGPUTDMDescriptorTypeGet(MlirContext context) {
  return __real_mlirAMDGPUTDMDescriptorTypeGet(withAMDGPU(context));
}

MlirType __wrap_mlirAMDGPUTDMGatherBaseTypeGet(MlirContext context, MlirType element,
                                               MlirType index) {
  return __real_mlirAMDGPUTDMGatherBaseTypeGet(withAMDGPU(context), element, index);
}

MlirType __wrap_mlirGPUAsyncTokenTypeGet(MlirContext context) {
  return __real_mlirGPUAsyncTokenTypeGet(withGPU(context));
}

MlirType __wrap_mlirLLVMPointerTypeGet(MlirContext context, unsigned addressSpace) {
  return __real_mlirLLVMPointerTypeGet(withLLVM(context), addressSpace);
}

MlirType __wrap_mlirLLVMStructTypeIdentifiedGet(MlirContext context, MlirStringRef name) {
  return __real_mlirLLVMStructTypeIdentifiedGet(withLLVM(context), name);
}

MlirType __wrap_mlirLLVMStructTypeIdentifiedNewGet(MlirContext context, MlirStringRef name,
                                                   intptr_t count, MlirType const *fields,
                                                   bool isPacked) {
  return __real_mlirLLVMStructTypeIdentifiedNewGet(withLLVM(context), name, count, fields,
                                                   isPacked);
}

MlirType __wrap_mlirLLVMStructTypeLiteralGet(MlirContext context, intptr_t count,
                                             MlirType const *fields, bool isPacked) {
  return __real_mlirLLVMStructTypeLiteralGet(withLLVM(context), count, fields, isPacked);
}

MlirType __wrap_mlirLLVMStructTypeLiteralGetChecked(MlirLocation location, intptr_t count,
                                                    MlirType const *fields, bool isPacked) {
  withLLVM(mlirLocationGetContext(location));
  return __real_mlirLLVMStructTypeLiteralGetChecked(location, count, fields, isPacked);
}

MlirType __wrap_mlirLLVMStructTypeOpaqueGet(MlirContext context, MlirStringRef name) {
  return __real_mlirLLVMStructTypeOpaqueGet(withLLVM(context), name);
}

MlirOperation __wrap_mlirOperationCreate(MlirOperationState *state) {
  loadDialectOf(state->name, mlirLocationGetContext(state->location));
  const bool hasMemory = fly::MemoryReserve::refill();
  if (hasMemory && survivesVerifier(*state) &&
      (!state->enableResultTypeInference || admitsOperands(*state))) {
    const SmallVector<MlirNamedAttribute> attributes(state->attributes,
                                                     state->attributes + state->nAttributes);
    MlirOperation made = __real_mlirOperationCreate(state);
    if (mlirOperationIsNull(made) || keepsAttributes(unwrap(made), attributes))
      return made;
    __real_mlirOperationDestroy(made);
    return {nullptr};
  }
  // As mlirOperationCreate does.
  std::free(state->results);
  std::free(state->operands);
  std::free(state->regions);
  std::free(state->successors);
  std::free(state->attributes);
  if (!hasMemory)
    throw std::bad_alloc();
  return {nullptr};
}

void __wrap_mlirOperationMoveAfter(MlirOperation operation, MlirOperation other) {
  checkMove(unwrap(operation), unwrap(other));
  __real_mlirOperationMoveAfter(operation, other);
}

void __wrap_mlirOperationMoveBefore(MlirOperation operation, MlirOperation other) {
  checkMove(unwrap(operation), unwrap(other));
  __real_mlirOperationMoveBefore(operation, other);
}

MlirAffineMap __wrap_mlirAffineMapPermutationGet(MlirContext context, intptr_t size,
                                                 unsigned *permutation) {
  return size == 0 ? mlirAffineMapEmptyGet(context)
                   : __real_mlirAffineMapPermutationGet(context, size, permutation);
}

bool __wrap_mlirShapedTypeIsDynamicDim(MlirType type, intptr_t dimension) {
  checkDimension(type, dimension);
  return __real_mlirShapedTypeIsDynamicDim(type, dimension);
}

int64_t __wrap_mlirShapedTypeGetDimSize(MlirType type, intptr_t dimension) {
  checkDimension(type, dimension);
  return __real_mlirShapedTypeGetDimSize(type, dimension);
}

void __wrap_mlirDiagnosticPrint(MlirDiagnostic diagnostic, MlirStringCallback callback,
                                void *userData) {
  std::string text;
  __real_mlirDiagnosticPrint(
      diagnostic,
      [](MlirStringRef part, void *whole) {
        static_cast<std::string *>(whole)->append(part.data, part.length);
      },
      &text);
  text = llvm::json::fixUTF8(text);
  callback(wrap(StringRef(text)), userData);
}

void __wrap_mlirOperationDestroy(MlirOperation operation) {
  if (!fly::python::isLeft(unwrap(operation)->getContext()))
    Graveyard::get().bury(unwrap(operation));
}

void __wrap_mlirContextDestroy(MlirContext context) {
  if (fly::python::isLeft(unwrap(context)))
    return;
  Graveyard::get().clear(unwrap(context));
  __real_mlirContextDestroy(context);
}

} // extern "C"
