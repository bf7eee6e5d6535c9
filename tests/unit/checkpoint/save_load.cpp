#include <catch2/catch.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/save/phases.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

TEST_CASE("a checkpoint of N ranks restores on M ranks bit for bit, NaN payloads included") {
  for (int writers = 1; writers <= 5; ++writers) {
    Scratch run;
    const auto saved = save_on(writers, every_kind(), run.path(), 3, 7);
    REQUIRE(saved.error == "");
    REQUIRE(saved.committed);
    CHECK(saved.directory == run / "checkpoint_000003");
    CHECK(checkpoint::verify(saved.directory) == std::vector<std::string>{});
    for (int readers = 1; readers <= 5; ++readers) {
      INFO(writers << " ranks -> " << readers);
      const auto loaded = load_on(readers, every_kind(), run.path(), 7, writers);
      CHECK(loaded.differences == std::vector<std::string>{});
      CHECK(loaded.result->skipped.empty());
      CHECK(loaded.result->meta.iteration == 6);
      CHECK(loaded.result->meta.ranks == writers);
    }
  }
}

TEST_CASE("adjacent tensors of any length are stored completely, with the gaps between them") {
  Scratch run;
  auto specs = every_kind();
  for (const int bytes : {1, 4095, 131071, 131072, 131073, 400001, (4 << 20) - 1, (5 << 20) + 3})
    specs.push_back({"bytes" + std::to_string(bytes), DType::u8, {bytes}});
  const auto saved = save_on(1, specs, run.path(), 1, 7);
  REQUIRE(saved.error == "");
  CHECK(checkpoint::verify(saved.directory) == std::vector<std::string>{});
  CHECK(load_on(1, specs, run.path(), 7, 1).differences == std::vector<std::string>{});
}

TEST_CASE("a tensor can be restored with another sharding") {
  const auto with = [](Placement placement, int axis) {
    return std::vector<Spec>{{"w", DType::f32, {6, 5}, placement, axis}, {"v", DType::bf16, {4}}};
  };
  const std::vector<std::vector<Spec>> ways{with(Placement::replicated, 0), with(Placement::sharded, 0),
                                            with(Placement::sharded, 1)};
  for (const auto& saved : ways)
    for (const auto& wanted : ways) {
      Scratch run;
      REQUIRE(save_on(3, saved, run.path(), 0, 5).committed);
      CHECK(load_on(4, wanted, run.path(), 5, 3).differences == std::vector<std::string>{});
    }
}

TEST_CASE("a slab that several ranks have is written once") {
  Scratch run;
  run_ranks(4, [&](Communicator& communicator) {
    std::vector<double> half(3, communicator.rank() % 2);
    State state;
    state.tensor("w", half).sharded(0, 3 * (communicator.rank() % 2), 6);
    save_now(state, options_for(run.path(), 0), communicator);
  });
  std::vector<double> whole(6, -1);
  run_ranks(1, [&](Communicator& communicator) {
    State state;
    state.tensor("w", whole);
    checkpoint::load_latest(state, run.path(), communicator);
  });
  CHECK(whole == std::vector<double>{0, 0, 0, 1, 1, 1});
}

TEST_CASE("slabs with a gap or an overlap are an error that names the tensor") {
  Scratch run;
  const auto attempt = [&](std::int64_t second) {
    return error_of([&] {
      run_ranks(2, [&](Communicator& communicator) {
        std::vector<float> slab(2);
        State state;
        state.tensor("model/w", slab).sharded(0, communicator.rank() * second, 5);
        save_now(state, options_for(run.path(), 0), communicator);
      });
    });
  };
  CHECK_THAT(attempt(3), Catch::Contains("'model/w'") && Catch::Contains("4 of the 5"));
  CHECK_THAT(attempt(1), Catch::Contains("'model/w' overlap"));
}

TEST_CASE("restoring a run without checkpoints returns nullopt") {
  Scratch run;
  CHECK_FALSE(load_on(2, {}, run.path(), 0, 1).result.has_value());
  CHECK_FALSE(load_on(2, {}, run / "no such run", 0, 1).result.has_value());
}

TEST_CASE("a State with only values and an empty State can be saved") {
  Scratch run;
  REQUIRE(save_on(2, {}, run.path(), 0, 3).committed);
  CHECK(load_on(3, {}, run.path(), 3, 2).differences == std::vector<std::string>{});
  Scratch other;
  run_ranks(2, [&](Communicator& communicator) {
    State nothing;
    save_now(nothing, options_for(other.path(), 0), communicator);
    checkpoint::load_latest(nothing, other.path(), communicator);
  });
  CHECK(checkpoint::verify(other / "checkpoint_000000") == std::vector<std::string>{});
}

TEST_CASE("an error names the values that differ between ranks, with the ranks") {
  Scratch run;
  const auto text = error_of([&] {
    run_ranks(4, [&](Communicator& communicator) {
      Model model({}, communicator.rank(), communicator.size());
      model.epoch = communicator.rank() == 2 ? 9 : 8;
      save_now(model.state(), options_for(run.path(), 0), communicator);
    });
  });
  CHECK_THAT(text, Catch::Contains("'epoch': value 8 on ranks 0, 1, 3; value 9 on rank 2"));
  CHECK(checkpoint::highest_number(run.path()) == -1);
}

