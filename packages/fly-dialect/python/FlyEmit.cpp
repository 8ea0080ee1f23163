// SPDX-License-Identifier: Apache-2.0
//
// flydsl._mlir._mlir_libs._fly_emit: the stages that lower a module, and device and host code from
// modules that are lowered.

#include "LeftContexts.h"
#include "LiveHandles.h"

#include "fly/Emit/Artifact.h"
#include "fly/Emit/BinaryReader.h"
#include "fly/Emit/CodeObject.h"
#include "fly/Emit/InstructionAvailability.h"
#include "fly/Emit/LLVMOptions.h"
#include "fly/Emit/MemoryReserve.h"
#include "fly/Emit/Ptx.h"
#include "fly/Pipeline.h"

#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <ctime>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace {

/// Becomes the Python exception EmitError.
struct EmitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Calls `body` without the GIL. When it fails, throws EmitError with everything that MLIR reported
/// meanwhile.
template <typename Body> auto emitOrThrow(Operation *op, Body body) {
  std::string text;
  auto result = [&] {
    nb::gil_scoped_release release;
    llvm::raw_string_ostream stream(text);
    ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure(); // For the next handler.
      stream << (text.empty() ? "" : "\n");
      if (!isa<UnknownLoc>(diagnostic.getLocation()))
        stream << diagnostic.getLocation() << ": ";
      stream << diagnostic;
      return success();
    });
    return body();
  }();
  if (failed(result))
    throw EmitError(text.empty() ? "code generation failed without a message" : text);
  return result;
}

/// What a pass reported as an error.
struct Finding {
  std::string message;
  MlirLocation location;
  std::vector<std::string> notes;
};

/// What became of pass managers that were run one after the other.
struct PassRun {
  std::vector<std::pair<double, double>> times; ///< of each, by the clock and of the processor
  std::optional<std::vector<Finding>> findings; ///< of the last one, where that failed
};

double secondsOf(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs passes over `op` without the GIL, until some fail or memory gets short.
PassRun runPasses(const std::vector<MlirPassManager> &managers, MlirOperation op) {
  // Who holds a part of it has to be told what the passes free, and may ask for more meanwhile:
  // PassManager.run does so, with the GIL.
  if (fly::python::isHeldInside(op))
    throw nb::value_error("something inside of the operation is held; use PassManager.run");
  Operation *operation = unwrap(op);
  PassRun run;
  std::vector<Finding> found;
  // A pass that runs out of memory ends by an exception, and MLIR has nothing that would catch it.
  fly::python::LeftUnlessFinished left(operation->getContext());
  {
    nb::gil_scoped_release release;
    ScopedDiagnosticHandler handler(operation->getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure(); // For the next handler.
      Finding &finding = found.emplace_back();
      finding.message = diagnostic.str();
      finding.location = wrap(diagnostic.getLocation());
      for (Diagnostic &note : diagnostic.getNotes())
        finding.notes.push_back(note.str());
      return success();
    });
    for (MlirPassManager manager : managers) {
      const double began = secondsOf(CLOCK_MONOTONIC);
      const double used = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
      const bool succeeds = succeeded(unwrap(manager)->run(operation));
      run.times.emplace_back(secondsOf(CLOCK_MONOTONIC) - began,
                             secondsOf(CLOCK_PROCESS_CPUTIME_ID) - used);
      if (!succeeds)
        run.findings = std::move(found);
      if (!succeeds || !fly::MemoryReserve::refill())
        break;
    }
  }
  left.finish();
  return run;
}

/// The one gpu.module that `op` is or holds.
Operation *gpuModuleOf(MlirOperation op) {
  Operation *operation = unwrap(op);
  if (isa<gpu::GPUModuleOp>(operation))
    return operation;
  SmallVector<Operation *> modules;
  for (Region &region : operation->getRegions())
    for (Operation &nested : region.getOps())
      if (isa<gpu::GPUModuleOp>(nested))
        modules.push_back(&nested);
  if (modules.size() != 1)
    throw nb::value_error(("expected a gpu.module, or an operation that holds one; found " +
                           std::to_string(modules.size()))
                              .c_str());
  return modules.front();
}

