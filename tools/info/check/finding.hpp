// The result of a check.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace info::check {

enum class verdict {
  ok,
  note,   ///< a job will run, but slower or not on every device
  wrong,  ///< a job will fail
};

struct finding {
  verdict what = verdict::ok;
  std::string subject;  ///< "open files"
  std::string says;     ///< one sentence
  std::string remedy;   ///< a command or an instruction; empty if all is well
};
using findings = std::vector<finding>;

inline finding ok(std::string subject, std::string says) {
  return {verdict::ok, std::move(subject), std::move(says), {}};
}
inline finding note(std::string subject, std::string says, std::string remedy) {
  return {verdict::note, std::move(subject), std::move(says), std::move(remedy)};
}
inline finding wrong(std::string subject, std::string says, std::string remedy) {
  return {verdict::wrong, std::move(subject), std::move(says), std::move(remedy)};
}

}  // namespace info::check
