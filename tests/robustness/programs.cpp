// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <exception>
#include <fstream>
#include <memory>

using namespace soft_test;

namespace robustness {
namespace {

constexpr std::size_t sitter_bytes = 65536;

unsigned char pattern(unsigned round, std::size_t i) {
  return static_cast<unsigned char>((round * 131 + i * 7 + i / 256) & 0xff);
}

}  // namespace

void sit(wire& line, bool shared) {
  node n;
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  {
    const memory m(n, sitter_bytes, shared);
    line.send(address{qp->qp_num, m.address(), m.mr->rkey});
    connect_rc(n, qp, line.receive<std::uint32_t>());
    line.send(char{1});
    line.receive<char>();
  }
  soft().destroy_qp(qp);
}

int run_member(int wire_fd) noexcept {
  try {
    wire line(wire_fd);
    sit(line);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "member: %s\n", e.what());
    return 1;
  }
}

link_to_sitter::link_to_sitter(node& here, bool shared, const rc_options& options)
    : here_(&here),
      sitter_([shared](wire& line) { sit(line, shared); }),
      qp_(make_qp(here, IBV_QPT_RC)),
      out_(here, sitter_bytes, shared),
      back_(here, sitter_bytes, shared) {
  to_ = sitter_.line().receive<address>();
  connect_rc(here, qp_, to_.qpn, options);
  sitter_.line().send(qp_->qp_num);
  sitter_.line().receive<char>();
}

link_to_sitter::~link_to_sitter() {
  soft().destroy_qp(qp_);
}

void link_to_sitter::check(unsigned round) {
  for (std::size_t i = 0; i < sitter_bytes; ++i) {
    out_.data[i] = pattern(round, i);
    back_.data[i] = 0;
  }
  expect(post(qp_, IBV_WR_RDMA_WRITE, {sge(out_, 0, sitter_bytes)}, IBV_SEND_SIGNALED, to_.memory,
              to_.rkey) == 0,
         "post a write");
  expect(wait(here_->send_cq).status == IBV_WC_SUCCESS, "write");
  expect(post(qp_, IBV_WR_RDMA_READ, {sge(back_, 0, sitter_bytes)}, IBV_SEND_SIGNALED, to_.memory,
              to_.rkey) == 0,
         "post a read");
  expect(wait(here_->send_cq).status == IBV_WC_SUCCESS, "read");
  for (std::size_t i = 0; i < sitter_bytes; ++i) expect(back_.data[i] == pattern(round, i), "the data");
}

ibv_wc_status link_to_sitter::first_failure(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    expect(std::chrono::steady_clock::now() < end, "no request fails");
    expect(post(qp_, IBV_WR_RDMA_WRITE, {sge(out_, 0, 4096)}, IBV_SEND_SIGNALED, to_.memory, to_.rkey) == 0,
           "post a write");
    const ibv_wc wc = wait(here_->send_cq, seconds);
    if (wc.status != IBV_WC_SUCCESS) return wc.status;
  }
}

int descriptors(int pid) {
  DIR* open = opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
  if (open == nullptr) return -1;
  int count = -2;  // . and ..
  while (readdir(open) != nullptr) ++count;
  closedir(open);
  return count;
}

int members_of_fabric() {
  std::ifstream names("/proc/net/unix");
  const std::string mine = std::string("/") + std::getenv("CHORALE_SOFT_FABRIC") + "/";
  int count = 0;
  for (std::string line; std::getline(names, line);) count += line.find(mine) != std::string::npos ? 1 : 0;
  return count;
}

long status_number(int pid, std::string_view name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  const std::string wanted = std::string(name) + ":";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(wanted)) return std::strtol(line.c_str() + wanted.size(), nullptr, 10);
  return -1;
}

}  // namespace robustness
