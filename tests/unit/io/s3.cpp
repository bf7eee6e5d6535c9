#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "io/objects/s3/address.hpp"
#include "io/objects/s3/credentials.hpp"
#include "io/objects/s3/xml.hpp"
#include "io/storage.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::io::s3;
using Catch::Matchers::Contains;
using test::Scratch;

namespace {

std::string page_with(const std::string& inside) {
  return "<?xml version='1.0'?><ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>" + inside +
         "</ListBucketResult>";
}

}  // namespace

TEST_CASE("a page of unfinished uploads is parsed into names, ids and the markers of the next page") {
  const auto page_with_uploads = [](const std::string& inside) {
    return listed_uploads("<ListMultipartUploadsResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>" + inside +
                          "</ListMultipartUploadsResult>");
  };
  const std::string markers = "<NextKeyMarker>a%2Bb</NextKeyMarker><NextUploadIdMarker>i/1+</NextUploadIdMarker>";
  const std::string upload = "<Upload><Key>a%2Bb</Key><UploadId>i/1+</UploadId></Upload>";
  const auto page = page_with_uploads("<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>" + markers + upload);
  REQUIRE(page.uploads.size() == 1);
  CHECK((page.uploads[0].name == "a+b" && page.uploads[0].id == "i/1+"));
  CHECK((page.next_name == "a+b" && page.next_id == "i/1+"));
  const auto last = page_with_uploads("<IsTruncated>false</IsTruncated>" + markers + upload);
  CHECK((last.next_name.empty() && last.uploads.at(0).name == "a%2Bb"));
  CHECK_THROWS_WITH(listed_uploads("<html></html>"), Contains("not a ListMultipartUploadsResult"));
  CHECK_THROWS_WITH(page_with_uploads("<IsTruncated>true</IsTruncated>"), Contains("no marker"));
  CHECK_THROWS_WITH(page_with_uploads("<Upload><Key>a</Key></Upload>"), Contains("no id"));
}

