// The multicast group of a communicator: what its algorithms send to all ranks at once, made reliable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/arrival.hpp>
#include <chorale/transport/multicast_port.hpp>

namespace chorale::transport {

class endpoint;

/// What one rank has done about multicast.
struct multicast_statistics {
  std::uint64_t signals = 0;           ///< multicasts of a signal, each counted once
  std::uint64_t messages = 0;          ///< multicasts of a message, each counted once
  std::uint64_t repairs = 0;           ///< multicasts of either, again
  std::uint64_t naks_sent = 0;         ///< to senders: something is missing
  std::uint64_t naks_received = 0;     ///< from receivers
  std::uint64_t acknowledgements = 0;  ///< sent because half a window was given back
  std::uint64_t questions = 0;         ///< asked: what have you got?
  std::uint64_t answers = 0;           ///< given
  std::uint64_t duplicates = 0;        ///< arrived again, or too late to matter
  std::uint64_t refused = 0;           ///< not of this group, or not as one of its ranks would write it
};

/// A UD queue pair in the group of a communicator, and what makes its datagrams reliable: receivers tell
/// senders what is missing (P1 section 4.3), so that nothing lost costs nothing. Every rank of the
/// communicator has one and hears every other; a rank that makes its own late has merely lost what came
/// before.
///
/// * A *signal* is a word that says which call is over; a later one makes earlier ones superfluous, so that
/// it
///   needs no window, no order and no acknowledgement at all.
/// * *Messages* of a sender arrive at every rank in their order, each once. A sender keeps the last `window`
/// of
///   them; receivers acknowledge what they have given back each half window, each at another message, and a
///   sender whose window is full waits, and asks.
///
/// A rank that has waited longer than is usual sends a NAK to the sender, whose service thread answers if it
/// is in no call. NAKs of many ranks are spread over time, dropped when the repair is heard before, and
/// answered by one repair for all of them.
///
/// Thread safety: `take` is called with the endpoint's lock held; the others take it themselves.
class multicast_group {
 public:
  static constexpr std::uint32_t window = 32;
  /// Of each sender's first message: close to the wrap, so that it is passed in every run that is not short.
  static constexpr std::uint32_t first_sequence = 0xffff'fff0U;

  explicit multicast_group(endpoint& owner);

  /// A message in its place here.
  using arrival = transport::arrival<multicast_group, int>;

  // Attempts, false as long as there is something to wait for. @throws error errc::mismatch, and as the
  // verbs.
  bool try_signal(epoch now);
  bool try_signalled(int root, epoch now);
  bool try_send(epoch now, std::span<const std::byte> bytes);
  bool try_receive(int root, epoch now, std::span<const std::byte>& message);
  void release(int from) noexcept;
  /// The rank that keeps this one's window closed, or any other while it is open.
  [[nodiscard]] int slowest();

  /// A datagram of one of the multicast kinds that came to the endpoint's own port.
  void take(int from, std::uint16_t kind, std::span<const std::byte> body);
  /// The rare half of a wait: NAKs, questions, acknowledgements that could not be sent.
  void progress();
  /// True when all ranks that are not lost have all that this one has sent; else asks them now and then.
  bool settle();

  [[nodiscard]] multicast_statistics statistics() const;
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return port_.memory_bytes(); }
  [[nodiscard]] const ibv_gid& group() const noexcept { return options_.group; }
  [[nodiscard]] std::uint32_t qkey() const noexcept { return options_.qkey; }

 private:
  /// A message that has arrived.
  struct entry {
    std::uint32_t bytes = 0;
    std::uint32_t signature = 0;
    std::uint64_t call = 0;
  };
  /// What came from one sender.
  struct stream {
    std::vector<std::byte> ring;  ///< `window` payloads; made when the sender's first message arrives
    std::array<entry, window> entries{};
    std::uint32_t released = first_sequence;
    std::uint32_t taken = first_sequence;
    std::uint32_t arrived = first_sequence;  ///< all before have
    std::uint32_t top = first_sequence;      ///< that there is none of from here on, as far as is known
    std::uint64_t beyond = 0;                ///< bit i: message arrived + i is here
    std::uint64_t signal = 0;
    bool acknowledgement_due = false;
  };
  /// What is known of one receiver.
  struct receiver {
    std::uint32_t released = first_sequence;
    std::uint32_t arrived = first_sequence;
    std::uint64_t signal = 0;
  };
  /// What this rank waits for.
  struct absence {
    int from = -1;
    bool message = false;
    std::uint64_t what = 0;  ///< signal word or sequence number
    steady::time_point since{};
    steady::time_point due{};
    unsigned asked = 0;
    bool overtaken = false;  ///< something later has arrived
  };

  static multicast_port::options options_for(const endpoint& owner);
  [[nodiscard]] stream& from(int rank) noexcept { return streams_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] receiver& at(int rank) noexcept { return receivers_[static_cast<std::size_t>(rank)]; }
  std::size_t write(std::uint32_t place, std::uint16_t kind, std::span<const std::byte> head,
                    std::span<const std::byte> payload);
  bool send_to(int rank, std::uint16_t kind, std::span<const std::byte> body, bool solicited);
  void refuse() noexcept;

  // Sending.
  [[nodiscard]] bool window_is_open();
  void send_repair(std::uint32_t place);
  void take_signal_missing(std::span<const std::byte> body);
  void take_messages_missing(std::span<const std::byte> body);
  void take_acknowledgement(int rank, std::span<const std::byte> body);
  void ask(int rank);
  template <class Behind>
  void ask_when_due(Behind&& behind);

  // Receiving.
  void drain();
  void take_multicast(std::span<const std::byte> datagram);
  void store(stream& s, std::span<const std::byte> body);
  void take_question(int rank, std::span<const std::byte> body);
  void miss(int rank, bool message, std::uint64_t what) noexcept;
  void found() noexcept;
  [[nodiscard]] bool is_here(const absence& a) noexcept;
  void tend_absence();
  void send_nak(int rank, bool message, std::uint64_t word);
  bool acknowledge(int rank) noexcept;
  [[nodiscard]] steady::duration patience() const noexcept;  ///< until the first NAK
  [[nodiscard]] steady::duration pause() const noexcept;     ///< until the next
  [[nodiscard]] steady::duration spread(steady::duration over) noexcept;

  endpoint* owner_;
  multicast_port::options options_;
  std::size_t payload_bytes_;
  multicast_port port_;
  std::vector<stream> streams_;
  std::vector<receiver> receivers_;

  std::uint32_t next_ = first_sequence;
  std::uint32_t lowest_ = first_sequence;  ///< all receivers have given back what is before
  std::uint64_t signal_ = 0;
  std::uint32_t signal_place_ = window;
  std::array<std::size_t, window> sizes_{};    ///< of the datagrams in the places of messages
  std::vector<steady::time_point> last_sent_;  ///< from each place
  steady::time_point next_question_{};
  steady::duration question_interval_{};
  bool window_closed_ = false;
  bool leaving_ = false;

  absence absence_;
  bool heard_ = false;  ///< anything at all
  bool acknowledgements_due_ = false;
  double usual_wait_ = 0;  ///< nanoseconds; smoothed, with its mean deviation
  double deviation_ = 0;
  bool waits_known_ = false;
  std::uint64_t noise_;
  multicast_statistics counters_;
};

}  // namespace chorale::transport
