// P5 figures 10 and 11: RDMA read and write by the device, and emulated over datagrams.
#include <chrono>

#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>

#include "figure.hpp"

namespace points {
namespace {

/// Far more than caches hold: what was used once is in none of them when its turn comes again.
constexpr std::size_t far_bytes = std::size_t{64} << 20;
constexpr std::size_t page = 4096;

/// Places of whole pages for data: one that stays in the cache, or as many as are needed to be in none.
class places {
 public:
  places(std::size_t largest, bool cached)
      : stride_((largest + page - 1) / page * page),
        count_(cached ? 1 : std::max<std::size_t>(2, far_bytes / stride_)) {}
  [[nodiscard]] std::size_t bytes() const noexcept { return stride_ * count_; }
  /// Offset of the place of access `number`.
  [[nodiscard]] std::size_t of(std::uint64_t number) const noexcept { return number % count_ * stride_; }

 private:
  std::size_t stride_;
  std::size_t count_;
};

template <class Transport>
using communicators = std::shared_ptr<chorale::communicator<Transport>>;
template <class Transport>
using bytes_of = chorale::window<std::byte, chorale::communicator<Transport>>;

/// Reads of rank 0 from rank 1, which makes no call meanwhile. The data's place at rank 0 is in its cache or
/// not; a thread of rank 1 answers where the device does not read by itself.
template <class Transport>
class reading final : public timed_by_one {
 public:
  reading(const job& in, communicators<Transport> over, bool cached)
      : timed_by_one(in, "read", cached ? "cached" : "uncached", Transport::name),
        at_(in.largest, cached),
        comm_(std::move(over)),
        window_(*comm_, in.largest + 2),
        into_(comm_->template allocate<std::byte>(at_.bytes())) {
    fill(window_.local(), static_cast<std::uint64_t>(rank()));
    std::ranges::fill(into_.span(), std::byte{0});
    window_.fence();
  }

  std::string check(std::size_t bytes, team&) override {
    std::string wrong;
    during_reads([&] {
      for (std::uint64_t i = 0; i < 4; ++i) {
        const auto into = into_.span().subspan(at_.of(i), bytes);
        std::ranges::fill(into, std::byte{0});
        window_.get(1, i % 2, into);
        for (std::size_t k = 0; k < bytes && wrong.empty(); ++k)
          if (into[k] != payload(1, k + i % 2)) wrong = fmt::format("byte {} of {} that were read", k, bytes);
      }
    });
    return wrong;
  }

 private:
  double go(std::size_t bytes, int calls) override {
    double took = 0;
    during_reads([&] {
      took = chorale::bench::time_together(
          calls, [&] { window_.get(1, 0, into_.span().subspan(at_.of(next_++), bytes)); });
    });
    return took;
  }
  /// Rank 1 sleeps, and only looks now and then whether it is over.
  template <class Reads>
  void during_reads(Reads&& reads) {
    if (rank() == 0) {
      reads();
      window_.put_notify(1, 0, std::span<const std::byte>{}, 0);
    } else if (rank() == 1) {
      while (window_.notified(0, 0) == 0) chorale::clock::sleep_for(std::chrono::milliseconds{1});
      window_.wait_notified(0, 0);
    }
  }

  places at_;
  communicators<Transport> comm_;
  bytes_of<Transport> window_;
  chorale::device_array<std::byte> into_;
  std::uint64_t next_ = 0;
};

/// Writes of rank 0 to rank 1, which looks for them. The place at rank 1 is in its cache or not: emulated,
/// it copies there. Latency: to and fro, one message each way; bandwidth: many, and an answer.
template <class Transport>
class writing final : public timed_by_one {
 public:
  writing(const job& in, communicators<Transport> over, bool cached, int in_flight)
      : timed_by_one(in, in_flight == 1 ? "write" : "write bandwidth", cached ? "cached" : "uncached",
                     Transport::name),
        in_flight_(in_flight),
        at_(in.largest, cached),
        comm_(std::move(over)),
        window_(*comm_, at_.bytes()),
        from_(comm_->template allocate<std::byte>(in.largest + lead)) {
    std::ranges::fill(window_.local(), std::byte{0});
    fill(from_.span(), 0);
    window_.fence();
  }

