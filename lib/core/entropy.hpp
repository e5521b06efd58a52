// Random numbers, the system's or a simulation's.
#pragma once

#include <cstdint>

namespace chorale {

/// A number that nobody can guess; in a simulation one of its seed. @throws error errc::unsupported where the
/// system gives none.
[[nodiscard]] std::uint64_t unguessable_word();

}  // namespace chorale
