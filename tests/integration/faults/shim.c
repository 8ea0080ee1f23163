/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the n-th file operation, allocation or new thread of a process fail. Preloaded
 * (LD_PRELOAD); inject.py arms it. Nothing fails unless it is armed, and standard input, output and
 * error never do.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, FILES, DISK, MEMORY, THREADS, HIP };

static atomic_int armed, fired;
static atomic_long seen;
static long target;
static int persistent, failure;
/* MEMORY: the code whose allocations fail */
enum { MOST_LIBRARIES = 16 };
static struct {
  uintptr_t low, high;
} libraries[MOST_LIBRARIES];
static int library_count;

/* Whether this operation is the one that fails. */
int fault_hits(int kind) {
  if (atomic_load(&armed) != kind)
    return 0;
  const long number = atomic_fetch_add(&seen, 1) + 1;
  if (persistent ? number < target : number != target)
    return 0;
  atomic_store(&fired, 1);
  errno = failure;
  return 1;
}

/* The n-th operation of a kind fails with an errno; with `from_then_on`, so do all after it. */
void fault_arm(int kind, long n, int error, int from_then_on) {
  atomic_store(&armed, NONE);
  atomic_store(&fired, 0);
  atomic_store(&seen, 0);
  target = n;
  failure = error;
  persistent = from_then_on;
  atomic_store(&armed, kind);
}

/* Ends it; whether anything failed. */
int fault_disarm(void) {
  atomic_store(&armed, NONE);
  return atomic_load(&fired);
}

/* How many operations of the kind there have been since it was armed. */
long fault_seen(void) { return atomic_load(&seen); }

static int find_library(struct dl_phdr_info *info, size_t size, void *name) {
  (void)size;
  if (strstr(info->dlpi_name, name) == NULL)
    return 0;
  for (int index = 0; index < info->dlpi_phnum; ++index) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
        library_count < MOST_LIBRARIES) {
      libraries[library_count].low = info->dlpi_addr + segment->p_vaddr;
      libraries[library_count].high = libraries[library_count].low + segment->p_memsz;
      ++library_count;
    }
  }
  return 1;
}

/* Allocations of this loaded library fail, too; whether there is one. */
int fault_library(const char *name) { return dl_iterate_phdr(find_library, (void *)name); }

#define REAL(name)                                                                                 \
  static __typeof__(&name) real;                                                                   \
  if (real == NULL)                                                                                \
  *(void **)&real = dlsym(RTLD_NEXT, #name)

/* An operation that a full disk makes fail, and any other one. */
#define WRITES() (fault_hits(FILES) || fault_hits(DISK))
#define READS() fault_hits(FILES)

#define OPEN(name, first, ...)                                                                     \
  int name(first __VA_ARGS__, int flags, ...) {                                                    \
    mode_t mode = 0;                                                                               \
    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {                                                    \
      va_list more;                                                                                \
      va_start(more, flags);                                                                       \
      mode = va_arg(more, mode_t);                                                                 \
      va_end(more);                                                                                \
    }
OPEN(open, const char *path)
REAL(open);
return ((flags & O_CREAT) != 0 ? WRITES() : READS()) ? -1 : real(path, flags, mode);
}
OPEN(open64, const char *path)
REAL(open64);
return ((flags & O_CREAT) != 0 ? WRITES() : READS()) ? -1 : real(path, flags, mode);
}
OPEN(openat, int folder, , const char *path)
REAL(openat);
return ((flags & O_CREAT) != 0 ? WRITES() : READS()) ? -1 : real(folder, path, flags, mode);
}
OPEN(openat64, int folder, , const char *path)
REAL(openat64);
return ((flags & O_CREAT) != 0 ? WRITES() : READS()) ? -1 : real(folder, path, flags, mode);
}

#define WRAP(result, name, parameters, arguments, condition)                                       \
  result name parameters {                                                                         \
    REAL(name);                                                                                    \
    return (condition) ? (result) - 1 : real arguments;                                            \
  }
WRAP(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), fd > 2 && READS())
WRAP(ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), READS())
WRAP(ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), READS())
WRAP(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size), fd > 2 && WRITES())
WRAP(ssize_t, writev, (int fd, const struct iovec *from, int count), (fd, from, count),
     fd > 2 && WRITES())
WRAP(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at),
     WRITES())
WRAP(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at),
     WRITES())
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), WRITES())
WRAP(int, ftruncate64, (int fd, off64_t size), (fd, size), WRITES())
WRAP(int, rename, (const char *from, const char *to), (from, to), WRITES())
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), WRITES())
WRAP(int, link, (const char *from, const char *to), (from, to), WRITES())
WRAP(int, unlink, (const char *path), (path), READS())
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), WRITES())
WRAP(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), WRITES())
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), READS())
WRAP(int, flock, (int fd, int operation), (fd, operation), READS())
WRAP(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset), fd > 2 && READS())
WRAP(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off64_t offset),
     (at, size, protection, flags, fd, offset), fd > 2 && READS())

/* What succeeds is not waited for: no power fails here, and a slow disk would take minutes. */
int fsync(int fd) {
  (void)fd;
  return WRITES() ? -1 : 0;
}
int fdatasync(int fd) {
  (void)fd;
  return WRITES() ? -1 : 0;
}

/* They return the error instead of setting errno. */
int posix_fallocate(int fd, off_t at, off_t size) {
  REAL(posix_fallocate);
  return WRITES() ? failure : real(fd, at, size);
}
int posix_fallocate64(int fd, off64_t at, off64_t size) {
  REAL(posix_fallocate64);
  return WRITES() ? failure : real(fd, at, size);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
  REAL(pthread_create);
  return fault_hits(THREADS) ? EAGAIN : real(thread, attributes, start, argument);
}

/* glibc's own names: dlsym would allocate. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* The C++ library is in the middle of an `operator new` that fails. */
static __thread int starving;

static int starved(const void *caller) {
  if (atomic_load(&armed) != MEMORY)
    return 0;
  if (starving) {
    starving = 0; /* once: what handles the failure allocates, too */
    return 1;
  }
  const uintptr_t at = (uintptr_t)caller;
  for (int index = 0; index < library_count; ++index)
    if (at >= libraries[index].low && at < libraries[index].high)
      return fault_hits(MEMORY);
  return 0;
}
#define STARVED() starved(__builtin_return_address(0))

void *malloc(size_t size) { return STARVED() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return STARVED() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return STARVED() ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) {
  return STARVED() ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **into, size_t alignment, size_t size) {
  void *found = STARVED() ? NULL : __libc_memalign(alignment, size);
  if (found == NULL)
    return ENOMEM;
  *into = found;
  return 0;
}

/* `operator new` of the C++ library: who calls it is known here, and its own malloc is what fails,
   so that it does what it does then (the new handler, std::bad_alloc or null). */
#define NEW(name, parameters, arguments)                                                           \
  void *name parameters {                                                                          \
    static void *(*real)parameters;                                                                \
    if (real == NULL)                                                                              \
      *(void **)&real = dlsym(RTLD_NEXT, #name);                                                   \
    starving = STARVED();                                                                          \
    return real arguments;                                                                         \
  }
NEW(_Znwm, (size_t size), (size))
NEW(_Znam, (size_t size), (size))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size, tag))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size, tag))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag),
    (size, alignment, tag))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag),
    (size, alignment, tag))
