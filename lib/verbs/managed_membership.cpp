// SPDX-License-Identifier: Apache-2.0
#include "managed_membership.hpp"

#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

#include "../core/helper_thread.hpp"
#include "failure.hpp"

#if CHORALE_HAVE_RDMACM
#include <rdma/rdma_cma.h>
#endif

namespace chorale::verbs {

#if CHORALE_HAVE_RDMACM

struct managed_membership::channel {
  rdma_event_channel* native = nullptr;
  ~channel() {
    if (native != nullptr) rdma_destroy_event_channel(native);
  }
};

struct managed_membership::identifier {
  rdma_cm_id* native = nullptr;
  sockaddr_storage group{};
  bool joined = false;
  ~identifier() {
    if (joined) static_cast<void>(rdma_leave_multicast(native, reinterpret_cast<sockaddr*>(&group)));
    if (native != nullptr) static_cast<void>(rdma_destroy_id(native));
  }
};

namespace {

/// An IPv4 address if `gid` is IPv4-mapped, else an IPv6 address.
sockaddr_storage socket_address(const ibv_gid& gid) noexcept {
  sockaddr_storage place{};
  if (is_ipv4_mapped(gid)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, gid.raw + 12, sizeof v4.sin_addr);
    std::memcpy(&place, &v4, sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    std::memcpy(&v6.sin6_addr, gid.raw, sizeof v6.sin6_addr);
    std::memcpy(&place, &v6, sizeof v6);
  }
  return place;
}

/// The IPv4 address of that interface, or else an IPv6 address. Family 0 if it has none.
sockaddr_storage address_of(const std::string& interface) noexcept {
  sockaddr_storage found{};
  ifaddrs* all = nullptr;
  if (detail::above_streams([&] { return getifaddrs(&all); }) != 0) return found;
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || interface != i->ifa_name) continue;
    if (i->ifa_addr->sa_family == AF_INET) {
      std::memcpy(&found, i->ifa_addr, sizeof(sockaddr_in));
      break;
    }
    if (i->ifa_addr->sa_family == AF_INET6) std::memcpy(&found, i->ifa_addr, sizeof(sockaddr_in6));
  }
  freeifaddrs(all);
  return found;
}

/// The address by which the connection manager finds the port.
sockaddr_storage source_of(const device& owner, const local_port& port, std::uint16_t pkey_index,
                           const std::string& what) {
  if (port.ethernet) {
    if (is_ipv4_mapped(port.address.gid)) return socket_address(port.address.gid);
    throw error(
        errc::unsupported,
        fmt::format("rdma_join_multicast of {}: the connection manager joins RoCE groups by IPv4 only; "
                    "choose an IPv4 row of the GID table (CHORALE_GID_INDEX) or "
                    "CHORALE_MULTICAST_JOIN=attach",
                    what));
  }
  const std::string interface = ipoib_interface("/sys", owner.name(), port.number, pkey_index);
  const sockaddr_storage source = interface.empty() ? sockaddr_storage{} : address_of(interface);
  if (source.ss_family == 0)
    throw error(
        errc::unsupported,
        fmt::format("rdma_join_multicast of {}: the connection manager finds the port by its IP address, "
                    "and {}; set up IPoIB on it (ip link, ip address)",
                    what,
                    interface.empty() ? "it has no IPoIB interface with that partition key"
                                      : fmt::format("{} has none", interface)));
  return source;
}

struct acknowledged {
  void operator()(rdma_cm_event* e) const noexcept { static_cast<void>(rdma_ack_cm_event(e)); }
};

/// The next event. @throws error errc::deadline.
std::unique_ptr<rdma_cm_event, acknowledged> next_event(rdma_event_channel* from, clock::time_point until,
                                                        const std::string& what) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    if (left.count() <= 0 || !wait_readable(from->fd, left, what))
      throw error(errc::deadline,
                  fmt::format("rdma_join_multicast of {}: the fabric has not answered; is there a "
                              "subnet manager (ibstat, sminfo)?",
                              what));
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(from, &event) != 0) {
      if (errno == EINTR) continue;
      fail(errno, "rdma_get_cm_event", what);
    }
    return std::unique_ptr<rdma_cm_event, acknowledged>{event};
  }
}

}  // namespace