fly::CodeObject emitCodeObject(MlirOperation op, const std::string &chip, unsigned optLevel,
                               const std::string &features, bool fastMath, bool unsafeMath,
                               bool finiteOnly, bool flushDenormals, bool correctSqrt,
                               std::optional<std::pair<unsigned, unsigned>> wavesPerEu,
                               unsigned abiVersion, bool isa, bool llvmIr,
                               fly::EmitFormat format = fly::EmitFormat::CodeObject) {
  fly::CodeObjectOptions options;
  options.chip = chip;
  options.optLevel = optLevel;
  options.features = features;
  options.fastMath = fastMath;
  options.unsafeMath = unsafeMath;
  options.finiteOnly = finiteOnly;
  options.flushDenormals = flushDenormals;
  options.correctSqrt = correctSqrt;
  options.wavesPerEu = wavesPerEu;
  options.abiVersion = abiVersion;
  options.wantIsa = isa;
  options.wantLlvmIr = llvmIr;
  options.format = format;
  Operation *gpuModule = gpuModuleOf(op);
  return std::move(
      *emitOrThrow(gpuModule, [&] { return fly::emitCodeObject(gpuModule, options); }));
}

void bindResources(nb::module_ &m) {
  nb::class_<fly::KernelResources>(m, "KernelResources",
                                   "What one kernel uses, as the code generator reports it.")
      .def_ro("name", &fly::KernelResources::name)
      .def_ro("vgpr", &fly::KernelResources::vgpr, "Vector registers per lane.")
      .def_ro("agpr", &fly::KernelResources::agpr, "Accumulation registers per lane.")
      .def_ro("sgpr", &fly::KernelResources::sgpr, "Scalar registers per wave.")
      .def_ro("lds_bytes", &fly::KernelResources::ldsBytes, "Static LDS per workgroup.")
      .def_ro("scratch_bytes", &fly::KernelResources::scratchBytes, "Scratch memory per lane.")
      .def_ro("vgpr_spills", &fly::KernelResources::vgprSpills)
      .def_ro("sgpr_spills", &fly::KernelResources::sgprSpills)
      .def_ro("occupancy", &fly::KernelResources::occupancy, "Waves per SIMD that fit.")
      .def_ro("wave_size", &fly::KernelResources::waveSize)
      .def_ro("max_workgroup_size", &fly::KernelResources::maxWorkgroupSize)
      .def("__repr__", [](const fly::KernelResources &self) {
        std::string text;
        llvm::raw_string_ostream(text)
            << "KernelResources(name='" << self.name << "', vgpr=" << self.vgpr
            << ", agpr=" << self.agpr << ", sgpr=" << self.sgpr << ", lds_bytes=" << self.ldsBytes
            << ", scratch_bytes=" << self.scratchBytes << ", vgpr_spills=" << self.vgprSpills
            << ", sgpr_spills=" << self.sgprSpills << ", occupancy=" << self.occupancy << ")";
        return text;
      });

  nb::class_<fly::CodeObject>(m, "CodeObject", "A compiled gpu.module.")
      .def_prop_ro(
          "data",
          [](const fly::CodeObject &self) {
            return nb::bytes(self.bytes.data(), self.bytes.size());
          },
          "The linked ELF file.")
      .def_ro("kernels", &fly::CodeObject::kernels, "Resources of each kernel, by name.")
      .def_ro("isa", &fly::CodeObject::isa, "Assembly text, when it was asked for.")
      .def_ro("llvm_ir", &fly::CodeObject::llvmIr, "Optimised LLVM IR, when it was asked for.")
      .def_ro("warnings", &fly::CodeObject::warnings);

  nb::class_<fly::EmbeddedCodeObject>(m, "EmbeddedCodeObject", "A code object of a gpu.binary.")
      .def_ro("arch", &fly::EmbeddedCodeObject::arch)
      .def_prop_ro("data",
                   [](const fly::EmbeddedCodeObject &self) {
                     return nb::bytes(self.bytes.data(), self.bytes.size());
                   })
      .def_ro("kernels", &fly::EmbeddedCodeObject::kernels);
}

void bindPasses(nb::module_ &m) {
  nb::class_<Finding>(m, "Finding", "An error that a pass reported.")
      .def_ro("message", &Finding::message)
      .def_prop_ro("location", [](const Finding &self) { return self.location; })
      .def_ro("notes", &Finding::notes, "The texts of its notes.");

  nb::class_<PassRun>(m, "PassRun", "What became of pass managers that were run.")
      .def_ro("times", &PassRun::times,
              "Seconds of each that was run, by the clock and of processor time of the process.")
      .def_ro("findings", &PassRun::findings,
              "What the last of them reported as errors, where it failed; else None.");

  m.def("run_passes", &runPasses, "managers"_a, "op"_a,
        "Runs pass managers over an operation one after the other without the GIL: other threads "
        "of Python\n"
        "go on. It ends when one fails, or when memory gets short (refill_memory_reserve). Nothing "
        "inside\n"
        "of the operation may be held, and no other thread may look at it meanwhile.");
}

