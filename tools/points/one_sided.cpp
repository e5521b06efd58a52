// SPDX-License-Identifier: Apache-2.0
// P5 figures 10 and 11: RDMA read and write by the device, and emulated over datagrams.
#include <chrono>
#include <cstring>
#include <deque>

#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>

#include "figure.hpp"

namespace points {
namespace {

/// Far more than the caches hold: memory that is used round-robin is in none of them when it is used again.
constexpr std::size_t far_bytes = std::size_t{64} << 20;
constexpr std::size_t page = 4096;

using chorale::service_policy;
using chorale::transport::rc;
using chorale::transport::ud_rdma;

/// Fills it with zeros, so that its pages exist and old data does not.
void touch(std::span<std::byte> memory) {
  std::memset(memory.data(), 0, memory.size());
}

/// Page-aligned places for data: few enough to stay in the cache, or too many to be cached.
class places {
 public:
  places(std::size_t largest, bool cached, std::size_t at_a_time = 1)
      : stride_((largest + page - 1) / page * page),
        count_(cached ? at_a_time : std::max(2 * at_a_time, far_bytes / stride_)) {}
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

/// In a check, the data of successive messages begins at different offsets, of up to this many bytes.
constexpr std::size_t lead = 3;

/// @returns the error in the bytes of message number `message` from byte `first` on; empty if there is none.
std::string compare_from(std::span<const std::byte> seen, std::uint64_t message, std::size_t first) {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != payload(message, first + i))
      return fmt::format("byte {} of {} is {}", i, seen.size(), std::to_integer<int>(seen[i]));
  return {};
}

/// A read in progress, by the transport itself: a window's reads are complete when they return.
template <class Transport>
class begun_read {
 public:
  template <class Exposure>
  begun_read(Transport& net, const chorale::remote_region& from, std::size_t offset, const Exposure& local,
             std::span<std::byte> into)
      : read_(net.get(from, offset, local, into, net.core().calls().current().parking())),
        is_over_(read_.await_ready()) {}
  [[nodiscard]] bool is_over() {
    if (!is_over_) is_over_ = read_.poll();
    return is_over_;
  }

 private:
  using exposure = decltype(std::declval<Transport&>().expose({}));

  decltype(std::declval<Transport&>().get({}, 0, std::declval<const exposure&>(), {}, {})) read_;
  bool is_over_;
};

/// Reads of rank 0 from rank 1, which makes no call meanwhile. The destination at rank 0 is in its cache or
/// not; a thread of rank 1 answers if the device does not execute reads. Latency: one after another;
/// bandwidth: many at a time.
template <class Transport>
class reading final : public timed_by_one {
 public:
  reading(const job& in, communicators<Transport> over, bool cached, int in_flight)
      : timed_by_one(in, in_flight == 1 ? "read" : "read bandwidth", cached ? "cached" : "uncached",
                     Transport::name),
        in_flight_(in_flight),
        at_(in.largest, cached, static_cast<std::size_t>(in_flight)),
        comm_(std::move(over)),
        window_(*comm_, in.largest + lead),
        offered_(comm_->transport().offer(window_.local()).beyond_calls()),
        into_(comm_->template allocate<std::byte>(at_.bytes())),
        target_(comm_->transport().expose(into_.span()).beyond_calls()) {
    fill(window_.local(), static_cast<std::uint64_t>(rank()));
    touch(into_.span());
    source_ = comm_->allgather(offered_.region())[1];
  }

  std::string check(std::size_t bytes, team&) override {
    std::string wrong;
    during_reads([&] {
      for (std::size_t i = 0; i < 4; ++i) {
        const auto first = next_;
        for (int k = 0; k < in_flight_; ++k) touch(place(first, k, bytes));
        round(bytes, [i](int k) { return (i + static_cast<std::size_t>(k)) % lead; });
        for (int k = 0; k < in_flight_ && wrong.empty(); ++k)
          wrong = compare_from(place(first, k, bytes), 1, (i + static_cast<std::size_t>(k)) % lead);
      }
    });
    return wrong;
  }