bool managed_membership::is_built() noexcept {
  return true;
}

managed_membership::managed_membership(const device& owner, const local_port& port, std::uint16_t pkey_index,
                                       const ibv_gid& group, std::chrono::milliseconds deadline)
    : channel_(std::make_unique<channel>()),
      identifier_(std::make_unique<identifier>()),
      what_(fmt::format("group {} on port {} of {}", to_string(group), port.number, owner.name())) {
  const auto until = clock::now() + deadline;
  sockaddr_storage source = source_of(owner, port, pkey_index, what_);
  channel_->native = detail::foreign_call([] { return rdma_create_event_channel(); });
  if (channel_->native == nullptr)
    fail(errno, "rdma_create_event_channel", what_,
         "the kernel module rdma_ucm must be loaded, and /dev/infiniband/rdma_cm open to this user");
  rdma_cm_id*& id = identifier_->native;
  if (detail::foreign_call([&] { return rdma_create_id(channel_->native, &id, nullptr, RDMA_PS_UDP); }) != 0)
    fail(errno, "rdma_create_id", what_);
  if (detail::foreign_call([&] { return rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&source)); }) != 0)
    fail(errno, "rdma_bind_addr", what_, "the interface of the port must be up and have this address");
  const std::string_view found = device_name(id->verbs);
  if (id->port_num != port.number || found != owner.name())
    throw error(
        errc::unsupported,
        fmt::format("rdma_bind_addr of {}: the port's IP address leads to {} port {}; give each port an "
                    "address of its own",
                    what_, found, id->port_num));
  identifier_->group = socket_address(group);
  if (rdma_join_multicast(id, reinterpret_cast<sockaddr*>(&identifier_->group), nullptr) != 0)
    fail(errno, "rdma_join_multicast", what_);
  identifier_->joined = true;
  const auto answer = next_event(channel_->native, until, what_);
  if (answer->event != RDMA_CM_EVENT_MULTICAST_JOIN)
    fail(answer->status < 0 ? -answer->status : EIO, "rdma_join_multicast", what_,
         fmt::format("the fabric answered {}; the subnet manager's log says why",
                     rdma_event_str(answer->event)));
  const ibv_ah_attr& way = answer->param.ud.ah_attr;
  group_ = way.grh.dgid;
  lid_ = port.ethernet ? std::uint16_t{0} : way.dlid;
  service_level_ = port.ethernet ? port.service_level : way.sl;
}

void managed_membership::look() {
  const auto now = std::chrono::milliseconds{0};
  while (ended_ == 0 && wait_readable(channel_->native->fd, now, what_)) {
    const auto news = next_event(channel_->native, clock::now() + std::chrono::seconds{1}, what_);
    if (news->event == RDMA_CM_EVENT_MULTICAST_ERROR || news->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
      ended_ = news->status < 0 ? -news->status : ENETRESET;
  }
  if (ended_ != 0)
    fail(ended_, "rdma_join_multicast", what_,
         "the fabric has ended the membership (RDMA_CM_EVENT_MULTICAST_ERROR), as it does when the subnet "
         "manager is another or the port has another address or partition; make a new communicator, or "
         "choose algorithms without multicast");
}

#else

struct managed_membership::channel {};
struct managed_membership::identifier {};

bool managed_membership::is_built() noexcept {
  return false;
}

managed_membership::managed_membership(const device& owner, const local_port& port, std::uint16_t,
                                       const ibv_gid& group, std::chrono::milliseconds) {
  throw error(
      errc::unsupported,
      fmt::format("joining group {} on port {} of {} by the connection manager: the library was built "
                  "without librdmacm; install librdmacm-dev and build it again with -Drdmacm=enabled",
                  to_string(group), port.number, owner.name()));
}

void managed_membership::look() {}

#endif

managed_membership::~managed_membership() = default;

}  // namespace chorale::verbs
