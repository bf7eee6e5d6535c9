#include "data/bytes/coding/inflate.hpp"

#ifdef TRAINRT_LIBDEFLATE
#include <libdeflate.h>
#endif
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

#ifdef TRAINRT_LIBDEFLATE

void inflate_all(std::span<const std::byte> in, std::span<std::byte> out) {
  using Decompressor = std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)>;
  thread_local const Decompressor decompressor(libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  switch (libdeflate_zlib_decompress(decompressor.get(), in.data(), in.size(), out.data(), out.size(), nullptr)) {
    case LIBDEFLATE_SUCCESS:
      return;
    case LIBDEFLATE_SHORT_OUTPUT:
      throw Error("the compressed data expands to fewer bytes than expected");
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      throw Error("the compressed data expands to more bytes than expected");
    default:
      throw Error("the compressed data is damaged");
  }
}

#else

void inflate_all(std::span<const std::byte> in, std::span<std::byte> out) {
  auto in_left = static_cast<uLong>(in.size());
  auto written = static_cast<uLongf>(out.size());
  const int code =
      uncompress2(reinterpret_cast<Bytef*>(out.data()), &written, reinterpret_cast<const Bytef*>(in.data()), &in_left);
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  if (code == Z_BUF_ERROR && written == out.size()) throw Error("the compressed data expands to more bytes than expected");
  if (code != Z_OK) throw Error("the compressed data is damaged");
  if (written != out.size()) throw Error("the compressed data expands to fewer bytes than expected");
}

#endif

namespace {

/// Decompresses `in` and then the pieces that `next` returns. For gzip data, `next` is not called: all members must be in
/// `in`.
Inflated inflate_any(std::span<const std::byte> in, const NextPiece& next, std::span<std::byte> out, DeflateForm form,
                     std::uint64_t max_bytes) {
  constexpr std::uint64_t max_piece = 1 << 30, scratch_bytes = 1 << 20;
  constexpr int without_header = -MAX_WBITS, with_gzip_header = MAX_WBITS + 16;
  z_stream stream{};
  if (inflateInit2(&stream, form == DeflateForm::gzip ? with_gzip_header : without_header) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ending(&stream, inflateEnd);
  const auto begins_member = [&] { return in.size() > 1 && in[0] == std::byte{0x1f} && in[1] == std::byte{0x8b}; };
  std::vector<std::byte> scratch;
  Inflated result;
  int code = Z_OK;
  while (result.bytes < max_bytes && !result.is_cut) {
    if (code == Z_STREAM_END) {
      if (form != DeflateForm::gzip || !begins_member()) break;
      inflateReset(&stream);
    }
    if (in.empty()) in = next();
    if (out.empty()) scratch.resize(std::min(scratch_bytes, max_bytes - result.bytes));
    auto to = out.empty() ? std::span(scratch) : out;
    to = to.first(std::min<std::uint64_t>({to.size(), max_piece, max_bytes - result.bytes}));
    const auto from = in.first(std::min<std::uint64_t>(in.size(), max_piece));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
    stream.avail_in = static_cast<uInt>(from.size());
    stream.next_out = reinterpret_cast<Bytef*>(to.data());
    stream.avail_out = static_cast<uInt>(to.size());
    code = inflate(&stream, Z_NO_FLUSH);
    in = in.subspan(from.size() - stream.avail_in);
    const auto done = to.size() - stream.avail_out;
    if (!out.empty()) out = out.subspan(done);
    result.bytes += done;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    result.is_cut = code == Z_BUF_ERROR;
    if (code != Z_OK && code != Z_STREAM_END && !result.is_cut)
      throw Error(fmt::format("the compressed data cannot be decompressed ({})",
                              stream.msg != nullptr ? stream.msg : "unknown form"));
  }
  result.is_complete = code == Z_STREAM_END && in.empty() && next().empty();
  return result;
}

}  // namespace

Inflated inflate_into(std::span<const std::byte> in, std::span<std::byte> out, DeflateForm form, std::uint64_t max_bytes) {
  return inflate_any(
      in, [] { return std::span<const std::byte>(); }, out, form, max_bytes);
}

Inflated inflate_pieces(const NextPiece& next, std::span<std::byte> out, std::uint64_t max_bytes) {
  return inflate_any({}, next, out, DeflateForm::raw, max_bytes);
}

}  // namespace trainrt::data
