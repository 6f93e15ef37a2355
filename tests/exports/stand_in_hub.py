"""A hub that fits into a test: repositories in memory, the few requests that our client makes."""

import base64
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_of_a_test"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class StandInHub(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        # (kind, name) -> path -> content
        self.repositories: dict[tuple[str, str], dict[str, bytes]] = {}
        self.private: set[str] = set()
        # A proxy that closes the line in the middle of an upload: lets so many commits through.
        self.commits_until_cut: int | None = None
        self.commits_asked = 0
        # What it answers to whatever is asked, as a hub in trouble does.
        self.always_answers: int | None = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: StandInHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self, content: Any, status: int = 200, **headers: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _sent(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = b""
            while size := int(self.rfile.readline(), 16):
                parts += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return parts
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_POST(self) -> None:
        path, sent = self.path.partition("?")[0], self._sent()
        if self.server.always_answers is not None:
            return self._answer({"error": "not today"}, self.server.always_answers)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._answer({"error": "who are you?"}, 401)
        if path == "/api/repos/create":
            return self._create(json.loads(sent))
        if path == "/api/validate-yaml":
            return self._answer({"errors": [], "warnings": []})
        found = re.fullmatch(r"/api/(model|dataset)s/([^/]+/[^/]+)/(preupload|commit)/main", path)
        assert found, path
        key = found[1], found[2]
        if found[3] == "preupload":
            files = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False, "oid": None}
                for f in json.loads(sent)["files"]
            ]
            return self._answer({"files": files, "commitOid": COMMIT})
        self.server.commits_asked += 1
        until = self.server.commits_until_cut
        if until is not None and self.server.commits_asked > until:
            self.close_connection = True
            return self.connection.close()
        files = self.server.repositories[key]
        for line in map(json.loads, sent.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        kind = "" if found[1] == "model" else "datasets/"
        url = f"{self.server.address}/{kind}{found[2]}/commit/{COMMIT}"
        return self._answer({"commitUrl": url, "commitOid": COMMIT, "success": True})

    def _create(self, asked: dict[str, Any]) -> None:
        name = f"{asked['organization']}/{asked['name']}"
        key = asked.get("type") or "model", name
        url = f"{self.server.address}/{'datasets/' if key[0] == 'dataset' else ''}{name}"
        if key in self.server.repositories:
            return self._answer({"error": "You already created this repo", "url": url}, 409)
        self.server.repositories[key] = {}
        if asked.get("private") or asked.get("visibility") == "private":
            self.server.private.add(name)
        return self._answer({"url": url, "name": name, "id": name})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if self.server.always_answers is not None:
            return self._answer({"error": "not today"}, self.server.always_answers)
        if found := re.fullmatch(r"/api/(model|dataset)s/([^/]+/[^/]+)(/.*)?", path):
            files = self.server.repositories.get((found[1], found[2]))
            if files is None:
                return self._answer({"error": "none"}, 404, X_Error_Code="RepoNotFound")
            if "/tree/" in (found[3] or ""):
                rows = [
                    {"type": "file", "path": p, "size": len(c), "oid": hashlib.sha1(c).hexdigest()}
                    for p, c in files.items()
                ]
                return self._answer(rows)
            siblings = [{"rfilename": p} for p in files]
            told = {"id": found[2], "sha": COMMIT, "siblings": siblings, "tags": []}
            return self._answer(told | {"private": found[2] in self.server.private})
        found = re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", path)
        if not found:
            return self._answer({"error": "none"}, 404)
        content = self.server.repositories.get(("model", found[1]), {}).get(found[2])
        if content is None:
            return self._answer({"error": "none"}, 404, X_Error_Code="EntryNotFound")
        etag = f'"{hashlib.sha1(content).hexdigest()}"'
        return self._answer(content, ETag=etag, X_Repo_Commit=COMMIT)
