// SPDX-License-Identifier: Apache-2.0
// Every algorithm over minimal transports.
#include "mailbox.hpp"

#include "candidates.hpp"
#include "messages.hpp"

TEST_CASE("a mailbox suffices for every algorithm that does not require more", "[mailbox]") {
  fake::check_all<fake::mailbox>();
}

TEST_CASE("messages of any length suffice for every algorithm that does not require more", "[messages]") {
  fake::check_all<fake::messages>();
}
