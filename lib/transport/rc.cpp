#include <utility>

#include <chorale/transport/rc.hpp>

namespace chorale::transport {

rc_parts::rc_parts(joined_group&& group)
    : core_(*this, std::move(group)),
      links_(core_, *this, inbox::needs(core_.settings(), core_.size())),
      inbox_(links_, core_.settings()),
      rma_(links_, core_.settings()) {
  core_.start_service();
}

rc_parts::~rc_parts() {
  core_.multicast().settle();
  links_.close();
  core_.say_goodbye();
}

void rc_parts::on_progress() {
  links_.on_progress();
  inbox_.on_progress();
}

void rc_parts::count(int peer, ledger& l) const noexcept {
  inbox_.count(peer, l);
  rma_.count(peer, l);
}

void rc_parts::describe(memory_report& m) const {
  links_.describe(m);
  inbox_.describe(m);
  rma_.describe(m);
}

}  // namespace chorale::transport
