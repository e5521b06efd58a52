// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <fmt/format.h>

#include <chorale/verbs/address.hpp>
#include <chorale/verbs/address_handle.hpp>

#include "failure.hpp"

namespace chorale::verbs {

address_handle::address_handle(const protection_domain& domain, const ibv_ah_attr& path) {
  if (domain.native() == nullptr) fail_closed("ibv_create_ah", "protection domain");
  ibv_ah_attr attributes = path;
  errno = 0;
  ibv_ah* const made = domain.provider().create_ah(domain.native(), &attributes);
  if (made == nullptr) {
    const int failure = errno;
    const std::string to = path.is_global != 0 ? fmt::format("GID {} from GID index {}",
                                                             to_string(path.grh.dgid), path.grh.sgid_index)
                                               : fmt::format("LID {}", path.dlid);
    fail(failure, fmt::format("ibv_create_ah to {} by port {}", to, path.port_num),
         device_name(domain.native()->context),
         failure == ENOMEM ? ""
                           : "the port or GID index does not exist, or on RoCE the peer's address cannot be "
                             "resolved: is there a route to it from this GID, of the same RoCE version?");
  }
  handle_ = {domain.provider(), made};
}

address_handle address_handle::from_completion(const protection_domain& domain, const ibv_wc& completion,
                                               const ibv_grh& grh, std::uint8_t port) {
  if (domain.native() == nullptr) fail_closed("ibv_create_ah_from_wc", "protection domain");
  ibv_wc received = completion;
  ibv_grh header = grh;
  errno = 0;
  ibv_ah* const made = domain.provider().create_ah_from_wc(domain.native(), &received, &header, port);
  if (made == nullptr)
    fail(errno, fmt::format("ibv_create_ah_from_wc to the sender, QP {:#x}", completion.src_qp),
         device_name(domain.native()->context),
         "is this the completion of a datagram, and the GRH the first 40 bytes of its buffer?");
  return {domain.provider(), made};
}

void address_handle::close() {
  if (const int failure = handle_.close(); failure != 0)
    fail(failure, "ibv_destroy_ah", fmt::format("an address handle of {}", device_name(native()->context)));
}

}  // namespace chorale::verbs