  std::string check(std::size_t bytes, team&) override {
    std::string wrong;
    for (std::size_t i = 0; i < lead; ++i) {
      std::ranges::fill(window_.local().subspan(at_.of(next_), bytes), std::byte{0});
      comm_->barrier();
      const auto place = at_.of(next_);
      round(bytes, i, 1);
      const auto seen = window_.local().subspan(place, bytes);
      for (std::size_t k = 0; k < bytes && rank() < 2 && wrong.empty(); ++k)
        if (seen[k] != payload(0, k + i)) wrong = fmt::format("byte {} of {} that were written", k, bytes);
    }
    return wrong;
  }

 private:
  static constexpr std::size_t lead = 3;  ///< bytes by which the sources of a check differ

  double go(std::size_t bytes, int calls) override {
    const int rounds = std::max(1, calls / in_flight_);
    const double took = chorale::bench::time_together(rounds, [&] { round(bytes, 0, in_flight_); });
    return took * calls / rounds / (in_flight_ == 1 ? 2 : in_flight_);
  }
  /// `count` messages from rank 0 to rank 1, and one back: of as many bytes, or of none where they were many.
  void round(std::size_t bytes, std::size_t offset, int count) {
    if (rank() == 0) write(bytes, offset, count);
    if (rank() < 2) window_.wait_notified(1 - rank(), 0);
    if (rank() == 1) write(count == 1 ? bytes : 0, offset, 1);
    next_ += static_cast<std::uint64_t>(count);
  }
  void write(std::size_t bytes, std::size_t offset, int count) {
    const std::span<const std::byte> source = from_.span().subspan(offset, bytes);
    const int to = 1 - rank();
    for (int i = 0; i + 1 < count; ++i)
      window_.put(to, at_.of(next_ + static_cast<std::uint64_t>(i)), source);
    window_.put_notify(to, at_.of(next_ + static_cast<std::uint64_t>(count) - 1), source, 0);
    if (count > 1) window_.flush(to);
  }

  int in_flight_;
  places at_;
  communicators<Transport> comm_;
  bytes_of<Transport> window_;
  chorale::device_array<std::byte> from_;
  std::uint64_t next_ = 0;
};

template <class Transport>
communicators<Transport> group(chorale::service_policy service) {
  auto settings = chorale::config::from_environment();
  settings.service = service;
  return std::make_shared<chorale::communicator<Transport>>(settings);
}

template <class Transport>
void enter_reads(const job& in, const std::string& name, chorale::service_policy service, contestants& all) {
  const auto over = group<Transport>(service);
  all.push_back({name + ", cached", std::make_unique<reading<Transport>>(in, over, true)});
  all.push_back({name + ", uncached", std::make_unique<reading<Transport>>(in, over, false)});
}
template <class Transport>
void enter_writes(const job& in, const std::string& name, int in_flight, contestants& all) {
  const auto over = group<Transport>(chorale::service_policy::event);
  all.push_back({name + ", cached", std::make_unique<writing<Transport>>(in, over, true, in_flight)});
  all.push_back({name + ", uncached", std::make_unique<writing<Transport>>(in, over, false, in_flight)});
}

}  // namespace

contestants reads(const job& in, bool polling) {
  using chorale::service_policy;
  contestants all;
  if (polling) {
    // Only the rank that is read from: each thread that polls takes a core.
    enter_reads<chorale::transport::ud_rdma>(
        in, "emulated, polling", in.control.rank() == 1 ? service_policy::polling : service_policy::event,
        all);
    return all;
  }
  enter_reads<chorale::transport::rc>(in, "RC", service_policy::event, all);
  enter_reads<chorale::transport::ud_rdma>(in, "emulated, event", service_policy::event, all);
  return all;
}

contestants writes(const job& in, int in_flight) {
  contestants all;
  enter_writes<chorale::transport::rc>(in, "RC", in_flight, all);
  enter_writes<chorale::transport::ud_rdma>(in, "emulated", in_flight, all);
  return all;
}

}  // namespace points
