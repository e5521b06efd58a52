// SPDX-License-Identifier: Apache-2.0
// All contestants, transport by transport.
#include <algorithm>
#include <iterator>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "contestants.hpp"

namespace bench {

extern template void enter<chorale::transport::rc>(const selection&, const job&, buffers&, contestants&);
extern template void enter<chorale::transport::rc_send_receive>(const selection&, const job&, buffers&,
                                                                contestants&);
extern template void enter<chorale::transport::ud>(const selection&, const job&, buffers&, contestants&);
extern template void enter<chorale::transport::ud_rdma>(const selection&, const job&, buffers&, contestants&);
extern template std::vector<listing> list<chorale::transport::rc>();
extern template std::vector<listing> list<chorale::transport::rc_send_receive>();
extern template std::vector<listing> list<chorale::transport::ud>();
extern template std::vector<listing> list<chorale::transport::ud_rdma>();

bool selected(const selection& wanted, const listing& one) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!wanted.operations.empty() && !has(wanted.operations, one.operation)) return false;
  if (!has(wanted.transports, one.transport)) return false;
  if (wanted.all_algorithms) return true;
  if (wanted.algorithms.empty()) return one.is_default;
  return std::any_of(wanted.algorithms.begin(), wanted.algorithms.end(), [&](const std::string& name) {
    if (wanted.whole_names) return one.algorithm == name;
    // Not within the brackets, which name the algorithms that a composed one consists of.
    const auto at = one.algorithm.find(name);
    return at != std::string::npos && at <= one.algorithm.find('<');
  });
}

contestants enter_all(const selection& wanted, const job& ranks, buffers& memory) {
  contestants all;
  enter<chorale::transport::rc>(wanted, ranks, memory, all);
  enter<chorale::transport::rc_send_receive>(wanted, ranks, memory, all);
  enter<chorale::transport::ud>(wanted, ranks, memory, all);
  enter<chorale::transport::ud_rdma>(wanted, ranks, memory, all);
  enter_hybrid(wanted, ranks, memory, all);
  return all;
}

std::vector<listing> list_all() {
  auto all = list<chorale::transport::rc>();
  for (auto more : {list<chorale::transport::rc_send_receive>(), list<chorale::transport::ud>(),
                    list<chorale::transport::ud_rdma>(), list_hybrid()})
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

}  // namespace bench
