// Why a thread looks at something that it has begun.
#pragma once

namespace chorale {

/// What a thread does that looks whether one of its calls gets on.
enum class attention {
  waits,   ///< waits for it: a long wait is reported, and one past the deadline fails
  polls,   ///< is told of it by a program that asks again and again: a long wait is reported
  passes,  ///< waits for something else, and only lets this get on: what it waits for is reported
};

}  // namespace chorale