void bindPipeline(nb::module_ &m) {
  nb::class_<fly::PipelineStage>(m, "PipelineStage", "One step from a traced module to code.")
      .def_ro("name", &fly::PipelineStage::name, "The name that dumps and reports use.")
      .def_ro("text", &fly::PipelineStage::passes,
              "Its passes, as text of the pass manager for a builtin.module.")
      .def("__repr__", [](const fly::PipelineStage &self) {
        return "PipelineStage('" + self.name + "', '" + self.passes + "')";
      });

  m.def(
      "device_pipeline",
      [](const std::string &chip, int optLevel, bool fastMath, bool unsafeMath, bool ktrace,
         bool debugInfo, bool markUninitialised, const std::vector<std::string> &libraries) {
        fly::PipelineOptions options;
        options.chip = chip;
        options.optLevel = optLevel;
        options.fastMath = fastMath;
        options.unsafeMath = unsafeMath;
        options.ktrace = ktrace;
        options.debugInfo = debugInfo;
        options.markUninitialised = markUninitialised;
        options.libraries = libraries;
        return fly::devicePipeline(options);
      },
      nb::kw_only(), "chip"_a, "opt_level"_a = 2, "fast_math"_a = false, "unsafe_math"_a = false,
      "ktrace"_a = false, "debug_info"_a = false, "mark_uninitialised"_a = false,
      "libraries"_a = std::vector<std::string>(),
      "The stages of `fly-opt --fly-default-pipeline`: from a traced module to code objects (PTX "
      "for a "
      "chip like \"sm_90a\").");
}

void bindMemoryReserve(nb::module_ &m) {
  m.attr("MEMORY_RESERVE_BYTES") = fly::MemoryReserve::size;
  m.def("open_memory_reserve", &fly::MemoryReserve::open,
        "Has this thread hold memory for when there is no more, which calls of LLVM and MLIR on it "
        "then draw on;\n"
        "False where the system has none. Calls nest, each that returns True with "
        "close_memory_reserve.");
  m.def("close_memory_reserve", &fly::MemoryReserve::close, "Ends what open_memory_reserve began.");
  m.def("refill_memory_reserve", &fly::MemoryReserve::refill,
        "Takes back what was drawn of this thread's reserve; False where that cannot be had.");
}

} // namespace

