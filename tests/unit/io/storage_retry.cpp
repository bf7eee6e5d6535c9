#include "io/storage_retry.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <functional>

#include <catch2/catch.hpp>

#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::io;
using test::Scratch;

namespace {

/// Sets the storage timeout for one test and resets it at the end.
class WithStorageTimeout {
 public:
  explicit WithStorageTimeout(double seconds) { set_storage_timeout(seconds); }
  ~WithStorageTimeout() { set_storage_timeout(0); }
  WithStorageTimeout(const WithStorageTimeout&) = delete;
};

int error_number_of(const std::function<void()>& work) {
  try {
    work();
    return 0;
  } catch (const StorageError& error) {
    return error.error_number();
  }
}

}  // namespace

TEST_CASE("work inside a directory is retried until the directory is back") {
  Scratch at;
  make_directory(at / "run");
  const WithStorageTimeout timeout(60);
  for (const bool with_fsync : {false, true}) {
    const auto file = at / (with_fsync ? "run/b" : "run/a");
    std::rename((at / "run").c_str(), (at / "away").c_str());
    std::atomic<int> tries = 0;
    const auto work = [&] {
      if (++tries == 2) std::rename((at / "away").c_str(), (at / "run").c_str());
      write_file(file, "x");
    };
    with_fsync ? retried_while_gone(at / "run", work) : retried_in(at / "run", work);
    CHECK(tries == 2);
    CHECK(read_file(file) == "x");
  }
}

TEST_CASE("a directory that comes back before it is checked causes no wait") {
  Scratch at;
  int tries = 0;
  retried_in(at.path(), [&] {
    if (++tries == 1) fail("open", at / "file", ENOENT);
  });
  CHECK(tries == 2);
}

TEST_CASE("a missing file in an existing directory is an error at once") {
  Scratch at;
  const WithStorageTimeout timeout(3600);
  CHECK(error_number_of([&] { retried_in(at.path(), [&] { return read_file(at / "none"); }); }) == ENOENT);
  CHECK(error_number_of([&] { retried_while_gone(at.path(), [&] { read_file(at / "none"); }); }) == ENOENT);
}

TEST_CASE("a directory that stays missing is a transient error with the text of the first one") {
  Scratch at;
  for (const bool with_fsync : {false, true}) try {
      const auto work = [&] { write_file(at / "run/file", ""); };
      with_fsync ? retried_while_gone(at / "run", work) : retried_in(at / "run", work);
      FAIL("it was written");
    } catch (const StorageError& error) {
      CHECK(is_transient(error.error_number()));
      CHECK_THAT(error.what(), Catch::Contains("run/file") && Catch::Contains("No such file"));
    }
}

TEST_CASE("work with an fsync is retried only while the directory is missing") {
  Scratch at;
  const WithStorageTimeout timeout(60);
  int tries = 0;
  const auto work = [&] {
    if (++tries == 1) fail("make durable (fsync)", at / "file", EIO);
  };
  CHECK(error_number_of([&] { retried_while_gone(at.path(), work); }) == EIO);
  CHECK(tries == 1);
  tries = 0;
  retried_in(at.path(), work);
  CHECK(tries == 2);
}
