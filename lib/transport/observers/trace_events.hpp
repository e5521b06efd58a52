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
/// is a thread of it. Calls, waits and what is done with windows are complete events (X), a wait within its
/// call; what happens at once is an instant (i). Nonblocking calls, from their making to their end, have
/// threads of their own, as many as are under way at a time, since complete events of a thread must not
/// overlap; within each is the time in which its algorithm ran. Asynchronous events (b, e) would not do:
/// versions of Perfetto drop them, or show them apart from their process.
void write_events(const trace_part& part, std::int64_t shift, std::string& text);

/// `text` within a string of JSON.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace chorale::transport
