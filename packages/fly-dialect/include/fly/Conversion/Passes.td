// SPDX-License-Identifier: Apache-2.0
//
// Conversions out of the fly dialects.

#ifndef FLY_CONVERSION_PASSES_TD
#define FLY_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertFlyToROCDLPass : Pass<"convert-fly-to-rocdl"> {
  let summary = "Lower pointers, atoms and atom calls to the LLVM and ROCDL dialects";
  let description = [{
    Expects what fly-layout-lowering leaves: pointer ops, views, atoms and atom calls. Pointers become LLVM pointers
    (buffer pointers a resource and an element offset), atoms their run-time state, and atom calls memory accesses and
    ROCDL intrinsics. Function signatures and launches are converted along.

    A universal copy promises the natural alignment of what it moves. With exact-alignment, loads from global memory whose
    type proves less than 4 bytes say so: scalar loads of the hardware drop the lowest bits of an address.
  }];
  let options = [Option<"exactAlignment", "exact-alignment", "bool", "false",
                        "Give loads of universal copies from global memory an alignment below 4 that their types prove">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertFlyToNVVMPass : Pass<"convert-fly-to-nvvm"> {
  let summary = "Lower pointers, atoms and atom calls to the LLVM and NVVM dialects";
  let description = [{
    For NVIDIA GPUs what convert-fly-to-rocdl is for AMD's, and the same code where the two agree: pointers, universal
    atoms, shared memory, signatures and launches. Register memory is addressed by generic pointers, static shared memory
    is internal to the module, and scopes of atomic operations are NVPTX's ("agent" is "device", "workgroup" "block").

    Every access of an atom has the natural alignment that atoms promise; the hardware has no other.

    `gpu.shuffle` of any width and type becomes `nvvm.shfl.sync` of 32-bit words, in which a lane names the lanes of its
    own group. Operations, atoms and address spaces of AMD's are errors that say what there is instead.

    Products of warpgroups are inline assembly that takes and gives their accumulators, with descriptors computed from
    the layouts of their tiles; products one behind the other on the same sums share one piece of it. Tensor maps are
    encoded by the runtime in the host function and cross launches by value.

    Chains of slices of vectors, which fragments that lie apart in registers are read and written by, become one
    `vector.shuffle` or `vector.from_elements` first, where one does: what stands behind has to look at less.
  }];
  let options = [Option<"chip", "chip", "std::string", [{"sm_90a"}], "the target's architecture, for errors">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::fly::nvvm::FlyNVVMDialect", "::mlir::vector::VectorDialect"];
}

def FlyNVVMKernelParametersPass : Pass<"fly-nvvm-kernel-parameters", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Pass tensor maps in place, and say what changes of registers need";
  let description = [{
    Runs behind convert-gpu-to-nvvm. A parameter of which `fly_nvvm.tensor_map_address` takes the address becomes a
    pointer to 128 bytes by value, at multiples of 64, that nobody writes (`nvvm.grid_constant`): the copy engine reads
    it among the parameters. A kernel that has `nvvm.setmaxregister` says that one block is enough for a multiprocessor;
    it must have a constant block size.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def ConvertFlyKtraceToROCDLPass : Pass<"convert-fly-ktrace-to-rocdl", "::mlir::ModuleOp"> {
  let summary = "Lower events of kernels to stores to a trace buffer";
  let description = [{
    The buffer is the last argument of every kernel that records events, a `!fly.ptr` to global memory, zeroed before the
    launch. It is made of 32-byte slots. Byte 4 counts launches, byte 256 waves; from slot 16 on, each wave has 256 slots.
    The first of them describes the wave: number of events, block z << 8 | wave in block, dispatch id (2 words), queue
    pointer (2 words), block x, block y. Each of the others is an event: time (2 words, s_memrealtime), payload (2 words),
    HW_ID, XCC_ID, tag, and the token of a `range_stop`, which is the number of the slot of its start. A tag is: payload
    present (bit 31), payload's type (30:27: uint64 0, int64 1, float32 2, float64 3, bool 4), kind (26:24: mark 0, push 1,
    pop 2, start 3, stop 4), id of the name (23:0). Events that find no slot are counted and dropped.

    Lanes of a wave that take different branches of an `scf.if` record one branch after the other.

    Attributes of the module:

    - `fly_ktrace.event_names` is written: a dictionary of names and ids from 1. Names of `fly_ktrace.known_event_names`
      keep theirs.
    - `fly_ktrace.capacity_slots`: slots of the buffer less one, by default those of 64 MiB.
    - `fly_ktrace.partitions`: a power of two P, by default 1. Waves are counted at bytes 256, 512, ..., 256 P, and slots
      of waves begin at 8 (P + 1); the wave that counter p counted n waves before has run n P + p.
    - `fly_ktrace.blocks`: "x,y,z" records one block only, "xcc:N" one XCC, "all" everything.
    - `fly_ktrace.chip`: the chip of gpu.modules without a ROCDL target. Only gfx942 and gfx950 can be traced.
  }];
  let options = [Option<"chip", "chip", "std::string", [{""}],
                        "the chip, where neither a target nor fly_ktrace.chip names one">];
  let dependentDialects = ["::fly::FlyDialect", "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertROCDLFastmathOpsPass : Pass<"convert-rocdl-fastmath-ops"> {
  let summary = "Use the hardware's approximations where fast math allows them";
  let description = [{
    `math.exp2` with `afn` on f32, or on vectors of it, becomes `rocdl.exp2` per lane. Without this pass it becomes
    `llvm.intr.exp2`, which spends four more instructions on denormals.
  }];
  let dependentDialects = ["::mlir::ROCDL::ROCDLDialect", "::mlir::vector::VectorDialect"];
}

def FlyMathToLLVMPass : Pass<"fly-math-to-llvm"> {
  let summary = "Lower math functions without a device library";
  let description = [{
    Runs before convert-gpu-to-rocdl, which would turn them into calls of ROCm's device library. 16-bit floats are
    computed in f32, within a few units of the last place for all arguments: trigonometric and hyperbolic functions,
    roots and powers by the pass's own algorithms, error functions and acos by MLIR's polynomials; what is left becomes
    LLVM intrinsics. `powf` of f32 with `afn` is exp(y log x), without it f64. sin, cos and tan branch where
    |x| >= 2^16 (f64: 2^22). No table is kept in memory. f64 has algorithms of its own,
    partly in double-double arithmetic, within 3 units of the last place. erf and erfc of f64 are an error: neither the
    pass nor the backend has them.

    For NVIDIA GPUs (`chip`), whose back end has fewer functions, exp and exp2 of f32 use `ex2.approx`, with `afn` as it
    is, and logarithms of f32 are MLIR's polynomials. There it runs before convert-gpu-to-nvvm, for the same reason.
  }];
  let options = [Option<"chip", "chip", "std::string", [{"gfx942"}], "the target's architecture">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def FlyDefineIntegerDivisionPass : Pass<"fly-define-integer-division"> {
  let summary = "Give integer division by zero a result";
  let description = [{
    LLVM concludes from a division that the divisor is not zero, and drops what the program does for that case: of
    `select(b != 0, a / b, 0)` it keeps the division alone, and a quotient that nobody reads removes checks elsewhere.
    On the host the division ends the process, and so does that of the smallest number by -1. A divisor that may be
    zero, or -1 where the quotient does not fit on the host, is replaced by 1; constants stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FlyExpandArithPass : Pass<"fly-expand-arith"> {
  let summary = "Expand floating-point arithmetic that the later lowering lacks";
  let description = [{
    Conversions from and to floats of 8 bits and less become instructions where the chip has them for the encoding, and
    integer arithmetic elsewhere; both round to nearest even. What overflows becomes infinity where the encoding has
    one, NaN where it has that, and the largest number in fp6 and fp4, which have neither. All other arithmetic on them
    is done in f32 and rounded. `arith.remf` becomes C's fmod, exactly. Conversions of floats to integers of less than 32
    bits go by way of i32: a lane that holds no such number leaves the other lanes of a vector alone. Runs on device code while it has structured control flow.
  }];
  let options = [Option<"chip", "chip", "std::string", [{"gfx942"}], "the target's architecture">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def FlySCFToControlFlowPass : Pass<"fly-scf-to-cf"> {
  let summary = "Lower structured control flow in time linear in the length of blocks";
  let description = [{
    Gives what convert-scf-to-cf gives, by the same patterns. That pass moves all that follows an op, for each op, and
    keeps a record of each move: 20,000 unrolled branches took a minute and gigabytes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // FLY_CONVERSION_PASSES_TD
