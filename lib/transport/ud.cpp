#include <chorale/transport/ud.hpp>

namespace chorale::transport {
namespace {

/// The endpoint lowers it to the path MTU.
constexpr std::size_t largest_datagram = 4096;
constexpr std::uint32_t sends_under_way = 128;

}  // namespace

joining_plan datagrams::plan(std::string transport, int ranks, const config& settings) {
  return {std::move(transport),
          settings,
          {.payload_bytes = largest_datagram,
           .receives = reliable::streams::receives_for(ranks),
           .sends = sends_under_way}};
}

datagrams::datagrams(joined_group&& group) : endpoint(std::move(group)), streams_(*this) {
  serve_streams(streams_);
  start_service();
}

datagrams::~datagrams() {
  dependent_objects().end();
  streams_.close();
  say_goodbye();
}

}  // namespace chorale::transport
