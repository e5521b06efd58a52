// SPDX-License-Identifier: Apache-2.0
// The arena of coroutine frames.
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/frame_arena.hpp>

using chorale::frame_arena;

TEST_CASE("a freed frame is reused for the next of its size", "[frame_arena]") {
  frame_arena arena;
  for (const std::size_t bytes : {1U, 100U, 128U, 1000U, 4000U}) {
    void* first = frame_arena::allocate(&arena, bytes);
    std::memset(first, 0xff, bytes);
    frame_arena::deallocate(first);
    void* second = frame_arena::allocate(&arena, bytes);
    CHECK(first == second);
    frame_arena::deallocate(second);
  }
}

TEST_CASE("live frames do not overlap and are aligned", "[frame_arena]") {
  frame_arena arena;
  struct frame {
    unsigned char* at;
    std::size_t bytes;
    unsigned char mark;
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<frame> all;
    for (unsigned i = 0; i < 200; ++i) {
      const std::size_t bytes = 1 + (i * 37) % 5000;
      auto* at = static_cast<unsigned char*>(frame_arena::allocate(&arena, bytes));
      CHECK(reinterpret_cast<std::uintptr_t>(at) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);
      std::memset(at, static_cast<int>(i), bytes);
      all.push_back({at, bytes, static_cast<unsigned char>(i)});
    }
    for (const auto& f : all) {
      bool whole = true;
      for (std::size_t i = 0; i < f.bytes; ++i) whole = whole && f.at[i] == f.mark;
      CHECK(whole);
      frame_arena::deallocate(f.at);
    }
  }
}

TEST_CASE("large frames and frames without an arena come from the heap", "[frame_arena]") {
  frame_arena arena;
  void* from_heap = frame_arena::allocate(nullptr, 64);
  void* large = frame_arena::allocate(&arena, 1 << 16);
  std::memset(from_heap, 1, 64);
  std::memset(large, 1, 1 << 16);
  frame_arena::deallocate(from_heap);
  frame_arena::deallocate(large);
}
