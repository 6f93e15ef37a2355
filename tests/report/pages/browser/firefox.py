"""Firefox, driven by its own remote protocol, Marionette: Debian's needs nothing else for it.

Messages are JSON with their length before them: [0, number, command, arguments] go out, and
[1, number, error, result] come back.
"""

import json
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

BROWSERS = ("firefox-esr", "firefox")
START_S = 60.0
PATIENCE_S = 20.0
# No questions at the start, no network of its own.
_SETTINGS = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "media.gmp-manager.updateEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}


class Firefox:
    """One window of a browser that runs without a screen."""

    def __init__(self, program: str, width: int = 1440, height: int = 900) -> None:
        self._profile = Path(tempfile.mkdtemp(prefix="firefox"))
        port = _free_port()
        settings = _SETTINGS | {"marionette.port": port}
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in settings.items()]
        (self._profile / "user.js").write_text("\n".join(lines))
        words = ["--marionette", "--headless", "--no-remote", "--profile", str(self._profile)]
        self._process = subprocess.Popen(
            [program, *words, f"--width={width}", f"--height={height}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._num_sent = 0
        try:
            self._line = _connected(port, self._process)
            self._read()  # who it is, and which version of the protocol
            self.ask("WebDriver:NewSession", {"capabilities": {}})
        except BaseException:
            self.close()
            raise

    def ask(self, command: str, arguments: dict[str, Any]) -> Any:
        self._num_sent += 1
        text = json.dumps([0, self._num_sent, command, arguments]).encode()
        self._line.sendall(f"{len(text)}:".encode() + text)
        _, _, error, result = self._read()
        if error is not None:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return result

    def open(self, address: str) -> None:
        self.ask("WebDriver:Navigate", {"url": address})

    def evaluate(self, expression: str) -> Any:
        found = self.ask("WebDriver:ExecuteScript", {"script": f"return {expression};", "args": []})
        return found["value"]

    def until(self, expression: str) -> Any:
        """What an expression comes to, as soon as that is something."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = self.evaluate(expression)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}")

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if hasattr(self, "_line"):
            self._line.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._some(1)
        left, parts = int(length[:-1]), []
        while left:
            parts.append(self._some(left))
            left -= len(parts[-1])
        return json.loads(b"".join(parts))

    def _some(self, most: int) -> bytes:
        found = self._line.recv(most)
        if not found:
            raise ConnectionError("Firefox hung up")
        return found


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _connected(port: int, process: subprocess.Popen[bytes]) -> socket.socket:
    end = time.monotonic() + START_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=START_S)
        except OSError:
            if time.monotonic() > end or process.poll() is not None:
                raise
            time.sleep(0.1)
