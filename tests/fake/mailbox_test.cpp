// Every algorithm over minimal transports.
#include "mailbox.hpp"

#include "algorithms.hpp"
#include "every_algorithm.hpp"
#include "messages.hpp"

TEST_CASE("a mailbox suffices for every algorithm that does not require more", "[mailbox]") {
  fake::check_all<fake::mailbox>(fake::moving_algorithms{});
  fake::check_all<fake::mailbox>(fake::reducing_algorithms{});
}

TEST_CASE("messages of any length suffice for every algorithm that does not require more", "[messages]") {
  fake::check_all<fake::messages>(fake::moving_algorithms{});
  fake::check_all<fake::messages>(fake::reducing_algorithms{});
}
