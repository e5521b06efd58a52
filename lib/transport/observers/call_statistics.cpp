// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/observers/call_record.hpp>
#include <chorale/transport/observers/call_statistics.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

#include "call_counter.hpp"

namespace chorale {
namespace {

double microseconds(clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string line(const std::string& call, const call_statistics::row& r) {
  return fmt::format("{:<18} {:<28} {:>10} {:>8} {:>14} {:>12.1f} {:>12.1f} {:>10.2f} {:>7}\n", call,
                     r.algorithm, r.calls, r.failures, r.bytes, microseconds(r.time), microseconds(r.waited),
                     r.calls == 0 ? 0.0 : microseconds(r.time) / static_cast<double>(r.calls), r.resent);
}

}  // namespace

call_statistics::row call_statistics::total() const {
  row sum;
  for (const row& r : rows) {
    sum.calls += r.calls;
    sum.failures += r.failures;
    sum.bytes += r.bytes;
    sum.time += r.time;
    sum.waited += r.waited;
    sum.resent += r.resent;
  }
  return sum;
}

std::string call_statistics::table() const {
  std::string text = fmt::format("calls of rank {} of {} over {}{}\n", rank, size, transport,
                                 name.empty() ? std::string{} : fmt::format(", communicator '{}'", name));
  text += fmt::format("{:<18} {:<28} {:>10} {:>8} {:>14} {:>12} {:>12} {:>10} {:>7}\n", "call", "algorithm",
                      "calls", "failed", "bytes", "time us", "waited us", "us a call", "resent");
  for (const row& r : rows)
    text += line(fmt::format("{}{}", r.is_nonblocking ? "i" : "", chorale::name(r.what)), r);
  return text + line("all", total());
}

call_statistics transport::statistics_of(const call_record& calls) {
  const auto* const counter = calls.is_observed() ? calls.observed().find<call_counter>() : nullptr;
  if (counter == nullptr)
    throw error(errc::misuse,
                "the calls of this communicator are not counted: set CHORALE_STATISTICS=1, or "
                "config::statistics, before it is made");
  calls.observed().report_passed();
  call_statistics counted = counter->counted();
  counted.name = calls.label();
  return counted;
}

}  // namespace chorale
