// A window's ranges are of its elements, writable where something comes, and there until it has come.
// expect: a put reads its source until the next flush, and this one is a temporary: keep it in a variable
// expect: this range is to be written to, and is const
// expect: this range is to be written to, and is a temporary
// expect: the elements of this range are not those of the window
// expect: this argument is no contiguous range of the window
// expect: a call cannot return elements that have no default constructor: pass the buffer that is to receive
#include <list>
#include <vector>

#include <chorale/communicator.hpp>
#include <chorale/window.hpp>

using comm_type = chorale::communicator<>;
using window_type = chorale::window<double, comm_type>;

struct always_given {
  explicit always_given(int v) : value(v) {}
  int value;
};

int read(chorale::window<always_given, comm_type>& w) {
  std::vector<always_given> target(3, always_given{0});
  w.get(0, 0, target);
#ifdef SHOULD_FAIL
  target = w.get(0, 0, 3);
#endif
  return w.get(0, 0).value + target[0].value;
}

void operate(window_type& w, const std::vector<double>& source, std::vector<double>& target) {
  w.put(0, 0, source);
  w.put(0, 0, 3.5);  // a value is copied
  w.get(0, 0, target);
  w.accumulate(0, 0, std::vector<double>{1, 2});  // over when it returns
#ifdef SHOULD_FAIL
  w.put(0, 0, std::vector<double>{1, 2});
  w.get(0, 0, source);
  w.get(0, 0, std::vector<double>(3));
  w.put(0, 0, std::vector<float>{});
  w.accumulate(0, 0, std::list<double>{1, 2});
#endif
}
