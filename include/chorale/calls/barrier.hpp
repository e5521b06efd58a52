// barrier, ibarrier.
#pragma once

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Caller>
auto barrier(Caller& on) {
  return prepared{call{.what = operation::barrier}, [&on](epoch now) {
                    return launch<algorithm_of<operation::barrier, Caller>>(on.net(), now);
                  }};
}

}  // namespace chorale::calls