 private:
  double go(std::size_t bytes, int calls) override {
    const int rounds = std::max(1, calls / in_flight_);
    double took = 0;
    during_reads([&] {
      took = chorale::bench::time_together(rounds, [&] { round(bytes, [](int) { return std::size_t{0}; }); });
    });
    return took * calls / rounds / in_flight_;
  }
  [[nodiscard]] std::span<std::byte> place(std::uint64_t first, int k, std::size_t bytes) const {
    return into_.span().subspan(at_.of(first + static_cast<std::uint64_t>(k)), bytes);
  }
  /// Reads into `count` places; read k begins at byte `offset(k)`.
  template <class Offset>
  void round(std::size_t bytes, Offset&& offset) {
    const auto first = next_;
    next_ += static_cast<std::uint64_t>(in_flight_);
    if (in_flight_ == 1) return window_.get(1, offset(0), place(first, 0, bytes));
    auto& net = comm_->transport();
    std::deque<begun_read<Transport>> under_way;
    for (int k = 0; k < in_flight_; ++k)
      under_way.emplace_back(net, source_, offset(k), target_, place(first, k, bytes));
    net.core().engine().wait(1, net.core().calls().current(), [&] {
      while (!under_way.empty() && under_way.front().is_over()) under_way.pop_front();
      return under_way.empty();
    });
  }
  /// Rank 1 sleeps, and only checks occasionally whether the reads are over.
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

  using exposure = decltype(std::declval<Transport&>().expose({}));

  int in_flight_;
  places at_;
  communicators<Transport> comm_;
  bytes_of<Transport> window_;
  exposure offered_;  ///< the window's memory
  chorale::registered_array<std::byte> into_;
  exposure target_;  ///< `into_`
  chorale::remote_region source_{};
  std::uint64_t next_ = 0;
};

/// Writes of rank 0 to rank 1, which polls. The destination at rank 1 is in its cache or not; emulated, rank
/// 1 copies there. Latency: a ping-pong; bandwidth: many writes, and an answer.
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
    touch(window_.local());
    fill(from_.span(), 0);
    window_.fence();
  }

  std::string check(std::size_t bytes, team&) override {
    std::string wrong;
    for (std::size_t i = 0; i < lead; ++i) {
      touch(window_.local().subspan(at_.of(next_), bytes));
      comm_->barrier();
      const auto place = at_.of(next_);
      round(bytes, i, 1);
      if (rank() < 2 && wrong.empty()) wrong = compare_from(window_.local().subspan(place, bytes), 0, i);
    }
    return wrong;
  }

 private:
  double go(std::size_t bytes, int calls) override {
    const int rounds = std::max(1, calls / in_flight_);
    const double took = chorale::bench::time_together(rounds, [&] { round(bytes, 0, in_flight_); });
    return took * calls / rounds / (in_flight_ == 1 ? 2 : in_flight_);
  }
  /// `count` messages from rank 0 to rank 1, and one back: of `bytes` if `count` is 1, otherwise empty.
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
  chorale::registered_array<std::byte> from_;
  std::uint64_t next_ = 0;
};

template <class Transport>
communicators<Transport> group(chorale::service_policy service) {
  auto settings = chorale::config::from_environment();
  settings.service = service;
  return std::make_shared<chorale::communicator<Transport>>(settings);
}

/// Contestants of `Access` for cached and for uncached memory.
template <template <class> class Access, class Transport>
void enter(const job& in, const std::string& name, chorale::service_policy service, int in_flight,
           contestants& all) {
  const auto over = group<Transport>(service);
  all.push_back({name + ", cached", std::make_unique<Access<Transport>>(in, over, true, in_flight)});
  all.push_back({name + ", uncached", std::make_unique<Access<Transport>>(in, over, false, in_flight)});
}

}  // namespace

contestants reads(const job& in, bool polling, int in_flight) {
  contestants all;
  if (polling) {
    // Only on the rank that is read from: each polling thread occupies a core.
    const auto service = in.control.rank() == 1 ? service_policy::polling : service_policy::event;
    enter<reading, ud_rdma>(in, "emulated, polling", service, in_flight, all);
    return all;
  }
  enter<reading, rc>(in, "RC", service_policy::event, in_flight, all);
  enter<reading, ud_rdma>(in, "emulated, event", service_policy::event, in_flight, all);
  return all;
}

contestants writes(const job& in, int in_flight) {
  contestants all;
  enter<writing, rc>(in, "RC", service_policy::event, in_flight, all);
  enter<writing, ud_rdma>(in, "emulated", service_policy::event, in_flight, all);
  return all;
}

}  // namespace points
