// SPDX-License-Identifier: Apache-2.0
// Loads a plug-in that uses Chorale, and unloads it, several times, from several threads.
// Usage: plugin_user PLUGIN [LIBCHORALE]
//
// LIBCHORALE is loaded first; the plug-in must then be gone after each dlclose(). Otherwise the dynamic
// linker binds libchorale, which is never unloaded, to the plug-in's copies of inline functions, and
// therefore keeps the plug-in.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

/// Prints what is wrong.
bool require(bool is_so, const char* what) {
  if (!is_so) std::printf("%s\n", what);
  return is_so;
}

bool use(const char* plugin, bool keeps, bool stays) {
  void* const loaded = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return require(false, dlerror());
  bool is_over = false;
  bool is_right = false;
  if (keeps) {
    const auto function = reinterpret_cast<bool (*)(bool*)>(dlsym(loaded, "keep_chorale"));
    is_right = require(function != nullptr && function(&is_over), "keep_chorale() fails");
  } else {
    const auto function = reinterpret_cast<bool (*)()>(dlsym(loaded, "use_chorale"));
    is_right = require(function != nullptr && function(), "use_chorale() fails");
  }
  is_right = require(dlclose(loaded) == 0, "dlclose() fails") && is_right;
  if (stays) return is_right;
  if (keeps) is_right = require(is_over, "dlclose() has not ended the communicator") && is_right;
  return require(dlopen(plugin, RTLD_NOW | RTLD_NOLOAD) == nullptr, "the plug-in is still there") && is_right;
}

/// Handlers of fork() that belong to unloaded code would end the child.
bool has_children() {
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  return require(status == 0, "a child fails");
}

}  // namespace

int main(int count, char** words) {
  if (count != 2 && count != 3) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const bool stays = count == 2;
  if (!stays && dlopen(words[2], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  bool is_right = true;
  for (int i = 0; i < 4; ++i) {
    const bool keeps = i % 2 == 1 && !stays;
    std::thread([&] { is_right = use(words[1], keeps, stays) && is_right; }).join();
    is_right = use(words[1], keeps, stays) && has_children() && is_right;
  }
  return is_right ? 0 : 1;
}
