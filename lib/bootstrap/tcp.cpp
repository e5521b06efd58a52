// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>
#include <unistd.h>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <chorale/bootstrap/tcp.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/uncancellable.hpp>

#include "../core/printable.hpp"
#include "environment.hpp"
#include "tcp_client.hpp"
#include "tcp_id.hpp"
#include "tcp_messages.hpp"
#include "tcp_server.hpp"

namespace chorale::bootstrap {
namespace {

/// Longest sleep of a waiting rank before it advances other communicators of its thread; the second one if
/// there is also work that the program drives by `while_waiting`.
constexpr std::chrono::milliseconds turn{50};
constexpr std::chrono::milliseconds turn_of_others{1};
/// Time for the root to answer which ranks are late.
constexpr std::chrono::milliseconds answer_time{1000};

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span{text});
}

void require_rank(int rank, int size) {
  if (size < 1 || rank < 0 || rank >= size)
    throw error(
        errc::invalid_argument,
        fmt::format(
            "bootstrap::tcp: rank {} of {}: ranks are 0 to size - 1, of at least one (RANK, WORLD_SIZE)",
            rank, size));
}

}  // namespace

/// The connections of a group.
class tcp::meeting {
 public:
  meeting(int rank, int size, std::chrono::milliseconds stall)
      : mine_(tcp_claim::of_this_process(rank, size)), stall_(stall) {}
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;
  ~meeting() { end(); }

  /// The others connect to this rank.
  void listen(std::span<const std::byte> secret, detail::process_fd listener) {
    ends_.emplace<tcp_server>(mine_, secret, std::move(listener));
  }
  void connect(std::span<const std::byte> secret, std::function<tcp_resolution()> addresses,
               std::string place) {
    ends_.emplace<tcp_client>(mine_, secret, std::move(addresses), std::move(place));
  }
  /// Waits until all ranks have connected.
  void begin(std::chrono::milliseconds deadline, std::string description) {
    description_ = std::move(description);
    run([&](auto& end) {
      wait(end, deadline, [&] { return end.welcome().has_value(); });
      welcome_ = *end.welcome();
    });
  }
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    if (::getpid() != process_)
      throw error(
          errc::misuse,
          fmt::format(
              "bootstrap::tcp on rank {}: process {} is a child of fork() of this rank, process {}, and "
              "cannot use its connections",
              mine_.rank, ::getpid(), process_));
    if (mine.size() > longest_tcp_card)
      throw error(errc::invalid_argument,
                  fmt::format("bootstrap::tcp on rank {}: a card has at most {} bytes", mine_.rank,
                              longest_tcp_card));
    if (!failed_.empty())
      throw error(
          errc::bootstrap_failed,
          fmt::format("bootstrap::tcp on rank {}: this group has failed before: {}", mine_.rank, failed_));
    cards all;
    run([&](auto& end) {
      end.contribute(mine);
      std::optional<cards> finished;
      wait(end, deadline, [&] { return (finished = end.finished_round()).has_value(); });
      all = std::move(*finished);
    });
    return all;
  }

  [[nodiscard]] const tcp_claim& mine() const noexcept { return mine_; }
  [[nodiscard]] const tcp_welcome& welcome() const noexcept { return welcome_; }
  [[nodiscard]] const std::string& description() const noexcept { return description_; }

 private:
  /// Any exception on this rank ends the group, so that no other rank waits for this one.
  template <class Action>
  void run(Action&& action) {
    const detail::uncancellable ends_first;
    std::visit(
        [&](auto& ends) {
          if constexpr (!std::is_same_v<decltype(ends), std::monostate&>) {
            try {
              action(ends);
            } catch (const error& e) {
              failed_ = e.reason();
              ends.linger();
              end();
              throw;
            } catch (...) {
              failed_ = "an exception on this rank";
              end();
              throw;
            }
          }
        },
        ends_);
  }
  template <class End, class Done>
  void wait(End& end, std::chrono::milliseconds deadline, const Done& done) {
    const auto begin = clock::now();
    auto report = stall_;
    bool has_asked = false;
    while (!done()) {
      if (const auto& why = end.failure(); why.has_value())
        throw error(errc::bootstrap_failed,
                    fmt::format("bootstrap::tcp on rank {}: {}", mine_.rank, why->text), why->ranks);
      const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
      const auto limit = deadline + (has_asked ? answer_time : std::chrono::milliseconds{0});
      if (deadline.count() != 0 && waited >= limit) {
        if (has_asked || !end.give_up(waited))
          throw error(
              errc::bootstrap_failed,
              fmt::format(
                  "bootstrap::tcp on rank {}: after {} ms it still waits for {}: start all ranks, with "
                  "the same address, or give them more time (CHORALE_DEADLINE_MS); {}",
                  mine_.rank, waited.count(), end.awaited(), words_for_further_programs));
        has_asked = true;
        continue;
      }
      if (waited >= report) {
        report *= 2;
        chorale::say(stderr,
                     "chorale: rank {} has waited {:.1f} s for {}; nothing has failed, and the wait goes on "
                     "(CHORALE_STALL_MS)\n",
                     mine_.rank, static_cast<double>(waited.count()) / 1000, end.awaited());
      }
      const auto longest = background::drives_others() ? turn_of_others : turn;
      const auto left =
          deadline.count() == 0 ? longest : std::clamp(limit - waited, std::chrono::milliseconds{1}, longest);
      end.step(left);
      background::advance_all(attention::passes);
    }
  }
  void end() noexcept {
    // A child of fork() only closes its copies.
    if (::getpid() == process_)
      std::visit(
          [](auto& ends) {
            if constexpr (!std::is_same_v<decltype(ends), std::monostate&>) ends.end();
          },
          ends_);
    ends_.emplace<std::monostate>();
  }

  tcp_claim mine_;
  std::chrono::milliseconds stall_;
  pid_t process_ = ::getpid();
  tcp_welcome welcome_;
  std::string description_;
  std::string failed_;  ///< why the group has failed; empty if it has not
  std::variant<std::monostate, tcp_server, tcp_client> ends_;
};

