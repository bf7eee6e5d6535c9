#include "io/files/positional_file.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>
#include <trainrt/error.hpp>

#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using trainrt::io::PositionalFile;
using trainrt::test::error_of;
using trainrt::test::Scratch;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t count) {
  Bytes bytes(count);
  std::uint32_t state = 1;
  for (auto& byte : bytes) byte = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// Returns offsets that divide [0, size) into pieces, some of which begin or end on a page boundary, and some within a
/// page.
std::vector<std::size_t> cuts(std::size_t size) {
  std::vector<std::size_t> at{0};
  for (const std::size_t step : {4096u, 8192u, 1u, 4095u, 100000u, 12288u, 7u, 65536u})
    if (at.back() + step < size) at.push_back(at.back() + step);
  while (at.back() + 300000 < size) at.push_back(at.size() % 2 == 0 ? at.back() + 299999 : io::align_up(at.back() + 70000));
  at.push_back(size);
  return at;
}

/// Writes every 4th piece from number `first` on, from aligned memory, so that direct I/O is used for complete pages.
void write_pieces(const PositionalFile& file, const Bytes& bytes, std::size_t first, const io::Block& staging) {
  const auto at = cuts(bytes.size());
  for (std::size_t i = first; i + 1 < at.size(); i += 4) {
    const auto piece = std::span(bytes).subspan(at[i], at[i + 1] - at[i]);
    std::memcpy(staging.bytes().data(), piece.data(), piece.size());
    file.write(at[i], staging.bytes().first(piece.size()));
  }
}

void check_reads(const PositionalFile& file, const Bytes& expected, io::BlockPool& pool) {
  const auto block = pool.take();
  const auto at = cuts(expected.size());
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const auto count = at[i + 1] - at[i];
    const auto got = file.read(at[i], count, block);
    REQUIRE(same(got, std::span(expected).subspan(at[i], count)));
    REQUIRE(got.data() >= block.bytes().data());
    REQUIRE(got.data() + got.size() <= block.bytes().data() + block.bytes().size());
  }
}

/// Runs the hidden test case `name` of this program with the failing system calls `faults`; returns the content of the file
/// "outcome" that it writes.
std::string under_faults(const std::string& name, const std::string& faults, const Scratch& at) {
  const auto program = fs::read_symlink("/proc/self/exe");
  const auto shim = program.parent_path() / "fault_shim.so";
  const auto command = "TRAINRT_FAULTS='" + faults + "' TRAINRT_TEST_DIRECTORY='" + at.path() + "' TRAINRT_COUNT_CALLS='" +
                       (at / "calls") + "' TRAINRT_COUNT_PATH=data.bin ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD='" +
                       shim.string() + "' '" + program.string() + "' '" + name + "' >'" + (at / "output") + "' 2>&1";
  fs::remove(at / "outcome");
  const int status = std::system(command.c_str());
  if (!fs::exists(at / "outcome"))
    return "exit code " + std::to_string(WEXITSTATUS(status)) + ": " + io::read_file(at / "output");
  return io::read_file(at / "outcome");
}

std::map<std::string, int> calls(const Scratch& at) {
  std::map<std::string, int> counts;
  std::istringstream lines(io::read_file(at / "calls"));
  for (std::string name; lines >> name;) lines >> counts[name];
  return counts;
}

/// Returns whether the file system of the test supports direct I/O.
bool takes_direct(const Scratch& at) { return PositionalFile::create(at / "probe").direct(); }

constexpr std::size_t child_bytes = 3 * 65536 + 777;

}  // namespace

TEST_CASE("bytes written by several threads at any offsets read back unchanged, with and without the page cache") {
  Scratch at;
  const auto bytes = pattern((std::size_t{6} << 20) + 1234);
  io::BlockPool pool(std::size_t{1} << 20, std::size_t{8} << 20);
  auto file = PositionalFile::create(at / "data", GENERATE(std::size_t{0}, (std::size_t{6} << 20) + 1234));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) threads.emplace_back([&, t] { write_pieces(file, bytes, t, pool.take()); });
  for (auto& thread : threads) thread.join();
  file.sync();
  file.close();
  file.close();  // a second close() does nothing

  REQUIRE(fs::file_size(at / "data") == bytes.size());
  check_reads(PositionalFile::open(at / "data"), bytes, pool);
  check_reads(PositionalFile::open(at / "data", PositionalFile::Cache::use), bytes, pool);
}

