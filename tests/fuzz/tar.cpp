// Reads tar archives: headers, names, sizes, samples and arrays. Also reads an archive of images, which are decoded.
#include "support/cpp/image_bytes.hpp"
#include "support/cpp/tar_bytes.hpp"
#include "support/fuzz/fuzz_data.hpp"

namespace trainrt::data::plugins {
extern const Format tar;
}

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  using namespace test;
  const std::string dict = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}\n";
  const auto npy = "\x93NUMPY" + std::string{1, 0, static_cast<char>(dict.size()), 0} + dict + "abcd";
  return {tar_of({tar_entry("a/0.npy", npy), tar_entry("a/0.cls", "1"), tar_entry("a/0.txt", "x"),
                  tar_entry("a/1.npy", npy), tar_entry("a/1.cls", "-2"), tar_entry("a/1.txt", "")}),
          tar_of({tar_entry("0.png", png_2x3()), tar_entry("1.png", webp_2x3())}),
          tar_of({tar_entry("0.jpg", jpeg_8x16()), tar_entry("1.jpg", jpeg_progressive())}),
          tar_of({tar_entry("././@LongLink", std::string(200, 'n') + ".txt", 'L'), tar_entry("cut", "x"),
                  tar_entry("h", pax_record("path", "p.txt") + pax_record("size", "2"), 'x'), tar_entry("cut", "xx")}),
          tar_of({tar_entry("../0.txt", "x"), tar_entry("d/", "", '5'), tar_entry("l.txt", "", '2')})};
}

std::vector<std::string> words() {
  return {"ustar",        "path=", "size=", "GNU.sparse.major=1", "../", "\x80", std::string(512, '\0'), ".png", ".cls",
          "\xff\xd8\xff", "RIFF",  "WEBP"};
}

/// Corrects the checksum of each tar header, a block that contains "ustar". Otherwise, every mutated header would be
/// refused.
std::string with_checksums(std::string archive) {
  for (std::size_t at = 0; at + 512 <= archive.size(); at += 512) {
    if (archive.compare(at + 257, 5, "ustar") != 0) continue;
    archive.replace(at + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(archive[at + i]);
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    archive.replace(at + 148, 7, std::string(digits) + '\0');
  }
  return archive;
}

void read(const std::string& input) {
  static MemoryFile file;
  for (const auto& bytes : {input, with_checksums(input)}) {
    file.hold(bytes);
    const data::DataFile as_listed{file.path(), bytes.size(), 0};
    for (const bool keep : {true, false})
      read_through(data::plugins::tar, as_listed, keep, {"max_pixels=10000", "max_file_bytes=1 MiB"});
    read_through(data::plugins::tar, as_listed, false, {"max_pixels=10000", "size=3x4", "layout=planar", "type=f32"});
  }
}

}  // namespace trainrt::fuzz
