#include <chorale/transport/ud.hpp>

namespace chorale::transport {
namespace {

/// The endpoint lowers it to the path MTU.
constexpr std::size_t largest_datagram = 4096;
constexpr std::uint32_t sends_under_way = 128;

}  // namespace

datagrams::datagrams(const group_view& group, const config& settings, const char* transport)
    : endpoint(group, settings, transport,
               {.payload_bytes = largest_datagram,
                .receives = reliable::streams::receives_for(group.size),
                .sends = sends_under_way}),
      streams_(*this) {
  serve_streams(streams_);
  start_service();
}

datagrams::~datagrams() {
  dependent_objects().end();
  streams_.close();
  say_goodbye();
}

}  // namespace chorale::transport
