// Choices of devices, which hold as long as the devices are open.
#pragma once

namespace chorale::transport {

/// Forgets choices of devices that nobody has open any more. Any thread.
void forget_ended_choices() noexcept;

}  // namespace chorale::transport
