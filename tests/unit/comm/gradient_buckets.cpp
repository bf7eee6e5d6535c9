#include <catch2/catch.hpp>
#include <trainrt/gradient_buckets.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "support/cpp/ranks.hpp"

using namespace trainrt;
using Parameters = std::vector<GradientBuckets::Parameter>;

namespace {

const Parameters model{{"a", 300}, {"b", 7}, {"c", 1}, {"d", 1024}, {"e", 64}};

float value_of(int rank, std::size_t parameter, std::size_t i) {
  Random random(mix_seed(static_cast<std::uint64_t>(rank) + 1, parameter), i);
  return static_cast<float>(random.uniform() - 0.5);
}

float* floats(const GradientBuckets& buckets, std::size_t parameter) {
  return static_cast<float*>(buckets.gradient(parameter));
}

void fill(const GradientBuckets& buckets, const Parameters& parameters, int rank) {
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t i = 0; i < parameters[p].count; ++i) floats(buckets, p)[i] = value_of(rank, p, i);
}

using Values = std::vector<std::vector<float>>;

Values values(const GradientBuckets& buckets, const Parameters& parameters) {
  Values all;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    all.emplace_back(floats(buckets, p), floats(buckets, p) + parameters[p].count);
  return all;
}

/// Runs one step on each rank, in which the rank calls announce(buckets, rank). Returns the gradients of each rank.
std::vector<Values> averaged(int ranks, const GradientOptions& options,
                             const std::function<void(GradientBuckets&, int)>& announce) {
  std::vector<Values> found(static_cast<std::size_t>(ranks));
  test::run_ranks(ranks, [&](Communicator& communicator) {
    GradientBuckets buckets(communicator, model, options);
    fill(buckets, model, communicator.rank());
    announce(buckets, communicator.rank());
    buckets.average();
    found[static_cast<std::size_t>(communicator.rank())] = values(buckets, model);
  });
  return found;
}

void announce_in_reverse(GradientBuckets& buckets, int) {
  for (auto p = model.size(); p-- > 0;) buckets.ready(p);
}

/// Returns the expected means, computed along the tree over rank numbers: neighbours first, then pairs of pairs.
float tree_mean(std::vector<float> parts) {
  const auto ranks = parts.size();
  for (std::size_t step = 1; step < ranks; step *= 2)
    for (std::size_t i = 0; i + step < ranks; i += 2 * step) parts[i] += parts[i + step];
  return parts[0] / static_cast<float>(ranks);
}

Values reference(int ranks, const std::function<float(float)>& on_the_wire) {
  Values all;
  for (std::size_t p = 0; p < model.size(); ++p) {
    all.emplace_back();
    for (std::size_t i = 0; i < model[p].count; ++i) {
      std::vector<float> parts;
      for (int rank = 0; rank < ranks; ++rank) parts.push_back(on_the_wire(value_of(rank, p, i)));
      all.back().push_back(on_the_wire(tree_mean(parts)));
    }
  }
  return all;
}

float as_bf16(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t below = bits & 0xffffU, last = (bits >> 16) & 1U;
  bits >>= 16;
  if (below > 0x8000U || (below == 0x8000U && last == 1)) ++bits;
  return std::bit_cast<float>(bits << 16);
}

/// A communicator of one of two ranks. It records the names of started collectives and completes them in wait() only.
class Recorder : public Communicator {
 public:
  Recorder() : Communicator(0, 2) {}
  std::string_view name() const override { return "recorder"; }
  Ticket start(const Collective& collective) override {
    started.push_back(std::string(collective.name));
    return started.size();
  }
  bool test(Ticket ticket) override { return ticket <= completed; }
  void wait(Ticket ticket) override { completed = std::max(completed, ticket); }
  void start_maximum(const Maximum&) override {}
  Maximum finish_maximum(std::string_view) override { return {}; }
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }

  std::vector<std::string> started;
  Ticket completed = 0;
};

}  // namespace

