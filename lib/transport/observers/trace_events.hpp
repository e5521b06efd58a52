// Converts records of a trace to events for ui.perfetto.dev.
#pragma once

#include <cstdint>
#include <string>

#include "trace_part.hpp"

namespace chorale::transport {

/// Appends the events of a part to `text`, each preceded by ",\n" (Trace Event Format, JSON array). Adds
/// `shift` nanoseconds to its times.
///
/// A rank is shown as a process, named by its number in the first communicator of its thread, and a
/// communicator as a thread of it. Calls, waits and window operations are complete events (X), waits within
/// their call; instantaneous events are instants (i). Nonblocking calls, from start to end, are shown on
/// additional threads, as many as are concurrent, since complete events of one thread must not overlap;
/// within each, the time in which its algorithm ran. Asynchronous events (b, e) are no alternative: some
/// versions of Perfetto drop them, or show them apart from their process.
void write_events(const trace_part& part, std::int64_t shift, std::string& text);

/// Escapes `text` for a JSON string.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace chorale::transport
