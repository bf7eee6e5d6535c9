#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <trainrt/predictions.hpp>

#include "io/files/file.hpp"
#include "support/cpp/error_of.hpp"
#include "trainer/predictions/prediction.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Contains;

namespace {

constexpr std::int64_t numbers = 103;

config::RunSpec spec_of_predictions(const std::string& folder, const char* shuffle = "false") {
  return spec_in(folder, {{"data.train.format", "range"}, {"data.train.samples", "103"}, {"data.train.shuffle", shuffle}});
}

/// Predicts two fields for each sample: twice its number, and a vector of two floats.
void double_it(Context&, Predictions& predictions) {
  predictions.begin({{"twice", DType::i64, {}}, {"pair", DType::f32, {2}}});
  auto data = predictions.dataset();
  for (const auto& batch : data.epoch(0).batches(10, Remainder::whole)) {
    const auto* const ids = static_cast<const std::int64_t*>(batch.field("id").data);
    std::vector<std::int64_t> twice;
    std::vector<float> pairs;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      twice.push_back(2 * ids[i]);
      pairs.insert(pairs.end(), {static_cast<float>(ids[i]), 0.5F});
    }
    predictions.add(batch,
                    {{twice.data(), DType::i64, {std::ssize(twice)}}, {pairs.data(), DType::f32, {std::ssize(twice), 2}}});
  }
}

/// The output file of a prediction, field by field, and the values that rank 0 gets.
struct Rows {
  explicit Rows(std::string where) : path(std::move(where)) {}

  trainer::PredictionJob job(std::function<void(Context&, Predictions&)> predict,
                             std::vector<trainer::KeptField> kept = {}) {
    trainer::PredictionJob job{.function = "test", .predict = std::move(predict), .checkpoint = {}, .dataset = "train"};
    job.kept = std::move(kept);
    job.make_rows = [this](const auto& declared, std::uint64_t samples) {
      fields = declared;
      std::vector<std::uint64_t> offsets;
      std::uint64_t end = 0;
      for (const auto& field : declared) {
        offsets.push_back(end);
        end += samples * field.row_bytes();
      }
      io::write_file(path, std::string(end, '\xff'));
      return trainer::PredictedRows{path, std::move(offsets)};
    };
    job.complete = [this] { is_complete = true; };
    job.progress = [](std::uint64_t, std::uint64_t) {};
    return job;
  }

  std::string path;
  std::vector<trainer::PredictedField> fields;
  bool is_complete = false;
};

void predict_on_threads(int ranks, const config::RunSpec& spec, const trainer::PredictionJob& job) {
  run_launched(ranks, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    trainer::predict(spec, job, launch, *communicator);
  });
}

/// Returns the error of a prediction with this function.
std::string refused(int ranks, std::function<void(Context&, Predictions&)> predict,
                    std::vector<trainer::KeptField> kept = {}) {
  Scratch folder;
  Rows rows(folder / "rows");
  const auto job = rows.job(std::move(predict), std::move(kept));
  const auto spec = spec_of_predictions(folder.path());
  const auto text = error_of([&] { predict_on_threads(ranks, spec, job); });
  CHECK_FALSE(rows.is_complete);
  return text;
}

template <class T>
std::vector<T> values_at(const std::string& bytes, std::size_t at, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data() + at, count * sizeof(T));
  return values;
}

/// Returns a run on a table with x = first, first + 10 and first + 20. Its samples are sequences of 2 scaled values.
config::RunSpec spec_of_pairs(const std::string& folder, std::int64_t first) {
  const auto path = fmt::format("{}/from-{}.csv", folder, first);
  io::write_file(path, fmt::format("x\n{}\n{}\n{}\n", first, first + 10, first + 20));
  auto spec = spec_in(folder);
  Options options;
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"source", path}, {"preprocess", "MinMaxScaler(columns: x)"}, {"sequence", "2"}})
    options.set(key, {value, "test"});
  spec.data["train"] = std::move(options);
  return spec;
}

}  // namespace

TEST_CASE("a prediction applies the checkpoint's preprocessors and sequences to other data") {
  const Scratch folder;
  run_on(1, spec_of_pairs(folder.path(), 0), [](Context& ctx) {
    State state;
    std::int64_t steps = 0;
    state.value("steps", steps);
    ctx.restore(state);
    ctx.save();
  });
  const auto others = spec_of_pairs(folder.path(), 10);
  for (const int ranks : {1, 2}) {
    Rows rows(folder / fmt::format("rows-{}", ranks));
    auto job = rows.job(
        [](Context&, Predictions& predictions) {
          predictions.begin({{"first", DType::f64, {}}});
          auto data = predictions.dataset();
          for (const auto& batch : data.epoch(0).batches(1, Remainder::whole))
            predictions.add(batch, {{batch.field("x").data, DType::f64, {1}}});
        },
        {{"x", "x"}});
    job.checkpoint = {.index = 0, .path = folder / "r/checkpoint_000000"};
    predict_on_threads(ranks, others, job);
    CHECK(values_at<double>(io::read_file(rows.path), 0, 6) == std::vector<double>{0.5, 1, 0.5, 1, 1, 1.5});
  }
}

