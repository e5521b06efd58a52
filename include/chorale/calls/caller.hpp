// What all calls of a communicator share: its transport, the queue of its calls, the checks of arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/calls/composition.hpp>
#include <chorale/calls/launch.hpp>
#include <chorale/calls/operand.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/type_name.hpp>
#include <chorale/core/types.hpp>
#include <chorale/request.hpp>
#include <chorale/transport/group_view.hpp>
#include <chorale/transport/joining.hpp>

namespace chorale::calls {

/// A call, and `start(epoch)`, which makes its algorithm.
template <class Start>
struct prepared {
  call what;
  Start start;
};
template <class Start>
prepared(call, Start) -> prepared<Start>;

/// The algorithm of an operation in a caller's composition.
template <operation What, class Caller>
using algorithm_of = typename Caller::template algorithm_of<What>;

/// The algorithm that serves the calls of `what` in a composition, as errors name it.
template <class Composition>
std::string algorithm_name(operation what) {
  std::string name;
  for_each_operation(operations_with_algorithms{}, [&]<operation Served>() {
    if (what == Served || what == operation_traits<Served>::also)
      name = type_name<typename Composition::template algorithm_of<Served>>();
  });
  return name;
}

/// Makes the calls of a communicator composed of `Composition` (`policies.hpp`). It stays where it is when
/// its communicator is moved.
template <class Composition>
class caller {
 public:
  using transport_type = typename Composition::transport;
  template <operation What>
  using algorithm_of = typename Composition::template algorithm_of<What>;

  template <class Group>
  caller(Group& group, const config& settings)
      : caller(composed_group<Group>{group, &describe_composition<Composition>}, settings) {}
  explicit caller(transport::joined_group&& group) : caller(group.rank(), group.size(), std::move(group)) {}
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  /// What its algorithms are, as ranks compare it when they meet.
  [[nodiscard]] static std::string composition() { return describe_composition<Composition>(); }

  [[nodiscard]] int rank() const noexcept { return net_.rank(); }
  [[nodiscard]] int size() const noexcept { return net_.size(); }
  [[nodiscard]] transport_type& transport() noexcept { return net_; }
  [[nodiscard]] const transport_type& transport() const noexcept { return net_; }
  /// The transport as algorithms see it.
  [[nodiscard]] typename Composition::net& net() noexcept { return net_; }

  /// A blocking call of what `start(epoch)` makes: its waits happen inside the awaits, so that it is over
  /// when `resume` returns. Inline, so that what is constant in a call is constant in its signature.
  template <class Start>
  [[gnu::always_inline]] void run(const prepared<Start>& made) {
    const transport::occupancy::entry inside{net_.core().use(), made.what.what};
    if (!queue_.empty()) [[unlikely]]
      queue_.drain();
    const epoch now = net_.core().begin(made.what);
    net_.core().engine().set_blocking(true);
    try {
      task<> algorithm = made.start(now);
      algorithm.resume();
      algorithm.result();
      net_.core().failures().require_whole();
    } catch (...) {
      const std::exception_ptr why = net_.core().calls().labelled(std::current_exception());
      net_.core().failures().fail(why);
      std::rethrow_exception(why);
    }
    net_.core().calls().complete(now);
  }

  template <class Start>
  request start(const prepared<Start>& made) {
    const transport::occupancy::entry inside{net_.core().use(), made.what.what};
    return request{queue_.start(made.what, made.start)};
  }

