#include <catch2/catch.hpp>
#include <random>

#include "checkpoint/layout.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/save/saver.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

/// Returns a size near limits of HDF5 or of a page, at which the position of a dataset in the file changes.
std::int64_t some_size(std::mt19937_64& random) {
  static constexpr std::int64_t sizes[] = {0, 1, 7, 100, 700, 2040, 2050, 4090, 4096, 4100, 9000, 70000};
  return sizes[random() % std::size(sizes)] + static_cast<std::int64_t>(random() % 3);
}

std::vector<Spec> some_tensors(std::mt19937_64& random) {
  static constexpr DType dtypes[] = {DType::u8, DType::u8, DType::i16, DType::f32, DType::f64};
  static constexpr Placement placements[] = {Placement::replicated, Placement::sharded, Placement::per_rank};
  std::vector<Spec> specs;
  for (auto left = random() % 12; left > 0; --left) {
    Spec spec{"t" + std::to_string(random() % 4) + "/" + std::to_string(left),
              dtypes[random() % 5],
              {},
              placements[random() % 3]};
    const auto bytes = some_size(random);
    spec.shape = {std::max<std::int64_t>(bytes / static_cast<std::int64_t>(size_of(spec.dtype)), bytes == 0 ? 0 : 1)};
    if (random() % 3 == 0) spec.shape.insert(spec.shape.begin(), static_cast<std::int64_t>(1 + random() % 3));
    if (spec.placement == Placement::sharded) spec.axis = static_cast<int>(random() % spec.shape.size());
    if (spec.placement != Placement::sharded && random() % 5 == 0) spec.shape.clear();
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<std::string> some_texts(std::mt19937_64& random) {
  std::vector<std::string> texts(random() % 4);
  for (auto& text : texts)
    for (auto left = some_size(random); left > 0; --left) text += static_cast<char>('a' + random() % 26);
  return texts;
}

/// A model with additional strings of any length.
struct Texts {
  std::vector<std::string> texts;
  void attach(State& state) {
    for (std::size_t i = 0; i < texts.size(); ++i) state.value("text/" + std::to_string(i), texts[i]);
  }
};

}  // namespace

TEST_CASE("any state loads bit for bit on any number of ranks") {
  const auto seed = std::random_device{}();
  for (std::uint64_t round = 0; round < 60; ++round) {
    INFO("seed " << seed << ", round " << round);
    std::mt19937_64 random(seed + round);
    const auto specs = some_tensors(random);
    const auto texts = some_texts(random);
    const int writers = static_cast<int>(1 + random() % 5);
    const int readers = static_cast<int>(1 + random() % 5);
    std::vector<int> nodes(static_cast<std::size_t>(writers));
    for (auto& node : nodes) node = static_cast<int>(random() % 3);
    const auto layout = static_cast<FileLayout>(random() % 3);
    Scratch run;
    Findings findings;
    run_ranks(writers, [&](Communicator& communicator) {
      Model model(specs, communicator.rank(), communicator.size());
      Texts own{texts};
      own.attach(model.state());
      model.fill(round);
      auto save = options_for(run.path(), 0);
      save.saver.file_of_rank = checkpoint::files_of_ranks(layout, nodes);
      save.saver.writer.read_back = round % 4 == 0;
      findings.add(save_now(model.state(), save, communicator).error);
    });
    for (const auto& finding : checkpoint::verify(run / "checkpoint_000000")) findings.add(finding);
    run_ranks(readers, [&](Communicator& communicator) {
      Model model(specs, communicator.rank(), communicator.size());
      Texts own{std::vector<std::string>(texts.size())};
      own.attach(model.state());
      if (!checkpoint::load_latest(model.state(), run.path(), communicator)) findings.add("nothing loaded");
      findings.add(model.difference(round, writers));
      if (own.texts != texts) findings.add("texts differ");
    });
    REQUIRE(findings.take() == std::vector<std::string>{});
  }
}
