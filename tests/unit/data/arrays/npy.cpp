#include <array>

#include <trainrt/error.hpp>

#include "unit/data/npy_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

std::map<std::string, std::string> npy(const std::string& path) { return {{"format", "npy"}, {"source", path}}; }

std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

}  // namespace

TEST_CASE("the rows of a .npy file of each version are read; the name determines the format") {
  Scratch dir;
  for (const int version : {1, 2, 3}) {
    const auto path = dir / ("v" + std::to_string(version) + ".npy");
    write(path, npy_bytes(dict("'<i2'", "(3, 2)"), values_of<std::int16_t>({1, 2, 3, 4, 5, -6}), version));
    const auto dataset = open({{"source", path}});
    REQUIRE(dataset->source()->size() == 3);
    REQUIRE(dataset->source()->fields().size() == 1);
    CHECK(dataset->source()->fields()[0].name == "data");
    CHECK(dataset->source()->fields()[0].dtype == DType::i16);
    CHECK(dataset->source()->fields()[0].sample_shape == Shape{2});
    CHECK(dataset->source()->is_resident());
    CHECK(gathered<std::int16_t>(*dataset, 0, {2, 0, 2}) == std::vector<std::int16_t>{5, -6, 1, 2, 5, -6});
  }
}

TEST_CASE("every NumPy type that has a counterpart is read, in both byte orders") {
  Scratch dir;
  const auto type_of = [&](const std::string& descr, const std::string& values) {
    write(dir / "x.npy", npy_bytes(dict("'" + descr + "'", "(1,)"), values));
    const auto dataset = open(npy(dir / "x.npy"));
    const auto bytes = gathered<char>(*dataset, 0, {0});
    return std::pair(dataset->source()->fields()[0].dtype, std::string(bytes.begin(), bytes.end()));
  };
  const std::map<std::string, DType> types{{"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16},
                                           {"i8", DType::i64}, {"i4", DType::i32}, {"i2", DType::i16},
                                           {"i1", DType::i8},  {"u1", DType::u8},  {"b1", DType::boolean}};
  for (const auto& [name, dtype] : types) {
    const std::string values = std::string("\x01\x02\x03\x04\x05\x06\x07\x08", name[1] - '0');
    const std::string swapped(values.rbegin(), values.rend());
    CHECK(type_of("<" + name, values) == std::pair(dtype, values));
    CHECK(type_of(">" + name, swapped) == std::pair(dtype, values));
    if (values.size() == 1) CHECK(type_of("|" + name, values) == std::pair(dtype, values));
  }
}

TEST_CASE("labels of a second .npy file belong to the samples, and the key field names the first") {
  Scratch dir;
  write(dir / "x.npy", npy_bytes(dict("'|u1'", "(2, 1, 3)"), "abcdef"));
  write(dir / "y.npy", npy_bytes(dict("'|u1'", "(2,)"), "\x07\x08"));
  const auto dataset = open({{"source", dir / "x.npy"}, {"labels", dir / "y.npy"}, {"field", "images"}});
  REQUIRE(dataset->source()->fields().size() == 2);
  CHECK(dataset->source()->fields()[0].name == "images");
  CHECK(dataset->source()->fields()[1].name == "labels");
  CHECK(gathered<std::uint8_t>(*dataset, 1, {1, 0}) == std::vector<std::uint8_t>{8, 7});
  write(dir / "z.npy", npy_bytes(dict("'|u1'", "(3,)"), "\x07\x08\x09"));
  both_say({{"source", dir / "x.npy"}, {"labels", dir / "z.npy"}}, "x.npy has 2", "z.npy has 3 labels");
  CHECK_THROWS_WITH(open({{"source", dir / "x.npy"}, {"field", "labels"}}), Contains("any name but labels"));
}

TEST_CASE("the dictionary in the header is parsed in any order, and never evaluated") {
  Scratch dir;
  const auto path = dir / "x.npy";
  for (const std::string good : {"{'descr':'|u1','fortran_order':False,'shape':(2,)}",
                                 "{\"shape\": (2L,), \"descr\": \"|u1\", \"fortran_order\": True, }",
                                 " { 'fortran_order' : False , 'descr' : '|u1' , 'shape' : ( 2 , ) } "}) {
    INFO(good);
    write(path, npy_bytes(good, "ab"));
    CHECK(open(npy(path))->source()->size() == 2);
  }
  const std::vector<std::pair<std::string, std::string>> bad{
      {"{'descr': '|u1', 'fortran_order': False}", "'shape' is missing"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,), 'more': 1}", "the unknown key 'more'"},
      {"{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", "twice"},
      {"{'descr': '|u1', 'fortran_order': 0, 'shape': (2,)}", "must be True or False"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2)}", "must be a tuple"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (-2,)}", "missing extent"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1+1,)}", "missing )"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}", "missing extent"},
      {"{'descr': '|\\x75\\x31', 'fortran_order': False, 'shape': (2,)}", "backslash"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,)} + {}", "text after its }"},
      {"__import__('os').abort()", "missing {"},
      {"{'descr': '|u1", "missing closing quote"},
      {"", "missing {"},
  };
  for (const auto& [text, why] : bad) {
    INFO(text);
    write(path, npy_bytes(text, "ab"));
    both_say(npy(path), "x.npy", why);
  }
}

