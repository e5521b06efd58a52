// Which memory lies where an adapter wrote it, and in no cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace chorale::simulation {

/// The bytes that adapters have written and that no copy has touched since, of all ranks: they share an
/// address space. What programs read and write by themselves it does not know.
class written_memory {
 public:
  /// An adapter has written there.
  void wrote(const void* to, std::size_t bytes);
  /// A processor copies: what it reads and what it writes is in its cache then. @returns how many of the
  /// bytes that it reads were not.
  std::size_t copied(const void* to, const void* from, std::size_t bytes);

 private:
  /// Takes the bytes out. @returns how many there were.
  std::size_t take(const void* from, std::size_t bytes);

  std::map<std::uintptr_t, std::uintptr_t> ends_;  ///< of stretches that do not touch, by where they begin
};

}  // namespace chorale::simulation
