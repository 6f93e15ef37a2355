"""A folder of pages on this machine's own address, for machines without a screen, and browsers
that are not allowed to read the disk."""

import errno
import json
import os
import re
import socketserver
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

from goalward.errors import GoalwardError
from goalward.report.pages.file_parts import FileState, wanted_bytes
from goalward.report.pages.served_files import MEDIA_TYPES, file_below, media_type
from goalward.runs.notes import keep_note, note_of, read_notes

ADDRESS = "127.0.0.1"

# Only what is in the folder; charts set styles on elements, and make pictures of themselves; two
# players stand in frames of one page.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    # Kept by the browser, and asked about each time: a report may have been written anew.
    "Cache-Control": "no-cache",
}

# Through a tunnel the port is another one; a page elsewhere cannot have one of these names.
_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
_NOTES = "/notes.json"
_LONGEST_NOTE = 64 * 1024
_SILENCE_S = 60


class PageServer(ThreadingHTTPServer):
    """Serves the files below a folder to this machine, each request in a thread of its own.

    Port 0 is any that is free. Files outside the folder cannot be read: not by `..` in any
    spelling, not through links, nor are there lists of files, files that start with a dot, or
    answers to a page elsewhere that calls this address by another name. `notes` is the file where
    notes that a reader takes on the page are kept; without one nothing can be written.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, folder: Path, port: int = 0, notes: Path | None = None) -> None:
        if not 0 <= port <= 65535:
            raise GoalwardError(f"a port is a number from 0 to 65535, got {port}")
        self.folder = folder.resolve()
        self.notes = notes
        self.writing = threading.Lock()
        try:
            super().__init__((ADDRESS, port), _Answer)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                text = "is in use by another program; choose another one, or none to get a free one"
            else:
                text = f"cannot be used ({error.strerror})"
            raise GoalwardError(f"port {port} {text}") from error

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/"

    def server_bind(self) -> None:
        # Without asking the network for the name of this machine, which can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.socket.getsockname()[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up in the middle of a video is no error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Answer(BaseHTTPRequestHandler):
    """One connection."""

    server: PageServer  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # a request without one gets a status line all the same
    timeout = _SILENCE_S
    error_message_format = "%(code)d %(message)s\n%(explain)s\n"
    error_content_type = "text/plain; charset=utf-8"

    def do_GET(self) -> None:
        self._answer(with_content=True)

    def do_HEAD(self) -> None:
        self._answer(with_content=False)

    def do_POST(self) -> None:
        """A note on an episode, from a page that came from here."""
        if not self._is_acceptable():
            return
        if self.server.notes is None or self.path != _NOTES:
            self.send_error(HTTPStatus.METHOD_NOT_ALLOWED)
        elif not self._is_from_here():
            self.send_error(HTTPStatus.FORBIDDEN)
        else:
            self._keep_note(self.server.notes)
        # What was not read of a refused request would be taken for the next one.
        self.close_connection = True

    def _is_from_here(self) -> bool:
        """A page elsewhere can send a form here, but neither with this type nor this origin."""
        host = (self.headers.get("Host") or "").strip()
        is_json = self.headers.get_content_type() == "application/json"
        return is_json and self.headers.get("Origin") == f"http://{host}"

    def _keep_note(self, path: Path) -> None:
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,9}", length, re.ASCII) or int(length) > _LONGEST_NOTE:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        try:
            told = json.loads(self.rfile.read(int(length)))
            episode, note = told["episode"], note_of(told)
        except (ValueError, TypeError, KeyError, RecursionError):
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        try:
            with self.server.writing:
                keep_note(path, str(episode), note)
        except (GoalwardError, OSError):
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)
            return
        self.send_response(HTTPStatus.NO_CONTENT)
        self.end_headers()

    def _send_notes(self, path: Path, with_content: bool) -> None:
        try:
            found = read_notes(path)
        except GoalwardError:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)
            return
        content = json.dumps({name: note.as_json() for name, note in found.items()}).encode()
        self.send_response(HTTPStatus.OK)
        about = {"Content-Type": MEDIA_TYPES[".json"], "Content-Length": str(len(content))}
        for name, value in (about | {"X-Goalward-Notes": "kept"}).items():
            self.send_header(name, value)
        self.end_headers()
        if with_content:
            self.wfile.write(content)

    def _answer(self, *, with_content: bool) -> None:
        if not self._is_acceptable():
            return
        if self.path == _NOTES and self.server.notes is not None:
            self._send_notes(self.server.notes, with_content)
            return
        found = file_below(self.server.folder, self.path)
        try:
            if found is None:
                raise FileNotFoundError
            # Without following a link, or waiting for a pipe, that took the file's place.
            flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            file = open(found, "rb", opener=lambda path, mode: os.open(path, mode | flags))  # noqa: SIM115
        except OSError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        with file:
            self._send(file, media_type(found), with_content)

    def _is_acceptable(self) -> bool:
        """Whether the request calls us by our name.

        Another name is that of a page elsewhere, which made it lead to this machine to read what
        is served here.
        """
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or not _OWN_HOST.fullmatch(hosts[0].strip()):
            explain = f"This is {self.server.url} and has no other address."
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain=explain)
        elif "Transfer-Encoding" in self.headers or (
            "Content-Length" in self.headers and self.command != "POST"
        ):
            self.send_error(HTTPStatus.BAD_REQUEST)
        else:
            return True
        return False

    def _send(self, file: BinaryIO, media_type: str, with_content: bool) -> None:
        try:
            state = FileState.of(file)
        except OSError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        if state.is_known(self.headers):
            self._send_head(HTTPStatus.NOT_MODIFIED, state, {})
            return
        if_range = self.headers.get("If-Range")
        part = None
        # A range is for GET alone, and for the file that the browser has the rest of.
        if with_content and if_range in (None, state.tag, state.changed):
            part = wanted_bytes(self.headers.get("Range"), state.size)
        about = {"Content-Type": media_type, "Accept-Ranges": "bytes"}
        if part is None:
            part, status = range(state.size), HTTPStatus.OK
        elif len(part) == 0:
            status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
            nothing = {"Content-Range": f"bytes */{state.size}", "Content-Length": "0"}
            self._send_head(status, state, nothing)
            return
        else:
            status = HTTPStatus.PARTIAL_CONTENT
            about["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{state.size}"
        self._send_head(status, state, about | {"Content-Length": str(len(part))})
        if with_content and len(part):
            num_sent = self.connection.sendfile(file, part.start, len(part))
            if num_sent != len(part):
                self.close_connection = True  # the file was cut while it was sent

    def _send_head(self, status: HTTPStatus, state: FileState, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"ETag": state.tag, "Last-Modified": state.changed} | headers).items():
            self.send_header(name, value)
        self.end_headers()

    # ---- what the base class does otherwise ------------------------------------------------------

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, message)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if code == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        # What was asked for is not repeated in the answer.
        if code == HTTPStatus.NOT_IMPLEMENTED:
            code = HTTPStatus.METHOD_NOT_ALLOWED
        super().send_error(code, explain=explain)

    def version_string(self) -> str:
        return "goalward"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the terminal stays with what was printed there."""