TEST_CASE("a type without a counterpart is an error that names the file, the type and the valid ones") {
  Scratch dir;
  const auto path = dir / "x.npy";
  const auto says = [&](const std::string& descr, const std::string& why) {
    INFO(descr);
    write(path, npy_bytes(dict(descr, "(1,)"), std::string(64, '\0')));
    both_say(npy(path), "x.npy", why);
  };
  says("'|O'", "would need pickle. Pickled objects are never loaded");
  for (const std::string descr : {"<U5", "|S5", "<c8", "<M8[ns]", "|V2", "<f16", "=f4", "|f4", "f4", "<q"}) {
    says("'" + descr + "'", "type '" + descr + "'");
    says("'" + descr + "'", "valid are f8, f4");
  }
  says("[('x', '<f4'), ('y', '<i4')]", "structured array");
  for (const std::string type : {"u2", "u4", "u8"}) {
    write(path, npy_bytes(dict("'<" + type + "'", "(1,)"), std::string(type[1] - '0', '\0')));
    both_say(npy(path), "x.npy", "'<" + type + "', which train functions do not support");
  }
}

TEST_CASE("Fortran order is an error that shows how to convert, except for arrays of one axis") {
  Scratch dir;
  write(dir / "x.npy", npy_bytes(dict("'|u1'", "(2, 2)", "True"), "abcd"));
  both_say(npy(dir / "x.npy"), "x.npy", "numpy.ascontiguousarray");
  write(dir / "y.npy", npy_bytes(dict("'|u1'", "(2,)", "True"), "ab"));
  CHECK(open(npy(dir / "y.npy"))->source()->size() == 2);
}

TEST_CASE("check and open refuse a .npy file that is cut anywhere or has bytes after its array") {
  Scratch dir;
  const auto whole = npy_bytes(dict("'|u1'", "(5, 2)"), "abcdefghij");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(length);
    write(dir / "x.npy", whole.substr(0, length));
    both_say(npy(dir / "x.npy"), "x.npy", length < 10 ? "too short" : "truncated");
  }
  write(dir / "x.npy", whole + whole);
  both_say(npy(dir / "x.npy"), "x.npy", "bytes after its array");
}

TEST_CASE("a file that is no array of samples is an error that names the reason") {
  Scratch dir;
  const auto says = [&](const std::string& bytes, const std::string& why) {
    write(dir / "x.npy", bytes);
    both_say(npy(dir / "x.npy"), "x.npy", why);
  };
  says("\x89PNG and so on", "not a .npy file");
  says(npy_bytes(dict("'|u1'", "()"), "a"), "a single value");
  says(npy_bytes(dict("'<f8'", "(4294967296, 4294967296, 4294967296)"), ""), "more values than a file can hold");
  says(npy_bytes(dict("'<f8'", "(0, 4294967296, 4294967296)"), ""), "more values than a file can hold");
  says(npy_bytes(dict("'<f8'", "(1099511627776,)"), ""), "truncated");
  says(npy_bytes(dict("'|u1'", "(1,)"), "a", 4), "version 4.0");
  says(npy_bytes(dict("'|u1'", "(1,)") + std::string(20000, ' '), "a"), "has a header of");
  write(dir / "x.npy", npy_bytes(dict("'|u1'", "(0, 3)"), ""));
  CHECK_THROWS_WITH(check(npy(dir / "x.npy")), Contains("no samples"));
}

TEST_CASE("several .npy files are one dataset, also if one of them is empty") {
  Scratch dir;
  write(dir / "a.npy", npy_bytes(dict("'|u1'", "(2,)"), "ab"));
  write(dir / "b.npy", npy_bytes(dict("'|u1'", "(0,)"), ""));
  write(dir / "c.npy", npy_bytes(dict("'|u1'", "(1,)"), "c"));
  CHECK(gathered<char>(*open({{"source", dir / "*.npy"}}), 0, {2, 0, 1}) == std::vector<char>{'c', 'a', 'b'});
}

TEST_CASE("more samples without values than max_expanded_bytes are an error") {
  const Scratch dir;
  write(dir / "x.npy", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 0)}", ""));
  CHECK(open({{"source", dir / "x.npy"}})->source()->size() == 1000);
  both_say({{"source", dir / "x.npy"}, {"max_expanded_bytes", "999 B"}}, "x.npy", "1000 samples without values");
  write(dir / "x.npy", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976, 0)}", ""));
  both_say({{"source", dir / "x.npy"}}, "x.npy", "max_expanded_bytes = 1073741824");
}
