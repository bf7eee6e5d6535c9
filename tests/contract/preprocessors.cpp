// Checks the contract of every preprocessor of preprocessor_table(). A new preprocessor needs no change here: valid
// arguments are made from the types of its parameters, and its column is the first one of the datasets below that it
// accepts.
#include <barrier>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>
#include <trainrt/preprocessor.hpp>

#include "contract/walked_samples.hpp"
#include "core/text/text.hpp"
#include "data/preprocess/numbers.hpp"
#include "data/preprocess/preprocessing.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;
using data::ParameterSpec;
using data::ParameterType;
using data::PreprocessorKind;
using Json = nlohmann::json;

namespace {

constexpr std::string_view columns = "x,c,m,n,t\n";

/// Returns lines of CSV. Column x has numbers; c a constant; m numbers and NaN; n only NaN; t texts.
std::string rows(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{},7,{},nan,{}\n", i * 7 % 10 + 0.5, i % 3 == 1 ? "nan" : std::to_string(i % 5),
                        i % 4 == 0 ? "a b" : (i % 4 == 1 ? "b" : "c a"));
  return text;
}

/// Writes a file with the column, and returns the keys of its section. Column `l` has lists of numbers; for others, see
/// rows().
std::map<std::string, std::string> keys_with(const std::string& column, const Scratch& dir, int count) {
  if (column != "l") {
    write(dir / "table.csv", std::string(columns) + rows(count));
    return {{"source", dir / "table.csv"}, {"types", "x:f64, c:f64, m:f64, n:f64, t:text"}, {"threads", "2"}};
  }
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{{\"l\": [{}, {}]}}\n", i % 3, i % 5);
  write(dir / "lists.jsonl", text);
  return {{"source", dir / "lists.jsonl"}};
}

std::shared_ptr<DatasetImpl> dataset_with(const std::string& column, const Scratch& dir, int count) {
  return open(keys_with(column, dir, count));
}

Json valid_value(const ParameterSpec& spec, const std::string& column) {
  switch (spec.type) {
    case ParameterType::names:
      return Json::array({column});
    case ParameterType::name_or_names:
      return column;
    case ParameterType::name:
      return "output";
    case ParameterType::choice:
      return words_in(spec.choices).front();
    case ParameterType::flag:
      return true;
    case ParameterType::number:
      return 0.5;
    case ParameterType::numbers:
    case ParameterType::numbers_per_column:
      return Json::array({0.5, 3, 100});
    case ParameterType::integer:
    case ParameterType::integer_per_column:
      return std::min<std::int64_t>(spec.max, 1000);
    case ParameterType::category_limits:
      return Json{{column, 2}};
    case ParameterType::scalar:
      return 3;
    case ParameterType::element_type:
      return "f32";
    case ParameterType::python_only:
      break;
  }
  return nullptr;
}

/// Returns the JSON form with valid values of all required parameters.
Json example(const PreprocessorKind& kind, const std::string& column) {
  auto parameters = Json::object();
  for (const auto& spec : kind.parameters)
    if (spec.default_value.empty() || spec.name == "columns")
      parameters[std::string(spec.name)] = valid_value(spec, column);
  return {{"preprocessor", kind.name}, {"version", 1}, {"parameters", parameters}};
}

Preprocessor made(const Json& json) { return Preprocessor::from_json(json.dump()); }

/// Returns a fitted preprocessor. Throws UsageError if the column is unsuitable, even if the preprocessor needs no fit.
Preprocessor fitted(const Json& json, const std::shared_ptr<DatasetImpl>& data) {
  auto preprocessor = made(json);
  preprocessor.fit(Dataset(data));
  preprocessor.fields(data->source()->fields());
  return preprocessor;
}

bool accepts(const PreprocessorKind& kind, const std::string& column) {
  const Scratch dir;
  try {
    fitted(example(kind, column), dataset_with(column, dir, 20));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

std::string column_for(const PreprocessorKind& kind) {
  for (const std::string column : {"x", "t", "l"})
    if (accepts(kind, column)) return column;
  FAIL(kind.name << " accepts neither numbers nor texts nor lists of numbers");
  return "";
}

Table table_of(const DatasetImpl& dataset) {
  std::vector<std::uint64_t> samples(dataset.source()->size());
  std::iota(samples.begin(), samples.end(), 0U);
  std::vector<data::Column> read;
  for (std::size_t field = 0; field < dataset.source()->fields().size(); ++field) read.push_back({field, {}, {}});
  dataset.source()->read(samples, read);
  Table table;
  table.samples = samples.size();
  for (const auto& column : read)
    table.columns.push_back({dataset.source()->fields()[column.field], column.values, column.ends});
  return table;
}

Table transformed(const Preprocessor& preprocessor, Table table) {
  preprocessor.transform(table);
  return table;
}

bool same_bits(const Table& a, const Table& b) {
  return std::equal(
      a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(), [](const auto& one, const auto& other) {
        return one.field.name == other.field.name && one.field.dtype == other.field.dtype &&
               one.field.sample_shape == other.field.sample_shape && one.values == other.values && one.ends == other.ends;
      });
}

/// Calls check(kind, column) for each preprocessor, with a column that it accepts.
void for_each_kind(const std::function<void(const PreprocessorKind& kind, const std::string& column)>& check) {
  for (const auto* kind : data::preprocessor_table()) {
    INFO(kind->name);
    check(*kind, column_for(*kind));
  }
}

/// Fits in one thread per rank and returns the JSON forms of all ranks.
std::vector<std::string> fitted_on_ranks(int ranks, const Json& json, const std::string& column) {
  const Scratch dir;
  std::vector<std::shared_ptr<DatasetImpl>> datasets;
  for (int rank = 0; rank < ranks; ++rank) datasets.push_back(dataset_with(column, dir, 101));
  std::vector<std::string> parts(datasets.size()), found(datasets.size());
  std::barrier barrier(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      auto plan = datasets[at]->plan();
      auto& team = plan.team;
      team.rank = rank;
      team.size = ranks;
      team.gather = [&, at](const std::function<std::string()>& make) {
        parts[at] = make();
        barrier.arrive_and_wait();
        auto all = parts;
        barrier.arrive_and_wait();
        return all;
      };
      datasets[at]->replace(std::move(plan));
      found[at] = fitted(json, datasets[at]).to_json();
    });
  for (auto& thread : threads) thread.join();
  return found;
}

/// Changes the last sample of a column to a value that no dataset has.
void put_unseen_value(Table::Column& column) {
  const auto is_text = data::is_text(column.field);
  const auto first =
      is_text ? column.ends[column.ends.size() - 2] : column.values.size() - data::sample_bytes(column.field);
  const std::string text = "unseen";
  std::vector<std::byte> bytes;
  const auto append = [&bytes](auto value) {
    const auto* const data = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), data, data + sizeof value);
  };
  while (!is_text && bytes.size() < data::sample_bytes(column.field))
    column.field.dtype == DType::f64 ? append(777.0) : append(std::int64_t{777});
  if (is_text)
    bytes.assign(reinterpret_cast<const std::byte*>(text.data()),
                 reinterpret_cast<const std::byte*>(text.data() + text.size()));
  column.values.resize(first);
  column.values.insert(column.values.end(), bytes.begin(), bytes.end());
  if (is_text) column.ends.back() = column.values.size();
}

