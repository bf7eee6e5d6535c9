#include <fstream>
#include <functional>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "program/staging/archives.hpp"
#include "program/staging/link_target.hpp"
#include "program/staging/stage_folder.hpp"
#include "program/staging/staged_tree.hpp"
#include "program/staging/worker.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::program::stage;
using Catch::Matchers::Contains;
using trainrt::test::Scratch;
namespace fs = std::filesystem;

namespace {

struct Member {
  std::string name;
  unsigned type = AE_IFREG;
  std::string content;  ///< content, or target of a link
  unsigned mode = 0644;
  bool is_hard_link = false;
};

/// Returns a tar with these members, also invalid ones.
std::string tar_of(const std::vector<Member>& members) {
  std::string bytes;
  const Emit emit = [&](std::span<const char> part) { bytes.append(part.data(), part.size()); };
  EmittedArchive tar(emit);
  for (const auto& member : members) {
    const Archived<archive_entry> entry(archive_entry_new());
    archive_entry_copy_pathname(entry.get(), member.name.c_str());
    archive_entry_set_filetype(entry.get(), member.type);
    archive_entry_set_perm(entry.get(), member.mode);
    archive_entry_set_mtime(entry.get(), 1'000'000'000, 0);
    if (member.type == AE_IFREG && !member.is_hard_link)
      archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
    if (member.type == AE_IFLNK) archive_entry_copy_symlink(entry.get(), member.content.c_str());
    if (member.is_hard_link) archive_entry_copy_hardlink(entry.get(), member.content.c_str());
    REQUIRE(archive_write_header(tar.get(), entry.get()) == ARCHIVE_OK);
    if (archive_entry_size(entry.get()) > 0) archive_write_data(tar.get(), member.content.data(), member.content.size());
  }
  tar.close();
  return bytes;
}

/// Runs `work` in a thread with its own current folder, and returns its error.
std::string error_in(const std::string& folder, const std::function<void()>& work) {
  Worker worker([&](ChunkQueue&) {
    if (chdir(folder.c_str()) != 0) throw Error("chdir");
    work();
  });
  REQUIRE(worker.ends_within(20));
  return worker.error();
}

struct Unpacked {
  TreeSize size;
  std::string error;
};

/// Unpacks `tar` into `folder`, in chunks of 1000 bytes.
Unpacked unpack(const std::string& tar, const std::string& folder) {
  Unpacked found;
  std::size_t at = 0;
  found.error = error_in(folder, [&] {
    found.size = unpack_tar([&] {
      const auto count = std::min<std::size_t>(1000, tar.size() - at);
      at += count;
      return std::span<const char>(tar.data() + at - count, count);
    });
  });
  return found;
}

/// Returns a gzip tar with one file of zeros.
std::string tar_of_zeros(std::int64_t bytes) {
  std::string packed;
  const Archived<archive> tar(archive_write_new());
  archive_write_set_format_gnutar(tar.get());
  archive_write_add_filter_gzip(tar.get());
  archive_write_set_filter_option(tar.get(), "gzip", "compression-level", "1");
  archive_write_open(
      tar.get(), &packed, nullptr,
      [](archive*, void* to, const void* part, std::size_t size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(part), size);
        return static_cast<la_ssize_t>(size);
      },
      nullptr);
  const Archived<archive_entry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), "zeros");
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), bytes);
  REQUIRE(archive_write_header(tar.get(), entry.get()) == ARCHIVE_OK);
  const std::string zeros(std::size_t{16} << 20, '\0');
  for (auto left = bytes; left > 0; left -= std::ssize(zeros))
    archive_write_data(tar.get(), zeros.data(), static_cast<std::size_t>(std::min(left, std::ssize(zeros))));
  archive_write_close(tar.get());
  return packed;
}

const StageFormat& format_named(std::string_view name) { return find_plugin(format_table(), name, "format"); }

Unpacked copy_of(const std::string& source, const std::string& folder, std::string_view format = "directory") {
  std::string tar;
  const auto error = error_in("/", [&] {
    format_named(format).read(source, [&](std::span<const char> part) { tar.append(part.data(), part.size()); });
  });
  if (!error.empty()) return {{}, error};
  return unpack(tar, folder);
}

void write(const fs::path& path, const std::string& text, mode_t mode = 0644) {
  std::ofstream(path, std::ios::binary) << text;
  REQUIRE(chmod(path.c_str(), mode) == 0);
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct stat status_of(const fs::path& path) {
  struct stat found {};
  REQUIRE(lstat(path.c_str(), &found) == 0);
  return found;
}

}  // namespace