TEST_CASE("an incomplete last page is written without padding") {
  Scratch at;
  const auto bytes = pattern(3 * 4096 + 5);
  io::BlockPool pool(65536, 1 << 20);
  const auto block = pool.take();
  std::memcpy(block.bytes().data(), bytes.data(), bytes.size());
  const auto file = PositionalFile::create(at / "data");
  file.write(4096, block.bytes().first(bytes.size()));
  CHECK(file.size() == 4096 + bytes.size());
  const auto reader = PositionalFile::open(at / "data");
  const auto other = pool.take();
  CHECK(same(reader.read(4096, bytes.size(), other), bytes));
  CHECK(same(reader.read(4096 + 3 * 4096, 5, other), std::span(bytes).last(5)));
  CHECK(same(reader.read(0, 4096, other), Bytes(4096)));  // a hole
  CHECK(reader.read(7, 0, other).empty());
}

TEST_CASE("unaligned memory is written correctly") {
  Scratch at;
  const auto bytes = pattern(100001);
  const auto file = PositionalFile::create(at / "data");
  file.write(0, std::span(bytes).subspan(1));
  CHECK(io::read_file(at / "data") == std::string(reinterpret_cast<const char*>(bytes.data() + 1), bytes.size() - 1));
}

TEST_CASE("the error of a read beyond the end states the actual and the required size") {
  Scratch at;
  io::write_file(at / "data", std::string(10000, 'x'));
  io::BlockPool pool(65536, 1 << 20);
  const auto block = pool.take();
  for (const auto cache : {PositionalFile::Cache::bypass, PositionalFile::Cache::use}) {
    const auto file = PositionalFile::open(at / "data", cache);
    CHECK(error_of([&] { file.read(9000, 1001, block); }) ==
          "'" + (at / "data") + "' ends at byte 10000, before byte 10001: the file was truncated");
    CHECK_THAT(error_of([&] { file.read(40960, 10, block); }), Catch::Contains("ends at byte 10000, before byte 40970"));
    CHECK_THAT(error_of([&] { file.read(12288, 4096, block); }), Catch::Contains("ends at byte 10000, before byte 16384"));
    CHECK(same(file.read(9000, 1000, block), Bytes(1000, std::byte{'x'})));
  }
}

TEST_CASE("a block that is too small for the pages of a read is an error") {
  Scratch at;
  io::write_file(at / "data", std::string(20000, 'x'));
  io::BlockPool pool(8192, 1 << 20);
  const auto block = pool.take();
  const auto file = PositionalFile::open(at / "data");
  CHECK(file.read(4095, 4097, block).size() == 4097);
  CHECK_THAT(error_of([&] { file.read(4095, 4098, block); }),
             Catch::Contains("the pages with these bytes have 12288 bytes, but the block of memory has only 8192"));
}

TEST_CASE("creating a file reserves the expected bytes, and keeps existing content") {
  Scratch at;
  const auto first = PositionalFile::create(at / "data", 1 << 20);
  CHECK(first.size() == 1 << 20);
  struct stat info {};
  REQUIRE(stat((at / "data").c_str(), &info) == 0);
  CHECK(info.st_blocks * 512 >= 1 << 20);
  CHECK((info.st_mode & 0111) == 0);
  const auto bytes = pattern(5000);
  first.write(1000, bytes);
  const auto second = PositionalFile::create(at / "data", 2 << 20);
  CHECK(second.size() == 2 << 20);
  io::BlockPool pool(8192, 1 << 20);
  CHECK(same(PositionalFile::open(at / "data").read(1000, 5000, pool.take()), bytes));
}

TEST_CASE("a file is not created through a symbolic link") {
  Scratch at;
  io::write_file(at / "precious", "kept");
  fs::create_symlink(at / "precious", at / "link");
  CHECK_THAT(error_of([&] { PositionalFile::create(at / "link", 100); }), Catch::Contains("symbolic link"));
  CHECK(io::read_file(at / "precious") == "kept");
}

