#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "checkpoint/format/names.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/load/verify.hpp"
#include "checkpoint/save/saver.hpp"
#include "io/files/aligned_memory.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

TEST_CASE("steady tensors are written without staging memory, and their owner is held until then") {
  Scratch run;
  constexpr std::size_t bytes = 3 * checkpoint::block_bytes;
  const auto memory = std::make_shared<io::AlignedMemory>(bytes + io::io_alignment);
  const auto fill = [&](std::byte byte) { std::ranges::fill(memory->bytes(), byte); };
  for (const std::size_t first :
       {std::size_t{0}, std::size_t{64}}) {  // direct I/O cannot write from offset 64, so the tensor is copied
    const auto number = static_cast<std::int64_t>(first);
    auto* const data = memory->bytes().data() + first;
    run_ranks(1, [&](Communicator& communicator) {
      State state;
      state.tensor("w", TensorView{data, DType::u8, {static_cast<std::int64_t>(bytes)}}).steady = memory;
      checkpoint::Saver saver(options_for(run.path(), number).saver, communicator);
      fill(std::byte{7});
      REQUIRE(!saver.start(state, {options_for(run.path(), number).meta, {}}));
      if (first > 0) fill(std::byte{8});  // the copy is complete
      REQUIRE(saver.finish()->committed);
      saver.drain();
    });
    CHECK(memory.use_count() == 1);
    const auto directory = run / checkpoint::directory_name(number);
    CHECK(checkpoint::verify(directory) == std::vector<std::string>{});
    fill(std::byte{9});
    run_ranks(1, [&](Communicator& communicator) {
      State state;
      state.tensor("w", TensorView{data, DType::u8, {static_cast<std::int64_t>(bytes)}});
      checkpoint::load_from(state, directory, {}, communicator);
    });
    CHECK(std::all_of(data, data + bytes, [](std::byte byte) { return byte == std::byte{7}; }));
  }
}

TEST_CASE("after finish_writes() the memory of steady tensors may be changed, although the save is in flight") {
  Scratch run;
  constexpr std::size_t bytes = 16 * checkpoint::block_bytes;
  const auto memory = std::make_shared<io::AlignedMemory>(bytes);
  const auto fill = [&](std::byte byte) { std::ranges::fill(memory->bytes(), byte); };
  run_ranks(1, [&](Communicator& communicator) {
    State state;
    state.tensor("w", TensorView{memory->bytes().data(), DType::u8, {static_cast<std::int64_t>(bytes)}}).steady = memory;
    checkpoint::Saver saver(options_for(run.path(), 1).saver, communicator);
    saver.finish_writes();  // no save is in flight
    fill(std::byte{7});
    REQUIRE(!saver.start(state, {options_for(run.path(), 1).meta, {}}));
    saver.finish_writes();
    CHECK(saver.in_flight());
    fill(std::byte{8});
    REQUIRE(saver.finish()->committed);
    saver.drain();
  });
  CHECK(checkpoint::verify(run / checkpoint::directory_name(1)) == std::vector<std::string>{});
}
