// What payloads cost the cores that post them and that use them.
#pragma once

#include "facts.hpp"
#include "line.hpp"

namespace points::calibration {

/// Measures payloads of ascending sizes: what copying them takes the core that posts them, and using them the
/// other. Collective over the two ranks; the facts are rank 0's.
void measure_payloads(const job& in, line& way, adapter_facts& found);

}  // namespace points::calibration
