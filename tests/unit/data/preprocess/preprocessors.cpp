// Tests of preprocessors: fit, transformation, JSON and errors.
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>
#include <trainrt/preprocessor.hpp>
#include <trainrt/random.hpp>

#include "core/sha256.hpp"
#include "data/preprocess/category.hpp"
#include "data/preprocess/exact_moments.hpp"
#include "data/preprocess/preprocessor_impl.hpp"
#include "data/source/samples_at_once.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string table_of(const Scratch& dir, const std::string& text) {
  write(dir / "table.csv", text);
  return dir / "table.csv";
}

std::shared_ptr<DatasetImpl> dataset(const Scratch& dir, const std::string& text,
                                     std::map<std::string, std::string> more = {}) {
  more["source"] = table_of(dir, text);
  return open(more);
}

Json stats_of(const std::string& preprocessor, const std::shared_ptr<DatasetImpl>& data) {
  Preprocessor made(preprocessor);
  made.fit(Dataset(data));
  return Json::parse(made.to_json()).value("stats", Json());
}

template <class T>
std::vector<T> values_of(const Table::Column& column) {
  REQUIRE(column.field.dtype == dtype_of<T>::value);
  std::vector<T> values(column.values.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), column.values.data(), column.values.size());
  return values;
}

/// Fits a preprocessor to a CSV table and returns the values of the transformed column.
template <class T>
std::vector<T> made(const std::string& preprocessor, const std::string& csv, const std::string& column) {
  const Scratch dir;
  const auto data = dataset(dir, csv);
  Preprocessor fitted(preprocessor);
  fitted.fit(Dataset(data));
  Dataset(data).preprocess(fitted);
  const auto& fields = data->source()->fields();
  const auto at = std::find_if(fields.begin(), fields.end(), [&column](const auto& field) { return field.name == column; });
  REQUIRE(at != fields.end());
  REQUIRE(at->dtype == dtype_of<T>::value);
  std::vector<std::uint64_t> all(data->source()->size());
  std::iota(all.begin(), all.end(), 0U);
  return gathered<T>(*data, static_cast<std::size_t>(at - fields.begin()), all);
}

void refuses(const std::function<void()>& call, const std::string& what) {
  CHECK_THROWS_AS(call(), UsageError);
  CHECK_THROWS_WITH(call(), Contains(what));
}

/// Fits as several ranks that read their parts one after another, and returns the stats.
Json stats_on(int ranks, const std::string& preprocessor, const Scratch& dir, const std::string& text, int threads) {
  auto plan = dataset(dir, text, {{"threads", std::to_string(threads)}})->plan();
  auto& team = plan.team;
  team.gather = [&](const std::function<std::string()>& make) {
    std::vector<std::string> all;
    team.size = ranks;
    for (team.rank = 0; team.rank < ranks; ++team.rank) all.push_back(make());
    return all;
  };
  return data::json_of(data::fitted(data::preprocessor_from_text(preprocessor), plan)).value("stats", Json());
}

std::string written(const data::ExactMoments& moments) {
  data::PackedWriter writer;
  moments.write(writer);
  return writer.take();
}

void merge(data::ExactMoments& into, const data::ExactMoments& from) {
  const auto bytes = written(from);
  data::PackedReader reader(bytes);
  into.merge(reader);
}

}  // namespace

TEST_CASE("exact sums give the nearest mean and variance for any order and division of the numbers") {
  const std::vector<double> values = {1e308, 1, 1e-300, -1e308, 3, 5e-324, -1e-300, 0x1p60, -0x1p60, 2};
  for (std::size_t turn = 0; turn < values.size(); ++turn) {
    data::ExactMoments sum, first;
    for (std::size_t i = 0; i < values.size(); ++i) (i < turn ? first : sum).add(values[(i + turn) % values.size()]);
    merge(sum, first);
    CHECK(sum.mean(1) == 6);
    CHECK(sum.mean(3) == 2);
  }
  data::ExactMoments close, tiny, huge;
  for (int i = 0; i < 1000; ++i)
    for (const double value : {1e9 + 0.25, 1e9 + 0.75}) close.add(value);
  CHECK(close.variance(2000) == 0.0625);  // sums of squares in f64 would lose all digits of the variance
  tiny.add(5e-324);
  CHECK(tiny.mean(1) == 5e-324);
  CHECK(tiny.mean(2) == 0);  // half of the smallest number, rounded to even
  CHECK(tiny.variance(1) == 0);
  for (int i = 0; i < 4; ++i) huge.add(-1.7e308);
  CHECK(huge.mean(4) == -1.7e308);
  CHECK(huge.variance(4) == 0);
}

