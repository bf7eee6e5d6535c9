#include "cli/files/atomic_file.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::test;
using namespace trainrt::cli;
namespace fs = std::filesystem;

TEST_CASE("a new file appears only when it is committed") {
  Scratch folder;
  const auto path = folder / "file";
  { AtomicFile(path, false).write(5, "abc"); }
  CHECK(fs::is_empty(folder.path()));
  {
    AtomicFile file(path, false);
    file.reserve(10);
    file.write(5, "abc");
    CHECK(file.bytes() == 10);
    file.commit();
  }
  CHECK(io::read_file(path) == std::string("\0\0\0\0\0abc\0\0", 10));
  CHECK_THROWS_WITH(AtomicFile(path, false), Catch::Contains("exists already") && Catch::Contains("--force"));
  { AtomicFile(path, true).write(0, "not this"); }
  CHECK(io::read_file(path).size() == 10);
  {
    AtomicFile file(path, true);
    file.write(0, "new");
    file.commit();
  }
  CHECK(io::read_file(path) == "new");
  {
    AtomicFile file(folder / "raced", false);
    file.write(0, "late");
    std::ofstream(folder / "raced") << "first";
    CHECK_THROWS_WITH(file.commit(), Catch::Contains("exists already"));
  }
  CHECK(io::read_file(folder / "raced") == "first");
  CHECK(io::list_directory(folder.path()) == std::vector<std::string>{"file", "raced"});
  CHECK_THROWS_AS(AtomicFile(folder / "none/file", false), UsageError);
}
