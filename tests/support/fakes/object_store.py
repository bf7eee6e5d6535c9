"""An object store with the protocol of S3, in this process or as a program, which can be made to fail. It verifies signatures (AWS
Signature Version 4) and digests with its own code, so that it refuses a wrong request as a real store would.

As a program, `python3 object_store.py FOLDER PORT_FILE`: a bucket is a folder in FOLDER.
"""
import ctypes
import hashlib
import hmac
import os
import re
import sys
import threading
import time
import urllib.parse
from datetime import datetime, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

KEY, SECRET = "AKIDTESTSTORE", "secret/With+Letters="


def plus():
    """Returns "+", or "-" if libcurl 8.14 is installed, which computes a wrong signature for a query with a plus."""
    try:
        version = ctypes.CDLL("libcurl.so.4").curl_version
    except OSError:
        return "+"
    version.restype = ctypes.c_char_p
    return "-" if version().startswith(b"libcurl/8.14.") else "+"


PLUS = plus()  # part of the ids of uploads


class Refused(Exception):
    def __init__(self, status, code, message="no reason"):
        self.status, self.code, self.message = status, code, message


class Parted(bytes):
    """The content of a multipart upload: its ETag ends with the number of parts."""
    parts = 0


def etag_of(data):
    parts = f"-{data.parts}" if isinstance(data, Parted) else ""
    return '"' + hashlib.md5(data, usedforsecurity=False).hexdigest() + parts + '"'


def signature(secret, method, path, query, headers, signed, payload, scope, stamp):
    """Returns the signature of a request, computed as in Amazon's guide."""
    pairs = sorted(tuple(pair.partition("=")[::2]) for pair in query.split("&") if pair)
    canonical = "\n".join([method, path, "&".join(f"{name}={value}" for name, value in pairs)]
                          + [f"{name}:{' '.join(headers[name].split())}" for name in signed] + ["", ";".join(signed), payload])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


