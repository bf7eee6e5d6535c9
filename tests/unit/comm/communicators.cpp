#include <catch2/catch.hpp>
#include <trainrt/communicators.hpp>

#include "support/cpp/communicator_contract.hpp"

using namespace trainrt;

TEST_CASE("self_communicator() keeps the contract of a communicator") {
  const auto communicator = self_communicator();
  CHECK(communicator->size() == 1);
  CHECK(test::communicator_findings(*communicator) == "");
}

TEST_CASE("mpi_communicator() without MPI_Init is an error that names MPI_Init") {
  CHECK_THROWS_WITH(mpi_communicator(), Catch::Contains("call MPI_Init first"));
  CHECK_THROWS_AS(mpi_communicator(), UsageError);
}
