// The cost of payloads for the cores that post and use them.
#pragma once

#include "facts.hpp"
#include "line.hpp"

namespace points::calibration {

/// Measures payloads of ascending sizes: the time of copying on the core that posts them, and of using them
/// on the other. Collective over the two ranks; the facts are rank 0's.
void measure_payloads(const job& in, line& way, adapter_facts& found);

}  // namespace points::calibration
