// The algorithm policies that chorale-bench can measure: a new policy is one line here.
#pragma once

#include <string>
#include <string_view>

#include <chorale/chorale.hpp>

namespace bench {

template <class... Types>
struct type_list {};

/// In the order of the table. Each is tried on every transport that its `runs_on` accepts.
using algorithms = type_list<                                    //
    chorale::barrier::standard,                                  //
    chorale::barrier::central,                                   //
    chorale::barrier::dissemination,                             //
    chorale::barrier::pairwise_exchange,                         //
    chorale::broadcast::binomial,                                //
    chorale::broadcast::flat,                                    //
    chorale::reduce::degree_k<1>,                                //
    chorale::reduce::degree_k<3>,                                //
    chorale::reduce::degree_k<7>,                                //
    chorale::allreduce::standard,                                //
    chorale::allreduce::recursive_doubling,                      //
    chorale::allreduce::degree_k<1>,                             //
    chorale::allreduce::degree_k<3>,                             //
    chorale::allreduce::degree_k<7>,                             //
    chorale::allreduce::degree_k<15, chorale::broadcast::flat>,  //
    chorale::allreduce::rank_by_rank>;

/// The name of a policy as a program writes it, without the library's namespaces:
/// "degree_k<3>", "degree_k<15, flat>".
template <class Policy>
std::string policy_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const std::string_view before = "Policy = ";
  text.remove_prefix(text.find(before) + before.size());
  text = text.substr(0, text.find(';'));
  if (text.ends_with(']')) text.remove_suffix(1);
  std::string name;
  for (std::size_t at = 0; at < text.size(); ++at) {
    name.push_back(text[at]);
    if (!name.ends_with("::")) continue;
    const auto scope = name.find_last_of("<, ", name.size() - 3);
    name.erase(scope == std::string::npos ? 0 : scope + 1);
  }
  return name;
}

}  // namespace bench
