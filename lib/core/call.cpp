#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include <chorale/core/call.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/types.hpp>

namespace chorale {

const char* name(operation what) noexcept {
  constexpr const char* names[] = {"no call",   "barrier",    "broadcast", "reduce",         "allreduce",
                                   "allgather", "allgatherv", "gather",    "gatherv",        "scatter",
                                   "scatterv",  "alltoall",   "alltoallv", "reduce_scatter", "scan",
                                   "exscan",    "split",      "window"};
  const auto index = static_cast<std::size_t>(what);
  return index < std::size(names) ? names[index] : "unknown operation";
}

std::string call::describe() const {
  std::string text = name(what);
  if (bytes != 0 || type != 0) text += fmt::format(" of {} bytes", bytes);
  if (root >= 0) text += fmt::format(" with root {}", root);
  return text;
}

std::string call::difference(const call& other) const {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (what != other.what) add(fmt::format("{} against {}", name(what), name(other.what)));
  if (root != other.root) add(fmt::format("root {} against {}", root, other.root));
  if (bytes != other.bytes) add(fmt::format("{} against {} bytes", bytes, other.bytes));
  if (type != other.type) add(fmt::format("{} against {}", describe_type(type), describe_type(other.type)));
  if (reduction != other.reduction)
    add(fmt::format("{} against {}", describe_operator(reduction), describe_operator(other.reduction)));
  return text.empty() ? "the same arguments" : text;
}

}  // namespace chorale
