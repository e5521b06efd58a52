// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../bench/replaced_file.hpp"
#include "deliveries.hpp"
#include "forms.hpp"

namespace seeing {
namespace {

using sim::activity;
using sim::duration;
using sim::instant;
using sim::record;

/// A send or a receive.
struct operation {
  instant at{};
  bool receives = false;
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  int peer = -1;
};

/// The program of one processor.
struct processor_program {
  std::vector<operation> operations;
  std::vector<const record*> work;  ///< other work than sending and receiving, in the order of time
};

struct rank_program {
  std::map<int, processor_program> processors;
  /// Requests that its adapter answers, with the answers.
  std::vector<std::pair<operation, operation>> answers;
};

bool is_work(activity what) {
  switch (what) {
    case activity::call:
    case activity::copy:
    case activity::combine:
    case activity::registration:
    case activity::wake:
    case activity::compute:
      return true;
    default:
      return false;
  }
}

/// At least 1: the model's time of a message has a term for all its bytes but the first.
std::uint64_t size_of(const delivery& one) {
  return std::max<std::uint64_t>(one.bytes, 1);
}

operation send_of(const delivery& one, std::uint64_t tag) {
  return {one.posted, false, tag, size_of(one), one.to};
}
operation receive_of(const delivery& one, std::uint64_t tag) {
  return {one.seen, true, tag, size_of(one), one.from};
}

class schedule {
 public:
  schedule(const sim::recorder& notes, const sim::window& of, int ranks) : window_(of), ranks_(ranks) {
    for (const record& one : notes.records()) {
      if (one.what == activity::wait_for_message || one.what == activity::wait_for_answer)
        woken_[{one.rank, one.message}] = one.thread;
      if (is_work(one.what) && one.end > of.begin && one.begin < of.end)
        program_of(one.rank, one.thread).work.push_back(&one);
    }
  }

  void add(const delivered& messages) {
    std::unordered_map<std::uint64_t, const delivery*> requests;
    std::unordered_set<std::uint64_t> answered;
    for (const auto& one : messages.all) {
      if (!one.answer)
        requests[one.number] = &one;
      else if (one.bytes != 0)
        answered.insert(one.number);
    }
    for (const auto& one : messages.all) {
      longest_ = std::max(longest_, size_of(one));
      if (!one.answer && !answered.contains(one.number)) add_message(one);
      if (!one.answer || one.bytes == 0) continue;
      if (const auto request = requests.find(one.number); request != requests.end())
        add_answered(*request->second, one);
      else
        ++left_out_;
    }
    left_out_ += messages.over_the_edge;
  }

  /// Number of messages, and of messages omitted because they are partly outside the window.
  [[nodiscard]] std::uint64_t messages() const noexcept { return tags_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// Bytes of the longest message.
  [[nodiscard]] std::uint64_t longest() const noexcept { return longest_; }

  std::string text(int rank) {
    auto& mine = programs_[static_cast<std::size_t>(rank)];
    std::string all = fmt::format("rank {} {{\n", rank);
    int label = 0;
    int cpus = 0;
    for (auto& [thread, program] : mine.processors) {
      cpus = thread + 1;
      all += text_of(program, thread, label);
    }
    for (const auto& [request, answer] : mine.answers) {
      all += line(request, ++label, cpus);
      all += line(answer, ++label, cpus);
      all += fmt::format("l{} requires l{}\n", label, label - 1);
    }
    return all + "}\n";
  }

 private:
  processor_program& program_of(int rank, int thread) {
    return programs_[static_cast<std::size_t>(rank)].processors[thread];
  }
  /// The helper that the message has woken, otherwise the program of the rank.
  [[nodiscard]] int taker(int rank, std::uint64_t message) const {
    const auto found = woken_.find({rank, message});
    return found == woken_.end() ? 0 : found->second;
  }

  void add_message(const delivery& one) {
    program_of(one.from, one.thread).operations.push_back(send_of(one, tags_));
    program_of(one.to, taker(one.to, one.number)).operations.push_back(receive_of(one, tags_));
    ++tags_;
  }
  void add_answered(const delivery& request, const delivery& answer) {
    program_of(request.from, request.thread).operations.push_back(send_of(request, tags_));
    programs_[static_cast<std::size_t>(request.to)].answers.emplace_back(receive_of(request, tags_),
                                                                         send_of(answer, tags_ + 1));
    program_of(answer.to, taker(answer.to, answer.number))
        .operations.push_back(receive_of(answer, tags_ + 1));
    tags_ += 2;
  }

  static std::string line(const operation& one, int label, int cpu) {
    return fmt::format("l{}: {} {}b {} {} tag {}{}\n", label, one.receives ? "recv" : "send", one.bytes,
                       one.receives ? "from" : "to", one.peer, one.tag,
                       cpu == 0 ? "" : fmt::format(" cpu {}", cpu));
  }

  /// The operations in sequence, with the work between them.
  std::string text_of(processor_program& program, int cpu, int& label) const {
    // Of simultaneous operations, sends come first: the messages that they depend on arrived earlier.
    std::sort(program.operations.begin(), program.operations.end(), [](const auto& a, const auto& b) {
      return std::tie(a.at, a.receives, a.tag) < std::tie(b.at, b.receives, b.tag);
    });
    std::string all;
    int before = 0;
    duration rest{};
    auto next = program.work.begin();
    instant done = window_.begin;
    const auto chain = [&](const std::string& one) {
      all += one;
      if (before != 0) all += fmt::format("l{} requires l{}\n", label, before);
      before = label;
    };
    const auto work_until = [&](instant end) {
      for (; next != program.work.end() && (*next)->begin < end; ++next) {
        rest += std::min((*next)->end, end) - std::max((*next)->begin, done);
        if ((*next)->end > end) break;
      }
      done = end;
      const auto whole = rest.count() / 1000;
      rest -= duration{whole * 1000};
      if (whole != 0) {
        ++label;
        chain(fmt::format("l{}: calc {}{}\n", label, whole, cpu == 0 ? "" : fmt::format(" cpu {}", cpu)));
      }
    };
    for (const auto& one : program.operations) {
      work_until(one.at);
      ++label;
      chain(line(one, label, cpu));
    }
    work_until(window_.end);
    return all;
  }

  sim::window window_;
  int ranks_;
  std::map<std::pair<int, std::uint64_t>, int> woken_;
  std::vector<rank_program> programs_ = std::vector<rank_program>(static_cast<std::size_t>(ranks_));
  std::uint64_t tags_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t longest_ = 0;
};

}  // namespace

std::size_t write_goal(const std::string& file, const sim::recorder& notes, const sim::window& of, int ranks,
                       const bench::facts& about) {
  schedule all(notes, of, ranks);
  all.add(find_deliveries(notes, of));
  bench::replaced_file out{file};
  for (const auto& [key, value] : about) out.write(fmt::format("// {}: {}\n", key, value));
  out.write(
      fmt::format("// {} messages; {} more are over the edge of the window, and left out. calc is in ns\n",
                  all.messages(), all.left_out()));
  out.write(fmt::format("// Every message is sent without waiting for its receive: LogGOPSim -S {}\n",
                        all.longest() + 1));
  out.write(fmt::format("num_ranks {}\n", ranks));
  for (int rank = 0; rank < ranks; ++rank) out.write(all.text(rank));
  out.finish();
  return all.messages();
}

}  // namespace seeing
