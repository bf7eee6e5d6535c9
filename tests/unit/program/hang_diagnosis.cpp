#include "program/progress/hang_diagnosis.hpp"

#include <catch2/catch.hpp>

using namespace trainrt::program;

namespace {

std::string stack(const std::string& frames) {
  return "process 7: python3 train.py\nFatal Python error: Aborted\n\nThread 0x00007f01 (most recent call first):\n"
         "  File \"/usr/lib/python3.11/threading.py\", line 327 in wait\n\n"
         "Thread 0x00007f02 (most recent call first):\n" +
         frames + "\nExtension modules: numpy.core._multiarray_umath (total: 1)\n";
}

const std::string in_user_code =
    "  File \"/home/me/train.py\", line 7 in step\n  File \"/home/me/train.py\", line 9 in <module>\n";
const std::string c10d = "  File \"/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py\", line 1322 in ";
const std::string autograd = "  File \"/v/lib/python3.12/site-packages/torch/autograd/";

}  // namespace

TEST_CASE("the position of a Python program is read from the stack of its main thread") {
  CHECK(python_position("") == PythonPosition{});
  CHECK(python_position("process 7: ./solver\n  (the program has no Python process)\n") == PythonPosition{});
  CHECK(python_position(stack(in_user_code)) == PythonPosition{"", "train.py, line 7 in step"});
  CHECK(python_position(stack(c10d + "all_reduce\n" + in_user_code)) ==
        PythonPosition{"all_reduce", "distributed_c10d.py, line 1322 in all_reduce"});
  CHECK(python_position(
            stack(autograd + "graph.py\", line 823 in _engine_run_backward\n" + autograd +
                  "__init__.py\", line 267 in backward\n  File \"/v/lib/python3.12/site-packages/torch/_tensor.py\", "
                  "line 581 in backward\n" +
                  in_user_code))
            .collective == "_engine_run_backward");
  // A script that torch.distributed.run calls is not in a collective.
  CHECK(python_position(stack(in_user_code + c10d + "main\n")).collective.empty());
  CHECK(python_position(stack("  File \"/usr/lib/python3.11/subprocess.py\", line 1264 in wait\n") +
                        stack(c10d + "barrier\n" + in_user_code))
            .collective == "barrier");
}

TEST_CASE("the first rank that is in no collective is the late rank of a hang") {
  const IdleRank waits{"n1", {"all_reduce", "distributed_c10d.py, line 1322 in all_reduce"}};
  const IdleRank sleeps{"n2", {"", "train.py, line 7 in step"}};
  const auto diagnosis = diagnosis_of(std::vector{waits, sleeps, waits}, 5.2, "logs/hang-attempt-000001");
  CHECK(diagnosis.late_rank == 1);
  CHECK(diagnosis.message ==
        "hang: no program has printed anything or used CPU time for 5 s (failure.hang_timeout): rank 1 on n2 is not in "
        "a collective of torch, but in: train.py, line 7 in step; 2 ranks wait in all_reduce. Stacks: "
        "logs/hang-attempt-000001");
  CHECK(diagnosis_of(std::vector{waits, waits}, 5, "x").late_rank == 0);
  CHECK_THAT(diagnosis_of(std::vector{IdleRank{"n1", {}}}, 5, "x").message,
             Catch::Matchers::Contains("rank 0 on n1 shows no Python stack. Stacks: x"));
}
