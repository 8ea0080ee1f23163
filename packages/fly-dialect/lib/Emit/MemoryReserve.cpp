// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/MemoryReserve.h"
#include "fly/Emit/CrashGuard.h"

#include "llvm/Support/Compiler.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

using namespace fly;

namespace {

/// malloc takes a mebibyte from the system where its heap cannot grow, and new arenas more.
constexpr std::size_t pieceSize = std::size_t(4) << 20;

/// Maps memory that nothing is written to; null where there is none.
char *take() {
  void *taken = ::mmap(nullptr, MemoryReserve::size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return taken == MAP_FAILED ? nullptr : static_cast<char *>(taken);
}

/// The reserve of one thread. Nothing is destroyed with the thread: who opens it closes it.
struct Reserve {
  char *start = nullptr;
  std::size_t held = 0; ///< Bytes from `start` on.
  unsigned depth = 0;   ///< How often it is open.

  bool fill() {
    if (held == MemoryReserve::size)
      return true;
    char *taken = take();
    giveBack(held); // There may be room for all of it now.
    if (!taken && !(taken = take()))
      return false;
    start = taken;
    held = MemoryReserve::size;
    return true;
  }

  /// Gives the last `bytes` back.
  void giveBack(std::size_t bytes) {
    held -= bytes;
    if (bytes)
      ::munmap(start + held, bytes);
  }
};

/// Where a thread has its reserve. It is looked at where there is no memory, so it may not be a
/// thread_local that is allocated at the first look. One that is not (tls_model "initial-exec")
/// would make all such variables of this library, LLVM's among them, take room that a process sets
/// aside when it begins, of which a static build wants more than there is.
pthread_key_t key;
std::atomic<bool> keyIsThere = false;

/// The reserve of this thread; null where it has none.
Reserve *reserve() {
  if (!keyIsThere.load(std::memory_order_acquire))
    return nullptr;
  return static_cast<Reserve *>(::pthread_getspecific(key));
}

/// The reserve of this thread, made if it has none; null if there is no memory for it.
Reserve *makeReserve() {
  static std::once_flag once;
  std::call_once(once, [] { keyIsThere = ::pthread_key_create(&key, nullptr) == 0; });
  if (Reserve *found = reserve())
    return found;
  void *made = keyIsThere ? std::malloc(sizeof(Reserve)) : nullptr;
  if (!made)
    return nullptr;
  Reserve *fresh = new (made) Reserve;
  if (::pthread_setspecific(key, fresh) == 0)
    return fresh;
  std::free(fresh);
  return nullptr;
}

/// Takes the reserve of this thread away, which nobody has open.
void dropReserve(Reserve *mine) {
  mine->giveBack(mine->held);
  ::pthread_setspecific(key, nullptr);
  std::free(mine);
}

/// Tries an allocation again while the reserve has something. A request that is larger than all of
/// it would only empty it.
template <typename Allocate> void *allocateFromReserve(std::size_t size, Allocate allocate) {
  while (size <= MemoryReserve::size && MemoryReserve::draw())
    if (void *found = allocate())
      return found;
  leaveForWantOfMemory();
  return nullptr;
}

/// What `operator new` did before; null for raising std::bad_alloc.
std::new_handler previousNewHandler = nullptr;

/// `operator new` comes here, and tries again after it. LLVM is compiled without exceptions: one
/// that passes through it may find nobody who catches it.
void onNewFailure() {
  if (MemoryReserve::draw())
    return;
  leaveForWantOfMemory();
  if (!previousNewHandler)
    throw std::bad_alloc();
  previousNewHandler();
}

} // namespace

void fly::handleNewFailures() {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (std::new_handler handler = std::get_new_handler(); handler != onNewFailure) {
    previousNewHandler = handler;
    std::set_new_handler(onNewFailure);
  }
}

bool MemoryReserve::open() {
  handleNewFailures();
#ifndef FLY_STATIC
  reserveForSharedLibraries();
#endif
  Reserve *mine = makeReserve();
  if (!mine)
    return false;
  if (mine->fill()) {
    ++mine->depth;
    return true;
  }
  if (mine->depth == 0)
    dropReserve(mine);
  return false;
}

void MemoryReserve::close() {
  Reserve *mine = reserve();
  if (mine && --mine->depth == 0)
    dropReserve(mine);
}

bool MemoryReserve::refill() {
  Reserve *mine = reserve();
  return !mine || mine->fill();
}

bool MemoryReserve::draw() {
  Reserve *mine = reserve();
  if (!mine || mine->held == 0)
    return false;
  mine->giveBack(pieceSize);
  return true;
}

// The linker has these called in the place of the C library's (--wrap). A caller that asked for
// nothing may get null, and what was too large to multiply is too large.
extern "C" {
void *__real_malloc(std::size_t size);
void *__real_calloc(std::size_t count, std::size_t size);
void *__real_realloc(void *old, std::size_t size);
char *__real_strdup(const char *text);

void *__wrap_malloc(std::size_t size) {
  void *found = __real_malloc(size);
  if (LLVM_LIKELY(found))
    return found;
  return allocateFromReserve(size, [&] { return __real_malloc(size); });
}

void *__wrap_calloc(std::size_t count, std::size_t size) {
  void *found = __real_calloc(count, size);
  if (LLVM_LIKELY(found))
    return found;
  std::size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    bytes = MemoryReserve::size + 1;
  return allocateFromReserve(bytes, [&] { return __real_calloc(count, size); });
}

void *__wrap_realloc(void *old, std::size_t size) {
  void *found = __real_realloc(old, size);
  if (LLVM_LIKELY(found) || (old && size == 0)) // which frees it
    return found;
  return allocateFromReserve(size, [&] { return __real_realloc(old, size); });
}

char *__wrap_strdup(const char *text) {
  char *found = __real_strdup(text);
  if (LLVM_LIKELY(found))
    return found;
  return static_cast<char *>(
      allocateFromReserve(1, [&] { return static_cast<void *>(__real_strdup(text)); }));
}
} // extern "C"