TEST_CASE("exact sums of many numbers of any exponents are the same bytes if the numbers are divided") {
  Random random(9, 0);
  for (const int spread : {0, 10, 40, 600}) {
    data::ExactMoments all;
    std::array<data::ExactMoments, 3> parts;
    for (int i = 0; i < 40'000; ++i) {
      const auto exponent = static_cast<int>(random.below(static_cast<std::uint64_t>(2 * spread + 1))) - spread;
      const auto value = random.below(50) == 0 ? 0 : std::ldexp(random.normal(), exponent - (spread == 600 ? 440 : 0));
      all.add(value);
      parts[random.below(parts.size())].add(value);
    }
    merge(parts[0], parts[1]);
    merge(parts[2], parts[0]);
    CHECK(written(parts[2]) == written(all));
  }
}

TEST_CASE("a fit gives the same bits on any number of ranks and threads") {
  const Scratch dir;
  Random random(3, 0);
  std::string text = "x,y,city,words\n";
  for (int i = 0; i < 2999; ++i)
    text += fmt::format("{},{},{},{}\n",
                        i % 17 == 0
                            ? std::string()
                            : fmt::format("{}", random.normal() * std::pow(10.0, static_cast<double>(random.below(30)))),
                        random.below(100), random.below(2) == 0 ? "Köln" : "Bonn", random.below(3) == 0 ? "a b" : "b c c");
  for (const std::string each : {"StandardScaler(columns: x, y)", "MinMaxScaler(columns: x)",
                                 "RobustScaler(columns: x, y; quantile_range: 0.1, 0.7)", "OneHotEncoder(columns: city, y)",
                                 "SimpleImputer(columns: y; strategy: most_frequent)", "CountVectorizer(columns: words)",
                                 "UniformKBinsDiscretizer(columns: x; bins: 5)"}) {
    INFO(each);
    const auto alone = stats_on(1, each, dir, text, 1);
    CHECK(alone.is_object());
    for (const int ranks : {1, 2, 3, 7})
      for (const int threads : {1, 2, 5}) CHECK(stats_on(ranks, each, dir, text, threads).dump() == alone.dump());
  }
}

TEST_CASE("scalers ignore NaN, and constant columns become 0") {
  const std::string csv = "x,c\n1,7\nnan,7\n3,7\n";
  const auto standard = made<double>("StandardScaler(columns: x)", csv, "x");
  CHECK(standard[0] == -1);
  CHECK(std::isnan(standard[1]));
  CHECK(standard[2] == 1);
  for (const std::string name : {"StandardScaler", "MinMaxScaler", "RobustScaler"})
    CHECK(made<double>(name + "(columns: c)", csv, "c") == std::vector<double>{0, 0, 0});
  CHECK(made<double>("MaxAbsScaler(columns: c)", csv, "c") == std::vector<double>{1, 1, 1});
  CHECK(made<double>("MinMaxScaler(columns: x; output_columns: part)", csv, "part")[2] == 1);
  for (const auto value : made<double>("StandardScaler(columns: x)", "x,y\nnan,1\nnan,1\n", "x")) CHECK(std::isnan(value));
}

