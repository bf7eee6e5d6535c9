#include "io/files/file_system.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "io/files/striping.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using trainrt::test::error_of;
using trainrt::test::Scratch;

namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// Replaces PATH with a directory that contains a shell script `lfs` instead of the program of Lustre.
class FakeLfs {
 public:
  explicit FakeLfs(const std::string& script) : before_(std::getenv("PATH")) {
    std::ofstream(at_ / "lfs") << "#!/bin/sh\n" << script << "\n";
    chmod((at_ / "lfs").c_str(), 0755);
    setenv("PATH", at_.path().c_str(), 1);
  }
  ~FakeLfs() { setenv("PATH", before_.c_str(), 1); }
  std::string operator/(const std::string& name) const { return at_ / name; }

 private:
  Scratch at_;
  std::string before_;
};

}  // namespace

TEST_CASE("a file system is recognized by its magic number") {
  CHECK(io::file_system_from_magic(0x0BD00BD0).name == "lustre");
  CHECK(io::file_system_from_magic(0x0BD00BD0).parallel);
  CHECK(io::file_system_from_magic(0x47504653).name == "gpfs");
  CHECK(io::file_system_from_magic(0x19830326).name == "beegfs");
  CHECK(io::file_system_from_magic(0x6969).name == "nfs");
  CHECK(io::file_system_from_magic(0x6969).shared);
  CHECK_FALSE(io::file_system_from_magic(0x6969).parallel);
  CHECK(io::file_system_from_magic(0xEF53).name == "ext4");
  CHECK_FALSE(io::file_system_from_magic(0xEF53).shared);
  CHECK_FALSE(io::file_system_from_magic(0x01021994).durable);
  CHECK_FALSE(io::file_system_from_magic(0x858458F6).durable);
  CHECK(io::file_system_from_magic(0x858458F6).name == "ramfs");
  CHECK(io::file_system_from_magic(0x12345).name == "unknown");
  CHECK(io::file_system_from_magic(0x12345).durable);
  CHECK_FALSE(io::file_system_from_magic(0x12345).parallel);
}

TEST_CASE("the file system of a path is found, with its free space") {
  Scratch at;
  // Other programs may change the free space between two reads: the reads are repeated until nothing has changed.
  io::FileSystem here;
  std::uintmax_t before = 0, after = 1;
  for (int again = 0; again < 1000 && before != after; ++again) {
    before = std::filesystem::space(at.path()).available;
    here = io::file_system_of(at.path());
    after = std::filesystem::space(at.path()).available;
  }
  CHECK(here.block_bytes >= 512);
  CHECK(here.free_bytes == after);
  CHECK_THAT(error_of([&] { io::file_system_of(at / "none"); }), Catch::Contains("cannot read the file system of"));
  // If /dev/shm is mounted, it is a tmpfs.
  if (std::ifstream mounts("/proc/mounts");
      std::string(std::istreambuf_iterator<char>(mounts), {}).find(" /dev/shm tmpfs ") != std::string::npos) {
    CHECK(io::file_system_of("/dev/shm").name == "tmpfs");
    CHECK_FALSE(io::file_system_of("/dev/shm").durable);
  }
}

TEST_CASE("small files and many files get one target each, a single large file several") {
  CHECK(io::striping_for(100 << 20, 1).count == 1);
  CHECK(io::striping_for(gibibyte - 1, 1).count == 1);
  CHECK(io::striping_for(2 * gibibyte, 1).count == 4);
  CHECK(io::striping_for(200 * gibibyte, 1).count == 8);
  CHECK(io::striping_for(200 * gibibyte, 2).count == 4);
  CHECK(io::striping_for(200 * gibibyte, 64).count == 1);
  CHECK(io::striping_for(0, 0).count == 1);
  for (const auto bytes : {std::uint64_t{1}, gibibyte, 500 * gibibyte})
    CHECK(io::striping_for(bytes, 3).stripe_bytes % 65536 == 0);  // Lustre requires multiples of 64 KiB
}

TEST_CASE("striping is set by lfs (a fake one)") {
  const FakeLfs lfs(R"(printf '%s\n' "$@" >"${0%/*}/called")");
  CHECK(io::set_striping("/lustre/a directory", {.count = 4, .stripe_bytes = 4 << 20}) == "");
  CHECK(io::read_file(lfs / "called") == "setstripe\n-c\n4\n-S\n4194304\n/lustre/a directory\n");
}

TEST_CASE("if lfs (a fake one) fails, is missing or hangs, the reason is returned") {
  SECTION("fails") {
    const FakeLfs lfs("echo 'error: setstripe: not on a Lustre filesystem' >&2; echo 'second line' >&2; exit 22");
    CHECK(io::set_striping("/tmp", {}) ==
          "lfs setstripe: exit code 22: error: setstripe: not on a Lustre filesystem second line");
  }
  SECTION("prints very much") {
    const FakeLfs lfs("i=0; while [ $i -lt 20000 ]; do echo 'many words'; i=$((i+1)); done; exit 1");
    const auto reason = io::set_striping("/tmp", {});
    CHECK_THAT(reason, Catch::StartsWith("lfs setstripe: exit code 1: many words"));
    CHECK(reason.size() < 1100);
  }
  SECTION("is killed") {
    const FakeLfs lfs("kill -9 $$");
    CHECK(io::set_striping("/tmp", {}) == "lfs setstripe: killed by signal 9");
  }
  SECTION("hangs") {
    const FakeLfs lfs("exec /bin/sleep 30");
    CHECK(io::set_striping("/tmp", {}, 0.2) == "lfs setstripe did not exit within 0.2 s");
  }
  SECTION("is missing") {
    const FakeLfs lfs("");
    std::filesystem::remove(lfs / "lfs");
    CHECK(io::set_striping("/tmp", {}) == "cannot start the program 'lfs': No such file or directory");
  }
}