  void check_root(operation what, int root) const {
    if (root < 0 || root >= size()) [[unlikely]]
      reject_root(what, root);
  }
  /// Refuses some elements at no address.
  void check_memory(operation what, std::span<const std::byte> buffer, std::size_t one) const {
    if (buffer.data() == nullptr && !buffer.empty()) [[unlikely]]
      reject_null(what, buffer.size() / one);
  }
  void check_memory(operation what, const input& in) const { check_memory(what, in.bytes, in.one); }
  void check_memory(operation what, const output& out) const { check_memory(what, out.bytes, out.one); }
  /// `needed` and `given` are bytes, `one` those of an element.
  void check_sizes(operation what, std::size_t needed, std::size_t given, std::size_t one) const {
    if (given != needed) [[unlikely]]
      reject(name(what), std::to_string(needed / one) + " elements are needed where " +
                             std::to_string(given / one) + " are given");
  }
  /// Refuses buffers that overlap.
  void check_apart(operation what, std::span<const std::byte> in, std::span<const std::byte> out) const {
    if (in.data() < out.data() + out.size() && out.data() < in.data() + in.size() && !in.empty() &&
        !out.empty()) [[unlikely]]
      reject_overlap(what, in, out);
  }
  /// The same of buffers that may be one and the same: then true.
  bool check_same_or_apart(operation what, std::span<const std::byte> in,
                           std::span<const std::byte> out) const {
    if (in.data() == out.data() && in.size() == out.size()) return true;
    check_apart(what, in, out);
    return false;
  }
  [[noreturn]] void reject(const char* what, const std::string& why) const {
    std::string text;
    if (!net_.core().calls().label().empty())
      text.append("communicator '").append(net_.core().calls().label()).append("': ");
    text.append(what).append(" on rank ").append(std::to_string(rank())).append(": ").append(why);
    throw error(errc::invalid_argument, text);
  }
  /// The uneven layout of blocks of `sizes` elements of `one` bytes for each rank, at `displacements` or, if
  /// there are none, one behind the other, in a buffer of `room` bytes. Blocks that are `written` are apart.
  block_layout uneven_layout(operation call, std::span<const std::size_t> sizes,
                             std::span<const std::size_t> displacements, std::size_t room, std::size_t one,
                             bool written) const {
    const char* what = name(call);
    const auto ranks = static_cast<std::size_t>(size());
    if (sizes.size() != ranks || (!displacements.empty() && displacements.size() != ranks))
      reject(what, std::to_string(sizes.size()) + " counts and " + std::to_string(displacements.size()) +
                       " displacements are given for " + std::to_string(ranks) + " ranks");
    if (sizes.data() == nullptr) reject(what, "a null pointer stands for the counts");
    std::vector<extent> places(ranks);
    room /= one;
    std::size_t next = 0;
    bool in_order = true;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t first = displacements.empty() ? next : displacements[r];
      if (first > room || sizes[r] > room - first)
        reject(what, "the block of rank " + std::to_string(r) + ", " + std::to_string(sizes[r]) +
                         " elements at " + std::to_string(first) + ", leaves the buffer of " +
                         std::to_string(room) + " elements");
      places[r] = {first * one, sizes[r] * one};
      in_order = in_order && first >= next;
      next = first + sizes[r];
    }
    if (written && !in_order)
      if (const auto twice = overlapping(places); twice.first >= 0)
        reject(what, "the blocks of ranks " + std::to_string(twice.first) + " and " +
                         std::to_string(twice.second) + " overlap where they are to be written");
    return block_layout::uneven(std::move(places));
  }
  [[nodiscard]] detail::call_queue& queue() noexcept { return queue_; }

 private:
  template <class Group>
  caller(composed_group<Group> group, const config& settings) try
      : net_(group, settings), queue_(net_.core()) {
    net_.core().calls().name_algorithms(&algorithm_name<Composition>);
  } catch (const error& e) {
    if (!e.ranks().empty()) throw;
    throw transport::set_up_failure(group.rank(), group.size(), e.code(), e.reason());
  }
  caller(int rank, int size, transport::joined_group&& group) try
      : net_(std::move(group)), queue_(net_.core()) {
    net_.core().calls().name_algorithms(&algorithm_name<Composition>);
  } catch (const error& e) {
    if (!e.ranks().empty()) throw;
    throw transport::set_up_failure(rank, size, e.code(), e.reason());
  }

  [[noreturn, gnu::noinline]] void reject_root(operation what, int root) const {
    reject(name(what), "root " + std::to_string(root) + " is not in 0.." + std::to_string(size() - 1));
  }
  [[noreturn, gnu::noinline]] void reject_null(operation what, std::size_t elements) const {
    reject(name(what), "a null pointer stands for the buffer of " + std::to_string(elements) + " elements");
  }
  [[noreturn]] void reject_overlap(operation what, std::span<const std::byte> in,
                                   std::span<const std::byte> out) const;

  transport_type net_;
  detail::call_queue queue_;
};

/// Ends a caller. One that is destroyed from inside a call of its own, as by an operator, stays, since that
/// call goes on; the others are told that this rank makes no more calls.
struct ending {
  template <class Caller>
  void operator()(Caller* on) const noexcept {
    if (on->queue().net().use().is_mine()) [[unlikely]]
      return on->queue().net().failures().abandon();
    delete on;
  }
};

/// What every call of a communicator that was moved from says.
[[noreturn]] inline void refuse_moved_from() {
  throw error(errc::misuse, "this communicator was moved from: it has no ranks any more");
}

/// Copies a block to where it is not yet.
inline void place(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  if (!from.empty() && from.data() != to.data()) std::memcpy(to.data(), from.data(), from.size());
}

template <class Composition>
void caller<Composition>::reject_overlap(operation what, std::span<const std::byte> in,
                                         std::span<const std::byte> out) const {
  const auto describe = [](std::span<const std::byte> buffer) {
    return std::to_string(buffer.size()) + " bytes at " +
           std::to_string(reinterpret_cast<std::uintptr_t>(buffer.data()));
  };
  reject(name(what), "what is read, " + describe(in) + ", overlaps what is written, " + describe(out) +
                         ": buffers of a call are apart, or one in place of the other (chorale::in_place)");
}

}  // namespace chorale::calls