TEST_CASE("a page of a listing is parsed into decoded names, sizes, ETags and times") {
  const auto page = listed_page(page_with(
      "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t=</NextContinuationToken>"
      "<Contents><Key>a%2Fb+c%2B%C3%BC</Key><LastModified>1970-01-01T00:01:00.000Z</LastModified><ETag>&quot;e&quot;</ETag>"
      "<Size>12</Size></Contents><Contents><Key>d</Key><Size>0</Size></Contents>"));
  REQUIRE(page.objects.size() == 2);
  CHECK((page.objects[0].name == "a/b c+\xc3\xbc" && page.objects[0].size == 12 && page.objects[0].etag == "\"e\""));
  CHECK(page.objects[0].mtime_ns == 60'000'000'000);
  CHECK((page.objects[1].name == "d" && page.objects[1].etag.empty()));
  CHECK(page.next == "t=");
  CHECK(listed_page(
            page_with("<Contents><Key>a</Key><LastModified>1013-01-02T03:04:05Z</LastModified><Size>1</Size></Contents>"))
            .objects[0]
            .mtime_ns == 0);
}

TEST_CASE("an invalid listing is an error that describes the problem") {
  CHECK_THROWS_WITH(listed_page("<html></html>"), Contains("not a ListBucketResult"));
  CHECK_THROWS_WITH(listed_page("gibberish"), Contains("not XML") && Contains("in line 1"));
  CHECK_THROWS_WITH(listed_page("<a>\n<b>\n</a>"), Contains("not XML") && Contains("in line 3"));
  CHECK_THROWS_WITH(listed_page(page_with("<Contents><Key>a</Key></Contents>")), Contains("no size"));
  CHECK_THROWS_WITH(listed_page(page_with("<Contents><Key>a</Key><Size>-1</Size></Contents>")), Contains("not a size"));
  CHECK_THROWS_WITH(listed_page(page_with("<IsTruncated>true</IsTruncated>")), Contains("no token"));
  CHECK_THROWS_WITH(listed_page("<!DOCTYPE a [<!ENTITY b 'c'>]>" + page_with("&b;")), Contains("document type"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  CHECK_THROWS_WITH(listed_page(deep), Contains("nested more than 16 deep"));
}

TEST_CASE("a store's error is parsed, and another text gives no error code") {
  const auto error = store_error("<Error><Code>SlowDown</Code><Message>Please &lt;wait&gt;</Message></Error>");
  CHECK((error.code == "SlowDown" && error.message == "Please <wait>"));
  CHECK(store_error("<html>").code.empty());
}

TEST_CASE("only Amazon's URLs have the bucket in the host name, and special bytes are encoded") {
  CHECK(Address("my-data", "", "eu-west-1").of_object("a b/ü") ==
        "https://my-data.s3.eu-west-1.amazonaws.com/a%20b/%C3%BC");
  CHECK(Address("my.data", "", "us-east-1").of_object("k") == "https://s3.us-east-1.amazonaws.com/my.data/k");
  CHECK(Address("b", "http://h:9000/", "x").with("", {{"prefix", "a/"}, {"list-type", "2"}}) ==
        "http://h:9000/b/?list-type=2&prefix=a%2F");
  CHECK_THROWS_AS(Address("a/b", "", "x"), UsageError);
  CHECK_THROWS_AS(Address("b", "http://user:secret@h", "x"), UsageError);
  CHECK_THROWS_AS(Address("b", "ftp://h", "x"), UsageError);
}

TEST_CASE("a segment of dots in the path of a URL is found") {
  for (const auto* url : {"http://h/b/./k", "http://h/b/../k", "http://h/b/a/..", "http://h/b/.?list-type=2"})
    CHECK(has_dot_segment(url));
  for (const auto* url : {"http://h/b/.k", "http://h/b/..k/a..", "http://h/b/k?prefix=/../", "https://s3.amazonaws.com/k"})
    CHECK_FALSE(has_dot_segment(url));
}

TEST_CASE("credentials come from the environment, then from the profile, and half a key is an error") {
  const Scratch folder;
  const auto path = folder.path() + "/credentials";
  std::ofstream(path)
      << "[default]\naws_access_key_id = A\naws_secret_access_key = B\n# comment\n[p]\naws_access_key_id = C\n"
         "aws_secret_access_key = D=\naws_session_token=E\n[half]\naws_access_key_id = F\n";
  std::map<std::string, std::string> values = {{"AWS_SHARED_CREDENTIALS_FILE", path}};
  CHECK(find_credentials(Environment(values), "").key == "A");
  const auto own = find_credentials(Environment(values), "p");
  CHECK((own.key == "C" && own.secret == "D=" && own.token == "E"));
  CHECK_THROWS_WITH(find_credentials(Environment(values), "half"), Contains("aws_secret_access_key"));
  CHECK_THROWS_WITH(find_credentials(Environment(values), "none"), Contains("no profile [none]"));
  values["AWS_ACCESS_KEY_ID"] = "G";
  CHECK_THROWS_WITH(find_credentials(Environment(values), ""), Contains("AWS_SECRET_ACCESS_KEY is not"));
  values["AWS_SECRET_ACCESS_KEY"] = "H";
  CHECK(find_credentials(Environment(values), "").secret == "H");
  const std::map<std::string, std::string> home = {{"HOME", folder.path()}};
  CHECK(find_credentials(Environment(home), "").key.empty());
  CHECK(find_region(Environment(home), "") == "us-east-1");
  const std::map<std::string, std::string> region = {{"AWS_REGION", "r"}};
  CHECK(find_region(Environment(region), "") == "r");
}

TEST_CASE("URLs are distinguished from paths, and the error of an unknown scheme lists the valid ones") {
  CHECK(!io::storage_url("/a/b"));
  CHECK(!io::storage_url("1://x"));
  const auto url = io::storage_url("s3://bucket/a/b*.csv").value();
  CHECK((url.scheme == "s3" && url.bucket == "bucket" && url.name == "a/b*.csv"));
  CHECK(io::storage_url("file:///a/b").value().name == "a/b");
  CHECK_THROWS_WITH(io::storage_url("s4://bucket/a"), Contains("s3"));
}

TEST_CASE("options of a URL name the store, and are not part of the key") {
  const auto url =
      io::storage_url("s3://b/a/x?endpoint_override=http%3A%2F%2Fh:9000&region=eu&allow_bucket_creation=true").value();
  CHECK((url.bucket == "b" && url.name == "a/x" && url.options.endpoint == "http://h:9000" && url.options.region == "eu"));
  CHECK(!url.options.is_anonymous);
  CHECK(io::url_in_bucket(url, "a/y.csv") == "s3://endpoint_override=http%3A%2F%2Fh%3A9000&region=eu@b/a/y.csv");
  const auto again = io::storage_url(io::url_in_bucket(url, "a/y.csv")).value();
  CHECK((again.bucket == "b" && again.name == "a/y.csv" && again.options.endpoint == "http://h:9000"));
  CHECK(io::storage_url("s3://b?endpoint_override=h:1").value().options.endpoint == "https://h:1");
  CHECK(io::storage_url("gs://b/a?scheme=http&endpoint_override=h:1").value().options.endpoint == "http://h:1");
  const auto pattern = io::storage_url("s3://b/part-?.csv").value();
  CHECK((pattern.name == "part-?.csv" && io::url_in_bucket(pattern, "k") == "s3://b/k"));
  CHECK(io::storage_url("s3://b/part-?.csv?region=eu").value().name == "part-?.csv");
  const auto anonymous = io::storage_url("s3://anonymous@b/a").value();
  CHECK((anonymous.bucket == "b" && anonymous.options.is_anonymous));
  CHECK(io::url_in_bucket(anonymous, "k") == "s3://anonymous@b/k");
  CHECK(io::url_below("s3://b/a?region=eu", "sweep") == "s3://b/a/sweep?region=eu");
  CHECK(io::url_below("/folder", "sweep") == "/folder/sweep");
  CHECK(io::url_below("s3://b/a/", "sweep") == "s3://b/a/sweep");
}

TEST_CASE("an unknown option of a URL is named, and access keys in a URL are not quoted") {
  CHECK_THROWS_WITH(io::storage_url("s3://b/a?acl=public"), Contains("'acl'") && Contains("endpoint_override"));
  CHECK_THROWS_WITH(io::storage_url("gs://b/a?region=eu"), Contains("'region'"));
  CHECK_THROWS_WITH(io::storage_url("s3://b/a?scheme=ftp"), Contains("scheme=ftp") && Contains("https"));
  CHECK_THROWS_WITH(io::storage_url("s3://b/a?scheme=http"), Contains("endpoint_override"));
  CHECK_THROWS_WITH(io::storage_url("s3://b/a?scheme=https&endpoint_override=http://h"), Contains("contradicts"));
  CHECK_THROWS_WITH(io::storage_url("s3://AKID:hidden=@b/a"), Contains("@b") && !Contains("AKID") && !Contains("hidden"));
  for (const auto* url : {"s3://AKID:hid/den=@b/a", "s3://b/a?endpoint_override=http://AKID:hid/den@h",
                          "s3://endpoint_override=AKID%3Ahidden%40h@b/a"})
    CHECK_THROWS_WITH(io::storage_url(url), Contains("contains access keys") && !Contains("AKID") && !Contains("den"));
}

TEST_CASE("objects of a storage in a folder are listed, read and removed") {
  const Scratch folder;
  const auto file = folder.path() + "/local";
  std::ofstream(file) << "0123456789";
  const auto storage = io::open_storage(io::storage_url("file://" + folder.path()).value());
  const auto prefix = folder.path().substr(1) + "/there/";
  CHECK(storage->list(prefix).empty());
  const auto object = storage->put(file, prefix + "a/b");
  CHECK(object.size == 10);
  REQUIRE(storage->list(prefix).size() == 1);
  std::string text(4, '\0');
  const io::ObjectPart part{3, std::as_writable_bytes(std::span(text))};
  storage->read(object, {&part, 1});
  CHECK(text == "3456");
  std::ofstream(folder.path() + "/there/a/b") << "other";
  CHECK_THROWS_WITH(storage->read(object, {&part, 1}), Contains("has changed"));
  storage->remove(prefix + "a/b");
  storage->remove(prefix + "a/b");
  CHECK(!storage->find(prefix + "a/b"));
}
