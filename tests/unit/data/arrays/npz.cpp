#include <minizip/zip.h>
#include <trainrt/error.hpp>

#include "data/bytes/coding/crc32.hpp"
#include "data/section/file_verification.hpp"
#include "unit/data/npy_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

std::string array_of(const std::string& descr, const std::string& shape, const std::string& values) {
  return npy_bytes("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}", values);
}

struct Member {
  std::string name, bytes;
  bool is_deflated = false;
};

/// Writes an .npz file as numpy.savez and numpy.savez_compressed do; `zip64`: with the Zip64 sizes that NumPy forces.
void write_zip(const std::string& path, const std::vector<Member>& members, bool zip64 = false) {
  auto* zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  for (const auto& member : members) {
    zip_fileinfo info{};
    REQUIRE(zipOpenNewFileInZip64(zip, member.name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                                  member.is_deflated ? Z_DEFLATED : 0, 9, zip64 ? 1 : 0) == ZIP_OK);
    REQUIRE(zipWriteInFileInZip(zip, member.bytes.data(), static_cast<unsigned>(member.bytes.size())) == ZIP_OK);
    REQUIRE(zipCloseFileInZip(zip) == ZIP_OK);
  }
  REQUIRE(zipClose(zip, nullptr) == ZIP_OK);
}

const std::string images = array_of("|u1", "(3, 2)", "abcdef");
const std::string labels = array_of(">i2", "(3,)", std::string("\x00\x01\x00\x02\x00\x03", 6));

/// Returns the offset of entry `number` in the central directory of a zip archive.
std::size_t directory_entry(const std::string& zip, int number) {
  std::size_t at = zip.find("PK\x01\x02");
  for (; number > 0; --number) at = zip.find("PK\x01\x02", at + 1);
  REQUIRE(at != std::string::npos);
  return at;
}

}  // namespace

TEST_CASE("members of an .npz file are fields, stored and deflated, with and without Zip64") {
  Scratch dir;
  for (const bool is_deflated : {false, true})
    for (const bool zip64 : {false, true}) {
      write_zip(dir / "x.npz", {{"x.npy", images, is_deflated}, {"y.npy", labels, is_deflated}}, zip64);
      const auto dataset = open({{"source", dir / "x.npz"}});
      REQUIRE(dataset->source()->size() == 3);
      const auto& fields = dataset->source()->fields();
      REQUIRE(fields.size() == 2);
      CHECK(fields[0].name == "x");
      CHECK(fields[0].sample_shape == Shape{2});
      CHECK(fields[1].name == "y");
      CHECK(fields[1].dtype == DType::i16);
      CHECK(dataset->source()->is_resident());
      CHECK(gathered<char>(*dataset, 0, {2, 0}) == std::vector<char>{'e', 'f', 'a', 'b'});
      CHECK(gathered<std::int16_t>(*dataset, 1, {1, 2}) == std::vector<std::int16_t>{2, 3});
    }
}

TEST_CASE("stored members that are not kept in memory are read at their offsets") {
  Scratch dir;
  write_zip(dir / "x.npz", {{"packed.npy", images, true}, {"x.npy", images}, {"y.npy", labels}}, true);
  for (const std::string memory : {"0", "1 MiB"}) {
    const auto dataset = open({{"source", dir / "x.npz"}, {"memory", memory}});
    CHECK(dataset->source()->is_resident() == (memory != "0"));
    for (const std::size_t field : {0, 1})
      CHECK(gathered<char>(*dataset, field, {2, 0, 1}) == std::vector<char>{'e', 'f', 'a', 'b', 'c', 'd'});
    CHECK(gathered<std::int16_t>(*dataset, 2, {1, 0}) == std::vector<std::int16_t>{2, 1});
  }
}

