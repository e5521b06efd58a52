// Cards and datagrams of other ranks, and the texts that are made of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "../../lib/transport/messages.hpp"

using namespace chorale;
using namespace chorale::transport;

namespace {

constexpr std::uint64_t job = 0x4242424242424242;
constexpr int ranks = 5;

void must(bool good) {
  if (!good) std::abort();
}

void read_one_card(std::span<const std::byte> bytes) {
  rank_card card;
  if (!read_card(bytes, card)) return;
  must(std::strlen(card.transport) < sizeof card.transport && std::strlen(card.device) < sizeof card.device);
  must(card.host.text().size() < sizeof card.host.name);
  must(card.cpus.count() >= 0 && card.cpus.count() <= 1024);
  rank_card again;
  must(read_card(std::as_bytes(std::span{&card, 1}), again) && again.host == card.host);
}

void read_body(const received_datagram& d) {
  if (const auto answer = read_answer(d.body)) {
    const call mine;
    must(!answer->latest.describe().empty());
    if (const call* theirs = answer->find(answer->number)) {
      must(!theirs->describe().empty());
      must(!mine.difference(*theirs).empty());
    }
  }
  if (const auto told = read_notice(d.source, ranks, d.body)) {
    must(std::string_view{told->what()}.find("reports") != std::string_view::npos);
    for (const int rank : told->ranks()) must(rank >= 0 && rank < ranks);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  read_one_card(bytes);
  if (const auto read = read_datagram(bytes, job, ranks)) {
    must(read->source >= 0 && read->source < ranks && read->body.size() <= size);
    read_body(*read);
  }
  // Most inputs have no such head: the bodies get their turn without.
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
