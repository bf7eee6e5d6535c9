#include "device/binding.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::device;
using Catch::Matchers::Contains;
using Numbers = std::vector<std::vector<int>>;

namespace {

/// Returns the GPUs that the ranks of a node see if all see the same ones.
std::vector<GpuUuids> all_see(int ranks, int gpus) {
  GpuUuids visible;
  for (int gpu = 0; gpu < gpus; ++gpu) visible.push_back("gpu-" + std::to_string(gpu));
  return std::vector<GpuUuids>(static_cast<std::size_t>(ranks), visible);
}

Numbers numbers(const std::vector<GpuUuids>& visible, std::string_view request) {
  Numbers all;
  for (const auto& binding : bind_gpus(visible, gpu_request_from(request))) all.push_back(binding.gpus);
  return all;
}

}  // namespace

TEST_CASE("the GPUs of a node are divided among its ranks by local rank") {
  struct Row {
    int ranks, gpus;
    const char* request;
    Numbers expected;
  };
  const Row rows[] = {
      {1, 0, "auto", {{}}},
      {2, 0, "auto", {{}, {}}},
      {1, 1, "auto", {{0}}},
      {4, 4, "auto", {{0}, {1}, {2}, {3}}},
      {2, 4, "auto", {{0, 1}, {2, 3}}},
      {3, 4, "auto", {{0}, {1}, {2}}},  // shares are equal, so one GPU is not used
      {2, 1, "auto", {{0}, {0}}},
      {5, 2, "auto", {{0}, {0}, {0}, {1}, {1}}},
      {2, 4, "1", {{0}, {1}}},
      {2, 4, "2", {{0, 1}, {2, 3}}},
      {4, 2, "0.5", {{0}, {0}, {1}, {1}}},
      {3, 2, "0.5", {{0}, {0}, {1}}},
      {3, 1, "0.3", {{0}, {0}, {0}}},
      {3, 1, "0.3333", {{0}, {0}, {0}}},
      {5, 1, "0.2", {{0}, {0}, {0}, {0}, {0}}},
      {4, 4, "0", {{}, {}, {}, {}}},
      {4, 0, "0", {{}, {}, {}, {}}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.ranks, row.gpus, row.request);
    CHECK(numbers(all_see(row.ranks, row.gpus), row.request) == row.expected);
  }
}

TEST_CASE("if each rank sees only its own GPUs, their numbers begin at 0 on every rank") {
  const std::vector<GpuUuids> own = {{"a"}, {"b"}, {"c"}};
  CHECK(numbers(own, "auto") == Numbers{{0}, {0}, {0}});
  CHECK(numbers(own, "1") == Numbers{{0}, {0}, {0}});
  const auto bindings = bind_gpus(own, {});
  CHECK(bindings[1].uuids == std::vector<std::string>{"b"});
  const std::vector<GpuUuids> two_each = {{"a", "b"}, {"c", "d"}};
  CHECK(numbers(two_each, "auto") == Numbers{{0, 1}, {0, 1}});
  CHECK(numbers(two_each, "1") == Numbers{{0}, {0}});
  CHECK(numbers(two_each, "2") == Numbers{{0, 1}, {0, 1}});
}

TEST_CASE("only ranks that see the same GPUs divide them among each other") {
  const std::vector<GpuUuids> pairs = {{"a", "b"}, {"c", "d"}, {"a", "b"}, {"c", "d"}};
  CHECK(numbers(pairs, "auto") == Numbers{{0}, {0}, {1}, {1}});
  const std::vector<GpuUuids> some = {{"a"}, {}};
  CHECK(numbers(some, "auto") == Numbers{{0}, {}});
}

TEST_CASE("a request that cannot be met is an error with advice") {
  CHECK_THROWS_WITH(numbers(all_see(2, 1), "1"),
                    Contains("1 GPU per worker requested: 2 workers of a node need 2 GPUs, but the node has 1 GPU") &&
                        Contains("Start fewer workers per node"));
  CHECK_THROWS_AS(numbers(all_see(2, 1), "1"), UsageError);
  CHECK_THROWS_AS(numbers(all_see(2, 3), "2"), UsageError);
  CHECK_THROWS_AS(numbers(all_see(5, 2), "0.5"), UsageError);
  CHECK_THROWS_WITH(bind_gpus(all_see(1, 0), gpu_request_from("1"), "no driver"),
                    Contains("1 GPU per worker requested, but local rank 0 sees no GPU: no driver"));
  const std::vector<GpuUuids> overlapping = {{"a", "b"}, {"b", "c"}};
  CHECK_THROWS_WITH(numbers(overlapping, "auto"), Contains("local ranks 0 and 1 see some GPUs in common"));
}

TEST_CASE("valid requests are auto, integers and fractions below 1") {
  CHECK(gpu_request_from("auto").automatic);
  CHECK(gpu_request_from("2").per_worker == 2);
  CHECK(gpu_request_from("0.25").per_worker == 0.25);
  CHECK_FALSE(gpu_request_from("0").automatic);
  for (const char* text : {"", "all", "-1", "1.5", "2x", "nan", "inf", "1e9"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(gpu_request_from(text), UsageError);
  }
}
