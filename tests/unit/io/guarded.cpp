#include <algorithm>
#include <filesystem>
#include <optional>

#include <catch2/catch.hpp>

#include "core/files/beneath.hpp"
#include "core/files/guarded_tree.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/fenced_directory.hpp"
#include "io/files/file.hpp"
#include "io/files/positional_file.hpp"
#include "io/files/temporary.hpp"
#include "io/storage.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using Catch::Contains;
using test::error_of;
using test::Scratch;
namespace fs = std::filesystem;

namespace {

/// Creates precious/ with some files, and tree/, into which the tests put links to precious/.
void make_precious(const Scratch& at) {
  fs::create_directories(at / "precious/inner");
  fs::create_directories(at / "tree/folder");
  for (const auto* name : {"precious/data", "precious/inner/data", "tree/folder/data"}) io::write_file(at / name, "kept");
}

void check_precious(const Scratch& at) {
  CHECK(io::list_files_below(at / "precious") == std::vector<std::string>{"data", "inner/data"});
  CHECK(io::read_file(at / "precious/data") == "kept");
  CHECK(io::read_file(at / "precious/inner/data") == "kept");
}

}  // namespace

TEST_CASE("below a guarded tree, each file function refuses to follow a link, and names it") {
  const bool by_components = GENERATE(false, true);
  CAPTURE(by_components);
  std::optional<WithoutOpenat2> without;
  if (by_components) without.emplace();
  Scratch at;
  make_precious(at);
  const GuardedTree guarded(at / "tree");
  fs::create_directory_symlink(at / "precious", at / "tree/link");
  const auto link = at / "tree/link", inside = link + "/data", fresh = link + "/new";
  const auto mine = at / "tree/folder/data";
  const std::vector<std::function<void()>> calls = {
      [&] { io::read_file(inside); },
      [&] { io::write_file(fresh, "x"); },
      [&] { io::replace_file(inside, "x"); },
      [&] { io::replace_file_unsynced(inside, at / "tree/aside", "x"); },
      [&] { io::replace_file_unsynced(mine, link + "/aside", "x"); },
      [&] { io::sync_directory(link); },
      [&] { io::make_directories(fresh); },
      [&] { io::make_directories(link); },
      [&] { io::make_directory(fresh); },
      [&] { io::make_directories_below(at / "tree", fresh + "/deep"); },
      [&] { io::rename_to_new(inside, at / "tree/taken"); },
      [&] { io::remove_tree(inside); },
      [&] { io::remove_tree(link + "/inner"); },
      [&] { io::list_directory(link); },
      [&] { io::list_if_exists(link + "/inner"); },
      [&] { io::list_files_below(link); },
      [&] { io::exists(inside); },
      [&] { io::create_exclusive(fresh, "x"); },
      [&] { io::PositionalFile::create(inside); },
      [&] { io::PositionalFile::open(inside); },
      [&] { io::FencedDirectory(at / "tree", at / "tree/folder").replace("link/data", "x"); },
      [&] { io::FencedDirectory(at / "tree", at / "tree/folder").create("link/new", "x"); },
      [&] { io::FencedDirectory(at / "tree", at / "tree/folder").remove("link/data"); },
  };
  for (std::size_t call = 0; call < calls.size(); ++call) {
    CAPTURE(call);
    const auto error = error_of(calls[call]);
    CHECK_THAT(error, Contains("'" + link + "' is a symbolic link"));
    CHECK_THAT(error, Contains("remove the link"));
    check_precious(at);
  }
  CHECK_FALSE(io::is_link(inside));
  io::remove_abandoned(link);
  CHECK(io::is_link(link));
  io::remove_tree(link);
  CHECK_FALSE(io::exists(link));
  check_precious(at);
  CHECK(io::read_file(mine) == "kept");
}

TEST_CASE("a storage in a folder follows no link out of the folder") {
  const bool by_components = GENERATE(false, true);
  CAPTURE(by_components);
  std::optional<WithoutOpenat2> without;
  if (by_components) without.emplace();
  Scratch at;
  make_precious(at);
  fs::create_directory_symlink(at / "tree", at / "typed");
  const auto root = (at / "typed").substr(1);
  const auto storage = io::open_storage({"file", "", root});
  const auto folder = root + "/folder/";
  CHECK(storage->list(folder).size() == 1);
  const auto found = storage->find(folder + "data");
  REQUIRE(found);
  fs::create_directory_symlink(at / "precious", at / "tree/folder/link");
  fs::create_symlink(at / "precious/data", at / "tree/folder/file");
  for (const auto* name : {"link/data", "link/inner/data", "file"}) {
    CAPTURE(name);
    const auto planted = "'" + at / ("typed/folder/" + std::string(name).substr(0, 4)) + "' is a symbolic link";
    CHECK_THAT(error_of([&] { storage->find(folder + name); }), Contains(planted));
    io::StoredObject object = *found;
    object.name = folder + name;
    CHECK_THAT(error_of([&] { storage->read(object, {}); }), Contains(planted));
    CHECK_THAT(error_of([&] { storage->list(folder); }), Contains("is a symbolic link"));
    if (name != std::string("file")) {
      CHECK_THAT(error_of([&] { storage->put(at / "precious/data", folder + name); }), Contains(planted));
      CHECK_THAT(error_of([&] { storage->remove(folder + name); }), Contains(planted));
    }
    check_precious(at);
  }
  storage->remove(folder + "file");  // the link itself
  check_precious(at);
  CHECK_FALSE(io::exists(at / "tree/folder/file"));
}

TEST_CASE("a storage for reading datasets follows links") {
  Scratch at;
  make_precious(at);
  fs::create_directory_symlink(at / "precious", at / "tree/link");
  const auto storage = io::storage_for_reading({"file", "", (at / "tree").substr(1)});
  CHECK(storage->find((at / "tree/link/data").substr(1)));
}
