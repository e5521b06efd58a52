// SPDX-License-Identifier: Apache-2.0
#include "filter.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <vector>

namespace robustness {
namespace {

int set(std::vector<sock_filter>& code) noexcept {
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : errno;
}

}  // namespace

int forbid(std::initializer_list<int> system_calls, int errnum) noexcept {
  try {
    std::vector<sock_filter> code;
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    for (const int call : system_calls) {
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
      code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(errnum)));
    }
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return set(code);
  } catch (...) {
    return ENOMEM;
  }
}

int forbid_with(int system_call, unsigned flags, int errnum) noexcept {
  try {
    // The lower half of the argument, first or second by endianness.
    constexpr auto flags_at = offsetof(seccomp_data, args) +
                              (std::endian::native == std::endian::little ? 0 : sizeof(std::uint32_t));
    std::vector<sock_filter> code{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(system_call), 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, flags_at),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(errnum)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return set(code);
  } catch (...) {
    return ENOMEM;
  }
}

int forbid_copies(int errnum) noexcept {
  return forbid({SYS_process_vm_readv, SYS_process_vm_writev}, errnum);
}

}  // namespace robustness
