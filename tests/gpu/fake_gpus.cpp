#include <cstdlib>

#include "gpu/gpu_test.hpp"
#include "support/cpp/fake_gpus.hpp"

namespace trainrt::test {

bool gpus_are_fake() {
  static const char* const number = std::getenv("TRAINRT_TEST_FAKE_GPUS");
  if (number == nullptr) return false;
  static FakeGpus gpus(std::atoi(number));
  static const device::ReplacedRuntime replaced(gpus);
  return true;
}

}  // namespace trainrt::test