class Store:
    """The store. Buckets are dictionaries of bytes by key. `faults`: functions (handler, method, key) that return a name of FAULTS or `None`; they
    are called in order for each request."""

    def __init__(self, anonymous=False, token=None, region="us-east-1", page=1000, folder=None, key=KEY, secret=SECRET):
        self.anonymous, self.token, self.region, self.page, self.folder = anonymous, token, region, page, folder
        self.key, self.secret = key, secret
        self.buckets, self.uploads, self.faults, self.requests = {}, {}, [], []
        self.upload_keys, self.lists_uploads = {}, True
        self.slow_s = 0
        self.lock = threading.Lock()
        self.most_at_once, self.at_once = 0, 0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"store": self}))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def environment(self):
        """Returns the environment variables by which programs find the store."""
        own = {"AWS_ENDPOINT_URL": self.url, "AWS_REGION": self.region, "NO_PROXY": "*", "no_proxy": "*",
               "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_CONFIG_FILE": "/nonexistent"}
        if not self.anonymous:
            own.update({"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret})
        if self.token:
            own["AWS_SESSION_TOKEN"] = self.token
        return own

    def put(self, bucket, key, data):
        self.buckets.setdefault(bucket, {})[key] = bytes(data)

    def fail(self, word, times=1, method="GET", part=""):
        """Makes the next `times` requests of a method, for keys that contain `part`, fail with the fault `word`."""
        left = [times]

        def fault(_, asked, key):
            if asked == method and part in key and left[0] > 0:
                left[0] -= 1
                return word
            return None
        self.faults.append(fault)
        return left

    def count(self, method, part=""):
        return sum(asked == method and part in path for asked, path in self.requests)

    def end(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            pass

    # ---- authentication ------------------------------------------------------------------------------------------------

    def check_signature(self, path, query, body):
        given = self.headers.get("Authorization")
        if given is None:
            if not self.store.anonymous:
                raise Refused(403, "AccessDenied", "Access Denied")
            return
        fields = dict(part.strip().partition("=")[::2] for part in given.partition(" ")[2].split(","))
        access, _, scope = fields["Credential"].partition("/")
        if access != self.store.key:
            raise Refused(403, "InvalidAccessKeyId")
        if scope.split("/")[1] != self.store.region:
            raise Refused(400, "AuthorizationHeaderMalformed", f"the region is wrong; expecting '{self.store.region}'")
        if self.store.token and self.headers.get("x-amz-security-token") != self.store.token:
            raise Refused(400, "InvalidToken")
        headers = {name.lower(): value for name, value in self.headers.items()}
        payload = headers.get("x-amz-content-sha256", "UNSIGNED-PAYLOAD")
        digest = hashlib.sha256(body).hexdigest()
        if payload not in (digest, "UNSIGNED-PAYLOAD"):
            raise Refused(400, "XAmzContentSHA256Mismatch")
        if body and payload != digest:
            raise Refused(400, "MissingDigest", "the body must be signed")
        signed = fields["SignedHeaders"].split(";")
        expected = signature(self.store.secret, self.command, path, query, headers, signed, payload, scope, headers["x-amz-date"])
        if "host" not in signed or expected != fields["Signature"]:
            raise Refused(403, "SignatureDoesNotMatch", "the signature does not match")

    # ---- requests ------------------------------------------------------------------------------------------------------

    def respond(self):
        store = self.store
        raw_path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urllib.parse.unquote(raw_path)
        bucket, _, key = path[1:].partition("/")
        asked = {name: urllib.parse.unquote(value) for name, _, value in (pair.partition("=") for pair in query.split("&") if pair)}
        with store.lock:
            store.requests.append((self.command, path + ("?" + query if query else "")))
            store.at_once += 1
            store.most_at_once = max(store.most_at_once, store.at_once)
            fault = next((word for word in (fault(self, self.command, path) for fault in store.faults) if word), None)
        self.is_lost = fault == "lost"  # the request is executed, but no answer is sent
        try:
            time.sleep(store.slow_s)
            if fault == "reset":
                self.close_connection = True
                return
            if fault in ("slow", "hang"):
                time.sleep(4 if fault == "slow" else 60)
            if fault in ("500", "503", "429"):
                raise Refused(int(fault), {"500": "InternalError", "503": "SlowDown", "429": "TooManyRequests"}[fault], "Please reduce your request rate.")
            self.check_signature(raw_path, query, body)
            if fault == "403":
                raise Refused(403, "AccessDenied", "Access Denied")
            self.answer(bucket, key, asked, body, fault)
        except Refused as refused:
            self.refuse(refused)
        finally:
            with store.lock:
                store.at_once -= 1

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = respond

    def refuse(self, refused):
        text = f"<?xml version='1.0'?><Error><Code>{refused.code}</Code><Message>{escape(refused.message)}</Message></Error>"
        self.send(refused.status, {"Content-Type": "application/xml"}, text.encode())

    def send(self, status, headers, body=b"", length=None):
        if self.is_lost:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def objects(self, bucket):
        if self.store.folder:
            return Folder(os.path.join(self.store.folder, bucket))
        if bucket not in self.store.buckets:
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist")
        return self.store.buckets[bucket]

    def answer(self, bucket, key, asked, body, fault):
        objects = self.objects(bucket)
        if self.command in ("GET", "HEAD"):
            if not key and "uploads" in asked:
                return self.list_uploads(bucket, asked)
            if not key:
                return self.list(objects, asked)
            return self.give(objects, key, fault)
        if self.command == "PUT":
            return self.take(objects, key, asked, body)
        if self.command == "POST":
            return self.post(objects, bucket, key, asked, body)
        if "uploadId" in asked:
            self.store.uploads.pop(asked["uploadId"], None)
        elif key in objects:
            del objects[key]
        return self.send(204, {})

    def list(self, objects, asked):
        names = sorted((name for name in objects if name.startswith(asked.get("prefix", ""))), key=lambda name: name.encode())
        begin = int(asked.get("continuation-token", "0"))
        page = names[begin:begin + self.store.page]
        more = begin + len(page) < len(names)
        rows = "".join(
            f"<Contents><Key>{urllib.parse.quote_plus(name, safe='/')}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
            f"<ETag>{escape(etag_of(objects[name]), {chr(34): '&quot;'})}</ETag><Size>{len(objects[name])}</Size></Contents>" for name in page)
        token = f"<NextContinuationToken>{begin + len(page)}</NextContinuationToken>" if more else ""
        self.send(200, {"Content-Type": "application/xml"}, (
            "<?xml version='1.0' encoding='UTF-8'?>\n<ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><EncodingType>url</EncodingType>"
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{rows}</ListBucketResult>").encode())

    def list_uploads(self, bucket, asked):
        if not self.store.lists_uploads:
            raise Refused(501, "NotImplemented", "A header you provided implies functionality that is not implemented")
        keys = self.store.upload_keys
        found = sorted((keys[one][1], one) for one in self.store.uploads if keys[one][0] == bucket and keys[one][1].startswith(asked.get("prefix", "")))
        marker = asked.get("key-marker"), asked.get("upload-id-marker", "")
        found = [one for one in found if marker[0] is None or one > marker]
        page, more = found[:self.store.page], len(found) > self.store.page
        rows = "".join(f"<Upload><Key>{urllib.parse.quote_plus(key, safe='/')}</Key><UploadId>{one}</UploadId></Upload>" for key, one in page)
        markers = f"<NextKeyMarker>{urllib.parse.quote_plus(page[-1][0], safe='/')}</NextKeyMarker><NextUploadIdMarker>{page[-1][1]}</NextUploadIdMarker>" if page else ""
        self.send(200, {"Content-Type": "application/xml"}, (
            "<?xml version='1.0' encoding='UTF-8'?>\n<ListMultipartUploadsResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>"
            f"<EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>{markers}{rows}</ListMultipartUploadsResult>").encode())

    def give(self, objects, key, fault):
        if key not in objects:
            raise Refused(404, "NoSuchKey", "The specified key does not exist.")
        data = objects[key]
        etag = objects.etag(key) if self.store.folder else etag_of(data)
        if fault == "etag":
            etag = '"another"'
        if self.headers.get("If-Match") not in (None, etag) and fault != "etag":
            raise Refused(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        headers = {"ETag": etag, "Last-Modified": formatdate(1767323045, usegmt=True), "Accept-Ranges": "bytes"}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        part, status = memoryview(data), 200
        if wanted and fault != "whole":
            first, last = int(wanted[1]), min(int(wanted[2]), len(data) - 1)
            if first >= len(data):
                raise Refused(416, "InvalidRange")
            part, status = part[first:last + 1], 206
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        if fault in ("cut", "stall"):
            self.send(status, headers, part[:len(part) // 2], len(part))
            self.wfile.flush()
            self.close_connection = True
            if fault == "stall":
                time.sleep(30)
            return
        if fault == "short":  # complete for HTTP, but too short
            part = part[:len(part) // 2]
        self.send(status, headers, part)

    def take(self, objects, key, asked, body):
        if "uploadId" in asked:
            if asked["uploadId"] not in self.store.uploads:
                raise Refused(404, "NoSuchUpload")
            self.store.uploads[asked["uploadId"]][int(asked["partNumber"])] = body
        else:
            objects[key] = body
        self.send(200, {"ETag": etag_of(body)})

    def post(self, objects, bucket, key, asked, body):
        if "uploads" in asked:
            identity = f"{len(self.store.requests)}/{time.time_ns()}{PLUS}x"
            self.store.uploads[identity] = {}
            self.store.upload_keys[identity] = bucket, key
            return self.send(200, {}, f"<InitiateMultipartUploadResult><Bucket>{bucket}</Bucket><UploadId>{identity}</UploadId></InitiateMultipartUploadResult>".encode())
        parts = self.store.uploads.pop(asked["uploadId"], None)
        named = [(int(number), etag.replace("&quot;", '"')) for number, etag in
                 re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>([^<]*)</ETag>", body.decode())]
        if parts is None:
            raise Refused(404, "NoSuchUpload", "The specified multipart upload does not exist.")
        if named != [(number, etag_of(parts[number])) for number in sorted(parts)]:
            raise Refused(400, "InvalidPart")
        objects[key] = Parted(b"".join(parts[number] for number in sorted(parts)))
        objects[key].parts = len(parts)
        return self.send(200, {}, f"<CompleteMultipartUploadResult><ETag>{escape(etag_of(objects[key]))}</ETag></CompleteMultipartUploadResult>".encode())


class Folder(dict):
    """A bucket of files that do not change, for large objects."""
    cache = {}

    def __init__(self, path):
        super().__init__({name: None for name in os.listdir(path)})
        self.path = path

    def __getitem__(self, name):
        path = os.path.join(self.path, name)
        if path not in self.cache:
            with open(path, "rb") as file:
                self.cache[path] = file.read()
            self.cache["etag", path] = etag_of(self.cache[path])
        return self.cache[path]

    def etag(self, name):
        return self.cache["etag", os.path.join(self.path, name)]


if __name__ == "__main__":
    own = Store(anonymous=True, folder=sys.argv[1])
    for bucket in os.listdir(sys.argv[1]):
        for name in (files := Folder(os.path.join(sys.argv[1], bucket))):
            files[name]  # reads it into memory
    with open(sys.argv[2] + ".new", "w") as port_file:
        port_file.write(own.url)
    os.rename(sys.argv[2] + ".new", sys.argv[2])
    own.thread.join()
