#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// A rank's status page is read by others while it is written, as on hardware: what was read only decides
// whether the owner is asked (rc::reap).
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:chorale::transport::rc::probe\n";
}
