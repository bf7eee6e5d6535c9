#include <catch2/catch.hpp>

#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "rundir/storage/trust.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::rundir;
using trainrt::test::error_of;
using trainrt::test::Scratch;
using Variables = std::map<std::string, std::string>;
using Catch::Matchers::Contains;

namespace {

/// Returns the trust settings of a user with this text in trainrt.ini.
Trust trust_with(const std::string& text, mode_t mode = 0644) {
  const Scratch folder;
  mkdir((folder / "trainrt").c_str(), 0755);
  const auto path = folder / "trainrt/trainrt.ini";
  std::ofstream(path) << text;
  chmod(path.c_str(), mode);
  return trust_of(Environment(Variables{{"XDG_CONFIG_HOME", folder.path()}, {"TRAINRT_TRUST_OWNER", "alice, 77"}}));
}

}  // namespace

TEST_CASE("trust_group names groups in the user's own config only") {
  const auto trust = trust_with("; shared runs\n[trust]\n\ntrust_group = one, two\n");
  CHECK(trust.owners == std::vector<std::string>{"alice", "77"});
  CHECK(trust.groups == std::vector<std::string>{"one", "two"});
  CHECK(trust_with("[trust]\ntrust_group = one\n", 0666).groups.empty());
  CHECK(trust_of(Environment(Variables{{"XDG_CONFIG_HOME", "relative"}})).groups.empty());
  CHECK_THAT(error_of([] { trust_with("[trust]\ntrust_groups = one\n"); }),
             Contains("trainrt.ini:2") && Contains("trust_group = GROUP"));
}

TEST_CASE("a user is trusted by name, by number or by a group") {
  CHECK(is_trusted(0, {{"root"}, {}}));
  CHECK(is_trusted(77, {{"alice-who-does-not-exist", "77"}, {}}));
  CHECK(is_trusted(0, {{}, {"root"}}));
  CHECK_FALSE(is_trusted(54321, {{"root"}, {"root", "no-such-group"}}));
  CHECK_FALSE(is_trusted(0, {}));
  CHECK_FALSE(is_trusted(0, {{"4294967296", "-1", ""}, {}}));
}
