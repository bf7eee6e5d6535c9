#include "data/arrays/inflate_stream.hpp"

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

constexpr std::uint64_t inflated_piece_bytes = 1 << 20;

}  // namespace

InflateStream::InflateStream(const InputFile& file, std::uint64_t offset, std::uint64_t bytes, Form form)
    : file_(file), offset_(offset), end_(offset + bytes), form_(form) {
  constexpr int without_header = -MAX_WBITS, with_gzip_header = MAX_WBITS + 16;
  if (inflateInit2(&stream_, form == Form::gzip ? with_gzip_header : without_header) != Z_OK) throw std::bad_alloc();
}

std::span<std::byte> InflateStream::read(std::span<std::byte> into) {
  while (!into.empty() && !is_cut_ && (code_ != Z_STREAM_END || begin_next_member())) {
    if (stream_.avail_in == 0) refill();
    const auto room = static_cast<uInt>(std::min<std::size_t>(into.size(), inflated_piece_bytes));
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = room;
    code_ = inflate(&stream_, Z_NO_FLUSH);
    into = into.subspan(room - stream_.avail_out);
    if (code_ == Z_MEM_ERROR) throw std::bad_alloc();
    is_cut_ = code_ == Z_BUF_ERROR;
    if (code_ != Z_OK && code_ != Z_STREAM_END && !is_cut_)
      throw Error(fmt::format("its compressed data cannot be decompressed ({})",
                              stream_.msg != nullptr ? stream_.msg : "unknown form"));
  }
  return into;
}

std::uint64_t InflateStream::skip(std::uint64_t limit) {
  std::vector<std::byte> scratch(inflated_piece_bytes);
  std::uint64_t done = 0;
  for (std::size_t got = 1; got > 0 && done < limit; done += got) {
    const auto wanted = std::span(scratch).first(std::min<std::uint64_t>(scratch.size(), limit - done));
    got = wanted.size() - read(wanted).size();
  }
  return done;
}

void InflateStream::refill() {
  packed_.resize(std::min(inflated_piece_bytes, end_ - offset_));
  file_.read(offset_, packed_);
  offset_ += packed_.size();
  stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
  stream_.avail_in = static_cast<uInt>(packed_.size());
}

bool InflateStream::begin_next_member() {
  if (form_ != Form::gzip) return false;
  if (stream_.avail_in < 2) {
    offset_ -= stream_.avail_in;
    refill();
  }
  if (stream_.avail_in < 2 || stream_.next_in[0] != 0x1f || stream_.next_in[1] != 0x8b) return false;
  inflateReset(&stream_);
  return true;
}

}  // namespace trainrt::data