/// Creates a preprocessor from damaged JSON and uses it: this succeeds, or throws UsageError.
void use_damaged(const std::string& json, const Table& table) {
  INFO(json);
  try {
    const auto preprocessor = Preprocessor::from_json(json);
    CHECK(Preprocessor::from_json(preprocessor.to_json()).to_json() == preprocessor.to_json());
    transformed(preprocessor, table);
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).size() > 10);
  }
}

}  // namespace

TEST_CASE("a preprocessor names an unknown argument and the valid ones") {
  for_each_kind([](const auto& kind, const auto& column) {
    auto json = example(kind, column);
    json["parameters"]["no_such_argument"] = 1;
    for (const auto& spec : kind.parameters)
      if (spec.type != ParameterType::python_only)
        CHECK_THROWS_WITH(made(json), Contains(std::string(kind.name)) && Contains("'no_such_argument'") &&
                                          Contains(std::string(spec.name)));
  });
}

TEST_CASE("a preprocessor names a required argument that is missing, and one with a value of the wrong type") {
  for_each_kind([](const auto& kind, const auto& column) {
    for (const auto& spec : kind.parameters) {
      const std::string name(spec.name);
      INFO(name);
      auto json = example(kind, column);
      json["parameters"][name] = Json::array({Json::object({{"no_such_column", Json::array()}})});
      CHECK_THROWS_WITH(made(json), Contains(std::string(kind.name)) && Contains(name));
      json["parameters"].erase(name);
      if (spec.default_value.empty())
        CHECK_THROWS_WITH(made(json), Contains(std::string(kind.name)) && Contains("missing parameter " + name));
      else
        CHECK_NOTHROW(made(json));
    }
  });
}

