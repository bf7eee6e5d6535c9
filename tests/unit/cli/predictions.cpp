#include <cmath>
#include <cstring>

#include <catch2/catch.hpp>

#include "cli/predict/prediction_output.hpp"
#include "cli/predict/prediction_plan.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/untrusted/schema.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::test;
using namespace trainrt::cli;
using Catch::Contains;

namespace {

struct Column {
  trainer::PredictedField field;
  std::string bytes;
};

template <class T>
std::string bytes_of_values(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(T)};
}

void write_predicted(const std::string& path, const std::vector<Column>& columns, std::uint64_t samples) {
  PredictionOutput output(path, false, true, {{}, 0, "/runs/r/checkpoint_000001", "test", "test"});
  std::vector<trainer::PredictedField> fields;
  for (const auto& column : columns) fields.push_back(column.field);
  const auto rows = output.begin(fields, samples);
  const auto file = io::PositionalFile::create(rows.path);
  for (std::size_t i = 0; i < columns.size(); ++i) file.write(rows.places[i], std::as_bytes(std::span(columns[i].bytes)));
  output.complete();
}

std::string csv_of(const std::vector<Column>& columns, std::uint64_t samples) {
  Scratch folder;
  write_predicted(folder / "out.csv", columns, samples);
  CHECK(io::list_directory(folder.path()) == std::vector<std::string>{"out.csv"});
  return io::read_file(folder / "out.csv");
}

/// Of a checkpoint without a run.
PredictionPlan plan_of(std::vector<std::string> words, const std::string& checkpoint) {
  words.insert(words.begin(), checkpoint);
  return plan_prediction(
      parse_arguments(words, {.with_value = {"keep", "dataset"}, .min_operands = 1, .max_operands = 1, .overrides = true}));
}

class LoneCheckpoint {
 public:
  LoneCheckpoint() {
    io::make_directories(path());
    io::write_file(path() + "/manifest.json", "{}");
  }
  std::string path() const { return folder_ / "checkpoint_000001"; }
  PredictionPlan plan(std::vector<std::string> words) const { return plan_of(std::move(words), path()); }
  std::string refused(const std::vector<std::string>& words) const {
    return error_of([&] { plan(words); });
  }

 private:
  Scratch folder_;
};

const std::vector<std::string> linear_over_numbers = {"--train.function=linear", "--data.test.format=range"};

std::vector<std::string> with(std::vector<std::string> words) {
  words.insert(words.begin(), linear_over_numbers.begin(), linear_over_numbers.end());
  return words;
}

}  // namespace

TEST_CASE("a .csv has a column a value, and of reals the fewest digits that give the same bits") {
  CHECK(csv_of({{{"score", DType::f32, {}}, bytes_of_values<float>({0.1F, -1e30F})},
                {{"pair", DType::f64, {2}}, bytes_of_values<double>({0.1, 2, NAN, -INFINITY})},
                {{"grid", DType::i8, {1, 2}}, bytes_of_values<std::int8_t>({-1, 2, -128, 127})},
                {{"label", DType::i64, {}}, bytes_of_values<std::int64_t>({INT64_MIN, 7})},
                {{"u", DType::u8, {}}, bytes_of_values<std::uint8_t>({255, 0})},
                {{"b", DType::boolean, {}}, bytes_of_values<std::uint8_t>({1, 0})},
                {{"half", DType::f16, {}}, bytes_of_values<std::uint16_t>({0x3c00, 0x3800})},
                {{"brain", DType::bf16, {}}, bytes_of_values<std::uint16_t>({0x3f80, 0xc000})}},
               2) ==
        "score,pair_0,pair_1,grid_0_0,grid_0_1,label,u,b,half,brain\n"
        "0.1,0.1,2,-1,2,-9223372036854775808,255,1,1,1\n"
        "-1e+30,nan,-inf,-128,127,7,0,0,0.5,-2\n");
}

TEST_CASE("names in the header of a .csv are quoted as RFC 4180 has it") {
  CHECK(csv_of({{{"a,\"b\"", DType::u8, {}}, "\x01"}}, 1) == "\"a,\"\"b\"\"\"\n1\n");
}

TEST_CASE("texts of a .csv are one column, quoted where they need it; a .npz refuses them") {
  Scratch folder;
  const std::vector<Column> columns{{{"note", DType::u8, {4}, "note", true}, std::string("a,b\0\0\0\0\0\xc3\xa4\"c", 12)},
                                    {{"n", DType::u8, {}}, "\1\2\3"}};
  CHECK(csv_of(columns, 3) == "note,n\n\"a,b\",1\n,2\n\"\xc3\xa4\"\"c\",3\n");
  CHECK_THAT(error_of([&] { write_predicted(folder / "out.npz", columns, 3); }),
             Contains("--keep note") && Contains("write .csv or .h5"));
  CHECK(io::list_directory(folder.path()).empty());
}

