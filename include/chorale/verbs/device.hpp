// SPDX-License-Identifier: Apache-2.0
// Lists devices and opens one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/verbs/driver.hpp>
#include <chorale/verbs/handle.hpp>

namespace chorale::verbs {

/// The drivers of this build in order of preference: rdma-core (if built in), then the software device; those
/// of `replaced_drivers` in a thread that has them.
std::span<const driver* const> drivers() noexcept;

/// Replaces the calling thread's drivers during its lifetime: used by simulations, whose ranks must not find
/// the real devices of the machine.
class [[nodiscard]] replaced_drivers {
 public:
  /// `all` must outlive this.
  explicit replaced_drivers(std::span<const driver* const> all) noexcept;
  ~replaced_drivers();
  replaced_drivers(const replaced_drivers&) = delete;
  replaced_drivers& operator=(const replaced_drivers&) = delete;

 private:
  std::span<const driver* const> before_;
};

/// A device that can be opened.
struct device_info {
  std::string name;                  ///< as `ibv_devinfo` shows it, or "soft0"
  const driver* provider = nullptr;  ///< static lifetime
  /// IBV_TRANSPORT_IB for InfiniBand and RoCE; iWARP devices cannot connect queue pairs by address.
  ibv_transport_type transport = IBV_TRANSPORT_UNKNOWN;
};

/// All devices of `from`, in its order. A driver that cannot list its devices (no kernel support, no
/// permission) contributes none; the reason is appended to `remarks` if given.
std::vector<device_info> list_devices(std::span<const driver* const> from = drivers(),
                                      std::vector<std::string>* remarks = nullptr);

/// One row of a port's GID table.
struct gid_row {
  int index = 0;
  ibv_gid gid{};
  std::uint32_t type = 0;  ///< IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1 or IBV_GID_TYPE_ROCE_V2
};

/// An open device. Objects made from it keep its context and driver, not the `device` object: it may be moved
/// while they live, but must outlive them. Thread safety: any thread may call const members.
class device {
 public:
  /// @throws error errc::no_device, listing the available names, if there is no device `name`; a system error
  /// naming the remedy if it cannot be opened (permission on /dev/infiniband, missing provider).
  static device open(std::string_view name, std::span<const driver* const> from = drivers());
  static device open(const device_info& info);

  [[nodiscard]] ibv_context* native() const noexcept { return context_.get(); }
  [[nodiscard]] const driver& provider() const noexcept { return context_.provider(); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// True for the software device, real or simulated.
  [[nodiscard]] bool is_soft() const noexcept;
  /// Whether the core that posts a request copies its bytes: true for the software device, real or simulated.
  [[nodiscard]] bool copies_by_core() const noexcept;
  /// Whether writes into memory of this device are known to become visible, to a processor that polls that
  /// memory, in the order in which they were posted and with ascending addresses within each.
  [[nodiscard]] bool keeps_order() const noexcept;
  /// If cores copy: the message size in bytes from which zero copy is faster, if each rank has a core, as
  /// measured once per process. Otherwise 0.
  [[nodiscard]] std::size_t zero_copy_from() const noexcept;

  /// IBV_ACCESS_REMOTE_WRITE, REMOTE_READ and, if the device has atomics, REMOTE_ATOMIC: otherwise some
  /// drivers refuse queue pairs or memory regions with that flag.
  [[nodiscard]] int remote_access() const noexcept {
    return IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
           (attributes_.atomic_cap == IBV_ATOMIC_NONE ? 0 : IBV_ACCESS_REMOTE_ATOMIC);
  }

  /// Limits of the device, read at opening.
  [[nodiscard]] const ibv_device_attr& attributes() const noexcept { return attributes_; }
  /// Current state of port `number` (from 1). @throws error errc::invalid_argument if there is no such port.
  [[nodiscard]] ibv_port_attr port(std::uint8_t number) const;
  /// Entry `index` of the GID table of `port`. @throws error errc::invalid_argument if out of range.
  [[nodiscard]] ibv_gid gid(std::uint8_t port, int index) const;
  /// The used entries of the GID table of `port`.
  [[nodiscard]] std::vector<gid_row> gids(std::uint8_t port) const;
  /// Partition key (host byte order) at `index`. @throws error errc::invalid_argument if out of range.
  [[nodiscard]] std::uint16_t pkey(std::uint8_t port, int index) const;

  /// Zeroed, page-aligned memory of at least `bytes` (at least 1) that this device accesses fastest; free it
  /// with `release` and the same `bytes`. Prefer `registered_buffer`, which owns it.
  [[nodiscard]] void* allocate(std::size_t bytes) const;
  void release(void* address, std::size_t bytes) const;

  /// Readable when an asynchronous event is pending (see lib/verbs/async_event.hpp).
  [[nodiscard]] int async_fd() const;

  /// Closes the device; idempotent. @throws error if objects made from it still exist.
  void close();

 private:
  device(const driver& provider, ibv_context* context, std::string name);
  [[nodiscard]] ibv_context* opened(const char* call) const;

  std::string name_;
  handle<ibv_context, &driver::close_device> context_;
  ibv_device_attr attributes_{};
};

}  // namespace chorale::verbs