TEST_CASE("each default of a preprocessor is a valid value") {
  for_each_kind([](const auto& kind, const auto& column) {
    auto json = example(kind, column), complete = json;
    for (const auto& spec : kind.parameters)
      if (!spec.default_value.empty() && !spec.default_value.starts_with('=') && spec.type != ParameterType::python_only &&
          !complete["parameters"].contains(spec.name))
        complete["parameters"][std::string(spec.name)] = Json::parse(spec.default_value);
    CHECK(made(complete).to_json() == made(json).to_json());
  });
}

TEST_CASE("a preprocessor names a column that the data lacks, and the existing ones") {
  for_each_kind([](const auto& kind, const auto& column) {
    const Scratch dir;
    const auto data = dataset_with(column, dir, 5);
    CHECK_THROWS_WITH(fitted(example(kind, "no_such_column"), data),
                      Contains(std::string(kind.name)) && Contains("'no_such_column'") && Contains(column));
  });
}

TEST_CASE("a table without samples is transformed to a table without samples") {
  for_each_kind([](const auto& kind, const auto& column) {
    const Scratch dir;
    const auto data = dataset_with(column, dir, 20);
    const auto preprocessor = fitted(example(kind, column), data);
    Table table;
    for (const auto& field : data->source()->fields()) table.columns.push_back({field, {}, {}});
    for (const auto& each : transformed(preprocessor, table).columns) CHECK((each.values.empty() && each.ends.empty()));
  });
}

TEST_CASE("a preprocessor can be fitted to one sample and transforms it") {
  for_each_kind([](const auto& kind, const auto& column) {
    const Scratch dir;
    const auto data = dataset_with(column, dir, 1);
    const auto table = transformed(fitted(example(kind, column), data), table_of(*data));
    CHECK(table.samples == 1);
    for (const auto& each : table.columns)
      CHECK(each.values.size() % std::max<std::size_t>(data::sample_bytes(each.field), 1) == 0);
  });
}

TEST_CASE("a constant column becomes finite numbers") {
  for_each_kind([](const auto& kind, const auto& column) {
    if (column != "x") return;
    const Scratch dir;
    const auto data = dataset_with("c", dir, 20);
    const auto table = transformed(fitted(example(kind, "c"), data), table_of(*data));
    for (const auto& each : table.columns)
      if (each.field.name == "c" || each.field.name == "output")
        data::with_numbers(each.field.dtype, each.values, [](auto values) {
          for (const auto value : values) CHECK(std::isfinite(static_cast<double>(value)));
        });
  });
}

TEST_CASE("NaN among numbers, and a column of NaN only, are transformed or an error with the column's name") {
  for_each_kind([](const auto& kind, const auto& column) {
    if (column != "x") return;
    for (const std::string with_nan : {"m", "n"}) {
      const Scratch dir;
      const auto data = dataset_with(with_nan, dir, 20);
      try {
        const auto table = transformed(fitted(example(kind, with_nan), data), table_of(*data));
        CHECK(table.samples == 20);
      } catch (const UsageError& error) {
        CHECK_THAT(error.what(), Contains(std::string(kind.name)) &&
                                     (Contains("'" + with_nan + "'") || Contains("Column " + with_nan + " ")));
      }
    }
  });
}

TEST_CASE("a fitted preprocessor computes the same bits after it was saved as JSON and loaded") {
  for_each_kind([](const auto& kind, const auto& column) {
    const Scratch dir;
    const auto data = dataset_with(column, dir, 20);
    const auto preprocessor = fitted(example(kind, column), data);
    const auto again = Preprocessor::from_json(preprocessor.to_json());
    CHECK(again.is_fitted());
    CHECK(again.to_json() == preprocessor.to_json());
    CHECK(same_bits(transformed(again, table_of(*data)), transformed(preprocessor, table_of(*data))));
  });
}

