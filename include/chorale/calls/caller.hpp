// The innermost layer of a communicator: its transport, its calls, and the checks of arguments that they
// share.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/calls/launch.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/types.hpp>
#include <chorale/request.hpp>

namespace chorale::calls {

/// Makes collective calls over `Transport`.
template <class Transport>
class caller {
 public:
  using transport_type = Transport;

  template <class Group>
  caller(Group& group, const config& settings) : net_(group, settings), queue_(net_) {}
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  [[nodiscard]] int rank() const noexcept { return net_.rank(); }
  [[nodiscard]] int size() const noexcept { return net_.size(); }
  /// How this group came to be: the launcher, or that it is a singleton.
  [[nodiscard]] const std::string& launched() const noexcept { return net_.launched(); }
  /// The transport, for its figures (connections, registered bytes, device) and for algorithms of your own.
  [[nodiscard]] Transport& transport() noexcept { return net_; }

 protected:
  ~caller() = default;

  /// A blocking call of what `begin_algorithm(epoch)` makes: its waits happen inside the awaits, so that it
  /// is over when `resume` returns.
  template <class Start>
  void run(const call& what, Start&& begin_algorithm) {
    const transport::occupancy::entry inside{net_.use(), what.what};
    if (!queue_.empty()) [[unlikely]]
      queue_.drain();
    const epoch now = net_.begin(what);
    net_.set_blocking(true);
    try {
      task<> algorithm = begin_algorithm(now);
      algorithm.resume();
      algorithm.result();
      net_.require_awaited();
    } catch (...) {
      net_.fail(std::current_exception());
      throw;
    }
    net_.complete(now);
  }

  template <class Start>
  request start(const call& what, Start&& begin_algorithm) {
    const transport::occupancy::entry inside{net_.use(), what.what};
    return request{queue_.start(what, begin_algorithm)};
  }

  void check_root(const char* what, int root) const {
    if (root < 0 || root >= size())
      reject(what, "root " + std::to_string(root) + " is not in 0.." + std::to_string(size() - 1));
  }
  void check_sizes(const char* what, std::size_t needed, std::size_t given) const {
    if (given != needed)
      reject(what,
             std::to_string(needed) + " elements are needed where " + std::to_string(given) + " are given");
  }
  [[noreturn]] void reject(const char* what, const std::string& why) const {
    throw error(errc::invalid_argument,
                std::string{what} + " on rank " + std::to_string(rank()) + ": " + why);
  }
  /// The uneven layout of `counts` elements of T for each rank, at `displacements` or, if there are none, one
  /// behind the other, in a buffer of `room` elements.
  template <class T>
  block_layout uneven_layout(const char* what, std::span<const std::size_t> counts,
                             std::span<const std::size_t> displacements, std::size_t room) const {
    const auto ranks = static_cast<std::size_t>(size());
    if (counts.size() != ranks || (!displacements.empty() && displacements.size() != ranks))
      reject(what, std::to_string(counts.size()) + " counts and " + std::to_string(displacements.size()) +
                       " displacements are given for " + std::to_string(ranks) + " ranks");
    std::vector<extent> places(ranks);
    std::size_t next = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t first = displacements.empty() ? next : displacements[r];
      if (first > room || counts[r] > room - first)
        reject(what, "the block of rank " + std::to_string(r) + ", " + std::to_string(counts[r]) +
                         " elements at " + std::to_string(first) + ", leaves the buffer of " +
                         std::to_string(room) + " elements");
      places[r] = {first * sizeof(T), counts[r] * sizeof(T)};
      next = first + counts[r];
    }
    return block_layout::uneven(std::move(places));
  }
  /// What algorithms are given of the transport: itself, or the base that it shares with others of its kind.
  [[nodiscard]] auto& net() noexcept {
    if constexpr (requires { typename Transport::seen_by_algorithms; })
      return static_cast<typename Transport::seen_by_algorithms&>(net_);
    else
      return net_;
  }
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
    if (!from.empty() && from.data() != to.data()) std::memmove(to.data(), from.data(), from.size());
  }

  Transport net_;
  detail::call_queue queue_;
};

}  // namespace chorale::calls
