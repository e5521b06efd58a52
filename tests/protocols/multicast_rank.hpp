// A rank of a simulated group: the multicast protocol, its send memory and receive queues, and a program of
// calls. It drives the protocol as lib/transport/multicast/multicast_group.cpp does.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../../lib/transport/messages.hpp"
#include "../../lib/transport/multicast/multicast_protocol.hpp"
#include "virtual_net.hpp"

namespace protocols {

using namespace chorale::transport;

using bytes = std::vector<std::byte>;
using shared_bytes = std::shared_ptr<const bytes>;

[[noreturn]] inline void wrong(const std::string& what) {
  throw std::runtime_error(what);
}

/// Delivers a datagram to a rank of the group, from the rank that it names; false if it is refused.
inline bool hears(multicast_protocol& rank, std::span<const std::byte> datagram) {
  const multicast_options& o = rank.options();
  return rank.on_multicast(read_datagram(datagram, o.secret, o.size));
}

/// One call, the same on all ranks: a signal by its root, or a number of messages.
struct multicast_call {
  chorale::call_id number;
  int root = 0;
  bool is_signal = false;
  int pieces = 0;
};

/// A datagram from one rank to another.
struct letter {
  int from;
  std::uint16_t kind;
  shared_bytes body;
};

struct multicast_job;

class multicast_rank final : multicast_port {
 public:
  multicast_rank(multicast_job& all, int number);

  /// Joins the group after `in`, and then begins its calls.
  void begin(clock::duration in) { look_in(in); }
  void hear(const shared_bytes& datagram);
  void hear(const letter& l, bool solicited);
  /// The rank ends silently.
  void die() noexcept { state_ = state::dead; }
  /// `peer` has left, or is known to have died.
  void learn_of_departure(int peer);

  [[nodiscard]] bool is_over() const noexcept { return state_ == state::left || state_ == state::dead; }
  [[nodiscard]] bool is_dead() const noexcept { return state_ == state::dead; }
  [[nodiscard]] bool is_member() const noexcept { return protocol_.has_value() && !is_over(); }
  [[nodiscard]] multicast_protocol& protocol() noexcept { return *protocol_; }
  /// Gives the protocol a letter to the group, or to this rank alone; it may be a duplicate. @returns whether
  /// the protocol accepts it.
  bool take(const letter& l, bool of_group);
  [[nodiscard]] std::size_t calls_made() const noexcept { return call_; }
  /// The number of messages of `root` that it has given back.
  [[nodiscard]] std::uint32_t released(int root) const noexcept { return at(root).released; }
  [[nodiscard]] std::string where() const;
  /// @throws std::runtime_error if the rank has kept more memory, or sent more NAKs, than allowed.
  void check_costs() const;

 private:
  enum class state { outside, calling, leaving, left, dead };
  struct peer_state {
    std::uint32_t received = 0;
    std::uint32_t released = 0;
    bool gone = false;
    bool given_up = false;  ///< it died before this rank had received everything
    std::optional<clock::time_point> asked;
  };

  std::span<std::byte> place(std::uint32_t index) noexcept override;
  bool is_free(std::uint32_t index) override { return under_way_[index] == 0; }
  bool multicast(std::uint32_t index, std::size_t size) override;
  bool send_to(int to, multicast_kind kind, std::span<const std::byte> body, bool solicited) override;
  bool has_left(int peer) const noexcept override { return at(peer).gone; }
  bool is_lost(int peer) const noexcept override;
  void ask_for_life(int peer) override;

  [[nodiscard]] peer_state& at(int peer) noexcept { return peers_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] const peer_state& at(int peer) const noexcept {
    return peers_[static_cast<std::size_t>(peer)];
  }
  void look_in(clock::duration delay);
  void look();
  bool advance();
  bool make_step(const multicast_call& call);
  bool send_piece(const multicast_call& call);
  bool take_piece(const multicast_call& call);
  bool take_signal(const multicast_call& call);
  void release_all();
  void leave();
  void drain();
  void read_letters();
  void progress_all();

  multicast_job* all_;
  int number_;
  std::vector<std::byte> memory_;
  std::array<int, multicast_sender::places> under_way_{};
  std::optional<multicast_protocol> protocol_;
  std::deque<shared_bytes> from_group_;
  std::deque<letter> letters_;
  std::vector<peer_state> peers_;
  std::vector<int> held_;  ///< roots of messages that were received and not given back
  state state_ = state::outside;
  std::size_t call_ = 0;
  int piece_ = 0;
  std::uint32_t sent_ = 0;
  clock::time_point busy_until_{};
  std::optional<clock::time_point> next_look_;
  clock::duration tick_{};
  std::uint64_t waits_ = 0;
  bool waiting_ = false;
  std::uint64_t questions_ = 0;
  clock::time_point joined_{};
};

/// All ranks of a group, and their faults.
struct multicast_job {
  multicast_job(virtual_net& n, int size);

  virtual_net* net;
  faults group_faults;                ///< for each copy of a multicast
  double lost_at_once = 0;            ///< probability that a multicast is lost on all ranks
  faults single_faults;               ///< for datagrams to one rank
  double full = 0;                    ///< probability that a send queue is full
  double busy = 0;                    ///< probability that a rank computes after a call ...
  clock::duration longest_absence{};  ///< ... and for how long at most
  double held = 0;  ///< probability that a message is given back only at the end of its call
  bool with_service = true;
  multicast_options options;
  std::vector<multicast_call> calls;
  std::vector<std::unique_ptr<multicast_rank>> ranks;
  /// A sample of the datagrams that were sent: to all (-1) or to one rank.
  std::vector<std::pair<int, letter>> seen;

  [[nodiscard]] int size() const noexcept { return options.size; }
  [[nodiscard]] multicast_rank& operator[](int rank) { return *ranks[static_cast<std::size_t>(rank)]; }
  void keep(int to, const letter& l);
  /// The content of message `index` of `root`.
  [[nodiscard]] bytes content(int root, std::uint32_t index) const;
};

}  // namespace protocols
