// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include <chorale/calls/argument_checks.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/host_memory.hpp>

namespace chorale::calls {

void argument_checks::reject(const char* what, const std::string& why) const {
  throw error(errc::invalid_argument, (label_->empty() ? "" : "communicator '" + *label_ + "': ") +
                                          fmt::format("{} on rank {}: {}", what, rank_, why));
}

void argument_checks::reject_root(operation what, int root) const {
  reject(name(what), fmt::format("root {} is not in 0..{}", root, size_ - 1));
}

void argument_checks::examine(operation what, std::span<const std::byte> memory, std::size_t one,
                              bool is_written) const {
  if (memory.data() == nullptr)
    reject(name(what), fmt::format("the buffer of {} elements is a null pointer", memory.size() / one));
  if (!(is_written ? detail::can_write(memory) : detail::can_read(memory)))
    reject(name(what), detail::fault_of_memory(memory, is_written));
}

void argument_checks::reject_size(operation what, std::size_t block, std::size_t blocks,
                                  std::size_t given) const {
  __extension__ typedef unsigned __int128 wide;
  reject(name(what),
         fmt::format("{} elements are needed where {} are given", static_cast<wide>(block) * blocks, given));
}

void argument_checks::reject_overlap(operation what, std::span<const std::byte> in,
                                     std::span<const std::byte> out) const {
  const auto describe = [](std::span<const std::byte> buffer) {
    return fmt::format("{} bytes at {}", buffer.size(), reinterpret_cast<std::uintptr_t>(buffer.data()));
  };
  reject(name(what),
         fmt::format("what is read, {}, overlaps what is written, {}: buffers of a call are apart, or "
                     "one in place of the other (chorale::in_place)",
                     describe(in), describe(out)));
}

block_layout argument_checks::uneven_layout(operation call, std::span<const std::size_t> sizes,
                                            std::span<const std::size_t> displacements, std::size_t room,
                                            std::size_t one, bool written) const {
  const char* what = name(call);
  const auto ranks = static_cast<std::size_t>(size_);
  if (sizes.size() != ranks || (!displacements.empty() && displacements.size() != ranks))
    reject(what, fmt::format("{} counts and {} displacements are given for {} ranks", sizes.size(),
                             displacements.size(), ranks));
  if (sizes.data() == nullptr) reject(what, "the counts are a null pointer");
  std::vector<extent> places(ranks);
  room /= one;
  std::size_t next = 0;
  bool in_order = true;
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::size_t first = displacements.empty() ? next : displacements[r];
    if (first > room || sizes[r] > room - first)
      reject(what, fmt::format("the block of rank {}, {} elements at {}, leaves the buffer of {} elements", r,
                               sizes[r], first, room));
    places[r] = {first * one, sizes[r] * one};
    in_order = in_order && first >= next;
    next = first + sizes[r];
  }
  if (written && !in_order)
    if (const auto twice = overlapping(places); twice.first >= 0)
      reject(what, fmt::format("the blocks of ranks {} and {} overlap where they are to be written",
                               twice.first, twice.second));
  return block_layout::uneven(std::move(places));
}

}  // namespace chorale::calls
