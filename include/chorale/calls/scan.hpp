// scan, exscan and their nonblocking forms.
#pragma once

#include <span>
#include <utility>

#include <chorale/calls/reduce.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::calls {

/// In `data`, into which `from` is copied as in `allreduce`; `what` is operation::scan or operation::exscan.
template <class Caller>
auto scan(Caller& on, operation what, output data, named_reduction with,
          std::span<const std::byte> from = {}) {
  on.arguments().check_memory(what, data);
  return prepared{identify_reduction(what, data.bytes.size(), data.type, with),
                  [&on, from, bytes = data.bytes, op = std::move(with.op),
                   inclusive = what == operation::scan](call_id now) {
                    place_own(from, bytes);
                    return serve<operation::scan>(on, now, bytes, op, inclusive);
                  }};
}

/// With a buffer of its own for the result.
template <class Caller>
auto scan(Caller& on, operation what, const operands& io, named_reduction with) {
  return scan(on, what, io.out, std::move(with), to_move_in(on, what, io));
}

}  // namespace chorale::calls