TEST_CASE("the mean has the same bits for any bucket size") {
  for (const int ranks : {1, 2, 3, 4}) {
    const auto expected = reference(ranks, [](float value) { return value; });
    for (const std::size_t bytes : {0UL, 256UL, 2048UL, 4UL << 20}) {
      INFO(ranks << " ranks, buckets of " << bytes);
      for (const auto& found : averaged(ranks, {.bucket_bytes = bytes}, announce_in_reverse)) CHECK(found == expected);
    }
  }
}

TEST_CASE("the result does not depend on the order of ready() or on missing calls of it") {
  const auto expected = reference(3, [](float value) { return value; });
  const auto announce = [](GradientBuckets& buckets, int rank) {
    if (rank == 0) return announce_in_reverse(buckets, rank);
    if (rank == 1)  // in reverse order and without the first parameter
      for (std::size_t p = 1; p < model.size(); ++p) buckets.ready(p);
  };
  for (const auto& found : averaged(3, {.bucket_bytes = 256}, announce)) CHECK(found == expected);
}

TEST_CASE("bf16_on_the_wire rounds to nearest even, sums in f32 and rounds again") {
  for (const auto& found : averaged(3, {.bucket_bytes = 2048, .bf16_on_the_wire = true}, announce_in_reverse))
    CHECK(found == reference(3, as_bf16));
}

TEST_CASE("full buckets start at once, in the order from the last parameter to the first") {
  Recorder recorder;
  GradientBuckets buckets(recorder, model, {.bucket_bytes = 1});
  REQUIRE(buckets.bucket_count() == model.size());
  buckets.ready(3);
  CHECK(recorder.started.empty());  // an earlier bucket is not ready
  buckets.ready(4);
  CHECK(recorder.started == std::vector<std::string>{"bucket 0 (e)", "bucket 1 (d)"});
  recorder.completed = 1;
  buckets.ready(2);
  buckets.average();
  CHECK(recorder.started.size() == model.size());
  CHECK(recorder.completed == model.size());
  CHECK(buckets.overlapped() == Approx(256.0 / (256 + 4096 + 64 + 64 + 1216)));
}

TEST_CASE("each bucket holds gradients of one type") {
  Recorder recorder;
  const Parameters mixed{{"a", 8, DType::f32}, {"b", 8, DType::bf16}, {"c", 8, DType::f32}, {"d", 8, DType::f64}};
  GradientBuckets buckets(recorder, mixed, {.bucket_bytes = 128});
  CHECK(buckets.bucket_count() == 3);
  buckets.average();
  CHECK(recorder.started == std::vector<std::string>{"bucket 0 (d)", "bucket 1 (b)", "bucket 2 (c to a)"});
  for (std::size_t p = 0; p < mixed.size(); ++p) CHECK(reinterpret_cast<std::uintptr_t>(buckets.gradient(p)) % 64 == 0);
}

TEST_CASE("gradients of mixed types are averaged, each in its own type") {
  std::mutex mutex;
  test::run_ranks(2, [&](Communicator& communicator) {
    const Parameters mixed{{"a", 3, DType::f64}, {"b", 3, DType::f32}, {"c", 3, DType::bf16}, {"d", 3, DType::f16}};
    GradientBuckets buckets(communicator, mixed);
    const bool first = communicator.rank() == 0;
    static_cast<double*>(buckets.gradient(0))[2] = first ? 1.0 : 1.0 + std::ldexp(1.0, -50);
    floats(buckets, 1)[2] = first ? 1.0F : 4.0F;
    static_cast<std::uint16_t*>(buckets.gradient(2))[2] = first ? 0x3f80 : 0x4080;  // 1, 4
    static_cast<std::uint16_t*>(buckets.gradient(3))[2] = first ? 0x3c00 : 0x4400;  // 1, 4
    buckets.average();
    const std::scoped_lock lock(mutex);
    CHECK(static_cast<double*>(buckets.gradient(0))[2] == 1.0 + std::ldexp(1.0, -51));
    CHECK(floats(buckets, 1)[2] == 2.5F);
    CHECK(static_cast<std::uint16_t*>(buckets.gradient(2))[2] == 0x4020);
    CHECK(static_cast<std::uint16_t*>(buckets.gradient(3))[2] == 0x4100);
    CHECK(static_cast<std::uint16_t*>(buckets.gradient(3))[1] == 0);
  });
}

