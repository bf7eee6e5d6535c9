// Reads IDX files, plain and gzip.
#include "data/arrays/idx_file.hpp"

#include <algorithm>

#include <zlib.h>

#include "support/fuzz/fuzz_data.hpp"

namespace trainrt::data::plugins {
extern const Format idx;
}

namespace trainrt::fuzz {

namespace {

std::string bytes_of(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

std::string gzip(std::string text) {
  z_stream stream{};
  constexpr int gzip_form = 15 + 16;
  require(deflateInit2(&stream, 1, Z_DEFLATED, gzip_form, 8, Z_DEFAULT_STRATEGY) == Z_OK, "the fuzz target can compress");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "the fuzz target can compress");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// Returns the bytes of a plain IDX file with this header and these values.
std::string plain(const data::IdxData& data) {
  static const std::map<DType, char> codes = {{DType::u8, 8},    {DType::i8, 9},    {DType::i16, 0xB},
                                              {DType::i32, 0xC}, {DType::f32, 0xD}, {DType::f64, 0xE}};
  std::string text{0, 0, codes.at(data.header.dtype), static_cast<char>(data.header.shape.size())};
  for (const auto extent : data.header.shape)
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(extent >> shift);
  const auto element = size_of(data.header.dtype);
  for (std::size_t at = 0; at < data.values.size(); at += element)
    for (std::size_t i = element; i-- > 0;) text += static_cast<char>(data.values[at + i]);
  return text;
}

void require_same(const data::IdxData& a, const data::IdxData& b) {
  require(a.header.dtype == b.header.dtype && a.header.shape == b.header.shape && a.values == b.values,
          "an IDX file that is read and written again stays the same");
}

}  // namespace

std::vector<std::string> seeds() {
  const auto images = bytes_of({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto labels = bytes_of({0, 0, 11, 1, 0, 0, 0, 2, 1, 2, 3, 4});
  const auto no_samples = bytes_of({0, 0, 8, 2, 0, 0, 0, 0, 255, 255, 255, 255});
  // Headers that claim 4 GiB and 2^62 bytes of values. gzip's trailer has the size modulo 2^32, so it does not contradict
  // them.
  const auto large = bytes_of({0, 0, 8, 3, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0});
  const auto huge = bytes_of({0, 0, 8, 3, 64, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 4});
  return {images, labels, no_samples, gzip(images), gzip(labels), gzip(images) + gzip(labels), gzip(large), gzip(huge)};
}

std::vector<std::string> words() {
  return {bytes_of({0, 0, 8, 1}), bytes_of({0, 0, 14, 1}), bytes_of({0x1f, 0x8b, 8, 0}), bytes_of({255, 255, 255, 255})};
}

void read(const std::string& input) {
  static MemoryFile file;
  const auto read_held = [&](const std::string& bytes) {
    file.hold(bytes);
    const data::InputFile held({file.path(), bytes.size(), 0});
    return data::read_idx(held, data::ExpansionLimit({}, bytes.size()));
  };
  const auto data = unless_refused<UsageError>([&] { return read_held(input); });
  if (!data) return;
  require(data->values.size() == data->header.data_bytes, "an IDX file holds as many bytes as its header declares");
  data::DataFile as_listed{file.path(), input.size(), 0};
  as_listed.companions.push_back(as_listed);
  read_through(data::plugins::idx, as_listed, input.size() % 2 == 0);
  require_same(*data, read_held(plain(*data)));
  require_same(*data, read_held(gzip(plain(*data))));
}

}  // namespace trainrt::fuzz