TEST_CASE("opening a missing path, a directory or a pipe is an error and does not wait") {
  Scratch at;
  CHECK_THAT(error_of([&] { PositionalFile::open(at / "none"); }),
             Catch::Contains("cannot open '" + (at / "none") + "': No such file or directory"));
  CHECK_THAT(error_of([&] { PositionalFile::create(at / "none/data"); }), Catch::Contains("No such file"));
  CHECK_THAT(error_of([&] { PositionalFile::open(at.path()); }), Catch::Contains("not a regular file"));
  REQUIRE(mkfifo((at / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(error_of([&] { PositionalFile::open(at / "pipe"); }), Catch::Contains("'" + (at / "pipe") + "'"));
}

// The test cases below run this one in another process, in which system calls fail.
TEST_CASE("child of the tests under faults", "[.child]") {
  const std::string directory = std::getenv("TRAINRT_TEST_DIRECTORY");
  const auto path = directory + "/data.bin";
  const auto bytes = pattern(child_bytes);
  bool direct = false;
  const auto error = error_of([&] {
    io::BlockPool pool(std::size_t{1} << 20, std::size_t{8} << 20);
    const auto block = pool.take();
    std::memcpy(block.bytes().data(), bytes.data(), bytes.size());
    auto file = PositionalFile::create(path, bytes.size());
    file.write(0, block.bytes().first(65536));
    file.write(65536, block.bytes().subspan(65536, bytes.size() - 65536));
    direct = file.direct();
    file.sync();
    file.close();
    const auto reader = PositionalFile::open(path);
    if (!same(reader.read(1, bytes.size() - 1, pool.take()), std::span(bytes).subspan(1))) throw Error("other bytes");
  });
  io::write_file(directory + "/outcome", !error.empty() ? error : direct ? "direct" : "buffered");
}

constexpr const char* child = "child of the tests under faults";

TEST_CASE("interrupted and short system calls are continued, and slow ones are awaited") {
  Scratch at;
  const auto expected = takes_direct(at) ? "direct" : "buffered";
  CHECK(under_faults(child, "", at) == expected);
  const auto plain = calls(at);
  CHECK(plain.at("pwrite") == 3);  // complete pages in two calls, and the incomplete last page
  for (const std::string faults :
       {"pwrite:EINTR:data.bin", "pread:EINTR:data.bin", "pwrite:short:data.bin", "pread:short:data.bin",
        "pwrite:EINTR:data.bin,pwrite:short:data.bin,fsync:EINTR:data.bin,open:EINTR:data.bin,fallocate:EINTR",
        "pwrite:slow=1:data.bin", "pwrite:short:data.bin:1:1", "pread:short:data.bin:0:1"}) {
    INFO(faults);
    CHECK(under_faults(child, faults, at) == expected);
    if (faults.starts_with("pwrite") && !faults.starts_with("pwrite:slow"))
      CHECK(calls(at)["pwrite"] > plain.at("pwrite"));  // the fault occurred
    fs::remove(at / "data.bin");
  }
}

TEST_CASE("the page cache is used if the file system refuses direct I/O") {
  Scratch at;
  CHECK(under_faults(child, "open:EINVAL:data.bin:0:1", at) == "buffered");
  if (takes_direct(at))
    CHECK(under_faults(child, "pwrite:EINVAL:data.bin:0:1,pread:EINVAL:data.bin:0:1", at) == "buffered");
  CHECK(under_faults(child, "fallocate:EOPNOTSUPP", at) == (takes_direct(at) ? "direct" : "buffered"));
}

TEST_CASE("storage errors name the operation, the offset, the path and the remedy") {
  Scratch at;
  const auto path = "'" + (at / "data.bin") + "'";
  CHECK_THAT(under_faults(child, "pwrite:ENOSPC:data.bin:1", at),
             Catch::StartsWith("cannot write at byte 65536 of " + path + ": No space left on device; ") &&
                 Catch::EndsWith("remove files"));
  CHECK_THAT(under_faults(child, "fallocate:ENOSPC:data.bin", at),
             Catch::StartsWith("cannot reserve 197385 bytes for " + path + ": No space left"));
  CHECK_THAT(under_faults(child, "fsync:EIO:data.bin:1", at),
             Catch::StartsWith(takes_direct(at) ? "cannot make durable (fsync) " + path : "buffered"));
  CHECK_THAT(under_faults(child, "fsync:EIO:data.bin", at), Catch::StartsWith("cannot make durable (fsync) " + path));
  CHECK_THAT(under_faults(child, "close:EDQUOT:data.bin:0:1", at),
             Catch::StartsWith("cannot close " + path + ": Disk quota"));
  CHECK_THAT(under_faults(child, "pread:EIO:data.bin", at), Catch::StartsWith("cannot read at byte 0 of " + path));
  CHECK_THAT(under_faults(child, "open:EACCES:data.bin", at),
             Catch::StartsWith("cannot create " + path + ": Permission denied"));
}

TEST_CASE("complete pages take one open() and no other request to the metadata server") {
  Scratch at;
  REQUIRE_FALSE(under_faults(child, "", at).empty());
  auto counts = calls(at);
  CHECK(counts["open"] == (takes_direct(at) ? 3 : 4));  // two for writing (direct and buffered), one for reading
  for (const char* name : {"stat", "lstat", "access", "opendir", "rename", "mkdir", "unlink", "openat"}) {
    INFO(name);
    CHECK(counts.at(name) == 0);
  }
}

TEST_CASE("an invalid rule of the fault shim makes the program exit") {
  Scratch at;
  for (const std::string rule : {"pwrite:ENOSPACE", "pwrites:EIO", "pwrite", "pwrite:EIO:x:y", "pwrite:EIO:x:1:2:3"})
    CHECK_THAT(under_faults(child, rule, at),
               Catch::StartsWith("exit code 97: fault_shim: cannot read the rule '" + rule + "'"));
}
