#include "program/children/client_use.hpp"

#include <filesystem>
#include <map>

#include <catch2/catch.hpp>

#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;

namespace {

/// A folder with the files of a Python program.
class ProgramFiles {
 public:
  explicit ProgramFiles(const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) {
      const auto path = std::filesystem::path(folder_ / name);
      io::make_directories(path.parent_path().string());
      io::replace_file(path.string(), text);
    }
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  bool may_use_client(const std::vector<std::string>& words, const std::string& python_path = "") const {
    return program::may_use_client(words, folder_.path(), "", python_path);
  }

 private:
  test::Scratch folder_;
};

bool script_may_use_client(const std::string& text) {
  const std::map<std::string, std::string> files = {{"run.py", text}};
  return ProgramFiles(files).may_use_client({"python3", "run.py"});
}

}  // namespace

TEST_CASE("a script uses the client if its code or a module next to it mentions the client") {
  const ProgramFiles files({{"plain.py", "import os, plain_model\nfrom lib.layers import (\n  block)\n"},
                            {"plain_model.py", "import json\n"},
                            {"lib/layers.py", "import math\n"},
                            {"direct.py", "import torch\nimport trainrt\n"},
                            {"other.py", "import os, model\n"},
                            {"model.py", "if True:\n  from deep.inner import fit\n"},
                            {"deep/inner/__init__.py", "from trainrt import train\n"},
                            {"alone.py", "print(1)\n"}});
  for (const auto* script : {"plain.py", "alone.py"}) {
    CAPTURE(script);
    CHECK_FALSE(files.may_use_client({"python3", script, "--lr", "3"}));
    CHECK_FALSE(files.may_use_client({"/usr/bin/python3", "-u", files.path(script)}));
  }
  for (const auto* script : {"direct.py", "other.py"}) {
    CAPTURE(script);
    CHECK(files.may_use_client({"python3", script}));
  }
  CHECK_FALSE(files.may_use_client({"python3", "-u", "-c", "import plain"}));
  CHECK(files.may_use_client({"python3", "-c", "import other"}));
  CHECK_FALSE(files.may_use_client({"python3", "-m", "lib.layers"}));
  CHECK(files.may_use_client({"python3", "-m", "deep.inner"}));
}

TEST_CASE("modules in the folders of PYTHONPATH belong to the code of a program") {
  const ProgramFiles files({{"a/train.py", "import helper\n"}, {"b/helper.py", "import trainrt\n"}});
  CHECK_FALSE(files.may_use_client({"python3", "a/train.py"}));
  CHECK(files.may_use_client({"python3", "a/train.py"}, "/nothing:" + files.path("b")));
  CHECK(files.may_use_client({"python3", "a/train.py"}, "/nothing:b"));
  CHECK_FALSE(files.may_use_client({"python3", "a/train.py"}, ":a"));
}

TEST_CASE("an empty part of PYTHONPATH is the working directory, and absolute parts are below the root") {
  const ProgramFiles files(
      {{"a/train.py", "import helper\n"}, {"helper.py", "import trainrt\n"}, {"b/deep/helper.py", "import trainrt\n"}});
  CHECK(files.may_use_client({"python3", "a/train.py"}, "/nothing:"));
  CHECK(program::may_use_client({"python3", "train.py"}, files.path("a"), files.path("b"), "/deep"));
}

TEST_CASE("a module is searched although a folder has its name") {
  const ProgramFiles files({{"train.py", "import data\n"}, {"data.py", "import trainrt\n"}, {"data/numbers.csv", "1\n"}});
  CHECK(files.may_use_client({"python3", "train.py"}));
}

TEST_CASE("a script that starts other programs may use the client") {
  const std::vector<std::string> starting = {"import subprocess as s\ns.run(['python3', 'train.py'])\n",
                                             "os.execv(program, words)\n", "os.system('python3 train.py')\n",
                                             "os.spawnv(os.P_WAIT, program, words)\n", "print(eval(text))\n"};
  for (const auto& text : starting) {
    CAPTURE(text);
    CHECK(script_may_use_client(text));
  }
  CHECK_FALSE(script_may_use_client("model.eval()\nmodel_eval(1)\n"));
}

TEST_CASE("a program of which the code is unknown may use the client") {
  const ProgramFiles files({{"path.py", "import sys\nsys.path.insert(0, '..')\n"},
                            {"continued.py", "import os, \\\n  model\n"},
                            {"launch.py", "print(1)\n"},
                            {"tool", "print(1)\n"},
                            {"large.py", std::string((1 << 20) + 1, '#')}});
  std::filesystem::create_symlink("launch.py", files.path("link.py"));
  for (const auto* script : {"path.py", "continued.py", "tool", "large.py", "link.py", "missing.py", "-"}) {
    CAPTURE(script);
    CHECK(files.may_use_client({"python3", script}));
  }
  CHECK(files.may_use_client({"python3", "-m", "elsewhere"}));
  CHECK(files.may_use_client({"python3", "launch.py", "train.py"}));
  CHECK(files.may_use_client({"python3"}));
  CHECK(files.may_use_client({}));
}
