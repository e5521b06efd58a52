// SPDX-License-Identifier: Apache-2.0
// Loads a plug-in that uses Chorale, and unloads it, several times, from several threads.
// Usage: plugin_user PLUGIN
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

bool use(const char* plugin) {
  void* const loaded = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    std::printf("%s\n", dlerror());
    return false;
  }
  const auto function = reinterpret_cast<bool (*)()>(dlsym(loaded, "use_chorale"));
  const bool is_right = function != nullptr && function();
  return dlclose(loaded) == 0 && is_right;
}

/// Handlers of fork() that belong to unloaded code would end the child.
bool has_children() {
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  bool is_right = true;
  for (int i = 0; i < 3; ++i) {
    std::thread([&] { is_right = use(words[1]) && is_right; }).join();
    is_right = use(words[1]) && has_children() && is_right;
  }
  return is_right ? 0 : 1;
}
