// What the suite says of a device besides pass and fail: the documented differences it saw, the parts it left
// out. Printed at the end of the run.
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

/// Behaviour of a family of devices that is known to differ from the specification, and where it comes from.
template <class T>
struct known {
  std::string_view family;
  T value;
  std::string_view why;  ///< what the device does, and the source file that shows it
};

/// Notes that the device was seen to differ: `rule` is what the specification says.
void record_difference(std::string_view rule, const std::string& seen, std::string_view why);

/// Says in the report why something is not tried on this device.
void skip(const std::string& why);

/// Checks that the device does what the specification says, or else what is documented of its family; the
/// latter is listed in the report. True if the specification holds.
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

/// The same for a rule that holds or does not.
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
