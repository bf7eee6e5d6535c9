#include "data/tokenizer/tokenizer.hpp"

#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;
using data::tokenizer::Tokenizer;
using Json = nlohmann::json;
using Ids = std::vector<std::int32_t>;

namespace {

const std::string golden = TRAINRT_SOURCE_DIR "/tests/golden/tokenizers/";

Json golden_json(const std::string& name) { return Json::parse(io::read_file(golden + name)); }

Ids encoded(const Tokenizer& tokenizer, const std::string& text, bool with_special) {
  Ids ids;
  tokenizer.encode(text, with_special, ids);
  return ids;
}

}  // namespace

TEST_CASE("texts become the numbers that Hugging Face's tokenizers make of them with the same file") {
  for (const std::string name : {"byte_level", "llama3", "llama2", "metaspace", "bert", "words", "whitespace", "accents"}) {
    const auto tokenizer = Tokenizer::load(golden + name + ".json", false);
    for (const auto& row : golden_json(name + ".ids.json")) {
      INFO(name << ": " << row[0].dump());
      CHECK(encoded(*tokenizer, row[0], true) == row[1].get<Ids>());
      CHECK(encoded(*tokenizer, row[0], true) == row[1].get<Ids>());  // now out of what it remembers
      CHECK(encoded(*tokenizer, row[0], false) == row[2].get<Ids>());
    }
  }
}

TEST_CASE("a vocabulary for WordPiece, a token a line, gives what its tokenizer.json gives") {
  const Scratch folder;
  const auto json = golden_json("bert.json");
  std::vector<std::string> tokens(json["model"]["vocab"].size());
  for (const auto& [token, number] : json["model"]["vocab"].items()) tokens.at(number.get<std::size_t>()) = token;
  std::ofstream file(folder / "vocab.txt");
  for (const auto& token : tokens) file << token << "\n";
  file.close();
  const auto tokenizer = Tokenizer::load(folder / "vocab.txt", true);
  for (const auto& row : golden_json("bert.ids.json")) {
    INFO(row[0].dump());
    CHECK(encoded(*tokenizer, row[0], true) == row[1].get<Ids>());
  }
  CHECK(encoded(*Tokenizer::load(folder / "vocab.txt", false), "The", false) != encoded(*tokenizer, "The", false));
}

TEST_CASE("a tokenizer that is not known here is refused with what is not") {
  const auto whole = golden_json("bert.json");
  const auto with = [&](const std::string& place, Json value) {
    auto json = whole;
    json[Json::json_pointer(place)] = std::move(value);
    return json;
  };
  CHECK_THROWS_WITH(Tokenizer(with("/model/type", "Unigram")), Contains("Unigram") && Contains("BPE"));
  CHECK_THROWS_WITH(Tokenizer(with("/normalizer", {{"type", "Precompiled"}})), Contains("Precompiled"));
  CHECK_THROWS_WITH(Tokenizer(with("/pre_tokenizer", {{"type", "UnicodeScripts"}})), Contains("UnicodeScripts"));
  CHECK_THROWS_WITH(Tokenizer(with("/post_processor", {{"type", "Other"}})), Contains("Other"));
  CHECK_THROWS_WITH(Tokenizer(with("/model/unk_token", "gone")), Contains("gone"));
  CHECK_THROWS_WITH(Tokenizer(with("/model/vocab/x", -3)), Contains("-3"));
  CHECK_THROWS_WITH(
      Tokenizer(with("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}})),
      Contains("(a") && Contains("missing"));
  auto merges = golden_json("byte_level.json");
  merges["model"]["merges"].push_back({"nothing", "such"});
  CHECK_THROWS_WITH(Tokenizer(merges), Contains("nothing such"));
}

TEST_CASE("an expression that never ends is an error, not a wait") {
  auto json = golden_json("byte_level.json");
  json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(x+x+)+(?=y|z)"}}}, {"behavior", "Isolated"}};
  const Tokenizer tokenizer(json);
  Ids ids;
  CHECK_THROWS_WITH(tokenizer.encode(std::string(5000, 'x'), false, ids), Contains("expression") && Contains("limit"));
}

TEST_CASE("borders of words in expressions, which other engines see elsewhere, are refused") {
  auto json = golden_json("byte_level.json");
  for (const std::string expression : {R"(\bx)", R"([\W]+)", R"(a\B)"}) {
    json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}};
    CHECK_THROWS_WITH(Tokenizer(json), Contains("not known here") && Contains("\\"));
  }
  json["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", R"([]\b]+|[[:alpha:]\w]+|\\b)"}}}, {"behavior", "Isolated"}};
  CHECK_NOTHROW(Tokenizer(json));
}

