// The records of a trace as events for ui.perfetto.dev.
#pragma once

#include <cstdint>
#include <string>

#include "trace_part.hpp"

namespace chorale::transport {

/// Adds the events of a part to `text`, each behind ",\n" (Trace Event Format, JSON array of events). `shift`
/// is added to its times, in nanoseconds.
///
/// A rank is a process there, named by its number in the first communicator of its thread, and a communicator
/// is a thread of it. Blocking calls and waits are complete events (X), a wait within its call; a nonblocking
/// call is an asynchronous one (b, e) from its making to its end, with a second one for the time in which its
/// algorithm ran; what happens at once is an instant (i).
void write_events(const trace_part& part, std::int64_t shift, std::string& text);

/// `text` within a string of JSON.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace chorale::transport