TEST_CASE("the key fields chooses and renames arrays; other members may be anything") {
  Scratch dir;
  write_zip(dir / "x.npz", {{"x_train.npy", images},
                            {"y_train.npy", labels},
                            {"x_test.npy", array_of("|u1", "(1, 2)", "gh")},
                            {"../about.txt", "text"}});
  const auto dataset = open({{"source", dir / "x.npz"}, {"fields", "labels=y_train, x_train"}});
  REQUIRE(dataset->source()->fields().size() == 2);
  CHECK(dataset->source()->fields()[0].name == "labels");
  CHECK(dataset->source()->fields()[1].name == "x_train");
  CHECK(gathered<char>(*dataset, 1, {1}) == std::vector<char>{'c', 'd'});
  both_say({{"source", dir / "x.npz"}, {"fields", "x_train, x_test"}}, "x.npz",
           "'x_train' has 3 samples, but 'x_test' has 1");
  both_say({{"source", dir / "x.npz"}, {"fields", "x"}}, "x.npz", "has no array 'x'");
  both_say({{"source", dir / "x.npz"}, {"fields", "x=x_train, x=y_train"}}, "x.npz", "two arrays make the field 'x'");
  both_say({{"source", dir / "x.npz"}}, "x.npz", "'../about.txt' is not an array");
  for (const std::string name : {"a/b.npy", "..\\b.npy", ".npy", "\xff.npy", "x"}) {
    write_zip(dir / "y.npz", {{name, images}});
    both_say({{"source", dir / "y.npz"}}, "y.npz", "is not an array of numpy.savez");
  }
}

TEST_CASE("an array that is invalid in a .npy file is invalid in an .npz file") {
  Scratch dir;
  write_zip(dir / "x.npz", {{"x.npy", images}, {"o.npy", array_of("|O", "(3,)", "pickle")}});
  both_say({{"source", dir / "x.npz"}}, "x.npz: the member 'o.npy'", "never loaded");
  write_zip(dir / "x.npz", {{"u.npy", array_of("<u2", "(1,)", "ab")}});
  both_say({{"source", dir / "x.npz"}}, "x.npz: the member 'u.npy'", "do not support");
  write_zip(dir / "x.npz", {{"u.npy", array_of("|u1", "(9,)", "short"), true}});
  both_say({{"source", dir / "x.npz"}}, "x.npz: the member 'u.npy'", "truncated");
  write_zip(dir / "x.npz", {{"u.npy", array_of("|u1", "(2,)", "longer"), true}});
  both_say({{"source", dir / "x.npz"}}, "x.npz: the member 'u.npy'", "after its array");
  write_zip(dir / "x.npz", {});
  both_say({{"source", dir / "x.npz"}}, "x.npz", "contains no arrays");
}

TEST_CASE("a compressed member is decompressed up to one byte after its declared size only") {
  Scratch dir;
  const auto stored = images + std::string(50, 'x');
  std::string packed{'\0', static_cast<char>(stored.size()), '\0', static_cast<char>(~stored.size()), '\xff'};
  packed += stored + '\x07';  // a block with a wrong type, which decompression would refuse
  REQUIRE(stored.size() < 256);
  auto* zip = zipOpen64((dir / "x.npz").c_str(), APPEND_STATUS_CREATE);
  zip_fileinfo info{};
  REQUIRE(zipOpenNewFileInZip2_64(zip, "x.npy", &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, 9, 1, 0) == ZIP_OK);
  REQUIRE(zipWriteInFileInZip(zip, packed.data(), static_cast<unsigned>(packed.size())) == ZIP_OK);
  REQUIRE(zipCloseFileInZipRaw64(zip, images.size(), data::crc32_of(std::as_bytes(std::span(images)))) == ZIP_OK);
  REQUIRE(zipClose(zip, nullptr) == ZIP_OK);
  CHECK_THROWS_WITH(
      open({{"source", dir / "x.npz"}}),
      Contains("the member 'x.npy'") && Contains("it does not have as many bytes as the table of contents declares"));
}

