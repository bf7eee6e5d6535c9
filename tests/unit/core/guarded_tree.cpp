#include "core/files/guarded_tree.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "core/files/beneath.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using test::Scratch;
namespace fs = std::filesystem;

namespace {

/// Returns 0, or errno if `relative` cannot be opened below `base`.
int error_of_opening(const std::string& base, const std::string& relative, int flags = O_RDONLY) {
  const int directory = ::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int file = open_beneath(directory, relative, flags, 0666);
  const int error = file < 0 ? errno : 0;
  if (file >= 0) ::close(file);
  ::close(directory);
  return error;
}

int error_of_opening(const std::string& path) {
  const int file = open_guarded(path, O_RDONLY);
  const int error = file < 0 ? errno : 0;
  if (file >= 0) ::close(file);
  return error;
}

int error_of(int result) { return result < 0 ? errno : 0; }

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Makes root/a/b/c/file, and the same paths below each directory of outside/.
void make_tree(const Scratch& at) {
  for (const auto* folder : {"root/a/b/c", "outside/b/c", "outside/c"}) fs::create_directories(at / folder);
  for (const auto* file : {"root/a/b/c/file", "outside/b/c/file", "outside/c/file", "outside/file"})
    write(at / file, std::string(file).starts_with("root") ? "inside" : "outside");
}

}  // namespace

TEST_CASE("open_beneath follows no symbolic link in any component") {
  const bool by_components = GENERATE(false, true);
  CAPTURE(by_components);
  std::optional<WithoutOpenat2> without;
  if (by_components) without.emplace();
  Scratch at;
  make_tree(at);
  CHECK(error_of_opening(at / "root", "a/b/c/file") == 0);
  CHECK(error_of_opening(at / "root", "/a//b/./c/file") == 0);
  CHECK(error_of_opening(at / "root", "a/b/c", O_RDONLY | O_DIRECTORY) == 0);
  CHECK(error_of_opening(at / "root", "a/../a/b/c/file") == EXDEV);
  CHECK(error_of_opening(at / "root", "../outside/file") == EXDEV);
  CHECK(error_of_opening(at / "root", "a/nothing/file") == ENOENT);
  CHECK(error_of_opening(at / "root", "a/b/c/file/x") == ENOTDIR);
  CHECK(error_of_opening(at / "root", "a/new", O_WRONLY | O_CREAT | O_EXCL) == 0);
  CHECK(error_of_opening(at / "root", "a/new", O_WRONLY | O_CREAT | O_EXCL) == EEXIST);
  for (const auto* component : {"a/b/c/file", "a/b/c", "a/b", "a"}) {
    CAPTURE(component);
    const auto planted = at / ("root/" + std::string(component));
    fs::rename(planted, at / "moved");
    for (const auto& target : {at / "outside", std::string("../outside"), at / "root"}) {
      fs::create_symlink(target, planted);
      CHECK(error_of_opening(at / "root", "a/b/c/file") == ELOOP);
      CHECK(error_of_opening(at / "root", "a/b/c/file", O_WRONLY | O_CREAT) == ELOOP);
      CHECK(error_of_opening(at / "root", "a/b/c", O_RDONLY | O_DIRECTORY) ==
            (component == std::string("a/b/c/file") ? 0 : ELOOP));
      fs::remove(planted);
    }
    fs::rename(at / "moved", planted);
  }
}

TEST_CASE("no call follows a symbolic link below a guarded tree; its root may be a link") {
  const bool by_components = GENERATE(false, true);
  CAPTURE(by_components);
  std::optional<WithoutOpenat2> without;
  if (by_components) without.emplace();
  Scratch at;
  make_tree(at);
  fs::create_directory_symlink(at / "root", at / "typed");
  const GuardedTree guarded(at / "typed/");
  CHECK(error_of_opening(at / "typed/a/b/c/file") == 0);
  fs::create_directory_symlink(at / "outside", at / "root/a/link");
  const auto through = at / "typed/a/link/file", into = at / "typed/a/link/new";
  struct stat info {};
  CHECK(error_of_opening(through) == ELOOP);
  CHECK(error_of(stat_guarded(through, info)) == ELOOP);
  CHECK(error_of(stat_guarded(at / "typed/a/link", info)) == ELOOP);
  CHECK(error_of(unlink_guarded(through)) == ELOOP);
  CHECK(error_of(rename_guarded(through, at / "typed/taken")) == ELOOP);
  CHECK(error_of(rename_guarded(at / "typed/a/b/c/file", into)) == ELOOP);
  CHECK(error_of(link_guarded(at / "typed/a/b/c/file", into)) == ELOOP);
  CHECK(error_of(remove_directory_guarded(at / "typed/a/link/c")) == ELOOP);
  const auto make = [](int directory, const char* name) { return ::mkdirat(directory, name, 0777); };
  CHECK(error_of(at_entry(into, make)) == ELOOP);
  CHECK(text_of(at / "outside/file") == "outside");
  CHECK_FALSE(fs::exists(at / "outside/new"));
  const auto found = link_in_the_way(through);
  REQUIRE(found);
  CHECK(found->link == at / "typed/a/link");
  CHECK(found->root == at / "typed");
  CHECK_FALSE(link_in_the_way(at / "typed/a/b/c/file"));
  CHECK(unlink_guarded(at / "typed/a/link") == 0);  // removes the link, not its target
  CHECK(text_of(at / "outside/file") == "outside");
}

TEST_CASE("a guarded tree ends with its object, excludes the user's folder, and yields to an inner tree") {
  Scratch at;
  make_tree(at);
  fs::create_directory_symlink(at / "outside", at / "root/users");
  fs::create_directory_symlink(at / "outside", at / "root/linked");
  {
    const GuardedTree guarded(at / "root", "users");
    const GuardedTree again(at / "root", "users");
    CHECK(error_of_opening(at / "root/users") == 0);
    CHECK(error_of_opening(at / "root/users/file") == 0);
    CHECK(error_of_opening(at / "root/linked/file") == ELOOP);
    CHECK(error_of_opening(at / "root/linked/c/file") == ELOOP);
    const GuardedTree inner(at / "root/linked");
    CHECK(error_of_opening(at / "root/linked/c/file") == 0);
    CHECK(error_of_opening(at / "root2") == ENOENT);
  }
  CHECK(error_of_opening(at / "root/linked/file") == 0);
}

TEST_CASE("replacing a directory by a link between two calls leads no call out of the tree") {
  Scratch at;
  make_tree(at);
  const GuardedTree guarded(at / "root");
  const PathEntry entry(at / "root/a/b/c/file");  // opens the parent
  fs::rename(at / "root/a", at / "root/old");
  fs::create_directory_symlink(at / "outside", at / "root/a");
  REQUIRE(entry.error() == 0);
  CHECK(::unlinkat(entry.directory(), entry.name(), 0) == 0);
  CHECK_FALSE(fs::exists(at / "root/old/b/c/file"));
  CHECK(text_of(at / "outside/b/c/file") == "outside");
  CHECK(error_of(unlink_guarded(at / "root/a/b/c/file")) == ELOOP);
}
