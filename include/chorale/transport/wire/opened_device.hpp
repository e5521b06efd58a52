// SPDX-License-Identifier: Apache-2.0
// A device that transports have opened, and its protection domain.
#pragma once

#include <memory>

#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::transport {

class device_watch;

/// Shared by all objects that may outlive the transport: the device stays open until the last of them is
/// destroyed.
struct opened_device {
  /// @throws error as verbs::device::open.
  explicit opened_device(const verbs::device_info& which);
  opened_device(const opened_device&) = delete;
  opened_device& operator=(const opened_device&) = delete;
  ~opened_device();
  /// The device, opened at most once per process, so that further communicators need no further context.
  /// Simulated ranks, which share a process, each open their own. Any thread. @throws error as the
  /// constructor.
  /// `is_second`: opened apart from the first, with keys of its own.
  static std::shared_ptr<const opened_device> of(const verbs::device_info& which, bool is_second = false);

  verbs::device device;
  verbs::protection_domain domain;
  /// Asynchronous events of the device. Owned: a smart pointer would cost a megabyte of memory in the
  /// compilation of each program.
  device_watch* watch;
};

}  // namespace chorale::transport