TEST_CASE("quantiles of few values are interpolated as by NumPy") {
  const Scratch dir;
  const auto stats = stats_of("RobustScaler(columns: x)", dataset(dir, "x,y\n10,0\n-1,0\n4,0\nnan,0\n2,0\n"));
  CHECK(stats["low_quantile(x)"] == 1.25);
  CHECK(stats["median(x)"] == 3);
  CHECK(stats["high_quantile(x)"] == 5.5);
  CHECK(stats_of("RobustScaler(columns: y)", dataset(dir, "x,y\n10,-0.0\n"))["median(y)"] == 0);
}

TEST_CASE("encoders number categories in sorted order; unknown ones become -1, zeros or an error") {
  const Scratch dir;
  const auto data = dataset(dir, "city,n\nBonn,3\nAachen,1\nBonn,3\n", {{"types", "city:text"}});
  CHECK(stats_of("OneHotEncoder(columns: city, n)", data) ==
        Json({{"unique_values(city)", {"Aachen", "Bonn"}}, {"unique_values(n)", {1, 3}}}));
  const auto fitted = [&data](const std::string& text) {
    Preprocessor made(text);
    made.fit(Dataset(data));
    return made;
  };
  const auto table = [] {
    Table made;
    made.add("city", std::vector<std::string>{"Bonn", "Ulm"});
    made.add("n", std::vector<double>{3.0, not_a_number});
    return made;
  };
  auto one_hot = table(), ordinal = table(), label = table();
  fitted("OneHotEncoder(columns: city, n)").transform(one_hot);
  CHECK(values_of<std::uint8_t>(one_hot.column("city")) == std::vector<std::uint8_t>{0, 1, 0, 0});
  CHECK(values_of<std::uint8_t>(one_hot.column("n")) == std::vector<std::uint8_t>{0, 1, 0, 0});  // 3.0 is 3
  fitted("OrdinalEncoder(columns: city, n)").transform(ordinal);
  CHECK(values_of<std::int64_t>(ordinal.column("city")) == std::vector<std::int64_t>{1, -1});
  CHECK(values_of<std::int64_t>(ordinal.column("n")) == std::vector<std::int64_t>{1, -1});
  CHECK_THROWS_WITH(fitted("LabelEncoder(label_column: city)").transform(label), Contains("'Ulm'") && Contains("'city'"));
  CHECK_THROWS_WITH(fitted("LabelEncoder(label_column: n)").transform(label), Contains("'n' contains NaN"));
  auto codes = table();
  fitted("Categorizer(columns: n)").transform(codes);
  CHECK(values_of<std::int64_t>(codes.column("n")) == std::vector<std::int64_t>{1, -1});
}

TEST_CASE("the most frequent categories are kept; of equally frequent ones, the first in sorted order") {
  const Scratch dir;
  const auto data = dataset(dir, "n,w\n5,b a\n2,a\n5,c\n1,\n2,b\n");
  Preprocessor some = Preprocessor::from_json(
      R"({"preprocessor": "OneHotEncoder", "version": 1, "parameters": {"columns": ["n"], "max_categories": {"n": 1}}})");
  some.fit(Dataset(data));
  CHECK(Json::parse(some.to_json())["stats"]["unique_values(n)"] == Json({2}));
  CHECK(stats_of("CountVectorizer(columns: w; max_features: 3)", data)["token_counts(w)"] ==
        Json::parse(R"([["a", 2], ["b", 2], ["", 1]])"));
  CHECK(stats_of("SimpleImputer(columns: n, w; strategy: most_frequent)", data)["most_frequent(n)"] == 2);
}

