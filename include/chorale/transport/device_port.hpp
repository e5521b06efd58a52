// A device that a rank has opened, and the port of it that the rank uses.
#pragma once

#include <memory>

#include <chorale/core/config.hpp>
#include <chorale/transport/opened_device.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/selection.hpp>

namespace chorale::transport {

/// Device, protection domain, and where its port is on the fabric. Movable; what it refers to stays in place.
class device_port {
 public:
  /// Opens the device that the settings choose for the rank of number `local_rank` on its host.
  /// @throws error as verbs::choose and verbs::device::open.
  device_port(const config& settings, int local_rank);

  [[nodiscard]] const verbs::choice& chosen() const noexcept { return chosen_; }
  [[nodiscard]] const std::shared_ptr<const opened_device>& opened() const noexcept { return opened_; }
  [[nodiscard]] const verbs::device& device() const noexcept { return opened_->device; }
  [[nodiscard]] const verbs::protection_domain& domain() const noexcept { return opened_->domain; }
  [[nodiscard]] const verbs::local_port& local() const noexcept { return local_; }

 private:
  verbs::choice chosen_;
  std::shared_ptr<const opened_device> opened_;
  verbs::local_port local_;
};

}  // namespace chorale::transport
