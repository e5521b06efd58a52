// scan, exscan and their nonblocking forms.
#pragma once

#include <span>
#include <utility>

#include <chorale/calls/reduce.hpp>

namespace chorale::calls {

/// Scans `from` into `data`; in place if `from` is empty. `what` is operation::scan or operation::exscan.
template <class Caller>
auto scan(Caller& on, operation what, output data, named_reduction with,
          std::span<const std::byte> from = {}) {
  on.arguments().check_memory(what, data);
  if (from.empty()) from = data.bytes;
  return prepared{
      identify_reduction(what, data.bytes.size(), data.type, with),
      [&on, from, to = data.bytes, op = std::move(with.op), inclusive = what == operation::scan](
          call_id now) { return calls::serve<operation::scan>(on, now, from, to, op, inclusive); }};
}

/// With separate input and output buffers.
template <class Caller>
auto scan(Caller& on, operation what, const operands& io, named_reduction with) {
  return calls::scan(on, what, io.out, std::move(with), calls::separate_operand(on, what, io));
}

}  // namespace chorale::calls