TEST_CASE("a fitted preprocessor that is loaded from JSON computes the same values") {
  const Scratch dir;
  const auto data = dataset(dir, "x,y,w\n0.1,1,a b\n0.7,2,b\nnan,3,\n", {{"types", "w:text"}});
  Preprocessor chain(
      "SimpleImputer(columns: x), StandardScaler(columns: x, y), CountVectorizer(columns: w), Concatenator(columns: x, y, "
      "w; "
      "flatten: true; dtype: f32)");
  CHECK_FALSE(chain.is_fitted());
  refuses([&] { Dataset(data).preprocess(chain); }, "SimpleImputer: it is not fitted");
  chain.fit(Dataset(data));
  CHECK(chain.is_fitted());
  CHECK(chain.name() == "Chain");
  const auto again = Preprocessor::from_json(chain.to_json());
  CHECK(again.to_json() == chain.to_json());
  Table table, same;
  for (auto* each : {&table, &same}) {
    each->add("x", std::vector<double>{0.2, not_a_number});
    each->add("y", std::vector<std::int64_t>{7, -7});
    each->add("w", std::vector<std::string>{"b b c", "a"});
  }
  chain.transform(table);
  again.transform(same);
  REQUIRE(table.columns.size() == 1);
  CHECK(table.column("concat_out").field.sample_shape == Shape{5});
  CHECK(table.column("concat_out").values == same.column("concat_out").values);
  CHECK(values_of<float>(table.column("concat_out"))[2] == 2);  // b is the most frequent word
}

TEST_CASE("columns that the requested ones do not need are not read") {
  const Scratch dir;
  auto data = dataset(dir, "x,y\n1,1\n3,1\n");
  Preprocessor scaler("StandardScaler(columns: x; output_columns: z)");
  scaler.fit(Dataset(data));
  Dataset(data).preprocess(scaler);
  REQUIRE(data->source()->fields().size() == 3);
  CHECK(gathered<double>(*data, 2, {1, 0}) == std::vector<double>{1, -1});
  CHECK(gathered<std::int64_t>(*data, 0, {1}) == std::vector<std::int64_t>{3});
  Dataset(data).map("z", {"z", DType::f64, {}, false}, [](auto, auto, Random&) {});
  refuses([&] { Dataset(data).preprocess(scaler); }, "cannot follow map()");
}

TEST_CASE("unsuitable data or parameters are a usage error that names preprocessor and column") {
  const Scratch dir;
  const auto data = dataset(dir, "x,t,i\n1,a,inf\n2,b,1\n", {{"types", "t:text"}});
  const auto fit = [&](const std::string& text) { return [&data, text] { Preprocessor(text).fit(Dataset(data)); }; };
  refuses(fit("StandardScaler(columns: z)"), "dataset 'train': StandardScaler: there is no field 'z'");
  refuses(fit("StandardScaler(columns: t)"), "column 't' contains texts");
  refuses(fit("StandardScaler(columns: i)"), "column 'i': it contains an infinite value");
  refuses(fit("RobustScaler(columns: i)"), "column 'i': it contains an infinite value");
  refuses(fit("MultiHotEncoder(columns: t)"), "lists of numbers");
  refuses(fit("CountVectorizer(columns: x)"), "must contain texts");
  refuses(fit("OneHotEncoder(columns: n), StandardScaler(columns: x)"), "there is no field 'n'");
  const auto make = [](const std::string& text) { return [text] { Preprocessor made(text); }; };
  refuses(make("StandardScalar(columns: x)"), "did you mean 'StandardScaler'");
  refuses(make("Tokenizer(columns: text)"), "jobs/python/token_files.py");
  refuses(make("StandardScaler(columns: x"), "it must be NAME(columns: A, B; PARAMETER: VALUE)");
  refuses(make("StandardScaler(column: x)"), "unknown parameter 'column' (did you mean 'columns'?)");
  refuses(make("StandardScaler(output_columns: x)"), "missing parameter columns");
  refuses(make("StandardScaler(columns: x; mean: 3)"),
          "unknown parameter 'mean'; the valid ones are: columns, output_columns");
  refuses(make("StandardScaler(columns: x, x)"), "without duplicates");
  refuses(make("StandardScaler(columns: x; output_columns: a, b)"), "2 names");
  refuses(make("StandardScaler(columns: x) MinMaxScaler(columns: x)"), "separated by commas");
  refuses(make("RobustScaler(columns: x; quantile_range: 0.7, 0.2)"), "quantile_range");
  refuses(make("Normalizer(columns: x; norm: l3)"), "norm");
  refuses(make("SimpleImputer(columns: x; strategy: constant)"), "fill_value");
  refuses(make("FeatureHasher(columns: x; num_features: 0; output_column: h)"), "num_features");
  refuses(make("CustomKBinsDiscretizer(columns: x; bins: 1, 1)"), "strictly increasing");
  refuses(fit("OrdinalEncoder(columns: x), SimpleImputer(columns: x; strategy: constant; fill_value: a)"),
          "fill value is 'a'");
  const auto missing = dataset(dir, "x,y\nnan,1\nnan,2\n");
  refuses([&] { Preprocessor("OneHotEncoder(columns: x)").fit(Dataset(missing)); },
          "column 'x': Unable to fit column because it contains null values");
  refuses([&] { Preprocessor("SimpleImputer(columns: x)").fit(Dataset(missing)); }, "no fill value");
  refuses([&] { Preprocessor("UniformKBinsDiscretizer(columns: x; bins: 3)").fit(Dataset(missing)); }, "has only NaN");
}

