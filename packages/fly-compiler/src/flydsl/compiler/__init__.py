# SPDX-License-Identifier: Apache-2.0
"""The front end: `import flydsl.compiler as flyc`.

`@flyc.kernel` makes a device entry, `@flyc.jit` the host function that launches kernels, `flyc.compile` compiles ahead
of the first call, `flyc.from_dlpack` wraps a tensor with a layout of the caller's choice.
"""

from flydsl.call import excepthook as _excepthook
from flydsl.call import ktrace as _ktrace
from flydsl.call.arguments import JitArgumentRegistry, from_c_void_p, from_dlpack, from_torch_tensor
from flydsl.call.compiled_function import CompiledFunction, compile
from flydsl.compile.report import CompilationReport, compilation_reports

from . import llvm_options as llvm_options
from .backends import BaseBackend, GPUTarget, compile_backend_name, get_backend, register_backend
from .diagnostics import DSLCompileError
from .jit_function import JitFunction, jit
from .kernel_function import CompilationContext, KernelFunction, kernel

_excepthook.install()
_ktrace.install()

__all__ = [
    "BaseBackend",
    "CompilationContext",
    "CompilationReport",
    "CompiledFunction",
    "DSLCompileError",
    "GPUTarget",
    "JitArgumentRegistry",
    "JitFunction",
    "KernelFunction",
    "compilation_reports",
    "compile",
    "compile_backend_name",
    "from_c_void_p",
    "from_dlpack",
    "from_torch_tensor",
    "get_backend",
    "jit",
    "kernel",
    "register_backend",
]
