// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/device.hpp>

#include "../core/printable.hpp"
#include "failure.hpp"

namespace chorale::verbs {
namespace {

/// Owns the device list of one driver.
class device_list {
 public:
  explicit device_list(const driver& provider) : provider_(provider) {
    errno = 0;
    first_ = provider.get_device_list(&count_);
    failure_ = first_ != nullptr ? 0 : (errno != 0 ? errno : ENODEV);
    if (first_ == nullptr) count_ = 0;
  }
  device_list(const device_list&) = delete;
  device_list& operator=(const device_list&) = delete;
  ~device_list() {
    if (first_ != nullptr) provider_.free_device_list(first_);
  }
  [[nodiscard]] std::span<ibv_device* const> all() const noexcept {
    return {first_, static_cast<std::size_t>(count_)};
  }
  [[nodiscard]] int failure() const noexcept { return failure_; }

 private:
  const driver& provider_;
  ibv_device** first_ = nullptr;
  int count_ = 0;
  int failure_ = 0;
};

std::string names_of(const std::vector<device_info>& devices) {
  std::string names;
  for (const auto& d : devices) names += (names.empty() ? "" : ", ") + d.name;
  return names.empty() ? "none" : names;
}

std::string open_remedy(int errnum, const ibv_device& device, const driver& provider) {
  if (&provider == soft()) return soft_remedy(errnum);
  if (errnum == EACCES || errnum == EPERM)
    return fmt::format(
        "this user may not open /dev/infiniband/{}: give it read and write access, often by a group 'rdma'; "
        "in a container pass --device=/dev/infiniband; or set CHORALE_DEVICE=soft0",
        device.dev_name);
  return fmt::format(
      "check that 'ibv_devinfo -d {}' works: the provider library may not match the kernel; or set "
      "CHORALE_DEVICE=soft0",
      device.name);
}

constinit thread_local std::span<const driver* const> of_this_thread{};

}  // namespace

std::span<const driver* const> drivers() noexcept {
  if (!of_this_thread.empty()) return of_this_thread;
  static const std::array<const driver*, 2> both{rdma_core(), soft()};
  const std::span<const driver* const> all{both};
  return both[0] != nullptr ? all : all.subspan(1);
}

replaced_drivers::replaced_drivers(std::span<const driver* const> all) noexcept
    : before_(std::exchange(of_this_thread, all)) {}

replaced_drivers::~replaced_drivers() {
  of_this_thread = before_;
}

std::vector<device_info> list_devices(std::span<const driver* const> from,
                                      std::vector<std::string>* remarks) {
  std::vector<device_info> found;
  for (const driver* provider : from) {
    if (provider == nullptr) continue;
    const device_list list(*provider);
    // ENOSYS: the kernel has no RDMA subsystem, as on most machines.
    if (list.failure() != 0 && list.failure() != ENOSYS && remarks != nullptr)
      remarks->push_back(fmt::format("the devices of {} could not be listed: {}", provider->name,
                                     std::strerror(list.failure())));
    for (const ibv_device* entry : list.all())
      found.push_back({.name = entry->name, .provider = provider, .transport = entry->transport_type});
  }
  return found;
}

device::device(const driver& provider, ibv_context* context, std::string name)
    : name_(std::move(name)), context_(provider, context) {}

device device::open(std::string_view name, std::span<const driver* const> from) {
  std::vector<std::string> remarks;
  const auto devices = list_devices(from, &remarks);
  const auto it =
      std::find_if(devices.begin(), devices.end(), [&](const device_info& d) { return d.name == name; });
  if (it != devices.end()) return open(*it);
  std::string text = fmt::format("no device '{}'; there are: {}; set CHORALE_DEVICE to one of these",
                                 printable(name), names_of(devices));
  for (const auto& remark : remarks) text += "; " + remark;
  throw error(errc::no_device, text);
}

device device::open(const device_info& info) {
  if (info.provider == nullptr)
    throw error(errc::invalid_argument, fmt::format("device_info '{}' has no provider", info.name));
  const device_list list(*info.provider);
  const auto all = list.all();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const ibv_device* entry) { return info.name == entry->name; });
  if (it == all.end())
    throw error(errc::no_device, fmt::format("device '{}' of {} is gone", info.name, info.provider->name));
  errno = 0;
  ibv_context* const context = info.provider->open_device(*it);
  if (context == nullptr) {
    const int failure = errno;
    fail(failure, "ibv_open_device", info.name, open_remedy(failure, **it, *info.provider));
  }
  device opened{*info.provider, context, info.name};
  if (const int failure = errno_of(info.provider->query_device(context, &opened.attributes_)); failure != 0)
    fail(failure, "ibv_query_device", info.name);
  return opened;
}