NB_MODULE(_fly_emit, m) {
  m.doc() = "Lowers modules and emits AMD code objects and artifacts. Every failure is an "
            "EmitError with LLVM's or "
            "MLIR's text.";
  nb::exception<EmitError>(m, "EmitError", PyExc_RuntimeError); // NOLINT: registers the class
  bindResources(m);
  bindPasses(m);
  bindPipeline(m);
  bindMemoryReserve(m);

  m.def(
      "emit_code_object",
      [](MlirOperation op, const std::string &chip, unsigned optLevel, const std::string &features,
         bool fastMath, bool unsafeMath, bool finiteOnly, bool flushDenormals, bool correctSqrt,
         std::optional<std::pair<unsigned, unsigned>> wavesPerEu, unsigned abiVersion, bool isa,
         bool llvmIr) {
        return emitCodeObject(op, chip, optLevel, features, fastMath, unsafeMath, finiteOnly,
                              flushDenormals, correctSqrt, wavesPerEu, abiVersion, isa, llvmIr);
      },
      "op"_a, nb::kw_only(), "chip"_a, "opt_level"_a = 2, "features"_a = "", "fast_math"_a = false,
      "unsafe_math"_a = false, "finite_only"_a = false, "flush_denormals"_a = false,
      "correct_sqrt"_a = true, "waves_per_eu"_a = nb::none(), "abi_version"_a = 600,
      "isa"_a = false, "llvm_ir"_a = false,
      "Compiles a gpu.module in the LLVM and ROCDL dialects for one architecture (\"gfx942\").\n\n"
      "waves_per_eu is (minimum, maximum); maximum 0 is open. The GIL is released meanwhile.");

  m.def(
      "emit_ptx",
      [](MlirOperation op, const std::string &chip, unsigned optLevel, bool fastMath) {
        fly::PtxOptions options;
        options.chip = chip;
        options.optLevel = optLevel;
        options.fastMath = fastMath;
        options.wantLlvmIr = true;
        Operation *gpuModule = gpuModuleOf(op);
        fly::Ptx ptx =
            std::move(*emitOrThrow(gpuModule, [&] { return fly::emitPtx(gpuModule, options); }));
        return std::pair(ptx.text, ptx.llvmIr);
      },
      "op"_a, nb::kw_only(), "chip"_a, "opt_level"_a = 2, "fast_math"_a = false,
      "Compiles a gpu.module in the LLVM and NVVM dialects for one architecture (\"sm_90a\"), and "
      "returns\n"
      "its PTX and the optimised LLVM IR.");

  m.def(
      "isa_text",
      [](MlirOperation op, const std::string &chip, unsigned optLevel,
         const std::string &features) {
        fly::CodeObject object =
            emitCodeObject(op, chip, optLevel, features, /*fastMath=*/false, /*unsafeMath=*/false,
                           /*finiteOnly=*/false, /*flushDenormals=*/false, /*correctSqrt=*/true,
                           /*wavesPerEu=*/std::nullopt, /*abiVersion=*/600, /*isa=*/false,
                           /*llvmIr=*/false, fly::EmitFormat::Assembly);
        return std::string(object.bytes.begin(), object.bytes.end());
      },
      "op"_a, nb::kw_only(), "chip"_a, "opt_level"_a = 2, "features"_a = "",
      "The assembly text of a gpu.module for one architecture.");

  m.def(
      "code_objects",
      [](MlirModule module) {
        ModuleOp op = unwrap(module);
        return std::move(*emitOrThrow(op, [&] { return fly::readCodeObjects(op); }));
      },
      "module"_a,
      "The code objects that gpu-module-to-binary put into the module, with their kernels' "
      "resources.");

  m.def(
      "missing_instruction",
      [](const std::string &operation,
         const std::string &chip) -> std::optional<std::pair<std::string, std::string>> {
        std::optional<fly::MissingInstruction> missing = fly::findMissing(operation, chip);
        if (!missing)
          return std::nullopt;
        return std::pair(missing->needs, missing->instead);
      },
      "operation"_a, "chip"_a,
      "What has the instruction of an operation (\"rocdl.mfma. ...\") or intrinsic "
      "(\"llvm.amdgcn. ...\") that the chip lacks, and what the chip has instead (\"\" where it "
      "has "
      "nothing); None where it is not known to lack it.");
  m.def(
      "instruction_table",
      [] {
        std::vector<std::pair<std::string, std::string>> rows;
        for (const fly::InstructionNeeds &row : fly::instructionTable())
          rows.emplace_back(row.name, row.features);
        return rows;
      },
      "What missing_instruction knows: how names of instructions begin, and the LLVM features "
      "that a chip needs for them.");
  // The compiler's context manager for LLVM options is built on these two.
  m.def(
      "push_llvm_option",
      [](const std::string &name, const std::string &text) {
        if (llvm::Error error = fly::pushLLVMOption(name, text))
          throw std::runtime_error(llvm::toString(std::move(error)));
      },
      "name"_a, "text"_a,
      "Gives an LLVM command line option a value, process-wide, until the matching "
      "pop_llvm_option.");
  m.def(
      "pop_llvm_option",
      [](const std::string &name) {
        if (llvm::Error error = fly::popLLVMOption(name))
          throw std::runtime_error(llvm::toString(std::move(error)));
      },
      "name"_a, "Undoes the last push_llvm_option of this option.");

  m.def(
      "emit_artifact",
      [](MlirModule module, const std::string &entry, const std::string &name,
         const std::string &note, const std::string &outputPath, const std::string &hostTriple,
         const std::string &hostCpu, unsigned optLevel) {
        fly::ArtifactOptions options;
        options.entry = entry;
        options.name = name;
        options.note = note;
        options.outputPath = outputPath;
        options.hostTriple = hostTriple;
        options.hostCpu = hostCpu;
        options.optLevel = optLevel;
        ModuleOp op = unwrap(module);
        (void)emitOrThrow(op, [&] { return fly::emitArtifact(op, options); });
      },
      "module"_a, nb::kw_only(), "entry"_a, "name"_a, "note"_a, "output_path"_a,
      "host_triple"_a = fly::ArtifactOptions().hostTriple,
      "host_cpu"_a = fly::ArtifactOptions().hostCpu, "opt_level"_a = 2,
      "Compiles the host functions of a lowered module and links them with its code objects into "
      "the\n"
      "shared object output_path, as docs/artifact.md defines it. note is the JSON text to embed.");
}
