// The measurements that the library is built with.
#pragma once

#include <vector>

#include <chorale/model/tuning.hpp>

namespace chorale::model {

std::vector<measurement> built_in_measurements();

}  // namespace chorale::model
