// SPDX-License-Identifier: Apache-2.0
// Data-parallel training of a small neural network: each rank has its share of every batch, and the gradient
// of a layer is summed while those of earlier layers are still being computed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

using values = std::vector<double>;
using work = std::function<void(double)>;

/// A pseudo-random number in [-1, 1), the same on every rank.
double scrambled(std::uint64_t x) {
  x = ((x + 1) ^ ((x + 1) >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((x ^ (x >> 31U)) >> 11U) / 0x1p52 - 1;
}

/// y = tanh(W x + b), and the gradient of the loss by W and b: for each output the weights of a row, followed
/// by b.
struct layer {
  layer(std::size_t inputs, std::size_t outputs) : in(inputs), out(outputs) {
    for (std::size_t i = 0; i < out * (in + 1); ++i)
      weights.push_back(scrambled(977 * in + i) / std::sqrt(static_cast<double>(in)));
    gradient.resize(weights.size());
  }
  [[nodiscard]] values forward(const values& x) const {
    values y(out);
    for (std::size_t o = 0; o < out; ++o) {
      const double* row = &weights[o * (in + 1)];
      double sum = row[in];
      for (std::size_t i = 0; i < in; ++i) sum += row[i] * x[i];
      y[o] = std::tanh(sum);
    }
    return y;
  }
  /// Adds a sample's contribution to the gradient. `slope` is the derivative of the loss by y; returns the
  /// one by x.
  values backward(const values& x, const values& y, const values& slope) {
    values before(in);
    for (std::size_t o = 0, at = 0; o < out; ++o) {
      const double inner = slope[o] * (1 - y[o] * y[o]);
      for (std::size_t i = 0; i < in; ++i, ++at) {
        gradient[at] += inner * x[i];
        before[i] += inner * weights[at];
      }
      gradient[at++] += inner;
    }
    return before;
  }
  void descend(double rate) {
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * gradient[i];
  }
  std::size_t in, out;
  values weights, gradient;
};
using network = std::vector<layer>;

/// Half the sum of the squared errors on samples [first, last). Leaves its gradient in the layers, from the
/// last to the first: calls `ready(l)` when that of layer l is complete. `worked` receives the number of
/// multiplications, which runs in virtual time need, since computing takes no virtual time by itself
/// (scaling/).
template <class Ready>
double back_propagate(network& net, std::size_t first, std::size_t last, Ready&& ready, const work& worked) {
  double loss = 0;
  std::vector<std::vector<values>> between;  // for each sample the inputs of all layers, and the output
  std::vector<values> slopes;                // for each sample
  for (std::size_t sample = first; sample < last; ++sample) {
    auto& passed = between.emplace_back();
    values& x = passed.emplace_back();
    for (std::size_t i = 0; i < net.front().in; ++i) x.push_back(scrambled(sample * net.front().in + i));
    const double wanted = 0.9 * std::sin(2 * x[0] + x[1]);
    for (const layer& l : net) passed.push_back(l.forward(passed.back()));
    for (const layer& l : net) worked(static_cast<double>(l.weights.size()));
    slopes.push_back({passed.back()[0] - wanted});
    loss += 0.5 * slopes.back()[0] * slopes.back()[0];
  }
  for (std::size_t l = net.size(); l-- > 0;) {
    std::fill(net[l].gradient.begin(), net[l].gradient.end(), 0.0);
    for (std::size_t s = 0; s < slopes.size(); ++s) {
      slopes[s] = net[l].backward(between[s][l], between[s][l + 1], slopes[s]);
      worked(2 * static_cast<double>(net[l].weights.size()));
      chorale::progress();  // the sums of later layers advance whenever the library is called
    }
    ready(l);
  }
  return loss;
}

/// Trains for `steps` steps; batch b begins at sample b * batch. Every rank gets the same network.
network train(chorale::communicator<>& comm, network net, std::size_t steps, std::size_t batch, double rate,
              const work& worked) {
  const auto ranks = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<chorale::request> sums(net.size());
    back_propagate(
        net, step * batch + me * batch / ranks, step * batch + (me + 1) * batch / ranks,
        [&](std::size_t l) { sums[l] = comm.iallreduce(chorale::in_place, net[l].gradient, chorale::sum); },
        worked);
    for (std::size_t l = net.size(); l-- > 0;) {
      sums[l].wait();
      net[l].descend(rate / static_cast<double>(batch));
    }
  }
  return net;
}

}  // namespace

// Usage: 16_sgd [steps [samples of a batch]]
int main(int count, char** words) try {
  const std::size_t steps = count > 1 ? std::strtoul(words[1], nullptr, 10) : 60;
  const std::size_t batch = count > 2 ? std::strtoul(words[2], nullptr, 10) : 131;
  constexpr double rate = 0.5;
  if (batch == 0) throw std::invalid_argument("a batch has a sample at least");
  chorale::communicator<> comm;
  const network start{{7, 40}, {40, 30}, {30, 1}};
  const network net = train(comm, start, steps, batch, rate, [](double) {});

  // The same on one rank. Sums are rounded in a different order, so the weights are only nearly the same.
  const auto nothing = [](auto) {};
  network serial = start;
  const double loss_before = back_propagate(serial, 0, batch, nothing, nothing);
  for (std::size_t step = 0; step < steps; ++step) {
    back_propagate(serial, step * batch, (step + 1) * batch, nothing, nothing);
    for (layer& l : serial) l.descend(rate / static_cast<double>(batch));
  }
  bool mine = true;  // close to the serial weights, and bitwise equal to those of rank 0
  for (std::size_t l = 0; l < net.size(); ++l) {
    values of_rank_0 = net[l].weights;
    comm.broadcast(of_rank_0, chorale::root{0});
    mine = mine && of_rank_0 == net[l].weights;
    for (std::size_t i = 0; i < of_rank_0.size(); ++i)
      mine = mine && std::abs(net[l].weights[i] - serial[l].weights[i]) <= 1e-9;
  }
  const double loss_after = back_propagate(serial, 0, batch, nothing, nothing);
  const bool right = comm.allreduce(mine ? 1 : 0, chorale::min) == 1 && loss_after <= loss_before;
  if (comm.rank() == 0)
    fmt::print("{} steps of {} samples on {} ranks: loss {:.3f} to {:.3f} ({})\n", steps, batch, comm.size(),
               loss_before, loss_after, right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "16_sgd: {}\n", e.what());
  return 1;
}
