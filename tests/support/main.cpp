#include "runner.hpp"

int main(int argc, char** argv) {
  return support::run_tests(argc, argv);
}