TEST_CASE("a file that is no tokenizer is named") {
  const Scratch folder;
  const auto file_of = [&](const std::string& name, const std::string& text) {
    write(folder / name, text);
    return folder / name;
  };
  CHECK_THROWS_WITH(Tokenizer::load(file_of("a.json", "{"), false), Contains("a.json") && Contains("tokenizer.json"));
  CHECK_THROWS_WITH(Tokenizer::load(file_of("b.json", std::string(1000, '[')), false),
                    Contains("b.json") && Contains("deep"));
  CHECK_THROWS_WITH(Tokenizer::load(file_of("c.json", "{\"model\": 3}"), false), Contains("c.json"));
  CHECK_THROWS_WITH(Tokenizer::load(file_of("vocab.txt", "\n\n"), false), Contains("vocab.txt") && Contains("empty"));
  CHECK_THROWS_WITH(Tokenizer::load(folder / "none.json", false), Contains("none.json"));
}

TEST_CASE("bytes that are no UTF-8 become the sign of replacement") {
  const auto tokenizer = Tokenizer::load(golden + "byte_level.json", false);
  CHECK(encoded(*tokenizer, "a\xFF\xC3z", false) == encoded(*tokenizer, "a\xEF\xBF\xBD\xEF\xBF\xBDz", false));
}

TEST_CASE("tokenize makes numbers of a field of texts: as many as there are, or cut and padded to one length") {
  const Scratch dir;
  write(dir / "a.txt", "The dog\n\nan unbelievably long line of many words\n");
  const auto with = [&](const std::string& value) {
    return data_test::open({{"source", dir / "a.txt"}, {"drop_empty_lines", "false"}, {"tokenize", "text: " + value}});
  };
  const auto tokenizer = Tokenizer::load(golden + "bert.json", false);
  const auto free = with(golden + "bert.json");
  CHECK((free->source()->fields()[0].varies && free->source()->fields()[0].dtype == DType::i32));
  auto all = encoded(*tokenizer, "The dog", true);
  const auto ends = all.size() * sizeof(std::int32_t);
  for (const auto* text : {"", "an unbelievably long line of many words"})
    for (const auto id : encoded(*tokenizer, text, true)) all.push_back(id);
  CHECK(gathered<std::int32_t>(*free, 0, {0, 1, 2}) == all);
  data::Column column{0, {}, {}};
  const std::uint64_t first = 0;
  free->source()->read({&first, 1}, {&column, 1});
  CHECK(column.ends == std::vector<std::uint64_t>{ends});
  const auto fixed = with(golden + "bert.json 6 bare");
  CHECK((!fixed->source()->fields()[0].varies && fixed->source()->fields()[0].sample_shape == Shape{6}));
  auto expected = encoded(*tokenizer, "The dog", false);
  expected.resize(6, 0);  // [PAD]
  auto cut = encoded(*tokenizer, "an unbelievably long line of many words", false);
  cut.resize(6);
  expected.insert(expected.end(), cut.begin(), cut.end());
  CHECK(gathered<std::int32_t>(*fixed, 0, {0, 2}) == expected);
  CHECK(gathered<std::int32_t>(*with(golden + "byte_level.json 3 pad=7"), 0, {1}) == Ids{7, 7, 7});
  auto closed = encoded(*tokenizer, "an unbelievably long line of many words", false);
  closed.resize(4);  // between [CLS] and [SEP], which stay
  closed.insert(closed.begin(), 2);
  closed.push_back(3);
  CHECK(gathered<std::int32_t>(*with(golden + "bert.json 6"), 0, {2}) == closed);
  CHECK_THROWS_WITH(with(golden + "bert.json 1"), Contains("2 special tokens") && Contains("bare"));
}

TEST_CASE("what tokenize cannot do is an error that names key and field") {
  const Scratch dir;
  write(dir / "a.txt", "x\n");
  write(dir / "b.csv", "n,t\n1,x\n");
  const auto says = [&](const std::string& file, const std::string& value, const std::string& what) {
    CHECK_THROWS_WITH(data_test::open({{"source", dir / file}, {"tokenize", value}}),
                      Contains("tokenize") && Contains(what));
    CHECK_THROWS_WITH(check({{"source", dir / file}, {"tokenize", value}}), Contains("tokenize") && Contains(what));
  };
  says("a.txt", "text: " + golden + "byte_level.json 8", "pad=0");
  says("a.txt", "text: " + golden + "byte_level.json many", "many");
  CHECK_THROWS_WITH(data_test::open({{"source", dir / "a.txt"}, {"tokenize", "text: " + dir / "none.json"}}),
                    Contains("none.json"));
  says("a.txt", "text:", "text");
  says("b.csv", "n: " + golden + "bert.json", "no texts");
}
