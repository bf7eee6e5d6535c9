#include "rundir/storage/run_directory.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include <trainrt/communicators.hpp>

#include "support/cpp/empty_remover.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;

TEST_CASE("a storage path can be probed while another process removes the same path after its own probe") {
  const test::Scratch at;
  const auto communicator = self_communicator();
  const test::EmptyRemover remover({at / "runs/sweep", at / "runs"});
  for (int i = 0; i < 50; ++i) REQUIRE_NOTHROW(rundir::require_shared_storage(at / "runs/sweep", 5, *communicator));
  CHECK(remover.removed() > 0);
}