tcp::tcp(const tcp_options& options) {
  detail::require_same_layouts();
  const tcp_environment told = tcp_environment::read();
  *this = tcp{told.rank, told.size, told.address, options};
}

tcp::tcp(int rank, int size, std::string_view address, const tcp_options& options) {
  detail::require_same_layouts();
  const detail::uncancellable ends_first;
  require_rank(rank, size);
  const tcp_place place = tcp_place::read(address);
  meeting_ = std::make_shared<meeting>(rank, size, config::from_environment().stall);
  const auto secret = bytes_of_text(options.secret);
  if (rank == 0)
    meeting_->listen(secret, size == 1 ? detail::process_fd{} : listen_at(place));
  else
    meeting_->connect(
        secret, [place] { return resolve(place); }, place.text());
  meeting_->begin(options.deadline, fmt::format("rank {} of {}, which met at {}", rank, size, place.text()));
}

tcp::tcp(int rank, int size, const tcp_id& id, const tcp_options& options) {
  detail::require_same_layouts();
  const detail::uncancellable ends_first;
  require_rank(rank, size);
  const tcp_id_contents contents = tcp_id_contents::of(id);
  meeting_ = std::make_shared<meeting>(rank, size, config::from_environment().stall);
  auto listener = listener_of(contents);
  const bool listens = listener.has_value();
  if (listens)
    meeting_->listen(contents.secret, std::move(*listener));
  else
    meeting_->connect(
        contents.secret, [contents] { return contents.resolution(); }, "the addresses of its tcp_id");
  struct ended {
    const tcp_id_contents* id;
    ~ended() {
      if (id != nullptr) end_id(*id);
    }
  } const once{listens ? &contents : nullptr};
  meeting_->begin(options.deadline, fmt::format("rank {} of {}, which met by a tcp_id", rank, size));
}

int tcp::rank() const noexcept {
  return meeting_->mine().rank;
}
int tcp::size() const noexcept {
  return meeting_->mine().size;
}
int tcp::local_rank() const noexcept {
  return meeting_->welcome().local_rank;
}
std::string tcp::job() const {
  return fmt::format("tcp-{:016x}", meeting_->welcome().job);
}
std::string tcp::describe() const {
  return meeting_->description();
}
cards tcp::exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
  return meeting_->exchange(mine, deadline);
}

}  // namespace chorale::bootstrap
