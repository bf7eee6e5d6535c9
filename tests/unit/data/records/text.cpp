#include "data/records/record_formats.hpp"

#include "unit/data/record_support.hpp"

using namespace data_test;
using Catch::Contains;

TEST_CASE("each line of a text is a sample, also the last one without a line break") {
  const Scratch dir;
  write(dir / "x.txt",
        "\xef\xbb\xbf"
        "one\r\n\n three\nf\xff\"ur");
  const auto values = [&](const std::string& drop) {
    return all_values(*open({{"source", dir / "x.txt"}, {"drop_empty_lines", drop}})->source())[0];
  };
  CHECK(values("true") == std::vector<std::string>{"one", " three", "f\xff\"ur"});
  CHECK(values("false") == std::vector<std::string>{"one", "", " three", "f\xff\"ur"});
  CHECK(data::in_words(open({{"source", dir / "x.txt"}})->source()->fields()) == "text u8[varies]");
  write(dir / "x.txt", "\n\r\n");
  both_say({{"source", dir / "x.txt"}}, "x.txt", "has no lines");
  write(dir / "x.txt", "a\n" + std::string(101, 'x'));
  both_say({{"source", dir / "x.txt"}, {"max_record_bytes", "100"}}, "x.txt', row 2", "longer than 100 bytes");
}

TEST_CASE("a text of one line works, a NUL is kept, and an epoch resumes after any line") {
  const Scratch dir;
  write(dir / "x.txt", "only");
  CHECK(epoch_of(open({{"source", dir / "x.txt"}})) == std::vector<std::string>{"0:only;"});
  write(dir / "x.txt", std::string("a\0b\nc", 5));
  CHECK(epoch_of(open({{"source", dir / "x.txt"}})) == std::vector<std::string>{std::string("0:a\0b;", 6), "1:c;"});
  std::string text;
  for (int row = 0; row < 20; ++row) text += std::string(static_cast<std::size_t>(row), 'q') + "\n";
  write(dir / "x.txt", text);
  for (const auto* memory : {"0 B", "256 MiB"}) check_resumes_anywhere({{"source", dir / "x.txt"}, {"memory", memory}});
  CHECK_THROWS_WITH(open({{"source", dir / "x.txt"}, {"columns", "text"}}), Contains("columns"));
}

TEST_CASE("lines of any length are read back, in any order and by several threads") {
  const Scratch dir;
  const auto keys = checked_for("text", {{"drop_empty_lines", "false"}});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed, 0);
    std::vector<std::string> lines(1 + random.below(500));
    std::string text;
    for (auto& line : lines) {
      line = std::string(random.below(4) == 0 ? random.below(300) : random.below(8),
                         static_cast<char>('a' + random.below(26)));
      text += line + "\n";
    }
    write(dir / "x.txt", text);
    const auto file = data::data_file(dir / "x.txt");
    const auto content = data::probe_text_lines(file, keys, small_steps);
    const auto source = data::open_text_lines(file, content, keys, false);
    REQUIRE_FALSE(source->is_resident());
    const auto values = all_values(*source);
    CHECK(values[0] == lines);
    CHECK(wrong_readings(*source, values) == 0);
  }
}

TEST_CASE("the index of a file of many spans is small, and finds each record") {
  data::RecordIndex index(1);
  constexpr std::uint64_t records = 3 * data::RecordIndex::max_entries + 5;
  for (std::uint64_t record = 0; record < records; ++record) index.add({record, 2 * record + 1, 10 * record});
  index.close({records, 2 * records + 1, 10 * records});
  const auto bytes = data::packed(index);
  CHECK(bytes.size() < 5 * data::RecordIndex::max_entries);
  const auto again = data::unpacked<data::RecordIndex>(bytes);
  REQUIRE(again.records() == records);
  int wrong = 0;
  for (std::uint64_t record = 0; record < records; record += 977) {
    const auto span = again.span_of(record);
    const auto &begin = again.begin_of(span), &end = again.end_of(span);
    wrong += begin.record > record || end.record <= record || begin.offset != 10 * begin.record ||
             begin.row != 2 * begin.record + 1;
  }
  CHECK(wrong == 0);
  CHECK_THROWS_WITH(data::unpacked<data::RecordIndex>(bytes.substr(0, bytes.size() - 1)), Contains("damaged"));
}
