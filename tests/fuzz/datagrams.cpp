// SPDX-License-Identifier: Apache-2.0
// Cards and datagrams of other ranks, and the texts generated from them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../lib/core/printable.hpp"
#include "../../lib/transport/group/rank_card.hpp"
#include "../../lib/transport/group/terms.hpp"
#include "../../lib/transport/wire/messages.hpp"

using namespace chorale;
using namespace chorale::transport;

namespace {

constexpr std::uint64_t job = 0x4242424242424242;
constexpr int ranks = 5;

void must(bool good) {
  if (!good) std::abort();
}

/// True if the text contains nothing that a terminal would interpret, whatever another rank put into it.
bool is_shown(std::string_view text) {
  return printable(text, text.size()) == text;
}

void read_one_card(std::span<const std::byte> bytes) {
  if (const auto read = read_card(bytes)) {
    must(read->card.version == version_of_card(bytes) && version_of_card(bytes) != 0);
    must(read->cores.count() >= 0 && read->cores.count() <= 1024);
    std::vector<verbs::endpoint_address> more;
    for (std::size_t i = 1; i < read->card.ports; ++i) more.push_back(read->address(i));
    const auto written = write_card(read->card, read->cores, more);
    const auto again = read_card(written);
    must(again && again->card.host == read->card.host && again->cores.words == read->cores.words);
    must(std::ranges::equal(again->more_addresses, read->more_addresses));
  }
  if (const auto why = read_refusal(bytes)) must(is_refusal(bytes) && !read_card(bytes));
}

void read_one_set_of_terms(std::span<const std::byte> bytes) {
  group_terms terms;
  if (!read_terms(bytes, terms)) return;
  must(std::strlen(terms.transport) < sizeof terms.transport &&
       std::strlen(terms.composition) < sizeof terms.composition);
  for (const port_terms& p : terms.ports) must(std::strlen(p.device) < sizeof p.device);
  must(is_shown(terms.host.text()) && terms.host.text().size() <= 4 * sizeof terms.host.name);
  require_same_terms(0, terms, 1, terms);
  try {
    require_same_terms(0, group_terms{}, 1, terms);
  } catch (const error& e) {
    must(std::string_view{e.what()}.find("rank 1") != std::string_view::npos && is_shown(e.what()));
  }
}

void read_body(const received_datagram& d) {
  if (const auto answer = parse<status_answer>(d.body)) {
    const call mine;
    must(!answer->latest.describe().empty());
    if (const call* theirs = answer->find(answer->number)) {
      must(!theirs->describe().empty());
      must(!mine.difference(*theirs).empty());
    }
  }
  if (const auto told = read_notice(d.source, ranks, d.body)) {
    must(std::string_view{told->what()}.find("reports") != std::string_view::npos && is_shown(told->what()));
    must(told->code().message() != category().message(0));
    for (const int rank : told->ranks()) must(rank >= 0 && rank < ranks);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  read_one_card(bytes);
  read_one_set_of_terms(bytes);
  if (const auto read = read_datagram(bytes, job, ranks)) {
    must(read->source >= 0 && read->source < ranks && read->body.size() <= size);
    read_body(*read);
  }
  // Most inputs have no valid head: this also feeds them to the bodies directly.
  read_body({1, 0, bytes});
  farewell left;
  if (size >= sizeof left) {
    std::memcpy(static_cast<void*>(&left), data, sizeof left);
    for (std::uint64_t back = 0; back <= farewell::kept; ++back) {
      const status_answer told = left.about(left.current - back);
      if (const call* last = told.find(told.number)) must(!last->describe().empty());
    }
  }
  return 0;
}
