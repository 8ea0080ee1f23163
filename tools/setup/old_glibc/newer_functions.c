// SPDX-License-Identifier: Apache-2.0
// What this machine's libstdc++ and libgcc take from a glibc that is newer than the one that a
// release is linked for. It is linked into every native library of a release; nothing of it is
// exported.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32. "There may be more than one thread" is always a right answer.
HIDDEN char __libc_single_threaded = 0;

// glibc 2.36, for std::random_device.
HIDDEN uint32_t arc4random(void) {
  uint32_t value;
  ssize_t got;
  do
    got = getrandom(&value, sizeof value, 0);
  while (got == -1 && errno == EINTR);
  if (got != (ssize_t)sizeof value)
    abort(); // as glibc's does
  return value;
}

// glibc 2.33, for LLVM's statistics of memory.
HIDDEN struct mallinfo2 mallinfo2(void) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo old = mallinfo(); // counts wrap at 4 GB
#pragma clang diagnostic pop
  return (struct mallinfo2){.arena = (unsigned)old.arena,
                            .ordblks = (unsigned)old.ordblks,
                            .smblks = (unsigned)old.smblks,
                            .hblks = (unsigned)old.hblks,
                            .hblkhd = (unsigned)old.hblkhd,
                            .usmblks = (unsigned)old.usmblks,
                            .fsmblks = (unsigned)old.fsmblks,
                            .uordblks = (unsigned)old.uordblks,
                            .fordblks = (unsigned)old.fordblks,
                            .keepcost = (unsigned)old.keepcost};
}

// glibc 2.35, for the unwinder: the object that an address of code lies in, and its table of
// frames.
struct search {
  uintptr_t address;
  struct dl_find_object *found;
};

static int look(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  struct search *search = data;
  const ElfW(Phdr) *frames = NULL;
  uintptr_t low = 0, high = 0;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME)
      frames = part;
    else if (part->p_type == PT_LOAD && search->address >= begin &&
             search->address - begin < part->p_memsz)
      low = begin, high = begin + part->p_memsz;
  }
  if (high == 0)
    return 0;
  if (frames == NULL)
    return -1;
  search->found->dlfo_flags = 0;
  search->found->dlfo_map_start = (void *)low; // NOLINT(performance-no-int-to-ptr)
  search->found->dlfo_map_end = (void *)high;  // NOLINT(performance-no-int-to-ptr)
  search->found->dlfo_link_map = NULL;         // the unwinder does not ask for it
  search->found->dlfo_eh_frame =
      (void *)(object->dlpi_addr + frames->p_vaddr); // NOLINT(performance-no-int-to-ptr)
  return 1;
}

HIDDEN int _dl_find_object(void *address, struct dl_find_object *found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}