TEST_CASE("the rows are in the order of the samples, on any number of ranks") {
  for (const auto* shuffle : {"false", "true"}) {
    std::string first;
    for (const int ranks : {1, 2, 3, 16}) {
      CAPTURE(shuffle, ranks);
      Scratch folder;
      Rows rows(folder / "rows");
      predict_on_threads(ranks, spec_of_predictions(folder.path(), shuffle), rows.job(double_it, {{"id", "number"}}));
      REQUIRE(rows.is_complete);
      const auto bytes = io::read_file(rows.path);
      if (first.empty()) first = bytes;
      REQUIRE(bytes == first);
      const auto twice = values_at<std::int64_t>(bytes, 0, numbers);
      const auto kept = values_at<std::int64_t>(bytes, numbers * 16, numbers);
      for (std::int64_t i = 0; i < numbers; ++i) {
        REQUIRE(twice[static_cast<std::size_t>(i)] == 2 * i);
        REQUIRE(kept[static_cast<std::size_t>(i)] == i);
      }
    }
  }
}

TEST_CASE("a prediction creates no run directory and copies fields of the dataset") {
  Scratch folder;
  Rows rows(folder / "rows");
  predict_on_threads(2, spec_of_predictions(folder.path()), rows.job(double_it, {{"id", "id"}}));
  CHECK(io::list_directory(folder.path()) == std::vector<std::string>{"rows"});
  REQUIRE(rows.fields.size() == 3);
  CHECK(rows.fields[1].sample_shape == Shape{2});
  CHECK(rows.fields[1].kept_of.empty());
  CHECK(rows.fields[2].kept_of == "id");
}

TEST_CASE("functions for training are errors in a prediction") {
  using Calls = std::vector<std::pair<const char*, std::function<void(Context&)>>>;
  State state;
  for (const auto& [name, call] : Calls{{"step()", [](Context& ctx) { ctx.step(); }},
                                        {"report()",
                                         [](Context& ctx) {
                                           ctx.report({{"loss", 1.0}});
                                         }},
                                        {"restore()", [&](Context& ctx) { ctx.restore(state); }},
                                        {"save()", [](Context& ctx) { ctx.save(); }},
                                        {"observe()", [](Context& ctx) {
                                           ctx.observe("step", {{"step", 1}});
                                         }}})
    CHECK_THAT(refused(1, [&call = call](Context& ctx, Predictions&) { call(ctx); }),
               Contains(name) && Contains("allowed only during training"));
}

TEST_CASE("values of an undeclared type or shape are an error that names the declared one") {
  const auto add = [](std::vector<Dataset::Field> fields, std::vector<TensorView> (*views)(const Batch&)) {
    return refused(1, [=](Context&, Predictions& predictions) {
      predictions.begin(fields);
      auto data = predictions.dataset();
      for (const auto& batch : data.epoch(0).batches(10, Remainder::whole)) predictions.add(batch, views(batch));
    });
  };
  const Dataset::Field score{"score", DType::f32, {}};
  CHECK_THAT(add({score}, [](const Batch&) { return std::vector<TensorView>{}; }),
             Contains("got 0 views, but begin() declared 1 field"));
  CHECK_THAT(add({score}, [](const Batch& batch) { return std::vector{batch.field("id")}; }),
             Contains("'score' are i64[10]") && Contains("must be f32[10]"));
  const Dataset::Field pair{"pair", DType::i64, {2}};
  CHECK_THAT(add({pair}, [](const Batch& batch) { return std::vector{batch.field("id")}; }),
             Contains("must be i64[10, 2]"));
}

TEST_CASE("invalid field names are an error on all ranks") {
  const auto begin = [](std::vector<Dataset::Field> fields, std::vector<trainer::KeptField> kept = {}) {
    return refused(
        2, [=](Context&, Predictions& predictions) { predictions.begin(fields); }, std::move(kept));
  };
  CHECK_THAT(begin({}), Contains("rank 0 declared no fields"));
  CHECK_THAT(begin({{"", DType::f32, {}}}), Contains("is empty"));
  CHECK_THAT(begin({{"a/../b", DType::f32, {}}}), Contains("'..'"));
  CHECK_THAT(begin({{"a", DType::f32, {}}, {"a", DType::f32, {}}}), Contains("two entries named 'a'"));
  CHECK_THAT(begin({{"a", DType::f32, {}, true}}), Contains("varies in length"));
  CHECK_THAT(begin({{"id", DType::f32, {}}}, {{"id", "id"}}), Contains("--keep id=NAME"));
  CHECK_THAT(begin({{"a", DType::f32, {}}}, {{"ids", "ids"}}),
             Contains("no field of this name (did you mean 'id'?); its fields: id"));
}

TEST_CASE("missing samples and calls in the wrong order are errors") {
  CHECK_THAT(refused(2, [](Context&, Predictions&) {}), Contains("without calling Predictions::begin()"));
  CHECK_THAT(refused(2,
                     [](Context&, Predictions& predictions) {
                       predictions.begin({{"a", DType::f32, {}}});
                     }),
             Contains("added 0 samples, but [data.train] has 103"));
  CHECK_THAT(refused(1,
                     [](Context& ctx, Predictions& predictions) {
                       double_it(ctx, predictions);
                       predictions.begin({});
                     }),
             Contains("called twice"));
  CHECK_THAT(refused(1,
                     [](Context&, Predictions& predictions) {
                       auto data = predictions.dataset();
                       for (const auto& batch : data.epoch(0).batches(1)) predictions.add(batch, {});
                     }),
             Contains("add() was called before begin()"));
}
