#include "core/files/shortage.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/text/byte_size.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using Catch::Contains;
using trainrt::test::Scratch;

namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

}  // namespace

TEST_CASE("a full file system with free space but no inodes lacks inodes") {
  const auto found = shortage_from(ENOSPC, StorageRoom{.free_bytes = 3 * gibibyte, .free_inodes = 0}, {});
  CHECK(found.shortage == Shortage::inodes);
  CHECK_THAT(found.text, Contains("no inodes") && Contains("3.0 GiB"));
}

TEST_CASE("a full file system lacks space if it has inodes, does not count them, or has neither") {
  for (const auto& inodes :
       {std::optional<std::uint64_t>(5), std::optional<std::uint64_t>(), std::optional<std::uint64_t>(0)}) {
    const auto found = shortage_from(ENOSPC, StorageRoom{.free_bytes = 4096, .free_inodes = inodes}, {});
    CHECK(found.shortage == Shortage::space);
    CHECK_THAT(found.text, Contains("4.0 KiB of space") && Contains("left"));
    CHECK((found.text.find("inodes") != std::string::npos) == (inodes == std::uint64_t{0}));
  }
  CHECK(shortage_from(ENOSPC, std::nullopt, {}).shortage == Shortage::space);
  CHECK_THAT(shortage_from(ENOSPC, StorageRoom{.free_bytes = 2 * gibibyte}, {}).text,
             Contains("a part of the file system is full"));
}

TEST_CASE("an exhausted quota is named with its holder, usage and limit") {
  const Quota user{.holder = "user", .used_bytes = gibibyte, .max_bytes = 10 * gibibyte, .used_files = 9, .max_files = 100};
  auto group = user;
  group.holder = "group";
  group.used_files = 100;
  const auto files = shortage_from(EDQUOT, std::nullopt, std::vector{user, group});
  CHECK(files.shortage == Shortage::quota_files);
  CHECK_THAT(files.text, Contains("group quota of the number of files") && Contains("100 of 100 files"));

  group.used_files = 1;
  group.used_bytes = 9 * gibibyte;  // a write larger than the last GiB failed
  const auto bytes = shortage_from(EDQUOT, std::nullopt, std::vector{user, group});
  CHECK(bytes.shortage == Shortage::quota_bytes);
  CHECK_THAT(bytes.text, Contains("group quota of space") && Contains("9.0 GiB of 10.0 GiB"));

  const auto unknown = shortage_from(EDQUOT, std::nullopt, {});
  CHECK(unknown.shortage == Shortage::quota);
  CHECK_THAT(unknown.text, Contains("space") && Contains("number of files"));
}

TEST_CASE("other error numbers are no shortage") {
  for (const int number : {EIO, EACCES, 0}) {
    CHECK(shortage_from(number, StorageRoom{}, {}).shortage == Shortage::none);
    CHECK(shortage_from(number, StorageRoom{}, {}).text.empty());
  }
}

TEST_CASE("parse_lfs_quota reads numbers, marks and expired grace times, and rejects other lines") {
  const auto over = parse_lfs_quota(" /mnt/lustre   8192*  4096  8192  6d23h  10 0 0 -\n", "user");
  REQUIRE(over);
  CHECK(over->used_bytes == 8192 * 1024);
  CHECK(over->max_bytes == 8192 * 1024);
  CHECK(over->used_files == 10);
  CHECK(over->max_files == 0);
  const auto expired = parse_lfs_quota("/mnt/a_long_name\n  [5000]*  4096  8192  expired  11* 10 20 none\n", "group");
  REQUIRE(expired);
  CHECK(expired->holder == "group");
  CHECK(expired->max_bytes == 4096 * 1024);
  CHECK(expired->max_files == 10);
  for (const auto* text : {"", "/mnt/lustre 1 0 0 - 1 0 0 -", "a permission denied b c d e f g", "/m 1 2 3",
                           "/m 99999999999999999999999 1 1 - 1 1 1 -"})
    CHECK_FALSE(parse_lfs_quota(text, "user"));
}

TEST_CASE("free capacity is that of the nearest existing folder, and a file system without quotas reports no quota") {
  Scratch at;
  CHECK(existing_part(at / "a/b/c") == at.path());
  CHECK(existing_part("/no such folder/a") == "/");
  CHECK(existing_part("no such folder/a") == ".");
  CHECK(existing_part("") == ".");
  const auto room = storage_room_at(at / "a/b");
  REQUIRE(room);
  CHECK(room->free_bytes > 0);
  CHECK(quotas_at("/proc").empty());
  CHECK(quotas_at(at / "none").empty());
  CHECK(reason_with_shortage("/proc/x", EIO) == "Input/output error");
}

TEST_CASE("byte_size uses the largest unit that is not above the number") {
  CHECK(byte_size(0) == "0 B");
  CHECK(byte_size(1023) == "1023 B");
  CHECK(byte_size(1536) == "1.5 KiB");
  CHECK(byte_size(gibibyte) == "1.0 GiB");
  CHECK(byte_size(~std::uint64_t{0}) == "16384.0 PiB");
}
