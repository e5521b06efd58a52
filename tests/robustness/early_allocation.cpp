// SPDX-License-Identifier: Apache-2.0
// Memory that dlsym() allocates when libchorale-soft.so, which is preloaded, looks up the functions of the C
// library by it. Ends with status 0 if all of it could be used.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <malloc.h>
#include <stdlib.h>

namespace {

bool is_right = true;
int look_ups = 0;

/// Uses a block, as the dynamic linker may.
void use(void* block, std::size_t alignment, std::size_t bytes) {
  if (block == nullptr || reinterpret_cast<std::uintptr_t>(block) % alignment != 0 ||
      malloc_usable_size(block) < bytes) {
    is_right = false;
    return;
  }
  std::memset(block, 77, bytes);
  auto* const grown = static_cast<unsigned char*>(realloc(block, 2 * bytes + 5000));
  is_right = is_right && grown != nullptr && grown[0] == 77 && grown[bytes - 1] == 77;
  free(grown);
}

void use_all() {
  use(memalign(64, 100), 64, 100);
  use(aligned_alloc(128, 256), 128, 256);
  void* block = nullptr;
  is_right = posix_memalign(&block, 256, 10) == 0 && is_right;
  use(block, 256, 10);
  use(valloc(10), 4096, 10);
  use(pvalloc(10), 4096, 10);
  use(realloc(nullptr, 10), 1, 10);
  use(malloc(10), 1, 10);
}

}  // namespace

/// Replaces that of the C library, and asks it after having allocated.
extern "C" void* dlsym(void*, const char* name) noexcept {
  static bool is_within = false;
  if (!is_within) {
    is_within = true;
    ++look_ups;
    use_all();
    is_within = false;
  }
  void* const library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
    if (found == nullptr) found = dlvsym(library, "dlsym", version);
  return found == nullptr ? nullptr : reinterpret_cast<void* (*)(void*, const char*)>(found)(library, name);
}

int main() {
  use_all();
  use_all();
  std::printf("%d look-ups: %s\n", look_ups, is_right ? "right" : "WRONG");
  return is_right && look_ups > 0 ? 0 : 1;
}
