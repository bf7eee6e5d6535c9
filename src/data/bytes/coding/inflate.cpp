#include "data/bytes/coding/inflate.hpp"

#ifdef TRAINRT_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

#include <memory>
#include <new>

#include <trainrt/error.hpp>

namespace trainrt::data {

#ifdef TRAINRT_LIBDEFLATE

std::string_view inflate_library() { return "libdeflate"; }

void inflate_all(std::span<const std::byte> in, std::span<std::byte> out) {
  using Decompressor = std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)>;
  thread_local const Decompressor decompressor(libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  switch (libdeflate_zlib_decompress(decompressor.get(), in.data(), in.size(), out.data(), out.size(), nullptr)) {
    case LIBDEFLATE_SUCCESS:
      return;
    case LIBDEFLATE_SHORT_OUTPUT:
      throw Error("its compressed data expands to fewer bytes than expected");
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      throw Error("its compressed data expands to more bytes than expected");
    default:
      throw Error("its compressed data is damaged");
  }
}

#else

std::string_view inflate_library() { return "zlib"; }

void inflate_all(std::span<const std::byte> in, std::span<std::byte> out) {
  auto in_left = static_cast<uLong>(in.size());
  auto written = static_cast<uLongf>(out.size());
  const int code =
      uncompress2(reinterpret_cast<Bytef*>(out.data()), &written, reinterpret_cast<const Bytef*>(in.data()), &in_left);
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  if (code == Z_BUF_ERROR && written == out.size()) throw Error("its compressed data expands to more bytes than expected");
  if (code != Z_OK) throw Error("its compressed data is damaged");
  if (written != out.size()) throw Error("its compressed data expands to fewer bytes than expected");
}

#endif

}  // namespace trainrt::data
