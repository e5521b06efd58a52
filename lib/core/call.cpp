#include <fmt/format.h>

#include <chorale/core/call.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/types.hpp>

namespace chorale {

const char* name(operation what) noexcept {
  switch (what) {
    case operation::none:
      return "no call";
    case operation::barrier:
      return "barrier";
    case operation::broadcast:
      return "broadcast";
    case operation::reduce:
      return "reduce";
    case operation::allreduce:
      return "allreduce";
  }
  return "unknown operation";
}

std::string call::describe() const {
  std::string text = name(what);
  if (what != operation::none && what != operation::barrier) text += fmt::format(" of {} bytes", bytes);
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
