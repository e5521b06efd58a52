// scan, exscan and their nonblocking forms.
#pragma once

#include <utility>

#include <chorale/calls/reduce.hpp>

namespace chorale::calls {

/// In place; `what` is operation::scan or operation::exscan.
template <class Caller>
auto scan(Caller& on, operation what, output data, named_reduction with) {
  on.arguments().check_memory(what, data);
  return prepared{identify_reduction(what, data.bytes.size(), data.type, with),
                  [&on, bytes = data.bytes, op = std::move(with.op), inclusive = what == operation::scan](
                      call_id now) { return serve<operation::scan>(on, now, bytes, op, inclusive); }};
}

/// With a buffer of its own for the result.
template <class Caller>
auto scan(Caller& on, operation what, const operands& io, named_reduction with) {
  return scan(on, what, move_in(on, what, io), std::move(with));
}

}  // namespace chorale::calls
