// SPDX-License-Identifier: Apache-2.0
// Ranges passed to a window have its element type, are writable if they receive data, and exist until it has
// arrived.
// expect: a put reads its source until the next flush, and this one is a temporary: keep it in a variable
// expect: this range is to be written to, and is const
// expect: this range is to be written to, and is a temporary
// expect: the elements of this range are not those of the window
// expect: this argument is no contiguous range of the window
// expect: a number of this type may lose its value as an element of this call
// expect: a number is neither a range nor a variable of the window's elements
// expect: compare_and_swap compares bytes, and equal values of this type may differ
// expect: the rank of an operation is an int, as that of comm.rank()
// expect: of a number of elements their type has to be named, as in comm.make_window<double>(n)
// expect: a call cannot return elements that have no default constructor: pass the buffer that is to receive
#include <list>
#include <vector>

#include <chorale/communicator.hpp>
#include <chorale/window.hpp>

using comm_type = chorale::communicator<>;
using window_type = chorale::window<double>;

void make(comm_type& comm) {
  window_type by_type{comm, 3};
  auto by_call = comm.make_window<double>(3);
  std::vector<double> memory(3);
  chorale::window over{comm, memory};
#ifdef SHOULD_FAIL
  chorale::window of_what{comm, 3};
#endif
}

struct always_given {
  explicit always_given(int v) : value(v) {}
  int value;
};
template <>
inline constexpr bool chorale::enable_element<always_given> = true;

int read(chorale::window<always_given, comm_type>& w) {
  std::vector<always_given> target(3, always_given{0});
  w.get(0, 0, target);
#ifdef SHOULD_FAIL
  target = w.get_n(0, 0, 3);
#endif
  return w.get(0, 0).value + target[0].value;
}

struct padded {
  char letter;
  int number;
};

void numbers(chorale::window<int, comm_type>& w, chorale::window<padded, comm_type>& others, int& one,
             long many) {
  w.put(0, 0, 7);
  w.put(0, 0, short{7});
  w.get(0, 0, one);
  w.fetch_and_op(0, 0, 7, chorale::sum);
  w.compare_and_swap(0, 0, 7, one);
  others.put(0, 0, padded{'a', 1});
#ifdef SHOULD_FAIL
  w.put(0, 0, many);                                              // narrower
  w.put(0, 0, 1.5);                                               // a fraction
  w.put(std::size_t{5}, 0, one);                                  // the offset or the rank?
  w.get(0, 0, 3);                                                 // how many?
  w.get(0, 0, many);                                              // the same
  others.compare_and_swap(0, 0, padded{'a', 1}, padded{'b', 1});  // bytes that are no value
#else
  w.put(0, 0, static_cast<int>(many));
#endif
}

void operate(window_type& w, const std::vector<double>& source, std::vector<double>& target) {
  w.put(0, 0, source);
  w.put(0, 0, 3.5);  // a value is copied
  w.get(0, 0, target);
  w.accumulate(0, 0, std::vector<double>{1, 2}, chorale::sum);  // over when it returns
#ifdef SHOULD_FAIL
  w.put(0, 0, std::vector<double>{1, 2});
  w.get(0, 0, source);
  w.get(0, 0, std::vector<double>(3));
  w.put(0, 0, std::vector<float>{});
  w.accumulate(0, 0, std::list<double>{1, 2}, chorale::sum);
#endif
}
