#include <cmath>
#include <cstring>

#include <catch2/catch.hpp>

#include "cli/predict/prediction_output.hpp"
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
  for (std::size_t i = 0; i < columns.size(); ++i) file.write(rows.offsets[i], std::as_bytes(std::span(columns[i].bytes)));
  output.complete();
}

std::string csv_of(const std::vector<Column>& columns, std::uint64_t samples) {
  Scratch folder;
  write_predicted(folder / "out.csv", columns, samples);
  CHECK(io::list_directory(folder.path()) == std::vector<std::string>{"out.csv"});
  return io::read_file(folder / "out.csv");
}

}  // namespace

TEST_CASE("a .csv file has a column per value, and the shortest text that gives the same number") {
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

TEST_CASE("names in the header of a .csv file are quoted as in RFC 4180") {
  CHECK(csv_of({{{"a,\"b\"", DType::u8, {}}, "\x01"}}, 1) == "\"a,\"\"b\"\"\"\n1\n");
}

TEST_CASE("texts are one column of a .csv file, and an error in an .npz file") {
  Scratch folder;
  const std::vector<Column> columns{{{"note", DType::u8, {4}, "note", true}, std::string("a,b\0\0\0\0\0\xc3\xa4\"c", 12)},
                                    {{"n", DType::u8, {}}, "\1\2\3"}};
  CHECK(csv_of(columns, 3) == "note,n\n\"a,b\",1\n,2\n\"\xc3\xa4\"\"c\",3\n");
  CHECK_THAT(error_of([&] { write_predicted(folder / "out.npz", columns, 3); }),
             Contains("--keep note") && Contains("Write .csv or .h5"));
  CHECK(io::list_directory(folder.path()).empty());
}

TEST_CASE("a .csv file that is written in several pieces has all rows in order") {
  constexpr std::size_t samples = 400'000;
  std::string bytes(samples * sizeof(std::int32_t), '\0');
  std::string expected = "n\n";
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(samples); ++i) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof i, &i, sizeof i);
    expected += std::to_string(i) + "\n";
  }
  CHECK((csv_of({{{"n", DType::i32, {}}, bytes}}, samples) == expected));
}

TEST_CASE("a .csv file with more columns than the limit is an error that leaves no file") {
  Scratch folder;
  const std::vector<Column> columns{{{"wide", DType::u8, {70000}}, std::string(70000, '\1')}};
  CHECK_THAT(error_of([&] { write_predicted(folder / "out.csv", columns, 1); }), Contains("write .h5 or .npz"));
  CHECK(io::list_directory(folder.path()).empty());
}

TEST_CASE("two columns of a .csv file with one name are an error that names both fields") {
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

TEST_CASE("an .h5 file of predictions satisfies its schema for all types and for names with a slash") {
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