TEST_CASE("damaged JSON of a preprocessor is a usage error or another preprocessor, and never a crash") {
  for_each_kind([](const auto& kind, const auto& column) {
    const Scratch dir;
    const auto data = dataset_with(column, dir, 3);
    const auto text = fitted(example(kind, column), data).to_json();
    const auto table = table_of(*data);
    for (std::size_t at = 0; at < text.size(); at += 7) {
      use_damaged(text.substr(0, at), table);
      for (const char wrong : {'"', '9', '-', '{', '\xff'}) {
        auto damaged = text;
        damaged[at] = wrong;
        use_damaged(damaged, table);
      }
    }
    const auto json = Json::parse(text);
    for (const auto* part : {"parameters", "stats"}) {
      const auto members = json.value(part, Json::object());
      for (const auto& [key, value] : members.items())
        for (const auto* wrong :
             {"null", "\"x\"", "-1", "1e308", "[]", "[null]", "[1, 1]", "[[\"a\", -1]]", "{}", "{\"x\": []}"}) {
          auto damaged = json;
          damaged[part][key] = Json::parse(wrong);
          use_damaged(damaged.dump(), table);
        }
    }
  });
}

TEST_CASE("a fit on 1, 2 and 3 ranks gives the same bits on all ranks") {
  for_each_kind([](const auto& kind, const auto& column) {
    const auto alone = fitted_on_ranks(1, example(kind, column), column).front();
    for (const int ranks : {2, 3})
      for (const auto& each : fitted_on_ranks(ranks, example(kind, column), column)) CHECK(each == alone);
  });
}

TEST_CASE("several threads may transform with one preprocessor at the same time") {
  for_each_kind([](const auto& kind, const auto& column) {
    const Scratch dir;
    const auto data = dataset_with(column, dir, 50);
    const auto preprocessor = fitted(example(kind, column), data);
    const auto table = table_of(*data), expected = transformed(preprocessor, table);
    std::vector<Table> found(4);
    std::vector<std::thread> threads;
    for (auto& each : found) threads.emplace_back([&] { each = transformed(preprocessor, table); });
    for (auto& thread : threads) thread.join();
    for (const auto& each : found) CHECK(same_bits(each, expected));
  });
}

TEST_CASE("transformed samples continue at any sample after a stop") {
  for_each_kind([](const auto& kind, const auto& column) {
    const Scratch dir;
    constexpr int count = 5;
    auto keys = keys_with(column, dir, count);
    write(dir / "fitted.json", fitted(example(kind, column), open(keys)).to_json());
    keys.insert({{"preprocess", "@" + (dir / "fitted.json")}, {"shuffle", "true"}, {"memory", "1 KiB"}});
    CHECK(contract::check_restarts([&] { return contract::prepared(options(keys)); }).size() == count);
  });
}

TEST_CASE("a value that the fit has not seen is never transformed as one that it has seen") {
  for_each_kind([](const auto& kind, const auto& column) {
    const Scratch dir;
    const auto data = dataset_with(column, dir, 20);
    const auto preprocessor = fitted(example(kind, column), data);
    const auto json = Json::parse(preprocessor.to_json()).value("stats", Json::object());
    if (json.empty() || !json.front().is_array()) return;  // the preprocessor learns no categories
    auto table = table_of(*data);
    for (auto& each : table.columns)
      if (each.field.name == column) put_unseen_value(each);
    try {
      const auto found = transformed(preprocessor, table).column(column);
      const auto bytes = static_cast<std::ptrdiff_t>(data::sample_bytes(found.field));
      const auto last = found.values.end() - bytes;
      for (auto sample = found.values.begin(); sample != last; sample += bytes)
        CHECK_FALSE(std::equal(sample, sample + bytes, last, found.values.end()));
    } catch (const UsageError& error) {
      CHECK_THAT(error.what(), Contains("'" + column + "'") && (Contains("777") || Contains("unseen")));
    }
  });
}
