// SPDX-License-Identifier: Apache-2.0
// The suite's report on a device besides pass and fail: the documented differences seen, and the parts
// skipped. Printed at the end of the run.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "../../../lib/verbs/text.hpp"

namespace conformance {

/// "soft" (soft0), "sim" (sim0), "rxe" (Soft-RoCE), else the device's name without its number ("mlx5_").
std::string device_family();
/// True for sim0: this program is a fiber of a simulation, in virtual time.
bool is_simulated();

/// Known behaviour of a device family that differs from the specification, with its source.
template <class T>
struct known {
  std::string_view family;
  T value;
  std::string_view why;  ///< the behaviour, and the source file that shows it
};

/// Records a difference: `rule` is what the specification says.
void record_difference(std::string_view rule, const std::string& seen, std::string_view why);

/// Records why something is not tested on this device.
void skip(const std::string& why);

/// Checks that the device behaves as specified, or as documented for its family; the latter is listed in the
/// report. True if the specification holds.
template <class T>
bool conforms(std::string_view rule, const T& seen, const T& specified,
              std::initializer_list<known<T>> documented = {}) {
  if (!(seen == specified))
    for (const known<T>& other : documented)
      if (other.family == device_family() && seen == other.value) {
        record_difference(rule, Catch::Detail::stringify(seen), other.why);
        SUCCEED(rule);
        return false;
      }
  INFO(rule);
  CHECK(seen == specified);
  return seen == specified;
}

/// The same for a rule that is either true or false.
inline bool holds(std::string_view rule, bool seen, std::initializer_list<known<bool>> documented = {}) {
  return conforms(rule, seen, true, documented);
}

}  // namespace conformance

namespace Catch {
template <>
struct StringMaker<ibv_wc_status> {
  static std::string convert(ibv_wc_status value) { return std::string{chorale::verbs::to_string(value)}; }
};
template <>
struct StringMaker<ibv_wc_opcode> {
  static std::string convert(ibv_wc_opcode value) { return std::string{chorale::verbs::to_string(value)}; }
};
template <>
struct StringMaker<ibv_qp_state> {
  static std::string convert(ibv_qp_state value) { return std::string{chorale::verbs::to_string(value)}; }
};
template <>
struct StringMaker<ibv_event_type> {
  static std::string convert(ibv_event_type value) { return std::string{chorale::verbs::to_string(value)}; }
};
}  // namespace Catch