TEST_CASE("a fit skips rows that cannot be read, also if a thread has no other rows") {
  const Scratch dir;
  for (const std::string threads : {"1", "3", "8"}) {
    const auto data =
        dataset(dir, "x\n1\n?\n3\n4\n5\n?\n?\n8\n", {{"types", "x:f64"}, {"on_error", "skip"}, {"threads", threads}});
    CHECK(stats_of("StandardScaler(columns: x)", data)["mean(x)"] == 4.2);
    CHECK(data->plan().skipping->skipped() == 3);
  }
}

TEST_CASE("few long texts are read at once, even after short ones") {
  data::SamplesAtOnce texts(1 << 20, 0, true, 1 << 14);
  CHECK(texts.count() == 64);
  texts.saw(64, 64);  // texts of one byte: more are read at once than before, but fewer than fit
  CHECK(texts.count() == 256);
  texts.saw(256, 256 << 20);
  CHECK(texts.count() == 1);
  CHECK(data::SamplesAtOnce(1 << 20, 8, false, 1 << 14).count() == 1 << 14);
  CHECK(data::SamplesAtOnce(1 << 20, 1 << 18, false, 1 << 14).count() == 4);
  CHECK(data::SamplesAtOnce(1 << 20, 1 << 30, true, 1 << 14).count() == 1);
}

TEST_CASE("a fill value in a config is a number for a column of numbers") {
  const std::string imputer = "SimpleImputer(columns: x; strategy: constant; fill_value: -1.5)";
  CHECK(made<double>(imputer, "x,t\nnan,a\n2,b\n", "x") == std::vector<double>{-1.5, 2});
  const Scratch dir;
  const auto texts = dataset(dir, "x,t\n1,\n2,b\n", {{"types", "t:text"}});
  Preprocessor zero("SimpleImputer(columns: t; strategy: constant; fill_value: 0)");
  CHECK_NOTHROW(Dataset(texts).preprocess(zero));
}

TEST_CASE("Concatenator refuses numbers that its type cannot store") {
  const auto with = [](const std::string& dtype) {
    return made<std::uint8_t>("Concatenator(columns: a, b; output_column_name: c; dtype: " + dtype + ")",
                              "a,b\n1,255\n2,300\n", "c");
  };
  CHECK_THROWS_WITH(with("u8"), Contains("column 'b' contains 300, which is out of the range of u8"));
  CHECK(made<std::uint8_t>("Concatenator(columns: a, b; output_column_name: c; dtype: u8)", "a,b\n1,255\n2,0\n", "c") ==
        std::vector<std::uint8_t>{1, 255, 2, 0});
}

