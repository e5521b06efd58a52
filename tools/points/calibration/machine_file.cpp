// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "../../../lib/core/printable.hpp"
#include "../../bench/output.hpp"
#include "facts.hpp"

namespace points::calibration {
namespace {

using json = nlohmann::ordered_json;

/// A quantity in a unit of a machine file, rounded to a thousandth, and how it was found.
json quantity(const char* unit, double value, const std::string& how) {
  return {{unit, std::round(value * 1000) / 1000}, {"from", "[calibration]: " + how}};
}
json time(double seconds, const std::string& how) {
  return quantity("ns", seconds * 1e9, how);
}
/// A measured time, often a difference of two. If it is not positive, the machine was busy with other work,
/// and the file would claim that it costs nothing.
json measured(double seconds, const std::string& how) {
  json found = time(seconds, how);
  if (found["ns"] == 0.0)
    chorale::say(stderr,
                 "chorale-points: nothing is left of \"{}\", which counts as 0 ns; calibrate again when "
                 "nothing else runs here\n",
                 how);
  return found;
}
json rate(double bytes, const std::string& how) {
  return quantity("MB/s", bytes / 1e6, how);
}
json count(std::uint32_t number, const std::string& how) {
  return {{"count", number}, {"from", "[calibration]: " + how}};
}
json bytes(std::uint32_t number, const std::string& how) {
  return {{"bytes", number}, {"from", "[calibration]: " + how}};
}
/// A rate so high that bytes take no time.
json no_time(const std::string& why) {
  return rate(1e14, why);
}
constexpr const char* by_processor = "the core that posts copies: adapter.posting.copy";
json none(const char* unit, const std::string& why) {
  return {{unit, 0}, {"from", "[calibration]: " + why}};
}

/// Steps that follow the straight line from each point to the next. Despite noise, more bytes never take less
/// time, and no rate exceeds `fastest`.
json work(const work_facts& of, const std::string& what) {
  // Bytes per second. Machine files accept no slower rate, which small sizes on a busy machine may yield.
  constexpr double fastest = 1e12, slowest = 1e6;
  json steps = json::array();
  work_point before{0, 0};
  for (const work_point& at : of) {
    const double seconds = std::max({at.seconds, before.seconds, static_cast<double>(at.bytes) / fastest});
    const auto step = [&](std::size_t from, double call, double each) {
      steps.push_back({{"bytes", from},
                       {"call", time(call, what + ", between sizes")},
                       {"rate", rate(std::clamp(each, slowest, fastest),
                                     what + fmt::format(" of up to {} bytes", at.bytes))}});
    };
    const double slope = (seconds - before.seconds) / static_cast<double>(at.bytes - before.bytes);
    const double call = before.seconds - static_cast<double>(before.bytes) * slope;
    if (call >= 0 && slope * fastest >= 1)
      step(before.bytes, call, 1 / slope);
    else
      // Each part has the rate of its beginning, so that no call has a negative time.
      for (std::size_t from = before.bytes; from < at.bytes; from = std::max(2 * from, at.bytes / 2)) {
        const double there = before.seconds + static_cast<double>(from - before.bytes) * slope;
        step(from, 0, from == 0 ? fastest : static_cast<double>(from) / there);
      }
    before = {at.bytes, seconds};
  }
  return steps;
}

json host_section(const host_facts& host, const adapter_facts& adapter, const library_facts& library) {
  return {{"cores", count(static_cast<std::uint32_t>(host.cores), "those that are online")},
          {"copy", work(host.copy, "memcpy")},
          {"copy_received", work(adapter.copy_received, "memcpy of what the other rank has written")},
          {"own", work(host.copy, "memcpy")},
          {"combine", work(host.combine, "a sum of doubles")},
          {"combine_received", work(adapter.combine_received, "a sum with what the other rank has written")},
          {"look", measured(host.look, "a read of a cached line and a comparison")},
          {"notice", measured(host.notice, "a flag between two processes, less a look")},
          {"context_switch",
           measured(library.context_switch, "8 bytes over transport::rc on one core, less sending them")},
          {"crowded_context_switch",
           measured(library.context_switch + host.crowd,
                    "context_switch, and what a turn takes longer among four processes than between two")},
          {"call", measured(library.call, "an allreduce of one rank")},
          {"send", measured(library.send, "8 bytes over transport::rc, less a write of verbs")},
          {"receive", measured(library.receive,
                               "8 bytes over transport::rc_send_receive, less those over rc and a "
                               "receive of verbs")}};
}

json adapter_section(const adapter_facts& adapter, const host_facts& host) {
  const std::string not_apart = "a part of other times here";
  json posting{
      {"request", measured(adapter.request, "32 inline writes of 8 bytes in a chain, less a doorbell")},
      {"address", none("ns", not_apart + ": of a datagram's latency")},
      {"doorbell", measured(adapter.doorbell, "inline writes of 8 bytes one by one, less those in a chain")},
      {"inline_bytes",
       bytes(adapter.inline_bytes, "the longest that a queue pair was granted, of powers of two")},
      {"inline_copy", no_time("a part of posting")},
      {"copy", work(adapter.copy, "a write to what was written last time")},
      {"reach", work(adapter.reach,
                     "further, a write to memory that the device has not allocated, by both ranks at once")},
      {"copy_touched", work(adapter.copy_touched, "a write to what the other rank has read")},
      {"receive", measured(adapter.receive, "receives posted one by one")},
      {"poll", measured(adapter.poll, "looks at an empty completion queue")},
      {"completion", measured(adapter.completion, "32 completions found at once")}};
  json sending{
      {"start", measured(adapter.start, "a write of 8 bytes to and fro, less posting, noticing and looking")},
      {"fetch", none("ns", not_apart + ": of copying")},
      {"gap", none("ns", not_apart + ": of posting")},
      {"packet", none("ns", not_apart + ": of copying")},
      {"datagram", measured(adapter.datagram / 2, "half of what a datagram takes longer than a send")}};
  json receiving{
      {"place", none("ns", not_apart + ": of sending.start")},
      {"take", measured(adapter.take, "a send of 8 bytes to and fro, less a write")},
      {"shared", none("ns", not_apart + ": of take")},
      {"complete", none("ns", not_apart + ": of take")},
      {"gap", none("ns", not_apart + ": of posting")},
      {"packet", none("ns", not_apart + ": of copying")},
      {"datagram", measured(adapter.datagram / 2, "half of what a datagram takes longer than a send")},
      {"acknowledge", measured(adapter.acknowledge, "from posting a write of 8 bytes to its completion")},
      {"read", measured(adapter.read, "a read of 8 bytes")},
      {"atomic", measured(adapter.atomic, "a fetch-and-add")}};
  return {{"posting", posting},
          {"sending", sending},
          {"receiving", receiving},
          {"bus", {{"rate", no_time(by_processor)}, {"half_duplex", false}}},
          {"contexts",
           {{"count", count(0, "not measured: chorale-points queue-pairs shows it")},
            {"miss", none("ns", "not measured")},
            {"stall", none("ns", "not measured")}}},
          {"registration",
           {{"call", measured(adapter.registration_call, "a page, less what each further page takes")},
            {"page", measured(adapter.registration_page, "256 pages, less one")},
            {"end_call", measured(adapter.end_call, "a page, less what each further page takes")},
            {"end_page", measured(adapter.end_page, "256 pages, less one")},
            {"page_bytes", bytes(4096, "pages of the processor")}}},
          {"wake", measured(host.wake, "a byte by a pipe to a thread that sleeps")},
          {"burst", bytes(1U << 30, "not measured")},
          {"multicast", true},
          {"datagrams", true}};
}

json network_section(const adapter_facts& adapter) {
  const std::string one_host = "one host: nothing goes over a link";
  return {
      {"shape", {{"kind", "one switch"}, {"ports", 2}, {"from", "[calibration]: " + one_host}}},
      {"host_link", {{"rate", no_time(by_processor)}, {"delay", none("ns", one_host)}}},
      {"switches",
       {{"forward", none("ns", one_host)}, {"replicate", none("ns", one_host)}, {"whole_packets", false}}},
      {"packets",
       {{"payload", bytes(adapter.mtu, "the port's MTU")},
        {"connected", none("bytes", one_host)},
        {"datagram", none("bytes", one_host)}}}};
}

}  // namespace

void write_machine(const std::string& file, const std::string& about, const host_facts& host,
                   const adapter_facts& adapter, const library_facts& library) {
  const json all{{"machine", std::filesystem::path{file}.stem().string()},
                 {"description", about},
                 {"sources", {{"calibration", "chorale-points calibrate, medians of samples"}}},
                 {"hosts", count(1, "the ranks' host")},
                 {"ranks_per_host", count(static_cast<std::uint32_t>(host.cores), "a rank for each core")},
                 {"host", host_section(host, adapter, library)},
                 {"adapter", adapter_section(adapter, host)},
                 {"network", network_section(adapter)}};
  bench::write_file(file, all);
}

}  // namespace points::calibration
