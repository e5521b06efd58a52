#include <utility>

#include <chorale/transport/rc_send_receive.hpp>

namespace chorale::transport {

rc_send_receive_parts::rc_send_receive_parts(joined_group&& group)
    : core_(*this, std::move(group)),
      links_(core_, *this, matched::needs(core_.settings(), core_.size())),
      matched_(links_, core_.settings()),
      rma_(links_, core_.settings()) {
  core_.start_service();
}

rc_send_receive_parts::~rc_send_receive_parts() {
  core_.multicast().settle();
  links_.close();
  core_.say_goodbye();
}

void rc_send_receive_parts::on_progress() {
  links_.on_progress();
  matched_.on_progress();
}

void rc_send_receive_parts::count(int peer, ledger& l) const noexcept {
  matched_.count(peer, l);
  rma_.count(peer, l);
}

void rc_send_receive_parts::describe(memory_report& m) const {
  links_.describe(m);
  matched_.describe(m);
  rma_.describe(m);
}

}  // namespace chorale::transport