TEST_CASE("a staged folder has the modes, times, links, names and empty files of the source") {
  const Scratch scratch;
  const fs::path from = scratch / "from", to = scratch / "to";
  const std::string strange = "caf\xe9 \xff", longest(250, 'n');
  fs::create_directories(from / "empty" / "deep" / longest / longest);
  fs::create_directory(to);
  write(from / strange, "one", 0755);
  write(from / "none", "");
  write(from / "empty/deep" / longest / longest / "\xc3\xa9.py", std::string(3'000'000, 'x'), 0600);
  fs::create_hard_link(from / strange, from / "same");
  fs::create_symlink("none", from / "link");
  fs::create_symlink("/usr/bin/python3", from / "python3");
  REQUIRE(mkfifo((from / "pipe").c_str(), 0600) == 0);
  REQUIRE(chmod((from / "empty").c_str(), 0555) == 0);
  const auto found = copy_of(from, to);
  REQUIRE(found.error == "");
  CHECK((found.size.files == 6 && found.size.bytes == 3'000'003 && found.size.left_out == 1));
  CHECK(text_of(to / strange) == "one");
  CHECK((status_of(to / strange).st_mode & 07777) == 0755);
  CHECK(status_of(to / strange).st_mtim.tv_sec == status_of(from / strange).st_mtim.tv_sec);
  CHECK(status_of(to / "same").st_ino == status_of(to / strange).st_ino);
  CHECK(status_of(to / "none").st_size == 0);
  CHECK(status_of(to / "empty/deep" / longest / longest / "\xc3\xa9.py").st_size == 3'000'000);
  CHECK((fs::read_symlink(to / "link") == "none" && fs::read_symlink(to / "python3") == "/usr/bin/python3"));
  CHECK_FALSE(fs::exists(fs::symlink_status(to / "pipe")));
  CHECK((status_of(to / "empty").st_mode & 0777) == 0755);  // so that the folder can be removed
  CHECK(format_named("directory").identity(from) == format_named("directory").identity(from));
  const auto before = format_named("directory").identity(from);
  write(from / "none", "x");
  CHECK(format_named("directory").identity(from) != before);
}

TEST_CASE("a link in a staged folder leads to the copy if its target is inside, else to the original") {
  struct Case {
    const char *name, *target, *staged;
  };
  for (const auto& c : {Case{"lib64", "lib", "lib"}, Case{"a/b", "../c/d", "../c/d"}, Case{"a/b", "/s/env/c/d", "../c/d"},
                        Case{"b", "/s/env/c", "c"}, Case{"a/b", "../../other", "/s/other"}, Case{"b", "/usr/x", "/usr/x"},
                        Case{"b", "/s/env2/x", "/s/env2/x"}, Case{"b", "..", "/s/"}}) {
    CAPTURE(c.name, c.target);
    CHECK(link_target("/s/env", c.name, c.target) == c.staged);
  }
}

TEST_CASE("a tar creates no file outside of the folder") {
  const Scratch scratch;
  const auto outside = scratch / "outside", to = scratch / "to";
  fs::create_directory(outside);
  fs::create_directory(to);
  write(outside + "/victim", "safe");
  for (const auto& members :
       {std::vector<Member>{{"../outside/made"}}, std::vector<Member>{{"a/../../outside/made"}},
        std::vector<Member>{{outside + "/made"}},
        std::vector<Member>{{"link", AE_IFLNK, "../outside"}, {"link/made", AE_IFREG, "x"}},
        std::vector<Member>{{"link", AE_IFLNK, outside + "/victim"}, {"link", AE_IFREG, "lost"}},
        std::vector<Member>{{"hard", AE_IFREG, "../outside/victim", 0644, true}, {"hard", AE_IFREG, "lost"}},
        std::vector<Member>{{"hard", AE_IFREG, outside + "/victim", 0644, true}}}) {
    CAPTURE(members.front().name, members.front().content);
    unpack(tar_of(members), to);
    CHECK(std::distance(fs::directory_iterator(outside), {}) == 1);
    CHECK(text_of(outside + "/victim") == "safe");
    CHECK(status_of(outside + "/victim").st_nlink == 1);
  }
  CHECK_THAT(unpack(tar_of({{"../up"}}), to).error, Contains("'../up'"));
}

TEST_CASE("devices, pipes and set-user-ID bits of a tar are not staged") {
  const Scratch scratch;
  const auto found =
      unpack(tar_of({{"device", AE_IFCHR}, {"pipe", AE_IFIFO}, {"tool", AE_IFREG, "x", 06755}}), scratch.path());
  REQUIRE(found.error == "");
  CHECK((found.size.left_out == 2 && found.size.files == 1));
  CHECK((status_of(scratch / "tool").st_mode & 07777) == 0755);
}