TEST_CASE("Concatenator joins all columns but those in exclude") {
  const std::string text = "a,b,y\n1.5,2.5,5.5\n3.5,4.5,6.5\n";
  const std::vector<double> joined{1.5, 2.5, 3.5, 4.5}, reversed{2.5, 1.5, 4.5, 3.5};
  CHECK(made<double>("Concatenator(exclude: y, absent)", text, "concat_out") == joined);
  CHECK(made<double>("Concatenator(exclude: y, absent)", text, "y") == std::vector<double>{5.5, 6.5});
  CHECK(made<double>("Concatenator(columns: b, y, a; exclude: y)", text, "concat_out") == reversed);
  CHECK(made<double>("Concatenator(include: b, a)", text, "concat_out") == reversed);
  CHECK(made<double>("Concatenator(output_column_name: y; exclude: y)", text, "y") == joined);
  CHECK_THROWS_WITH(made<double>("Concatenator(exclude: a, b, y)", text, "concat_out"),
                    Contains("exclude names all columns of the data: a, b, y"));
  CHECK_THROWS_WITH(Preprocessor("Concatenator(columns: a; exclude: a)"), Contains("exclude names all columns: a"));
  CHECK_THROWS_WITH(Preprocessor("Concatenator(columns: a; include: a)"), Contains("only one may be given"));
  const auto unnamed = Preprocessor::from_json(
      R"json({"preprocessor": "Concatenator", "version": 1, "parameters": {"exclude": ["", "y"]}})json");
  const Scratch dir;
  std::vector<std::string> names;
  for (const auto& field : unnamed.fields(dataset(dir, ",a,b,y\n0,1.5,2.5,5.5\n")->source()->fields()))
    names.push_back(field.name);
  CHECK(names == std::vector<std::string>{"c0", "y", "concat_out"});
  CHECK(Preprocessor("Concatenator(exclude: y)").to_json().find(R"json("columns":null)json") != std::string::npos);
  CHECK(Preprocessor("Concatenator(columns: a)").to_json().find("exclude") == std::string::npos);
}

TEST_CASE("invalid JSON of a preprocessor is a usage error") {
  const std::string scaler =
      R"json({"preprocessor": "StandardScaler", "version": 1, "parameters": {"columns": ["x"]}, "stats": )json";
  const std::string encoder =
      R"json({"preprocessor": "OneHotEncoder", "version": 1, "parameters": {"columns": ["x"]}, "stats": )json";
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"{", "not valid JSON"},
           {"[]", "is not an object"},
           {"{}", "\"preprocessor\""},
           {R"json({"preprocessor": "StandardScaler"})json", "\"version\": 1"},
           {R"json({"preprocessor": "StandardScaler", "version": 2, "parameters": {}})json", "\"version\": 1"},
           {R"json({"preprocessor": "Chain", "version": 1, "parameters": {"preprocessors": []}})json", "at least one"},
           {scaler + "[]}", "must be a JSON object"},
           {scaler + R"json({"mean(x)": 1}})json", "no key 'std(x)'"},
           {scaler + R"json({"mean(x)": "1", "std(x)": 1}})json", "must be a number"},
           {encoder + R"json({"unique_values(x)": [1, 1.0]}})json", "twice"},
           {encoder + R"json({"unique_values(x)": [null]}})json", "a category must be"},
           {std::string(100, '['), "nested"}})
    refuses([&text = text] { Preprocessor::from_json(text); }, what);
}

