// SPDX-License-Identifier: Apache-2.0
// Results and callbacks of libpmix calls, and the error of one that fails.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <pmix.h>

#include <chorale/core/error.hpp>

namespace chorale::bootstrap {

/// @throws error errc::bootstrap_failed, always; it names the call, its status and `detail`.
[[noreturn]] inline void fail(const char* call, pmix_status_t status, const std::string& detail = {}) {
  throw error(errc::bootstrap_failed, fmt::format("{}: {} ({}){}", call, PMIx_Error_string(status), status,
                                                  detail.empty() ? detail : "; " + detail));
}

/// Owns a result of PMIx_Get.
struct value_owner {
  pmix_value_t* value = nullptr;
  ~value_owner() {
    if (value != nullptr) PMIX_VALUE_RELEASE(value);
  }
};

/// A fence that can be abandoned: it shares its state with the callback, which may come late.
struct fence_state {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  pmix_status_t status = PMIX_SUCCESS;
};

inline void fence_done(pmix_status_t status, void* data) {
  const std::unique_ptr<std::shared_ptr<fence_state>> state{static_cast<std::shared_ptr<fence_state>*>(data)};
  const std::lock_guard lock{(*state)->mutex};
  (*state)->done = true;
  (*state)->status = status;
  (*state)->changed.notify_all();
}

}  // namespace chorale::bootstrap
