// Reads the index at the end of a shard: names and positions of the parts that a rank wrote.
#include "checkpoint/format/index.hpp"

#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

const std::string path = "run/checkpoint_000007/shard-00000.h5";
constexpr const char* digest = "0123456789abcdef0123456789abcdef";

std::string text_of(const checkpoint::Index& index, std::size_t room) {
  return checkpoint::index_text(index.rank, checkpoint::entries_text(index.tensors), checkpoint::entries_text(index.values),
                                index.blocks, room);
}

checkpoint::Index small_index() {
  return {3,
          {{"model/w", "f32", "sharded", {8, 4}, {2, 0}, {2, 4}, 4096, 32},
           {"model/\u00fc", "bf16", "per_rank", {5}, {0}, {5}, 8192, 10},
           {"b", "f64", "replicated", {}, {}, {}, 12288, 8}},
          {{"epoch", "i64", "value", {}, {}, {}, 16384, 8}, {"name", "string", "value", {}, {}, {}, 16392, 7}},
          {{0, 4096, digest}, {4096, 4 << 20, digest}}};
}

}  // namespace

std::vector<std::string> seeds() {
  return {text_of(small_index(), 1000), text_of({}, 100), text_of({7, {}, small_index().values, {}}, 500), deep_json(),
          R"({"format":"trainrt index","version":2,"rank":0,"tensors":[["a","f32","replicated",[)"};
}

std::vector<std::string> words() {
  return {"\"format\":\"trainrt index\"",
          "\"version\":2",
          "\"rank\":",
          "\"tensors\":[",
          "\"values\":[",
          "\"blocks\":[",
          "\"f32\"",
          "\"f64\"",
          "\"string\"",
          "\"bool\"",
          "\"sharded\"",
          "\"per_rank\"",
          "\"replicated\"",
          "\"value\"",
          "[]",
          "\\u00e9",
          "9223372036854775807",
          "4194304",
          digest};
}

void read(const std::string& input) {
  const auto index = unless_refused([&] { return checkpoint::index_from(input, path); });
  if (!index) return;
  const auto written = text_of(*index, 8 * input.size() + 1000);
  const auto again = checkpoint::index_from(written, path);
  require(text_of(again, written.size()) == written, "an index that is read and written again stays the same");
}

}  // namespace trainrt::fuzz