TEST_CASE("the JSON form of each preprocessor is the one that earlier versions wrote") {
  for (
      const auto& [text, parameters] : std::vector<std::pair<std::string, std::string>>{
          {"StandardScaler(columns: a, b)", R"json({"columns":["a","b"],"output_columns":["a","b"]})json"},
          {"MinMaxScaler(columns: a; output_columns: z)", R"json({"columns":["a"],"output_columns":["z"]})json"},
          {"MaxAbsScaler(columns: a)", R"json({"columns":["a"],"output_columns":["a"]})json"},
          {"RobustScaler(columns: a)", R"json({"columns":["a"],"output_columns":["a"],"quantile_range":[0.25,0.75]})json"},
          {"RobustScaler(columns: a; quantile_range: 0.1, 0.9)",
           R"json({"columns":["a"],"output_columns":["a"],"quantile_range":[0.1,0.9]})json"},
          {"Normalizer(columns: a, b)", R"json({"columns":["a","b"],"norm":"l2","output_columns":["a","b"]})json"},
          {"Normalizer(columns: a; norm: l1; output_columns: z)",
           R"json({"columns":["a"],"norm":"l1","output_columns":["z"]})json"},
          {"PowerTransformer(columns: a; power: 2)",
           R"json({"columns":["a"],"method":"yeo-johnson","output_columns":["a"],"power":2.0})json"},
          {"PowerTransformer(columns: a; power: 0.5; method: box-cox)",
           R"json({"columns":["a"],"method":"box-cox","output_columns":["a"],"power":0.5})json"},
          {"SimpleImputer(columns: a)",
           R"json({"columns":["a"],"fill_value":null,"output_columns":["a"],"strategy":"mean"})json"},
          {"SimpleImputer(columns: a; strategy: constant; fill_value: 0)",
           R"json({"columns":["a"],"fill_value":"0","output_columns":["a"],"strategy":"constant"})json"},
          {"LabelEncoder(label_column: t)", R"json({"label_column":["t"],"output_column":["t"]})json"},
          {"LabelEncoder(label_column: t; output_column: u)", R"json({"label_column":["t"],"output_column":["u"]})json"},
          {"OrdinalEncoder(columns: t)", R"json({"columns":["t"],"encode_lists":true,"output_columns":["t"]})json"},
          {"OrdinalEncoder(columns: t; encode_lists: no)",
           R"json({"columns":["t"],"encode_lists":false,"output_columns":["t"]})json"},
          {"Categorizer(columns: t)", R"json({"columns":["t"],"output_columns":["t"]})json"},
          {"OneHotEncoder(columns: t)", R"json({"columns":["t"],"max_categories":null,"output_columns":["t"]})json"},
          {"MultiHotEncoder(columns: l)", R"json({"columns":["l"],"max_categories":null,"output_columns":["l"]})json"},
          {"UniformKBinsDiscretizer(columns: a; bins: 5)",
           R"json({"bins":"5","columns":["a"],"duplicates":"raise","include_lowest":false,"output_columns":["a"],"right":true})json"},
          {"UniformKBinsDiscretizer(columns: a; bins: 5; right: false; duplicates: drop)",
           R"json({"bins":"5","columns":["a"],"duplicates":"drop","include_lowest":false,"output_columns":["a"],"right":false})json"},
          {"CustomKBinsDiscretizer(columns: a; bins: 0, 1, 2; include_lowest: true)",
           R"json({"bins":"0, 1, 2","columns":["a"],"duplicates":"raise","include_lowest":true,"output_columns":["a"],"right":true})json"},
          {"CountVectorizer(columns: t)", R"json({"columns":["t"],"max_features":null,"output_columns":["t"]})json"},
          {"CountVectorizer(columns: t; max_features: 7)",
           R"json({"columns":["t"],"max_features":7,"output_columns":["t"]})json"},
          {"HashingVectorizer(columns: t; num_features: 8)",
           R"json({"columns":["t"],"num_features":8,"output_columns":["t"]})json"},
          {"FeatureHasher(columns: a, b; num_features: 8; output_column: h)",
           R"json({"columns":["a","b"],"num_features":8,"output_column":"h"})json"},
          {"Concatenator(columns: a, b)",
           R"json({"columns":["a","b"],"dtype":null,"flatten":false,"output_column_name":"concat_out","raise_if_missing":true})json"},
          {"Concatenator(columns: a, b; output_column_name: v; dtype: f32; flatten: true; raise_if_missing: false)",
           R"json({"columns":["a","b"],"dtype":"f32","flatten":true,"output_column_name":"v","raise_if_missing":false})json"}}) {
    const auto name = text.substr(0, text.find('('));
    CHECK(Preprocessor(text).to_json() ==
          "{\"parameters\":" + parameters + ",\"preprocessor\":\"" + name + "\",\"version\":1}");
  }
}

TEST_CASE("hashes are SHA-256") {
  const auto hex = [](std::string_view text) { return sha256_digits(std::as_bytes(std::span(text))); };
  CHECK(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(data::hashed_feature("abc", 7) < 7);
}
