// SPDX-License-Identifier: Apache-2.0
// Elements are sent as bytes, and an operator combines elements into an element; const arguments cannot
// receive; a window needs one-sided operations, which datagrams alone do not offer.
// expect: values of this type cannot be sent as bytes
// expect: the operator does not combine two of these elements into one
// expect: this argument is to receive and is const
// expect: this transport has no one-sided and atomic operations: take another, such as
#include <array>
#include <span>
#include <string>
#include <vector>

#include <chorale/communicator.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/window.hpp>

#ifdef SHOULD_FAIL
using text = std::string;  // has a constructor of its own
using in_place = std::span<const int>;
using transport = chorale::transport::ud;
#else
using text = std::array<char, 32>;
using in_place = std::span<int>;
using transport = chorale::transport::rc;
#endif

struct longest {
  text operator()(const text& a, const text& b) const { return a.size() < b.size() ? b : a; }
#ifndef SHOULD_FAIL
  int operator()(int a, int b) const { return a < b ? b : a; }
#endif
};

int share(chorale::communicator<>& comm, std::vector<text>& values, in_place data) {
  comm.broadcast(values);
  comm.broadcast(data);
  return comm.allreduce(comm.rank(), longest{});
}

void expose(chorale::communicator<transport>& comm, std::vector<double>& cells) {
  chorale::window shared{comm, cells};
  chorale::window<double, chorale::communicator<transport>> own{comm, 8};
}