TEST_CASE("a truncated or invalid tar is an error") {
  const Scratch scratch;
  const auto whole = tar_of({{"file", AE_IFREG, std::string(100'000, 'x')}});
  CHECK_THAT(unpack(whole.substr(0, 50'000), scratch.path()).error, Contains("'file'"));
  CHECK_THAT(unpack("no tar at all", scratch.path()).error, Contains("tar"));
}

TEST_CASE("the format is recognised by the content, and an unknown one is an error that lists the formats") {
  const Scratch scratch;
  const auto tar = scratch / "without.ending", text = scratch / "text.tar";
  write(tar, tar_of({{"a"}}));
  write(text, "no tar");
  write(scratch / "image", "hsqs and more");
  write(scratch / "nothing", "");
  CHECK(format_of(tar).name == "tar");
  CHECK(format_of(scratch.path()).name == "directory");
  CHECK(format_of(scratch / "image").name == "squashfs");
  CHECK_THROWS_WITH(format_of(text), Contains("program.stage: " + text) && Contains("squashfs") && Contains("directory"));
  CHECK_THROWS_AS(format_of(scratch / "nothing"), UsageError);
  CHECK_THROWS_WITH(format_of(scratch / "away"), Contains("cannot read") && Contains("No such file"));
}

TEST_CASE("a tree appears when it is complete, and that of a killed process is removed by the next one") {
  const Scratch scratch;
  {
    const StageFolder folder(scratch.path(), "mine");
    const auto part = folder.new_part();
    CHECK(folder.identity() == "");
    folder.complete(part, "as it was");
    CHECK(folder.identity() == "as it was");
  }
  const auto root = scratch / ("trainrt-stage-" + std::to_string(geteuid()));
  CHECK((status_of(root).st_mode & 0777) == 0700);
  const auto killed = fork();
  if (killed == 0) {
    const StageFolder folder(scratch.path(), "killed");
    write(folder.new_part() + "/file", "half");
    kill(getpid(), SIGKILL);
  }
  waitpid(killed, nullptr, 0);
  const StageFolder living(scratch.path(), "living");
  const auto part = living.new_part();
  CHECK(std::distance(fs::directory_iterator(root), {}) == 7);  // 3 locks, 2 parts, a tree and its identity
  const StageFolder next(scratch.path(), "next");
  next.remove_abandoned();
  CHECK((fs::exists(part) && std::distance(fs::directory_iterator(root), {}) == 3));
  next.remove();
  living.remove();
  CHECK(fs::is_empty(root));
}

TEST_CASE("a folder that another process uses or another user may enter is an error") {
  const Scratch scratch;
  const StageFolder mine(scratch.path(), "name");
  CHECK_THROWS_WITH(StageFolder(scratch.path(), "name", 0.1), Contains("locked by another process"));
  chmod((scratch / ("trainrt-stage-" + std::to_string(geteuid()))).c_str(), 0777);
  CHECK_THROWS_WITH(StageFolder(scratch.path(), "other"), Contains("mode 0700"));
  CHECK_THROWS_WITH(StageFolder(scratch / "away", "name"), Contains("cannot create"));
}

TEST_CASE("the variables of a program depend on the content of the tree") {
  const Scratch scratch;
  const fs::path venv = scratch / "venv", around = scratch / "around", packages = scratch / "packages",
                 conda = scratch / "conda";
  fs::create_directories(venv / "bin");
  fs::create_directories(around / "inner/bin");
  fs::create_directories(packages / "lib/python3.11/site-packages");
  fs::create_directories(conda / "conda-meta");
  write(venv / "pyvenv.cfg", "");
  write(venv / "bin/python3", "", 0755);
  const Variables inherited = {{"PATH", "/bin"}, {"PYTHONPATH", "/mine"}};
  const auto of_venv = StagedTree(venv, "/s/venv").variables(inherited);
  CHECK(of_venv == Variables{{"TRAINRT_STAGE", venv}, {"PATH", venv.string() + "/bin:/bin"}, {"VIRTUAL_ENV", venv}});
  CHECK(StagedTree(around, "/s/venv.tar").root() == around / "inner");
  const auto of_packages = StagedTree(packages, "/s/p").variables(inherited);
  CHECK(of_packages.at("PYTHONPATH") ==
        packages.string() + ":" + (packages / "lib/python3.11/site-packages").string() + ":/mine");
  CHECK_FALSE(of_packages.contains("PATH"));
  CHECK(StagedTree(conda, "/s/c").variables({}).at("CONDA_PREFIX") == conda);
  CHECK(StagedTree(venv, "/s/venv").executable("python3") == venv / "bin/python3");
  CHECK(StagedTree(venv, "/s/venv").executable("sh") != "");
}

TEST_CASE("a program or script in the source is started from the tree; other arguments do not change") {
  const Scratch scratch;
  const StagedTree tree(scratch.path(), "/s/venv/");
  using Words = std::vector<std::string>;
  CHECK(tree.command_in_tree({"/s/venv/bin/python3", "-u", "/s/venv/x/../train.py", "/s/venv/out"}) ==
        Words{scratch / "bin/python3", "-u", scratch / "train.py", "/s/venv/out"});
  CHECK(tree.command_in_tree({"/s/venv2/python3", "/s/venv"}) == Words{"/s/venv2/python3", "/s/venv"});
}

TEST_CASE("a compressed tar that expands without bound is an error that names the entry, before it fills the storage") {
  const Scratch scratch;
  const auto small = scratch / "small", large = scratch / "large";
  fs::create_directory(small);
  fs::create_directory(large);
  CHECK(unpack(tar_of_zeros(100 << 20), small).size.bytes == 100 << 20);
  const auto bomb = tar_of_zeros(std::int64_t{1100} << 20);
  CHECK(bomb.size() < 10'000'000);
  CHECK_THAT(unpack(bomb, large).error, Contains("at 'zeros' the tar has expanded to more than 1073741824 bytes"));
  CHECK(status_of(fs::path(large) / "zeros").st_blocks * 512 <= (1 << 30) + (1 << 20));
}
