// Records what one rank does in one communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/transport/observers/observer.hpp>

#include "trace_memory.hpp"
#include "trace_part.hpp"

namespace chorale::transport {

/// Writes records of calls, waits and events to its own file, a part of the trace. When the communicator
/// ends, the last rank to finish merges the parts (`trace_merge.hpp`). A killed rank leaves its part behind,
/// complete up to the kill. One thread at a time.
class call_trace final : public observer {
 public:
  /// For a communicator that is about to be introduced. @throws error if the part cannot be created.
  call_trace(std::string file, std::size_t most_records, const observed_communicator& who);
  ~call_trace() override;

  void on_end(const observed_call& call) noexcept override;
  void on_wait(const observed_wait& wait) noexcept override;
  void on_event(const observed_event& event) noexcept override;
  void on_ended(const observed_communicator& who) noexcept override;

 private:
  [[nodiscard]] trace_header& header() const noexcept;
  /// The place for the next `rows` records; null if there is no room.
  [[nodiscard]] std::byte* place(std::size_t rows) noexcept;
  /// `rows` more records are complete.
  void complete(std::size_t rows) noexcept;
  void write(const trace_record& record) noexcept;
  /// The number of a text, which is written at its first use; 0 if there is no room.
  [[nodiscard]] std::uint16_t number_of(std::string_view text) noexcept;

  std::string file_;
  std::string folder_;
  std::int64_t process_;
  const void* flow_;  ///< the thread that made the communicator
  std::unique_ptr<trace_memory> memory_;
  std::vector<std::string> texts_;
  std::size_t last_text_ = 0;
};

}  // namespace chorale::transport
