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
  /// A processor combines what is in two places: both are in its cache then. @returns how many bytes of the
  /// one that had more were not.
  std::size_t combined(const void* one, const void* other, std::size_t bytes);
  /// A processor reads. @returns how many of the bytes were not in its cache.
  std::size_t read(const void* from, std::size_t bytes) { return take(from, bytes); }
  /// How many of these bytes an adapter has written, and nobody has touched since.
  [[nodiscard]] std::size_t fresh(const void* from, std::size_t bytes) const;

 private:
  /// Takes the bytes out. @returns how many there were.
  std::size_t take(const void* from, std::size_t bytes);

  std::map<std::uintptr_t, std::uintptr_t> ends_;  ///< of stretches that do not touch, by where they begin
};

}  // namespace chorale::simulation