TEST_CASE("a second ready() for a gradient is an error in the same step only") {
  Recorder recorder;
  GradientBuckets buckets(recorder, model);
  buckets.ready(1);
  CHECK_THROWS_WITH(buckets.ready(1), Catch::Contains("'b'") && Catch::Contains("twice"));
  buckets.average();
  buckets.ready(1);
}

TEST_CASE("zero() is an error while gradients are being reduced") {
  Recorder recorder;
  GradientBuckets buckets(recorder, model, {.bucket_bytes = 1});
  floats(buckets, 0)[0] = 1;
  buckets.zero();
  CHECK(floats(buckets, 0)[0] == 0);
  buckets.ready(4);
  CHECK_THROWS_WITH(buckets.zero(), Catch::Contains("bucket 0 (e) is being reduced"));
  buckets.average();
  buckets.zero();
}

TEST_CASE("gradients accumulate until they are averaged") {
  const auto add_twice = [](GradientBuckets& buckets, int rank) {
    for (std::size_t p = 0; p < model.size(); ++p)
      for (std::size_t i = 0; i < model[p].count; ++i) floats(buckets, p)[i] += value_of(rank, p, i);
    announce_in_reverse(buckets, rank);
  };
  auto expected = reference(2, [](float value) { return value + value; });
  for (auto& values : expected)
    for (auto& value : values) value /= 2;  // the doubled values double the mean, too; dividing by 2 is exact
  for (const auto& found : averaged(2, {.bucket_bytes = 256}, add_twice)) CHECK(found == expected);
}

TEST_CASE("clip() scales gradients above the norm by the same factor for any bucket size") {
  const auto communicator = std::make_unique<Recorder>();
  std::vector<Values> clipped;
  for (const std::size_t bytes : {1UL, 1UL << 20}) {
    GradientBuckets buckets(*communicator, model, {.bucket_bytes = bytes});
    fill(buckets, model, 0);
    const auto before = values(buckets, model);
    double squares = 0;
    for (const auto& all : before)
      for (const double value : all) squares += value * value;
    CHECK(buckets.clip(100) == Approx(std::sqrt(squares)).epsilon(1e-14));
    CHECK(values(buckets, model) == before);
    const auto norm = buckets.clip(0.5);
    CHECK(norm == Approx(std::sqrt(squares)).epsilon(1e-14));
    const auto factor = static_cast<float>(0.5 / norm);
    CHECK(floats(buckets, 3)[1000] == before[3][1000] * factor);
    CHECK(buckets.clip(1) == Approx(0.5).epsilon(1e-6));
    clipped.push_back(values(buckets, model));
  }
  CHECK(clipped[0] == clipped[1]);
}

TEST_CASE("clip() changes nothing if the norm is not finite") {
  Recorder recorder;
  GradientBuckets buckets(recorder, model);
  fill(buckets, model, 0);
  floats(buckets, 1)[3] = INFINITY;
  const auto before = values(buckets, model);
  CHECK(std::isinf(buckets.clip(0.1)));
  CHECK(values(buckets, model) == before);
  CHECK_THROWS_AS(buckets.clip(0), UsageError);
}

TEST_CASE("16-bit gradients are clipped in f32 and rounded once") {
  Recorder recorder;
  const Parameters halves{{"b", 2, DType::bf16}, {"h", 2, DType::f16}};
  GradientBuckets buckets(recorder, halves);
  auto* b = static_cast<std::uint16_t*>(buckets.gradient(0));
  auto* h = static_cast<std::uint16_t*>(buckets.gradient(1));
  b[0] = 0x4040;  // 3
  h[1] = 0x4400;  // 4
  CHECK(buckets.clip(2.5) == 5);
  CHECK(b[0] == 0x3fc0);  // 1.5
  CHECK(h[1] == 0x4000);  // 2
}

TEST_CASE("integer gradients are an error that names the parameter") {
  Recorder recorder;
  const Parameters integers{{"steps", 4, DType::i64}};
  CHECK_THROWS_WITH(GradientBuckets(recorder, integers), Catch::Contains("'steps' cannot be i64"));
}
