#include "io/files/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <trainrt/error.hpp>

#include "io/files/digest.hpp"
#include "support/cpp/empty_remover.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using trainrt::test::error_of;
using trainrt::test::Scratch;
namespace fs = std::filesystem;

TEST_CASE("a written file of any length reads back unchanged") {
  Scratch at;
  for (const std::size_t length : {0u, 1u, 65535u, 65536u, 65537u, 3000001u}) {
    std::string bytes(length, '\0');
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<char>(i * 7);
    const auto path = at / std::to_string(length);
    io::write_file(path, bytes);
    CHECK(io::read_file(path) == bytes);
    const auto digest = io::digest_of_file(path);
    CHECK(digest.bytes == length);
    CHECK(digest.hex == io::digest_of(bytes));
  }
}

TEST_CASE("a digest is XXH3-128, in the format of xxhsum") {
  CHECK(io::digest_of("") == "99aa06d3014798d86001c324468d497f");
  io::Digest digest;
  const std::string text = "trainrt";
  for (const char& c : text) digest.update(std::as_bytes(std::span(&c, 1)));
  CHECK(digest.hex() == io::digest_of(text));
}

TEST_CASE("file errors name the operation, the path, the reason and the remedy") {
  Scratch at;
  CHECK_THAT(error_of([&] { io::read_file(at / "none"); }),
             Catch::Contains("cannot open '" + (at / "none") + "': No such file or directory; check that the path exists"));
  io::write_file(at / "there", "x");
  CHECK_THAT(error_of([&] { io::write_file(at / "there", "y"); }),
             Catch::Contains("cannot create") && Catch::Contains("File exists"));
  CHECK(io::read_file(at / "there") == "x");
  CHECK_THAT(error_of([&] { io::read_file(at.path()); }), Catch::Contains("not a regular file"));
  CHECK_THAT(error_of([&] { io::list_directory(at / "none"); }), Catch::Contains("No such file"));
  CHECK_THAT(error_of([&] { io::make_directories(at / "there/below"); }), Catch::Contains("cannot make directory"));
  CHECK_THAT(error_of([&] { io::fail("write", "/x", ENOSPC); }),
             Catch::Contains("left there") && Catch::Contains("remove files"));
}

TEST_CASE("reading a named pipe is an error and does not wait") {
  Scratch at;
  REQUIRE(mkfifo((at / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(error_of([&] { io::read_file(at / "pipe"); }), Catch::Contains("not a regular file"));
}

TEST_CASE("replacing a file leaves only the new file, or the old one on failure") {
  Scratch at;
  using Replace = void (*)(const std::string&, std::string_view);
  const Replace lightly = [](const std::string& path, std::string_view bytes) {
    io::replace_file_unsynced(path, path + ".aside", bytes);
  };
  const auto replace = GENERATE_COPY(static_cast<Replace>(&io::replace_file), lightly);
  replace(at / "f", "one and more");
  replace(at / "f", "two");
  CHECK(io::read_file(at / "f") == "two");
  fs::create_directories(at / "d/inner");
  CHECK_FALSE(error_of([&] { replace(at / "d", "x"); }).empty());
  CHECK(io::list_directory(at.path()) == std::vector<std::string>{"d", "f"});
}

TEST_CASE("removing a tree removes symbolic links, not their targets") {
  Scratch at;
  fs::create_directories(at / "outside/deep");
  io::write_file(at / "outside/keep", "precious");
  fs::create_directories(at / "tree/a/b");
  io::write_file(at / "tree/a/b/f", "x");
  fs::create_directory_symlink(at / "outside", at / "tree/a/link");
  fs::create_symlink("nowhere", at / "tree/broken");
  io::remove_tree(at / "tree");
  CHECK_FALSE(io::exists(at / "tree"));
  CHECK(io::read_file(at / "outside/keep") == "precious");

  fs::create_directory_symlink(at / "outside", at / "link");
  io::remove_tree(at / "link");
  CHECK_FALSE(io::exists(at / "link"));
  CHECK(io::read_file(at / "outside/keep") == "precious");
  io::remove_tree(at / "never was");
}

TEST_CASE("rename_to_new() replaces nothing") {
  Scratch at;
  fs::create_directories(at / "from");
  fs::create_directories(at / "taken");
  CHECK_FALSE(io::rename_to_new(at / "from", at / "taken"));
  CHECK(io::exists(at / "from"));
  CHECK(io::rename_to_new(at / "from", at / "free"));
  CHECK_FALSE(io::exists(at / "from"));
  CHECK_THAT(error_of([&] { io::rename_to_new(at / "none", at / "x"); }), Catch::Contains("No such file"));
}

TEST_CASE("directories are created with their parents, and existing ones are accepted") {
  Scratch at;
  io::make_directories(at / "a/b/c/");
  io::make_directories(at / "a/b/c");
  io::write_file(at / "a/b/c/f", "");
  io::write_file(at / "a/z", "");
  io::sync_directory(at / "a/b");
  CHECK(io::list_files_below(at.path()) == std::vector<std::string>{"a/b/c/f", "a/z"});
}

TEST_CASE("directories are made although another process removes their parents while these are empty") {
  const Scratch at;
  const test::EmptyRemover remover({at / "a/b", at / "a"});
  for (int i = 0; i < 50; ++i) {
    REQUIRE_NOTHROW(io::make_directories(at / "a/b/c"));
    fs::remove(at / "a/b/c");
  }
  CHECK(remover.removed() > 0);
}
