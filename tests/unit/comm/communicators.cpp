#include <catch2/catch.hpp>
#include <trainrt/communicators.hpp>

#include "support/cpp/communicator_contract.hpp"

using namespace trainrt;

TEST_CASE("a program's communicator of one rank keeps the contract") {
  const auto communicator = self_communicator();
  CHECK(communicator->size() == 1);
  CHECK(test::communicator_findings(*communicator) == "");
}

TEST_CASE("a communicator over MPI that nobody started is refused, with the reason") {
  CHECK_THROWS_WITH(mpi_communicator(), Catch::Contains("call MPI_Init first"));
  CHECK_THROWS_AS(mpi_communicator(), UsageError);
}
