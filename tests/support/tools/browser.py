"""Chromium without a window and without a network, driven through its DevTools pipe: one browser, which opens one page at a time.

    with Browser(an_empty_folder) as browser:
        page = browser.open(path, dark=True)
        page.value("document.title")
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium")


class Browser:
    def __init__(self, profile, timeout_s=60):
        self.timeout_s = timeout_s
        read, self.write = os.pipe()
        self.read, write = os.pipe()
        # In its own network namespace, the browser reaches nothing, not even this host.
        alone = ["unshare", "-n"] if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0 else []
        command = [*alone, PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
                   f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self.job = subprocess.Popen(["sh", "-c", f"exec 3<&{read} 4>&{write} && exec \"$@\"", "sh", *command], pass_fds=(read, write),
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.rest, self.number, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.job.kill()
        self.job.wait()
        os.close(self.read)
        os.close(self.write)

    def _message(self, until):
        while b"\0" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                raise TimeoutError(f"chromium did not answer within {self.timeout_s} s")
            piece = os.read(self.read, 1 << 20)
            if not piece:
                raise RuntimeError(f"chromium ended with {self.job.wait()}")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        until = time.monotonic() + self.timeout_s
        while True:
            answer = self._message(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, session):
        until = time.monotonic() + self.timeout_s
        while True:
            for event in self.events:
                if event.get("method") == method and event.get("sessionId") == session:
                    return event["params"]
            self.events.append(self._message(until))

    def open(self, path, dark=False, width=1280, height=900, scripts=True):
        """Loads a file and returns its page, with all charts drawn."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        page.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        start = time.monotonic()
        page.call("Page.navigate", url=f"file://{path}")
        self.wait_for("Page.loadEventFired", session)
        page.load_s = time.monotonic() - start
        return page


class Page:
    """`load_s`: seconds from the request to the load event."""

    def __init__(self, browser, session, target):
        self.browser, self.session, self.target, self.load_s = browser, session, target, 0

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def value(self, expression):
        """Returns the value of a JavaScript expression, passed as JSON."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_until(self, expression, timeout_s=20):
        until = time.monotonic() + timeout_s
        while not self.value(expression):
            if time.monotonic() > until:
                raise TimeoutError(f"{expression} is not true after {timeout_s} s")
            time.sleep(0.05)

    def complaints(self):
        """Returns errors and warnings of the console, exceptions, and requests to anything but files."""
        self.value("1")  # all earlier messages have arrived now
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, params = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
            if method == "Runtime.consoleAPICalled":
                found.append(f"console.{params['type']}: {[item.get('value') for item in params['args']]}")
            if method == "Log.entryAdded":
                found.append(params["entry"]["text"])
            if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:")):
                found.append("request: " + params["request"]["url"])
        return found

    def key(self, name, text=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, **({"text": text} if text and kind == "keyDown" else {}))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self, path=None):
        """Returns the complete page as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
        image = base64.b64decode(self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"])
        if path:
            path.write_bytes(image)
        return image