TEST_CASE("an error names the entries that differ between ranks, with the ranks") {
  Scratch run;
  const auto text = error_of([&] {
    run_ranks(2, [&](Communicator& communicator) {
      const auto last = communicator.rank() == 1;
      Model model({{"w", DType::f32, {last ? 3 : 2}}, {last ? "only/one" : "only/zero", DType::f32, {1}}},
                  communicator.rank(), communicator.size());
      save_now(model.state(), options_for(run.path(), 0), communicator);
    });
  });
  CHECK_THAT(text,
             Catch::Contains("'w': tensor of f32 [2], replicated on rank 0; tensor of f32 [3], replicated on rank 1"));
  CHECK_THAT(text, Catch::Contains("'only/one': missing on rank 0"));
  CHECK_THAT(text, Catch::Contains("'only/zero': missing on rank 1"));
}

TEST_CASE("a checkpoint never replaces an existing one: the stale attempt fails and leaves no files") {
  Scratch run;
  REQUIRE(save_on(2, every_kind(), run.path(), 1, 1).committed);
  CHECK_THAT(error_of([&] { save_on(2, every_kind(), run.path(), 1, 2); }),
             Catch::Contains("another attempt owns this run"));
  CHECK(load_on(2, every_kind(), run.path(), 1, 2).differences == std::vector<std::string>{});

  // Another attempt commits the same checkpoint number before this attempt does.
  const auto late = error_of([&] {
    run_ranks(2, [&](Communicator& communicator) {
      Model model({}, communicator.rank(), communicator.size());
      save_now(model.state(), options_for(run.path(), 2), communicator, [&](checkpoint::Phase phase) {
        if (phase == checkpoint::Phase::directory_synced) std::filesystem::create_directory(run / "checkpoint_000002");
      });
    });
  });
  CHECK_THAT(late, Catch::Contains("another attempt owns this run"));
  CHECK(std::filesystem::is_empty(run / "checkpoint_000002"));
}

TEST_CASE("a restore into another model names every difference and changes nothing") {
  Scratch run;
  const std::vector<Spec> saved{{"same", DType::f32, {2}},           {"other_type", DType::f32, {2}},
                                {"other_shape", DType::f32, {2, 3}}, {"only_saved", DType::f32, {2}},
                                {"trainrt/data", DType::i64, {1}},   {"own", DType::f32, {2}, Placement::per_rank}};
  const std::vector<Spec> wanted{{"same", DType::f32, {2}},
                                 {"other_type", DType::f64, {2}},
                                 {"other_shape", DType::f32, {3, 2}},
                                 {"only_wanted", DType::f32, {2}},
                                 {"own", DType::f32, {2}}};
  REQUIRE(save_on(2, saved, run.path(), 0, 1).committed);
  Findings untouched;
  std::string text;
  ExitCode code = ExitCode::finished;
  try {
    run_ranks(3, [&](Communicator& communicator) {
      Model model(wanted, communicator.rank(), communicator.size());
      model.fill(9);
      try {
        checkpoint::load_latest(model.state(), run.path(), communicator);
      } catch (const UsageError&) {
        untouched.add(model.difference(9, 3));
        throw;
      }
    });
  } catch (const Error& error) {
    text = error.what();
    code = error.code();
  }
  CHECK(code == ExitCode::usage);
  CHECK(untouched.take() == std::vector<std::string>{});
  CHECK_THAT(text,
             Catch::Contains("'other_type' is a tensor of f32 [2] in the checkpoint but a tensor of f64 [2] in the State"));
  CHECK_THAT(text, Catch::Contains("'other_shape' is a tensor of f32 [2, 3] in the checkpoint"));
  CHECK_THAT(text, Catch::Contains("'only_saved' is only in the checkpoint"));
  CHECK_THAT(text, Catch::Contains("'only_wanted' is only in the State"));
  CHECK_THAT(text, Catch::Contains("'own' is a tensor of f32 [2] per rank in the checkpoint"));
  CHECK_THAT(text, !Catch::Contains("trainrt/data") && !Catch::Contains("'same'"));
}

TEST_CASE("an optional entry that the checkpoint lacks is not changed") {
  Scratch run;
  REQUIRE(save_on(1, {}, run.path(), 0, 1).committed);
  std::vector<float> added(3, 4.0f);
  run_ranks(1, [&](Communicator& communicator) {
    Model model({}, 0, 1);
    model.state().tensor("added", added).optional = true;
    checkpoint::load_latest(model.state(), run.path(), communicator);
  });
  CHECK(added == std::vector<float>(3, 4.0f));
}

TEST_CASE("a stored value that does not fit into a 32-bit integer is an error") {
  Scratch run;
  run_ranks(1, [&](Communicator& communicator) {
    std::int64_t large = std::int64_t{1} << 40;
    State state;
    state.value("n", large);
    save_now(state, options_for(run.path(), 0), communicator);
  });
  const auto text = error_of([&] {
    run_ranks(2, [&](Communicator& communicator) {
      std::int32_t small = 0;
      State state;
      state.value("n", small);
      checkpoint::load_latest(state, run.path(), communicator);
    });
  });
  CHECK_THAT(text, Catch::Contains("'n'") && Catch::Contains("1099511627776") && Catch::Contains("rank 1"));
}
