#include "io/files/fenced_directory.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>

#include <catch2/catch.hpp>

#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::io;
using Catch::Contains;
using test::error_of;
using test::Scratch;
using Names = std::vector<std::string>;

namespace {

FencedDirectory owner_of(const Scratch& dir, const std::string& number) {
  make_directory(dir / (".owner_" + number));
  return {dir.path(), dir / (".owner_" + number)};
}

std::string fence(const FencedDirectory& files) { return fence_off(files.private_dir(), files.path() + "/.fenced"); }

}  // namespace

TEST_CASE("an owner replaces, creates and removes files, and its private directory stays empty") {
  Scratch dir;
  const auto files = owner_of(dir, "1");
  make_directory(dir / "below");
  files.replace("a", "1");
  files.replace("a", "2");
  files.replace("below/b", "3");
  CHECK(read_file(dir / "a") == "2");
  CHECK(read_file(dir / "below/b") == "3");
  CHECK(files.create("c", "first"));
  CHECK_FALSE(files.create("c", "second"));
  CHECK(read_file(dir / "c") == "first");
  files.remove("a");
  files.remove("never there");
  files.remove("below");
  CHECK(list_directory(dir.path()) == Names{".owner_1", "c"});
  CHECK(list_directory(files.private_dir()).empty());
  CHECK_FALSE(files.is_fenced());
}

TEST_CASE("an owner that was fenced off changes nothing, and its errors name the new owner") {
  Scratch dir;
  const auto old = owner_of(dir, "1");
  old.replace("a", "of the old");
  CHECK(fence(old).empty());
  const auto next = owner_of(dir, "2");
  next.replace("a", "of the next");
  CHECK(old.is_fenced());
  CHECK_THROWS_AS(old.replace("a", "late"), FencedOff);
  CHECK_THROWS_AS(old.replace("new", "late"), FencedOff);
  CHECK_THROWS_AS(old.create("new", "late"), FencedOff);
  CHECK_THAT(error_of([&] { old.replace("a", "late"); }), Contains("another attempt owns this run now"));
  old.remove("a");
  CHECK(read_file(dir / "a") == "of the next");
  CHECK(list_directory(dir.path()) == Names{".owner_2", "a"});
}

TEST_CASE("a temporary file written before the fence cannot be published after it") {
  Scratch dir;
  const auto old = owner_of(dir, "1");
  old.write_temporary("a", "late");
  CHECK(fence(old).empty());
  CHECK_THROWS_AS(old.publish("a"), FencedOff);
  CHECK(list_directory(dir.path()).empty());
}

TEST_CASE("a rename that has already opened the private directory fails after the fence") {
  Scratch dir;
  const auto old = owner_of(dir, "1");
  make_directory(old.private_dir() + "/checkpoint");
  write_file(old.private_dir() + "/checkpoint/manifest", "");
  write_file(dir / "kept", "");
  // The open directory simulates a system call that has already looked up the path.
  const Descriptor found(::open(old.private_dir().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(fence(old).empty());
  CHECK(::renameat(found.get(), "checkpoint", AT_FDCWD, (dir / "checkpoint").c_str()) != 0);
  CHECK(::renameat(AT_FDCWD, (dir / "kept").c_str(), found.get(), "kept") != 0);
  CHECK(list_directory(dir.path()) == Names{"kept"});
}

TEST_CASE("a fence completes an interrupted one, and does nothing if the owner is fenced off already") {
  Scratch dir;
  const auto old = owner_of(dir, "1");
  make_directories(dir / ".fenced/left");
  write_file(old.private_dir() + "/x", "");
  CHECK(fence(old).empty());
  CHECK(fence(old).empty());
  CHECK(list_directory(dir.path()).empty());
}

TEST_CASE("a fence follows no symbolic link named like a private directory, or in one") {
  Scratch dir;
  make_directory(dir / "precious");
  write_file(dir / "precious/data", "kept");
  make_directory(dir / "run");
  std::filesystem::create_directory_symlink(dir / "precious", dir / "run/.owner_1");
  CHECK(fence_off(dir / "run/.owner_1", dir / "run/.fenced").empty());
  CHECK(list_directory(dir / "run").empty());
  make_directory(dir / "run/.owner_2");
  std::filesystem::create_directory_symlink(dir / "precious", dir / "run/.owner_2/checkpoint_000001");
  std::filesystem::create_symlink(dir / "precious/data", dir / "run/.owner_2/run.json");
  CHECK(fence_off(dir / "run/.owner_2", dir / "run/.fenced").empty());
  CHECK(list_directory(dir / "run").empty());
  CHECK(list_directory(dir / "precious") == Names{"data"});
  CHECK(read_file(dir / "precious/data") == "kept");
}

TEST_CASE("an owner replaces a symbolic link and does not write to its target") {
  Scratch dir;
  write_file(dir / "precious", "kept");
  const auto files = owner_of(dir, "1");
  for (const auto& link : {dir / "a", files.temporary_path("a"), files.temporary_path("pulse"), dir / "pulse"})
    std::filesystem::create_symlink(dir / "precious", link);
  files.replace("a", "1");
  CHECK_FALSE(is_link(dir / "a"));
  CHECK_THAT(error_of([&] { replace_file_unsynced(dir / "pulse", files.temporary_path("pulse"), "1"); }),
             Contains("symbolic link has this name"));
  replace_file_unsynced(dir / "pulse", files.temporary_path("pulse"), "1");  // the failure has removed the link
  CHECK_FALSE(is_link(dir / "pulse"));
  CHECK(read_file(dir / "precious") == "kept");
}

TEST_CASE("a directory may be a symbolic link, and is not fenced while the target is missing") {
  Scratch dir;
  make_directory(dir / "storage");
  std::filesystem::create_directory_symlink(dir / "storage", dir / "run");
  const FencedDirectory files(dir / "run", dir / "run/.owner_1");
  make_directory(files.private_dir());
  files.replace("a", "1");
  CHECK(read_file(dir / "storage/a") == "1");
  CHECK_FALSE(files.is_fenced());
  std::rename((dir / "storage").c_str(), (dir / "away").c_str());
  CHECK_FALSE(files.is_fenced());
  std::rename((dir / "away").c_str(), (dir / "storage").c_str());
  CHECK(fence(files).empty());
  CHECK(files.is_fenced());
}

TEST_CASE("unavailable storage fences no owner, and its error is transient") {
  Scratch dir;
  const FencedDirectory files(dir / "mounted", dir / "mounted/.owner_1");
  CHECK_FALSE(files.is_fenced());
  try {
    files.replace("a", "1");
    FAIL("it was written");
  } catch (const StorageError& error) {
    CHECK(is_transient(error.error_number()));
  }
}

TEST_CASE("a full disk and missing permissions are not transient") {
  for (const int error : {ENOSPC, EDQUOT, EACCES, EROFS, ENOENT, EEXIST}) CHECK_FALSE(is_transient(error));
  for (const int error : {EIO, ESTALE, ETIMEDOUT, EHOSTDOWN, ENOTCONN}) CHECK(is_transient(error));
}
