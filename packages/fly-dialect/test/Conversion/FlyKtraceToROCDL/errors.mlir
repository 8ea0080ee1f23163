// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-ktrace-to-rocdl --split-input-file --verify-diagnostics

// expected-error @+1 {{ktrace: cannot tell whether waves can read the time}}
gpu.module @no_chip {
  gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
    fly_ktrace.mark "a"
    gpu.return
  }
}

// -----

// expected-error @+1 {{ktrace: events cannot be recorded on 'gfx1201', only on gfx942 and gfx950}}
gpu.module @chip [#rocdl.target<chip = "gfx942">, #rocdl.target<chip = "gfx1201">] {
  gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
    fly_ktrace.mark "a"
    gpu.return
  }
}

// -----

gpu.module @m [#rocdl.target<chip = "gfx942">] {
  // expected-error @+1 {{ktrace: the kernel records events, but has no arguments, and so no trace buffer}}
  gpu.func @no_arguments() kernel {
    fly_ktrace.mark "a"
    gpu.return
  }
}

// -----

gpu.module @m [#rocdl.target<chip = "gfx942">] {
  // expected-error @+1 {{must be the trace buffer, a !fly.ptr to global memory; got 'i64'}}
  gpu.func @not_last(%buffer: !fly.ptr<i8, global>, %n: i64) kernel {
    fly_ktrace.mark "a"
    gpu.return
  }
}

// -----

gpu.module @m [#rocdl.target<chip = "gfx942">] {
  // expected-error @+1 {{must be the trace buffer, a !fly.ptr to global memory; got '!fly.ptr<i8, shared>'}}
  gpu.func @shared(%buffer: !fly.ptr<i8, shared>) kernel {
    fly_ktrace.mark "a"
    gpu.return
  }
}

// -----

gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @helper(%buffer: !fly.ptr<i8, global>) {
    // expected-error @+1 {{ktrace: only a kernel can record events}}
    fly_ktrace.mark "a"
    gpu.return
  }
}

// -----

func.func @host() {
  // expected-error @+1 {{ktrace: only a kernel can record events}}
  fly_ktrace.range_pop
  return
}

// -----

gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @payload(%n: i64, %buffer: !fly.ptr<i8, global>) kernel {
    // expected-error @+1 {{ktrace: unsupported payload_type int8; use uint64, int64, float32, float64 or bool}}
    fly_ktrace.mark "a" payload %n : i64 {payload_type = "int8"}
    gpu.return
  }
}

// -----

gpu.module @m [#rocdl.target<chip = "gfx942">] {
  // expected-error @+1 {{ktrace: a kernel cannot take a token: no range crosses launches}}
  gpu.func @token(%token: !fly_ktrace.token, %buffer: !fly.ptr<i8, global>) kernel {
    fly_ktrace.range_stop %token, "s" : !fly_ktrace.token
    gpu.return
  }
}

// -----

gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @cast(%buffer: !fly.ptr<i8, global>) kernel {
    %t = fly_ktrace.range_start "s" -> !fly_ktrace.token
    // expected-error @+1 {{ktrace: a token can go through control flow, arith.select and fly_ktrace.range_stop only}}
    %n = builtin.unrealized_conversion_cast %t : !fly_ktrace.token to i32
    gpu.return
  }
}

// -----

// expected-error @+1 {{ktrace: fly_ktrace.partitions must be a power of two, got 3}}
module attributes {fly_ktrace.partitions = 3 : i32} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// expected-error @+1 {{ktrace: fly_ktrace.partitions must be an integer, got "all"}}
module attributes {fly_ktrace.partitions = "all"} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// expected-error @+1 {{ktrace: a trace buffer of 8672 bytes has no room for 1 partitions and one wave}}
module attributes {fly_ktrace.capacity_slots = 270 : i64} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// expected-error @+1 {{ktrace: fly_ktrace.capacity_slots must be from 0 to 67108863 slots of 32 bytes, got 99999999999}}
module attributes {fly_ktrace.capacity_slots = 99999999999 : i64} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// expected-error @+1 {{ktrace: fly_ktrace.blocks must be "x,y,z" (block coordinates), "xcc:N" (N from 0 to 15) or "all", got "1,2"}}
module attributes {fly_ktrace.blocks = "1,2"} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// expected-error @+1 {{or "all", got "xcc:16"}}
module attributes {fly_ktrace.blocks = "xcc:16"} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// expected-error @+1 {{ktrace: fly_ktrace.known_event_names must map names to ids from 1 to 16777215, each to its own}}
module attributes {fly_ktrace.known_event_names = {a = 2 : i32, b = 2 : i32}} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}