TEST_CASE("a compressed member that is larger than one piece is read completely") {
  Scratch dir;
  std::string values(3'000'000, '\0');
  Random random(7, 0);
  for (auto& value : values) value = static_cast<char>(random.below(256));
  write_zip(dir / "x.npz", {{"x.npy", array_of("|u1", "(3000000,)", values), true}});
  REQUIRE(fs::file_size(dir / "x.npz") > 2 << 20);
  const auto dataset = open({{"source", dir / "x.npz"}});
  CHECK(gathered<char>(*dataset, 0, {0, 1'500'000, 2'999'999}) ==
        std::vector<char>{values[0], values[1'500'000], values[2'999'999]});
}

TEST_CASE("compressed members that expand to more than max_expanded_bytes are an error that names file, member and limit") {
  Scratch dir;
  const auto zeros = array_of("|u1", "(700000,)", std::string(700'000, '\0'));
  write_zip(dir / "x.npz", {{"a.npy", zeros, true}, {"b.npy", zeros, true}});
  CHECK(fs::file_size(dir / "x.npz") < 4000);
  const auto with = [&](const std::string& limit) {
    return std::map<std::string, std::string>{{"source", dir / "x.npz"}, {"max_expanded_bytes", limit}};
  };
  CHECK(open(with("1500000"))->source()->size() == 700'000);
  both_say(with("1 MiB"), "x.npz: the member 'b.npy'", "max_expanded_bytes = 1048576");
  both_say(with("100 kB"), "x.npz: the member 'a.npy'", "max_expanded_bytes = 100000");
  write_zip(dir / "x.npz", {{"a.npy", zeros}, {"b.npy", zeros}});  // stored members need no expansion
  CHECK(open(with("100 kB"))->source()->size() == 700'000);
}

TEST_CASE("check and open refuse an .npz file that is cut anywhere") {
  Scratch dir;
  write_zip(dir / "whole.npz", {{"x.npy", images, true}, {"y.npy", labels}});
  const auto whole = read(dir / "whole.npz");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(length);
    write(dir / "x.npz", whole.substr(0, length));
    both_say({{"source", dir / "x.npz"}}, "x.npz", "");
  }
}

TEST_CASE("errors name members that are damaged, encrypted or compressed by another method") {
  Scratch dir;
  const std::map<std::string, std::string> section{{"source", dir / "x.npz"}};
  const auto changed = [&](bool is_deflated, const auto& change) {
    write_zip(dir / "x.npz", {{"x.npy", images, is_deflated}});
    auto zip = read(dir / "x.npz");
    change(zip);
    write(dir / "x.npz", zip);
  };
  for (const bool is_deflated : {false, true}) {
    changed(is_deflated, [](std::string& zip) { zip[directory_entry(zip, 0) + 16] ^= 1; });  // one of its two checksums
    CHECK_THROWS_WITH(open(section), Contains("x.npz: the member 'x.npy' is damaged"));
    changed(is_deflated,
            [](std::string& zip) { zip[zip.find("PK\x03\x04") + 14] ^= 1, zip[directory_entry(zip, 0) + 16] ^= 1; });
    CHECK_THROWS_WITH(open(section), Contains("x.npz: the member 'x.npy' is damaged: its checksum is wrong"));
    changed(is_deflated, [](std::string& zip) { zip[directory_entry(zip, 0) + 8] |= 1; });  // the member's flags
    both_say(section, "x.npz: the member 'x.npy'", "is encrypted");
    changed(is_deflated, [](std::string& zip) { zip[directory_entry(zip, 0) + 10] = 14; });  // the member's method: LZMA
    both_say(section, "x.npz: the member 'x.npy'", "method 14");
  }
  changed(false, [](std::string& zip) { zip[zip.find("abcdef")] = 'A'; });
  CHECK_THROWS_WITH(open(section), Contains("'x.npy'") && Contains("checksum"));
  changed(true, [](std::string& zip) { zip[directory_entry(zip, 0) + 27] = 0x7f; });  // 2 GiB, unpacked
  both_say(section, "x.npz: the member 'x.npy'", "");
}

TEST_CASE("no memory is taken for a size that deflate cannot hold") {
  Scratch dir;
  const auto header = array_of("|u1", "(1099511627776,)", "");
  write_zip(dir / "x.npz", {{"x.npy", header + std::string(1 << 16, '\0'), true}}, true);
  auto zip = read(dir / "x.npz");
  const std::uint64_t promised = header.size() + (std::uint64_t{1} << 40);
  const auto entry = directory_entry(zip, 0);
  const auto packed = static_cast<unsigned char>(zip[entry + 20]);  // less than 256 bytes
  REQUIRE(zip[entry + 21] == 0);
  // A Zip64 directory that declares 1 TiB.
  std::string extra{1, 0, 16, 0};
  for (int i = 0; i < 8; ++i) extra += static_cast<char>(promised >> (8 * i));
  for (int i = 0; i < 8; ++i) extra += static_cast<char>(i == 0 ? packed : 0);
  zip.replace(entry + 20, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  const auto end = zip.find("PK\x05\x06");
  const auto old_extra = static_cast<unsigned char>(zip[entry + 30]);
  zip.replace(entry + 46 + 5, old_extra, extra);
  zip[entry + 30] = static_cast<char>(extra.size());
  zip[end + extra.size() - old_extra + 12] = static_cast<char>(46 + 5 + extra.size());
  write(dir / "x.npz", zip);
  both_say({{"source", dir / "x.npz"}}, "x.npz", "cannot be the compressed form");
}

TEST_CASE("a file that is no zip archive is an error that names the reason") {
  Scratch dir;
  write(dir / "x.npz", images);
  both_say({{"source", dir / "x.npz"}}, "x.npz", "is not a zip archive");
}

namespace {

void flip(const std::string& path, std::size_t at) {
  auto bytes = read(path);
  bytes[at] ^= 1;
  write(path, bytes);
}

std::size_t place_of(const std::string& path, const std::string& values) { return read(path).find(values); }

}  // namespace

TEST_CASE("a stored array with a wrong checksum is an error that names it, with every setting of memory") {
  Scratch dir;
  write_zip(dir / "a.npz", {{"x.npy", images}, {"y.npy", labels}});
  write_zip(dir / "b.npz", {{"x.npy", images}, {"y.npy", labels}});
  flip(dir / "b.npz", place_of(dir / "b.npz", "abcdef"));
  const auto damage = Contains("b.npz: the member 'x.npy' is damaged: its checksum is wrong");
  for (const std::string memory : {"0", "1 MiB"})
    for (const std::string verify : {"first", "always"}) {
      INFO(memory << ' ' << verify);
      const std::map<std::string, std::string> keys{{"memory", memory}, {"verify", verify}, {"format", "npz"}};
      auto one = keys, both = keys;
      one["source"] = dir / "b.npz";
      CHECK_THROWS_WITH(open(one), damage);
      both["source"] = dir / "[ab].npz";
      const auto dataset = open(both);
      for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH(gathered<char>(*dataset, 1, {3}), damage);
      CHECK(gathered<char>(*dataset, 0, {2}) == std::vector<char>{'e', 'f'});
    }
  for (const std::string memory : {"0", "1 MiB"}) {
    const auto dataset = open({{"source", dir / "b.npz"}, {"memory", memory}, {"verify", "off"}});
    CHECK(gathered<char>(*dataset, 0, {0}) == std::vector<char>{'`', 'b'});
  }
  CHECK_THROWS_WITH(check({{"source", dir / "b.npz"}, {"verify", "never"}}), Contains("verify") && Contains("always"));
}

TEST_CASE("verify = always finds values that change after they were verified") {
  Scratch dir;
  const auto rows = array_of("|u1", "(200000, 2)", std::string(400000, 'x'));
  for (const std::string verify : {"first", "always"}) {
    write_zip(dir / "x.npz", {{"x.npy", rows}, {"y.npy", array_of("|u1", "(200000,)", std::string(200000, 'y'))}});
    const auto dataset = open({{"source", dir / "x.npz"}, {"memory", "0"}, {"verify", verify}});
    for (const std::uint64_t row : {0, 150000, 199999}) CHECK(gathered<char>(*dataset, 0, {row})[1] == 'x');
    CHECK(gathered<char>(*dataset, 1, {199999, 0}) == std::vector<char>{'y', 'y'});
    flip(dir / "x.npz", place_of(dir / "x.npz", "xxxx") + 300000);
    CHECK(gathered<char>(*dataset, 0, {0, 199999}) == std::vector<char>(4, 'x'));
    if (verify == "first")
      CHECK(gathered<char>(*dataset, 0, {150000})[0] != 'x');
    else
      CHECK_THROWS_WITH(gathered<char>(*dataset, 0, {150000}),
                        Contains("x.npz: the member 'x.npy'") && Contains("checksum was verified"));
  }
}

TEST_CASE("ranks that verify together read each byte once, and all report the damage") {
  Scratch dir;
  write_zip(dir / "a.npz", {{"x.npy", array_of("|u1", "(300000,)", std::string(300000, 'a'))},
                            {"y.npy", array_of("|u1", "(300000,)", std::string(300000, 'b'))}});
  write_zip(dir / "b.npz", {{"x.npy", array_of("|u1", "(1,)", "c")}, {"y.npy", array_of("|u1", "(1,)", "d")}});
  const auto keys = options({{"source", dir / "[ab].npz"}, {"format", "npz"}});
  for (const bool is_damaged : {false, true}) {
    if (is_damaged) flip(dir / "b.npz", place_of(dir / "b.npz", "PK\x01\x02") - 1);
    const auto listing = data::list_dataset("train", keys);
    for (const auto how : {data::Verify::first, data::Verify::always})
      for (const int size : {1, 3, 40}) {
        // Simulates the ranks in turn: each first computes its share of the verification. The last one then gets all
        // shares.
        std::vector<std::string> shares;
        for (int rank = 0; rank <= size; ++rank) {
          data::FileVerification verification(listing, how);
          REQUIRE(verification.is_needed());
          Team team;
          team.rank = std::min(rank, size - 1);
          team.size = size;
          team.gather = [&](const std::function<std::string()>& make) {
            if (rank < size) shares.push_back(make());
            return rank < size ? std::vector<std::string>(1, std::string(1 << 10, '\0')) : shares;
          };
          verification.verify_together(team);
          if (rank < size) continue;
          REQUIRE(verification.damages().size() == (is_damaged ? 1 : 0));
          if (is_damaged) CHECK_THAT(verification.damages()[0], Contains("b.npz: the member 'y.npy' is damaged"));
          CHECK_NOTHROW(verification.verified(0, listing.entries[0].file, false));
        }
      }
  }
}

TEST_CASE("names and headers of members that differ from the table of contents are errors") {
  Scratch dir;
  const std::map<std::string, std::string> section{{"source", dir / "x.npz"}};
  write_zip(dir / "x.npz", {{"x.npy", images}, {"y.npy", labels}});
  const auto good = read(dir / "x.npz");
  const auto directory = good.find("PK\x01\x02");
  for (const auto at : {directory + 46, good.find("x.npy"), directory + 24, directory + 42, good.size() - 22 + 8,
                        good.size() - 22 + 10, good.size() - 22 + 12, good.size() - 22 + 16}) {
    INFO(at);
    write(dir / "x.npz", good);
    flip(dir / "x.npz", at);
    both_say(section, "x.npz", "copy");
  }
}

namespace {

/// A header of a zip archive, field by field.
class ZipBytes {
 public:
  ZipBytes& add(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) bytes_ += static_cast<char>(i < sizeof value ? value >> (8 * i) : 0);
    return *this;
  }
  ZipBytes& add(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct LargeMember {
  std::string name, beginning;
  std::uint64_t zeros = 0, header = 0;
  std::uint64_t bytes() const { return beginning.size() + zeros; }
  std::uint32_t crc32() const {
    auto made = data::crc32_of(std::as_bytes(std::span(beginning)));
    // The CRC-32 of 2^n zeros is combined from two sequences of half the length.
    std::uint32_t of_power = data::crc32_of(std::vector<std::byte>(1));
    for (std::uint64_t power = 1; power <= zeros; power *= 2) {
      if ((zeros & power) != 0) made = data::concatenated_crc32(made, of_power, power);
      of_power = data::concatenated_crc32(of_power, of_power, power);
    }
    return made;
  }
};

/// Writes an NPZ file with the fields of ZIP64, which numpy.savez uses for arrays of more than 4 GiB. The zeros at the end
/// of each member are a hole in the file, and take no space on the disk.
void write_large_zip(const std::string& path, std::vector<LargeMember> members) {
  std::ofstream file(path, std::ios::binary);
  for (auto& member : members) {
    member.header = static_cast<std::uint64_t>(file.tellp());
    file << ZipBytes()
                .add("PK\x03\x04")
                .add(45, 2)
                .add(0, 8)
                .add(member.crc32(), 4)
                .add(0xffffffffffffffff, 8)
                .add(member.name.size(), 2)
                .add(20, 2)
                .add(member.name)
                .add(1, 2)
                .add(16, 2)
                .add(member.bytes(), 8)
                .add(member.bytes(), 8)
                .bytes()
         << member.beginning;
    file.seekp(static_cast<std::streamoff>(member.zeros), std::ios::cur);
  }
  const auto directory = static_cast<std::uint64_t>(file.tellp());
  for (const auto& member : members)
    file << ZipBytes()
                .add("PK\x01\x02")
                .add(45, 2)
                .add(45, 2)
                .add(0, 8)
                .add(member.crc32(), 4)
                .add(0xffffffffffffffff, 8)
                .add(member.name.size(), 2)
                .add(28, 2)
                .add(0, 10)
                .add(0xffffffff, 4)
                .add(member.name)
                .add(1, 2)
                .add(24, 2)
                .add(member.bytes(), 8)
                .add(member.bytes(), 8)
                .add(member.header, 8)
                .bytes();
  const auto end = static_cast<std::uint64_t>(file.tellp());
  file << ZipBytes()
              .add("PK\x06\x06")
              .add(44, 8)
              .add(45, 2)
              .add(45, 2)
              .add(0, 8)
              .add(members.size(), 8)
              .add(members.size(), 8)
              .add(end - directory, 8)
              .add(directory, 8)
              .add("PK\x06\x07")
              .add(0, 4)
              .add(end, 8)
              .add(1, 4)
              .add("PK\x05\x06")
              .add(0, 4)
              .add(0xffff, 2)
              .add(0xffff, 2)
              .add(0xffffffff, 4)
              .add(0xffffffff, 4)
              .add(0, 2)
              .bytes();
}

}  // namespace

TEST_CASE("members of more than 4 GiB, and at offsets from 4 GiB on, are read and verified") {
  Scratch dir;
  constexpr std::uint64_t rows = 4097, row_bytes = 1 << 20;
  write_large_zip(dir / "x.npz", {{"x.npy", array_of("|u1", "(4097, 1048576)", ""), rows * row_bytes},
                                  {"y.npy", array_of("|u1", "(4097,)", std::string(4096, '\0') + "z")}});
  const auto dataset = open({{"source", dir / "x.npz"}, {"memory", "0"}});
  CHECK(dataset->source()->size() == rows);
  CHECK(gathered<char>(*dataset, 0, {rows - 1}) == std::vector<char>(row_bytes, '\0'));
  CHECK(gathered<char>(*dataset, 1, {rows - 1}) == std::vector<char>{'z'});
}