ibv_context* device::opened(const char* call) const {
  if (native() == nullptr) fail_closed(call, fmt::format("device {}", name_));
  return native();
}

bool device::is_soft() const noexcept {
  return std::string_view{provider().name} == software_driver_name;
}

bool device::copies_by_core() const noexcept {
  return provider().copies_by_core != nullptr && provider().copies_by_core(native());
}

bool device::keeps_order() const noexcept {
  return provider().keeps_order != nullptr && provider().keeps_order(native());
}

std::size_t device::zero_copy_from() const noexcept {
  return copies_by_core() && provider().zero_copy_from != nullptr ? provider().zero_copy_from(native()) : 0;
}

ibv_port_attr device::port(std::uint8_t number) const {
  ibv_context* const context = opened("ibv_query_port");
  if (number < 1 || number > attributes_.phys_port_cnt)
    throw error(
        errc::invalid_argument,
        fmt::format("port {} of {} does not exist: its ports are 1 to {}; set CHORALE_PORT to one of these",
                    number, name_, attributes_.phys_port_cnt));
  ibv_port_attr attributes{};
  if (const int failure = errno_of(provider().query_port(context, number, &attributes)); failure != 0)
    fail(failure, "ibv_query_port", fmt::format("port {} of {}", number, name_));
  return attributes;
}

ibv_gid device::gid(std::uint8_t port_number, int index) const {
  const int rows = port(port_number).gid_tbl_len;
  if (index < 0 || index >= rows)
    throw error(
        errc::invalid_argument,
        fmt::format("GID index {} is outside the table of port {} of {}, which has {} row(s) (from 0); "
                    "'ibv_devinfo -v' shows them; set CHORALE_GID_INDEX to one of these or unset it",
                    index, port_number, name_, rows));
  ibv_gid gid{};
  if (const int failure = errno_of(provider().query_gid(native(), port_number, index, &gid)); failure != 0)
    fail(failure, "ibv_query_gid", fmt::format("row {} of port {} of {}", index, port_number, name_));
  return gid;
}

std::vector<gid_row> device::gids(std::uint8_t port_number) const {
  const int rows = port(port_number).gid_tbl_len;
  std::vector<gid_row> used;
  for (int index = 0; index < rows; ++index) {
    gid_row row{.index = index};
    if (provider().query_gid_type(native(), port_number, index, &row.type) != 0) continue;
    if (provider().query_gid(native(), port_number, index, &row.gid) != 0 || is_zero(row.gid)) continue;
    used.push_back(row);
  }
  return used;
}

std::uint16_t device::pkey(std::uint8_t port_number, int index) const {
  const int rows = port(port_number).pkey_tbl_len;
  if (index < 0 || index >= rows)
    throw error(
        errc::invalid_argument,
        fmt::format("PKey index {} is outside the table of port {} of {}, which has {} row(s) (from 0); set "
                    "CHORALE_PKEY_INDEX to one of these or unset it",
                    index, port_number, name_, rows));
  __be16 key = 0;
  // Unlike similar calls, ibv_query_pkey returns -1 without a reliable errno.
  errno = 0;
  if (const int failure = provider().query_pkey(native(), port_number, index, &key); failure != 0)
    fail(errno_of(failure), "ibv_query_pkey",
         fmt::format("row {} of port {} of {}", index, port_number, name_));
  return ntohs(key);
}

void* device::allocate(std::size_t bytes) const {
  ibv_context* const context = opened("allocate");
  errno = 0;
  void* const memory = provider().allocate(context, std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) {
    const int failure = errno;
    fail(failure, fmt::format("allocation of {} bytes", bytes), name_,
         &provider() == soft() && failure != EINVAL ? soft_remedy(failure) : "");
  }
  return memory;
}

void device::release(void* address, std::size_t bytes) const {
  if (address == nullptr) return;
  const int failure =
      errno_of(provider().release(opened("release"), address, std::max<std::size_t>(bytes, 1)));
  if (failure != 0) fail(failure, fmt::format("release of {} bytes", bytes), name_);
}

int device::async_fd() const {
  return opened("async_fd")->async_fd;
}

void device::close() {
  if (const int failure = context_.close(); failure != 0)
    fail(failure, "ibv_close_device", device_name(native()));
}

}  // namespace chorale::verbs
