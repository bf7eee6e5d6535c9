#include "program/environments/script.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::program;
using Catch::Matchers::Contains;

TEST_CASE("the script of a command is the file that its interpreter runs") {
  struct Case {
    std::vector<std::string> command;
    const char* script;
  };
  for (const auto& c :
       {Case{{"python3", "train.py"}, "train.py"},
        Case{{"/usr/bin/python3.11", "-u", "-OO", "/a/train.py", "--lr", "3"}, "/a/train.py"},
        Case{{"/usr/bin/python3.11", "-uB", "-W", "ignore", "-Xdev", "/a/train.py", "-x"}, "/a/train.py"},
        Case{{"python3", "-c", "print(1)"}, ""}, Case{{"python3", "-m", "train"}, ""},
        Case{{"python3", "--unknown", "train.py"}, ""}, Case{{"python3", "-"}, ""}, Case{{"python3"}, ""},
        Case{{"bash", "-e", "-o", "pipefail", "run.sh"}, "run.sh"}, Case{{"bash", "-euo", "pipefail", "run.sh"}, "run.sh"},
        Case{{"bash", "-ec", "python3 train.py | tee log"}, ""}, Case{{"bash", "+x", "run.sh"}, ""},
        Case{{"sh", "run.sh"}, "run.sh"}, Case{{"./train", "input.dat"}, ""}, Case{{"numactl", "python3", "train.py"}, ""},
        Case{{}, ""}}) {
    CAPTURE(c.command);
    CHECK(script_of(c.command) == c.script);
  }
}

TEST_CASE("a command whose interpreter has no script, or '-' as its script, reads it from standard input") {
  using Command = std::vector<std::string>;
  for (const auto& command : {Command{"python3"}, Command{"python3", "-"},
                              Command{"/usr/bin/python3.11", "-u", "-", "--lr", "3"}, Command{"bash", "-s", "a"},
                              Command{"sh", "-e"}, Command{"bash", "/dev/stdin"}, Command{"env", "A=b", "python3", "-"}}) {
    CAPTURE(command);
    CHECK(reads_script_from_input(command));
  }
  for (const auto& command : {Command{}, Command{"python3", "train.py", "-"}, Command{"python3", "-c", "print(1)"},
                              Command{"python3", "-m", "train"}, Command{"python3", "--version"}, Command{"./train", "-"},
                              Command{"./train", "--shell", "bash"}, Command{"bash", "-c", "cat"}}) {
    CAPTURE(command);
    CHECK_FALSE(reads_script_from_input(command));
  }
}

TEST_CASE("a script that is not there is refused by its name, one that a shell finds on the PATH is not") {
  CHECK_THROWS_WITH(require_script({"python3", "/no/such/train.py"}),
                    Contains("'/no/such/train.py'") && Contains("No such file") && Contains("train.program"));
  CHECK_THROWS_AS(require_script({"sh", "no-such-script-anywhere"}), UsageError);
  CHECK_NOTHROW(require_script({"sh", "ls"}));
  CHECK_NOTHROW(require_script({"python3", "/dev/null"}));
  CHECK_NOTHROW(require_script({"/no/such/program", "x"}));
}
