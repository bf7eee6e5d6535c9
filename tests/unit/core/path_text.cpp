#include "core/path_text.hpp"

#include <catch2/catch.hpp>

#include <trainrt/error.hpp>

using namespace trainrt;
using Catch::Matchers::Contains;

namespace {

const Environment environment({{"SCRATCH", "/scratch/u"}, {"EMPTY", ""}, {"ODD", "/a$b"}});

std::string expanded(const std::string& text) {
  return expanded_path("run.storage_path", {text, "train.ini:3"}, environment).text;
}

}  // namespace

TEST_CASE("a variable in braces is replaced in a path, and $$ becomes $") {
  CHECK(expanded("${SCRATCH}/runs") == "/scratch/u/runs");
  CHECK(expanded("@${SCRATCH}/a.txt, b/${SCRATCH}") == "@/scratch/u/a.txt, b//scratch/u");
  CHECK(expanded("a$$b/$1 $") == "a$b/$1 $");
  CHECK(expanded("s3://bucket/~x/a~") == "s3://bucket/~x/a~");
  CHECK(expanded("") == "");
}

TEST_CASE("expanding the text of written_path gives the path") {
  for (const std::string path : {"/a$b/${SCRATCH}/$$", "/plain", "/$", "${"}) CHECK(expanded(written_path(path)) == path);
  CHECK(expanded(written_path(expanded("${ODD}"))) == "/a$b");
}

TEST_CASE("an unset or empty variable is an error that names key, file, line and variable") {
  for (const auto& [text, variable] :
       {std::pair{"/x/${NO_SUCH}/runs", "NO_SUCH is not set"}, {"${EMPTY}", "EMPTY is empty"}})
    CHECK_THROWS_WITH(expanded(text),
                      Contains("train.ini:3: run.storage_path is '") && Contains(text) && Contains(variable));
  for (const auto* text : {"${", "${}", "${SCRATCH/runs", "${1}", "${A B}"})
    CHECK_THROWS_WITH(expanded(text), Contains("must be followed by the name"));
}

TEST_CASE("shell forms are errors that show the valid form") {
  CHECK_THROWS_WITH(expanded("$SCRATCH/runs"), Contains("Write '${SCRATCH}/runs'"));
  CHECK_THROWS_WITH(expanded("/x/$SCRATCH_2/$HOME"), Contains("Write '/x/${SCRATCH_2}/$HOME'"));
  CHECK_THROWS_WITH(expanded("~/runs"), Contains("Write '${HOME}/runs'"));
  CHECK_THROWS_WITH(expanded("~"), Contains("Write '${HOME}'"));
  CHECK_THROWS_WITH(expanded("~other/runs"), Contains("home folder out"));
  CHECK_THROWS_WITH(expanded("a.csv, ~/b.csv"), Contains("Write 'a.csv, ${HOME}/b.csv'"));
  CHECK_THROWS_WITH(expanded("@~/list"), Contains("Write '@${HOME}/list'"));
}
