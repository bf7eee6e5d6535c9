// Tests of programs that are launchers of other tools, such as torchrun.
#include "program/children/other_launcher.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::program;
using Words = std::vector<std::string>;

TEST_CASE("launchers are recognised by their name or module") {
  for (const auto* name : {"torchrun", "deepspeed", "horovodrun", "mpirun", "mpiexec", "srun", "/usr/bin/torchrun"})
    CHECK(launcher_in({name, "train.py"}) == std::string(name).substr(std::string(name).rfind('/') + 1));
  CHECK(launcher_in({"accelerate", "launch", "train.py"}) == "accelerate launch");
  CHECK(launcher_in({"/opt/bin/python3.11", "-m", "torch.distributed.run", "train.py"}) == "torch.distributed.run");
  for (const auto& other :
       {Words{}, Words{"accelerate", "env"}, Words{"python3", "torchrun.py"}, Words{"python3", "-m", "x"}})
    CHECK(launcher_in(other).empty());
}

TEST_CASE("a launcher in each of several ranks of a node is refused with the command to write, else a warning") {
  const Words command{"torchrun", "--nproc-per-node", "2", "train.py", "--name", "a b"};
  const std::string text = "torchrun starts its own workers; write: trainrt -n 2 -- python3 train.py --name 'a b'";
  CHECK_THROWS_WITH(check_launcher(command, 2, 1, "trainrt -n 2"), text);
  CHECK_THROWS_AS(check_launcher(command, 4, 2, "trainrt"), UsageError);
  CHECK(check_launcher(command, 1, 1, "trainrt -n 2") == text);
  CHECK(check_launcher(command, 2, 2, "trainrt -n 2") == text);
  CHECK(check_launcher({"python3", "train.py"}, 2, 1, "trainrt -n 2").empty());
  CHECK(check_launcher({"mpirun", "./a.out"}, 1, 1, "trainrt") ==
        "mpirun starts its own workers; write: trainrt -- python3 SCRIPT ARGS");
}
