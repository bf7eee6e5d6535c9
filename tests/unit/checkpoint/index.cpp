#include "checkpoint/format/index.hpp"

#include <catch2/catch.hpp>
#include <ctime>
#include <iostream>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "io/files/digest.hpp"
#include "mutations.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::test;
using namespace trainrt::checkpoint;

namespace {

const std::string a_digest(32, 'a');

Index example() {
  Index index;
  index.rank = 3;
  index.tensors = {{"model/größe \"x\"\n", "f32", "replicated", {6, 5}, {2, 0}, {3, 5}, 4096, 60},
                   {"own", "bf16", "per_rank", {4}, {0}, {4}, 8192, 8},
                   {"empty", "i64", "sharded", {0, 4}, {0, 0}, {0, 4}, 0, 0},
                   {"scalar", "f8e4m3", "replicated", {}, {}, {}, 9000, 1}};
  index.values = {{"epoch", "i64", "value", {}, {}, {}, 64, 8},
                  {"note", "string", "value", {}, {}, {}, 128, 0},
                  {"done", "bool", "value", {}, {}, {}, 256, 1}};
  index.blocks = {{0, block_bytes, a_digest}, {block_bytes, 10, std::string(32, '0')}};
  return index;
}

std::string text_of(const Index& index, std::size_t bytes = 4096) {
  return index_text(index.rank, entries_text(index.tensors), entries_text(index.values), index.blocks, bytes);
}

bool same(const std::vector<IndexEntry>& a, const std::vector<IndexEntry>& b) { return entries_text(a) == entries_text(b); }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("an index with any names is parsed as it was written") {
  const auto index = example();
  const auto text = text_of(index);
  CHECK(text.size() == 4096);
  const auto read = index_from(text, "shard");
  CHECK(read.rank == 3);
  CHECK(read.tensors[0].name == index.tensors[0].name);
  CHECK(read.tensors[0].offset == Shape{2, 0});
  CHECK(read.tensors[0].at == 4096);
  CHECK(same(read.tensors, index.tensors));
  CHECK(same(read.values, index.values));
  REQUIRE(read.blocks.size() == 2);
  CHECK(read.blocks[0].bytes == block_bytes);
  CHECK(read.blocks[0].digest == a_digest);
}

TEST_CASE("an index that is larger than its reserved bytes is a logic_error") {
  CHECK_THROWS_AS(text_of(example(), 100), std::logic_error);
}

TEST_CASE("the digest of a file is the digest of its blocks' digests") {
  CHECK(digest_of_blocks({}) == io::digest_of(std::string_view()));
  CHECK(digest_of_blocks(example().blocks) == io::digest_of(a_digest + std::string(32, '0')));
}

TEST_CASE("every invalid index is an error that names the entry and the problem") {
  const auto good = text_of(example());
  const auto why = [&](const std::string& what, const std::string& by) {
    return error_of([&] { index_from(replaced(good, what, by), "RUN/shard"); });
  };
  const std::string own = R"(["own","bf16","per_rank",[4],[0],[4],8192,8])";
  const auto entry = [&](const std::string& by) { return why(own, by); };
  using Catch::Contains;
  CHECK_THAT(why("trainrt index", "another"), Contains("'RUN/shard': the index has the format 'another'"));
  CHECK_THAT(why(R"("version":2)", R"("version":1)"), Contains("version 1; this trainrt reads version 2"));
  CHECK_THAT(why(R"("rank":3)", R"("rank":-3)"), Contains("a rank that is not an integer from 0 to 2^63 - 1"));
  CHECK_THAT(why(R"("rank":3)", R"("rank":3000000000)"), Contains("a rank that is too large"));
  CHECK_THAT(why(R"("rank":3)", R"("rank":3,"more":1)"), Contains("the index lacks 'tensors'"));
  CHECK_THAT(why(R"("blocks")", R"("block")"), Contains("the index lacks 'blocks'"));
  CHECK_THAT(why(R"("rank":3,"tensors":[)", R"("rank":3,"tensors":{},"x":[)"), Contains("lacks the list 'tensors'"));
  CHECK_THAT(why(own, own + own), Contains("entry 1 of 'tensors' lacks a comma"));
  CHECK_THAT(entry("5"), Contains("'RUN/shard': entry 1 of 'tensors' lacks a list of 8 fields (byte "));
  CHECK_THAT(entry(R"(["own","bf16","per_rank",[4],[0],[4],8192])"),
             Contains("entry 1 of 'tensors' lacks one of its 8 fields"));
  CHECK_THAT(entry(R"([7,"bf16","per_rank",[4],[0],[4],8192,8])"), Contains("name that is not a string"));
  CHECK_THAT(entry(R"(["own","f17","per_rank",[4],[0],[4],8192,8])"), Contains("unknown dtype 'f17'"));
  CHECK_THAT(entry(R"(["own","string","per_rank",[4],[0],[4],8192,8])"), Contains("unknown dtype 'string'"));
  CHECK_THAT(entry(R"(["own","bf16","value",[4],[0],[4],8192,8])"), Contains("unknown placement 'value'"));
  CHECK_THAT(entry(R"(["own","bf16","per_rank",4,[0],[4],8192,8])"), Contains("global shape that is not a list"));
  CHECK_THAT(entry(R"(["own","bf16","per_rank",[-4],[0],[4],8192,8])"),
             Contains("global shape that is not an integer from 0 to 2^63 - 1"));
  CHECK_THAT(entry(R"(["own","bf16","sharded",[4],[1],[4],8192,8])"), Contains("slab that is outside"));
  CHECK_THAT(entry(R"(["own","bf16","sharded",[4],[],[4],8192,8])"), Contains("slab that is outside"));
  CHECK_THAT(entry(R"(["own","bf16","per_rank",[5],[0],[4],8192,8])"), Contains("not the complete tensor"));
  CHECK_THAT(entry(R"(["own","bf16","sharded",[9223372036854775807,4],[0,0],[1,4],8192,8])"), Contains("too large"));
  CHECK_THAT(entry(R"(["own","bf16","sharded",[9223372036854775807,0,9],[0,0,0],[0,0,0],8192,0])"), Contains("too large"));
  CHECK_THAT(entry(R"(["own","bf16","per_rank",[4],[0],[4],8192,9])"), Contains("size that does not match its shape"));
  CHECK_THAT(entry(R"(["own","bf16","per_rank",[4],[0],[4],-1,8])"), Contains("position that is not an integer"));
  CHECK_THAT(entry(R"(["own","bf16","per_rank",[4],[0],[4],9223372036854775807,8])"),
             Contains("position that is too large"));
  CHECK_THAT(entry(R"(["own","bf16","per_rank",[4],[0],[4],8192,8.0])"),
             Contains("size that is not an integer from 0 to 2^63 - 1"));
  CHECK_THAT(why(R"("epoch","i64","value",[])", R"("epoch","i64","value",[1])"), Contains("'values' has a shape"));
  CHECK_THAT(why(R"("epoch","i64","value")", R"("epoch","i64","sharded")"), Contains("'sharded', not 'value'"));
  CHECK_THAT(why(R"("epoch","i64")", R"("epoch","i32")"), Contains("which is invalid for values"));
  CHECK_THAT(why(R"(64,8])", R"(64,7])"), Contains("does not match its dtype"));
  const auto bytes = std::to_string(block_bytes) + ",";
  CHECK_THAT(why("[0," + bytes, "[0," + std::to_string(block_bytes + 1) + ","),
             Contains("entry 0 of 'blocks' has an invalid block size"));
  CHECK_THAT(why("[0," + bytes, "[0,0,"), Contains("has an invalid block size"));
  CHECK_THAT(why("[0," + bytes, "[-5," + bytes), Contains("has a position that is not an integer"));
  CHECK_THAT(why(a_digest, std::string(32, 'A')), Contains("has an invalid digest"));
  CHECK_THAT(why('"' + a_digest + '"', "1"), Contains("has a digest that is not a string"));
  CHECK_THAT(error_of([&] { index_from(good.substr(0, 200), "RUN/shard"); }),
             Contains("'RUN/shard': entry 2 of 'tensors'"));
  CHECK_THAT(error_of([] { index_from(std::string(1 << 20, '['), "RUN/shard"); }), Contains("lacks its beginning"));
  CHECK_THAT(error_of([&] { index_from(good + "x", "RUN/shard"); }), Contains("continues after its end"));
}

TEST_CASE("a mutated index throws Error or is parsed as another valid index") {
  const std::uint64_t seed = 11;
  std::mt19937_64 random(seed);
  const auto good = text_of(example(), 1024);
  int other = 0;
  for (int round = 0; round < 20000; ++round) try {
      const auto read = index_from(mutated(good, random), "shard");
      const auto again = index_from(text_of(read, 1 << 14), "shard");
      other += same(again.tensors, read.tensors) && same(again.values, read.values) ? 0 : 1;
    } catch (const Error&) {
      // expected
    } catch (const std::exception& error) {
      UNSCOPED_INFO("round " << round << ": " << error.what());
      ++other;
    }
  INFO("seed " << seed);
  CHECK(other == 0);
}

TEST_CASE("an index of 10,000 slabs is written and parsed in milliseconds") {
  std::vector<IndexEntry> entries;
  std::vector<BlockRecord> blocks;
  for (std::uint64_t i = 0; i < 10000; ++i)
    entries.push_back({"model/layers/" + std::to_string(i) + "/attention/weight",
                       "bf16",
                       "sharded",
                       {4096, 4096},
                       {512, 0},
                       {512, 4096},
                       i * 4194304,
                       4194304});
  for (std::uint64_t i = 0; i < 5000; ++i) blocks.push_back({i * block_bytes, block_bytes, a_digest});
  // Measures CPU time, which does not depend on the load of the machine.
  const auto milliseconds = [](std::clock_t clocks) { return 1e3 * static_cast<double>(clocks) / CLOCKS_PER_SEC; };
  double writing = 1e9;
  double reading = 1e9;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::clock();
    const auto text = index_text(0, entries_text(entries), "[]", blocks, std::size_t{2} << 20);
    const auto written = std::clock();
    const auto index = index_from(text, "shard");
    writing = std::min(writing, milliseconds(written - start));
    reading = std::min(reading, milliseconds(std::clock() - written));
    REQUIRE(index.tensors.size() == entries.size());
  }
  INFO("written in " << writing << " ms, read in " << reading << " ms");
  std::cout << "index of 10,000 slabs: written in " << writing << " ms, read in " << reading << " ms\n";
  CHECK(writing + reading < 1000);  // generous, so that builds with sanitizers pass
}
