#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <random>

#include "checkpoint/load/load.hpp"
#include "runs.hpp"
#include "support/cpp/skip.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;  // much slower, and needs several times the memory
#else
constexpr bool sanitized = false;
#endif

using Random = std::mt19937_64;

int between(Random& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}

Spec some_tensor(Random& random, int number) {
  static const std::vector<std::string> names{"model/w", "größe/ß", "a b", "deep/er/and/deeper", "x.y[3]", "日本"};
  Spec spec;
  spec.name = names[random() % names.size()] + "/" + std::to_string(number);
  static const std::vector<std::string> dtypes{"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2",
                                               "i64", "i32", "i16", "i8",   "u8",     "bool"};
  spec.dtype = dtype_from(dtypes[random() % dtypes.size()]);
  for (int axes = between(random, 0, 4); axes > 0; --axes)
    spec.shape.push_back(between(random, random() % 8 == 0 ? 0 : 1, 11));
  if (random() % 40 == 0) spec.shape = {3, 1 << 20};  // several blocks, or large enough to be divided
  return spec;
}

/// Chooses a random placement of a tensor: replicated, or sharded along any axis.
void place(Random& random, Spec& spec) {
  spec.placement = !spec.shape.empty() && random() % 2 == 0 ? Placement::sharded : Placement::replicated;
  spec.axis = spec.shape.empty() ? 0 : between(random, 0, static_cast<int>(spec.shape.size()) - 1);
}

std::vector<int> some_files(Random& random, int ranks) {
  std::vector<int> files;
  int last = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    files.push_back(random() % 2 == 0 && rank > 0 ? between(random, 0, last - 1) : last);
    last = std::max(last, files.back() + 1);
  }
  return files;
}

struct Case {
  std::vector<Spec> saved;
  std::vector<Spec> loaded;
  std::vector<int> files;
  int writers = 1;
  int readers = 1;
};

Case some_case(Random& random) {
  Case made;
  made.writers = between(random, 1, 8);
  made.readers = between(random, 1, 8);
  made.files = some_files(random, made.writers);
  for (int number = between(random, 1, 9); number > 0; --number) {
    auto spec = some_tensor(random, number);
    if (random() % 5 == 0) {
      spec.placement = Placement::per_rank;
      made.saved.push_back(spec);
      made.loaded.push_back(spec);
      continue;
    }
    place(random, spec);
    made.saved.push_back(spec);
    place(random, spec);
    made.loaded.push_back(spec);
  }
  return made;
}

/// Saves and loads. Returns the first difference, or "" without a difference.
std::string wrong(const Case& made, const std::string& run_dir) {
  Findings findings;
  run_ranks(made.writers, [&](Communicator& communicator) {
    Model model(made.saved, communicator.rank(), communicator.size());
    model.fill(3);
    auto save = options_for(run_dir, 0);
    save.saver.file_of_rank = made.files;
    findings.add(save_now(model.state(), save, communicator).error);
  });
  for (const auto& finding : checkpoint::verify(run_dir + "/checkpoint_000000")) findings.add(finding);
  const auto loaded = load_on(made.readers, made.loaded, run_dir, 3, made.writers);
  for (const auto& difference : loaded.differences) findings.add("differs: " + difference);
  const auto found = findings.take();
  return found.empty() ? "" : found.front();
}

}  // namespace

TEST_CASE("any tensors load on any number of ranks in any sharding") {
  const auto seed = std::random_device{}();
  std::cout << "seed of the random checkpoints: " << seed << "\n";
  for (unsigned number = 0; number < (sanitized ? 40u : 300u); ++number) {
    Random random(seed + number);
    const auto made = some_case(random);
    INFO("seed " << seed + number << ", " << made.writers << " -> " << made.readers << " ranks, " << made.saved.size()
                 << " tensors");
    Scratch run;
    REQUIRE(wrong(made, run.path()) == "");
  }
}

TEST_CASE("a checkpoint of 64 ranks loads on 3") {
  Scratch run;
  Case made;
  made.saved = made.loaded = every_kind();
  made.writers = 64;
  made.readers = 3;
  for (int rank = 0; rank < 64; ++rank) made.files.push_back(rank / 16);
  CHECK(wrong(made, run.path()) == "");
}

TEST_CASE("10,000 small tensors are saved and loaded") {
  Scratch run;
  Case made;
  for (int i = 0; i < 10'000; ++i)
    made.saved.push_back({"layer" + std::to_string(i / 100) + "/w" + std::to_string(i), DType::f32, {8}});
  made.loaded = made.saved;
  made.files = {0, 1};
  made.writers = 2;
  made.readers = 3;
  CHECK(wrong(made, run.path()) == "");
}

namespace {

/// Reserved memory, of which only accessed pages are allocated.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes)
      : size_(bytes),
        data_(static_cast<char*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Sparse() { munmap(data_, size_); }
  Sparse(const Sparse&) = delete;
  char* data() const { return data_; }

 private:
  std::size_t size_;
  char* data_;
};

}  // namespace

TEST_CASE("a tensor of more than 4 GiB is divided between ranks and loads bit for bit") {
  if (sanitized) {
    test::skip("a tensor of more than 4 GiB under a sanitizer, which would need several times as much");
    return;
  }
  constexpr std::int64_t extent = (std::int64_t{1} << 32) + 4097;
  const std::vector<std::int64_t> places{0, 1 << 30, (std::int64_t{1} << 32) - 1, std::int64_t{1} << 32, extent - 1};
  const Sparse memory(static_cast<std::size_t>(extent));
  for (std::size_t i = 0; i < places.size(); ++i) memory.data()[places[i]] = static_cast<char>(i + 1);
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    State state;
    state.tensor("w", TensorView{memory.data(), DType::u8, {extent}});
    findings.add(save_now(state, options_for(run.path(), 0), communicator).error);
  });
  REQUIRE(findings.take() == std::vector<std::string>{});
  const auto half = extent / 2 + 5;
  run_ranks(2, [&](Communicator& communicator) {
    const auto first = communicator.rank() == 0 ? 0 : half;
    const auto count = communicator.rank() == 0 ? half : extent - half;
    const Sparse mine(static_cast<std::size_t>(count));
    State state;
    state.tensor("w", TensorView{mine.data(), DType::u8, {count}}).sharded(0, first, extent);
    checkpoint::load_latest(state, run.path(), communicator);
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] >= first && places[i] < first + count && mine.data()[places[i] - first] != static_cast<char>(i + 1))
        findings.add("byte " + std::to_string(places[i]));
  });
  CHECK(findings.take() == std::vector<std::string>{});
}
