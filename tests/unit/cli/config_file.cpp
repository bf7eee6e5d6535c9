#include <fstream>

#include <catch2/catch.hpp>

#include "cli/config/config_file.hpp"
#include "config/run_spec.hpp"
#include "support/cpp/scratch.hpp"

#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::cli;
using Catch::Matchers::Contains;

namespace {

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text) { std::ofstream(folder_ / "train.ini") << text; }
  Options read() const { return read_config_file(folder_ / "train.ini"); }

 private:
  test::Scratch folder_;
};

}  // namespace

TEST_CASE("a comment sign starts a comment only at the start of a line or after a blank, outside quotes") {
  const auto options =
      ConfigFile("# head\n[run]\nname = a#b   # a comment\nother=\"x # y\"\n; also a comment\n[ loop ]\nlr = 1e-3\n")
          .read();
  CHECK(options.text("run.name") == "a#b");
  CHECK(options.text("run.other") == "x # y");
  CHECK(options.text("loop.lr") == "1e-3");
  CHECK_THAT(options.find("loop.lr")->origin, Contains(":7"));
}

TEST_CASE("quotes around a value are removed only if they are one pair") {
  const auto value = [](const std::string& written) {
    return ConfigFile("[loop]\nkey = " + written + "  # a comment\n").read().text("loop.key");
  };
  CHECK(value(R"("x # y")") == "x # y");
  CHECK(value(R"("")").empty());
  for (const auto* written : {R"("a" == x or x == "b")", R"("a"==x or x=="b")", R"("a", "b")", R"("" == x or y == "")"})
    CHECK(value(written) == written);
  CHECK(value(R"(""whole"")") == R"("whole")");
  CHECK(value(R"("label == "cat"")") == R"(label == "cat")");
}

TEST_CASE("a config in another format is an error that asks for an INI file") {
  const test::Scratch folder;
  const auto read = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return read_config_file(folder / name);
  };
  CHECK_THROWS_WITH(read("train.yaml", "loop:\n  lr: 1\n"), Contains("the config is an INI file"));
  CHECK_THROWS_WITH(read("train.json", "{}\n"), Contains("the config is an INI file"));
  CHECK_THROWS_WITH(read("train.py", "import torch\n"), Contains("trainrt -- python3 " + (folder / "train.py")));
  CHECK(read("ini.json", "[loop]\nlr = 1\n").text("loop.lr") == "1");
}

TEST_CASE("a key that is set twice is an error that names both lines") {
  CHECK_THROWS_WITH(ConfigFile("[loop]\nx = 1\n[stop]\ny = 2\n[loop]\nx = 3\n").read(),
                    Contains(":6") && Contains(":2") && Contains("loop.x"));
}

TEST_CASE("an invalid line is an error that names the line and the valid form") {
  CHECK_THROWS_WITH(ConfigFile("[loop]\njust words\n").read(), Contains(":2") && Contains("key = value"));
  CHECK_THROWS_WITH(ConfigFile("x = 1\n").read(), Contains(":1") && Contains("put this line after a line [section]"));
  CHECK_THROWS_WITH(ConfigFile("[a\nx = 1\n").read(), Contains(":1") && Contains("[section]"));
  CHECK_THROWS_WITH(read_config_file("/no/such/file.ini"), Contains("/no/such/file.ini") && Contains("No such file"));
  CHECK_THROWS_AS(read_config_file("/tmp"), UsageError);
}

TEST_CASE("an unknown section is an error that names its line and the nearest section") {
  CHECK_THROWS_WITH(ConfigFile("[run]\nname = n\n\n[trian]\nfunction = f\n").read(),
                    Contains(":4: unknown section [trian] (did you mean [train]?); valid sections: run, train, "));
  CHECK_THROWS_WITH(ConfigFile("[dta.train]\n").read(), Contains(":1: ") && Contains("(did you mean [data.train]?)"));
  CHECK_THROWS_WITH(ConfigFile("[quux]\n").read(), Contains("unknown section [quux]; valid sections:"));
  CHECK_NOTHROW(ConfigFile("[data.a]\nx = 1\n[sink.b]\n[callback.c]\n[tune.space]\n[loop]\n[stop]\n").read());
}

TEST_CASE("the command line overrides the file, once per key") {
  auto options = ConfigFile("[loop]\nlr = 1\n").read();
  apply_override(options, "--loop.lr=2");
  CHECK(options.text("loop.lr") == "2");
  CHECK_THROWS_WITH(apply_override(options, "--loop.lr=3"), Contains("twice"));
  CHECK_THROWS_AS(apply_override(options, "--nodots=3"), UsageError);
}

TEST_CASE("a run name that is not a plain name is an error") {
  for (const auto* bad : {"", "..", "a/b", ".hidden", "/abs"}) {
    INFO(bad);
    CHECK_THROWS_AS(
        config::make_run_spec(
            ConfigFile(std::string("[run]\nname = ") + bad + "\nstorage_path = r\n[train]\nfunction = f\n").read()),
        UsageError);
  }
}

TEST_CASE("keys of [loop] and [data.NAME] are kept, and keys of declared sections are checked") {
  const auto spec = config::make_run_spec(
      ConfigFile(
          "[run]\nname = n\nstorage_path = r\n[train]\nfunction = f\n[loop]\nanything = 1\n[data.train]\nsource = s\n")
          .read());
  CHECK(spec.loop.text("anything") == "1");
  CHECK(spec.data.at("train").text("source") == "s");
  CHECK_THROWS_WITH(
      config::make_run_spec(ConfigFile("[run]\nname = n\nstorage_path = r\nsed = 1\n[train]\nfunction = f\n").read()),
      Contains(":4") && Contains("run.seed"));
}

TEST_CASE("a value that is not UTF-8 and a config that is a device are errors") {
  CHECK_THROWS_WITH(ConfigFile("[run]\nname = caf\xe9\n").read(), Contains(":2") && Contains("UTF-8"));
  CHECK_THROWS_WITH(read_config_file("/dev/zero"), Contains("device"));
  Options options;
  CHECK_THROWS_WITH(apply_override(options, "--loop.note=caf\xe9"), Contains("UTF-8"));
  CHECK(ConfigFile("[run]\nname = caf\xc3\xa9\n").read().text("run.name") == "caf\xc3\xa9");
}

TEST_CASE("a byte-order mark at the start of a config is skipped") {
  const auto options = ConfigFile("\xEF\xBB\xBF[run]\r\nname = n\r\n").read();
  CHECK(options.text("run.name") == "n");
  CHECK_THAT(options.find("run.name")->origin, Contains(":2"));
}

TEST_CASE("an unclosed quote and a NUL byte are errors that name their line") {
  CHECK_THROWS_WITH(ConfigFile("[run]\nname = \"my run   # a comment\n").read(), Contains(":2") && Contains("not closed"));
  CHECK_THROWS_WITH(ConfigFile("[run]\nname = my run\"\n").read(), Contains(":2") && Contains("not closed"));
  CHECK(ConfigFile("[run]\nname = n   # 5\" wide\n").read().text("run.name") == "n");
  CHECK_THROWS_WITH(ConfigFile(std::string("[run]\nname = a\0b\n", 17)).read(), Contains(":2") && Contains("NUL"));
}

TEST_CASE("a time or count outside its range is an error that names the line") {
  const auto spec = [](const std::string& lines) {
    return config::make_run_spec(
        ConfigFile("[run]\nname = n\nstorage_path = r\n[train]\nfunction = f\n" + lines + "\n").read());
  };
  for (const auto* bad :
       {"[checkpoint]\nevery = 1e-320 s", "[checkpoint]\nevery = 1e300 s", "[checkpoint]\nevery = 1e300 steps",
        "[checkpoint]\nevery = nan s", "[checkpoint]\nevery = inf reports", "[checkpoint]\nevery = 0 steps",
        "[failure]\nhang_timeout = 1e-320 s", "[failure]\nhang_timeout = -5 s", "[failure]\nstop_before_end = inf s",
        "[failure]\nlaunch_timeout = 1e-320", "[failure]\ncollective_timeout = -1", "[train]\nstop_timeout = nan",
        "[scaling]\nnum_workers = 2147483648", "[scaling]\nmin_workers = 4294967297", "[scaling]\ngpus_per_worker = 1e-320",
        "[stop]\nloss = nan", "[run]\nseed = -1"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH(spec(bad), Contains(":7") && Contains("must be"));
  }
  CHECK_NOTHROW(spec("[checkpoint]\nevery = 0.001 s\n[failure]\nhang_timeout = 1e9 s"));
}

TEST_CASE("a value that is written to a config file is read back unchanged, or is an error") {
  Options options;
  const std::vector<std::string> values{"0.1",
                                        "",
                                        "a b",
                                        "a # b",
                                        "a;b ; c",
                                        R"("x" y "z")",
                                        R"("whole")",
                                        R"(p "a # b")",
                                        R"(p "a" # b)",
                                        " blanks ",
                                        "#",
                                        "python3 -c 'f(\"#\")'"};
  for (std::size_t i = 0; i < values.size(); ++i) options.set("loop.key" + std::to_string(i), {values[i], ""});
  options.set("data.train.source", {"/a/*.csv", ""});
  CHECK(ConfigFile(config_file_text(options)).read().texts() == options.texts());
  for (const auto* value : {"one \" quote", "two\nlines"}) {
    Options bad;
    bad.set("loop.key", {value, ""});
    CHECK_THROWS_WITH(config_file_text(bad), Contains("loop.key") && Contains("a config file cannot contain"));
  }
}