TEST_CASE("a .csv of more rows than are read at a time has all of them, in their order") {
  constexpr std::size_t samples = 400'000;
  std::string bytes(samples * sizeof(std::int32_t), '\0');
  std::string expected = "n\n";
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(samples); ++i) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof i, &i, sizeof i);
    expected += std::to_string(i) + "\n";
  }
  CHECK((csv_of({{{"n", DType::i32, {}}, bytes}}, samples) == expected));
}

TEST_CASE("a .csv with too many columns is refused, and nothing is left") {
  Scratch folder;
  const std::vector<Column> columns{{{"wide", DType::u8, {70000}}, std::string(70000, '\1')}};
  CHECK_THAT(error_of([&] { write_predicted(folder / "out.csv", columns, 1); }), Contains("write .h5 or .npz"));
  CHECK(io::list_directory(folder.path()).empty());
}

TEST_CASE("a .csv with two columns of one name is refused with both fields, before there are rows") {
  Scratch folder;
  const auto refused = [&](const std::vector<trainer::PredictedField>& fields) {
    PredictionOutput output(folder / "out.csv", false, true, {{}, 0, "/runs/r/checkpoint_000001", "test", "test"});
    return error_of([&] { output.begin(fields, 1); });
  };
  CHECK_THAT(refused({{"x_0_1", DType::u8, {}}, {"x", DType::u8, {2, 2}}}),
             Contains("'x_0_1' and 'x' both make a column 'x_0_1'") && Contains("--keep FIELD=NAME"));
  CHECK(refused({{"x_1", DType::u8, {}}, {"x", DType::u8, {2, 2}}}).empty());
  CHECK(io::list_directory(folder.path()).empty());
}

TEST_CASE("an .h5 of predictions keeps its schema, with every type and with names in folders") {
  Scratch folder;
  std::vector<Column> columns;
  for (const auto dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::i64,
                           DType::i32, DType::i16, DType::i8, DType::u8, DType::boolean})
    columns.push_back({{"all/" + std::string(name_of(dtype)), dtype, {3}}, std::string(2 * 3 * size_of(dtype), '\1')});
  columns.back().field.kept_of = "mask";
  columns.push_back({{"note", DType::u8, {3}, "note", true}, std::string("ab\0abc", 6)});
  write_predicted(folder / "out.h5", columns, 2);
  CHECK(io::check_schema(folder / "out.h5", "predictions").empty());
}

TEST_CASE("the dataset is the one that keys of the command line have, and is taken in its order") {
  const LoneCheckpoint checkpoint;
  const auto plan = checkpoint.plan(with({"--data.test.shuffle=true", "--data.test.samples=5", "--keep", "id, id=number"}));
  CHECK(plan.dataset == "test");
  CHECK_FALSE(plan.spec.data.at("test").has("shuffle"));
  CHECK(plan.spec.data.at("test").text("samples") == "5");
  REQUIRE(plan.kept.size() == 2);
  CHECK(plan.kept[1].field == "id");
  CHECK(plan.kept[1].name == "number");
  CHECK(checkpoint.plan({"--train.function=linear", "--data.other.format=range"}).dataset == "other");
}

TEST_CASE("what a prediction lacks is named, with the option that gives it") {
  const LoneCheckpoint checkpoint;
  CHECK_THAT(checkpoint.refused({}), Contains("--train.function=NAME"));
  CHECK_THAT(checkpoint.refused({"--train.function=linear"}), Contains("--data.test.source=FILE"));
  CHECK_THAT(checkpoint.refused(with({"--data.more.format=range"})), Contains("--dataset test"));
  CHECK_THAT(checkpoint.refused(with({"--dataset", "tset"})), Contains("did you mean 'test'"));
  CHECK_THAT(checkpoint.refused(with({"--keep", "=x"})), Contains("FIELD=NAME"));
  CHECK_THAT(checkpoint.refused(with({"--data.test.weights=1,2"})), Contains("each sample once"));
  CHECK_THAT(checkpoint.refused(with({"--data.test.on_error=skip"})), Contains("each sample once"));
}

TEST_CASE("a function without a predict is refused by name") {
  const LoneCheckpoint checkpoint;
  auto plan = checkpoint.plan(with({}));
  CHECK(predicting_function(plan.spec).name == "linear");
  plan.spec.train.function = "liner";
  CHECK_THAT(error_of([&] { predicting_function(plan.spec); }), Contains("did you mean 'linear'"));
}
