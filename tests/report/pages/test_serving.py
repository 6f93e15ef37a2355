"""The page server over real sockets: what it gives, and what it never gives."""

import http.client
import json
import os
import socket
import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from goalward.errors import GoalwardError
from goalward.report.pages.serving import PageServer

SECRET = b"root:x:0:0"
VIDEO = bytes(range(256)) * 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A report with everything around it that must not be seen."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_bytes(SECRET)
    (outside / "secrets").mkdir()
    (outside / "secrets" / "secret.txt").write_bytes(SECRET)
    folder = outside / "report"
    (folder / "videos").mkdir(parents=True)
    (folder / "index.html").write_text("<title>report</title>")
    (folder / "videos" / "a.mp4").write_bytes(VIDEO)
    (folder / "a file é.json").write_text("{}")
    (folder / "empty.css").touch()
    for name in ("a.js", "a.svg", "a.png", "a.JPG", "a.pdf", "a.unknown", "a.csv"):
        (folder / name).write_text("x")
    (folder / ".hidden").write_bytes(SECRET)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_bytes(SECRET)
    (folder / "out.txt").symlink_to(outside / "secret.txt")
    (folder / "out").symlink_to(outside / "secrets")
    (folder / "up").symlink_to("..")
    (folder / "shown.txt").symlink_to(".hidden")
    (folder / "circle").symlink_to("circle")
    (folder / "inside.js").symlink_to("a.js")
    os.mkfifo(folder / "pipe.txt")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with PageServer(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def ask(server: PageServer, target: str, method: str = "GET", **headers: str):
    """(status, headers, content) by the standard library's client."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, target, headers=sent)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.headers, content


def raw(server: PageServer, request: bytes) -> bytes:
    """All that comes back for these very bytes, until the server hangs up."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def host(server: PageServer) -> bytes:
    return b"Host: 127.0.0.1:%d\r\n\r\n" % server.server_port


# ---- what it gives -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "media_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html?episode=3#frame", "text/html; charset=utf-8"),
        ("/videos/a.mp4", "video/mp4"),
        ("/a.js", "text/javascript; charset=utf-8"),
        ("/inside.js", "text/javascript; charset=utf-8"),
        ("/empty.css", "text/css; charset=utf-8"),
        ("/a.svg", "image/svg+xml"),
        ("/a.png", "image/png"),
        ("/a.JPG", "image/jpeg"),
        ("/a.pdf", "application/pdf"),
        ("/a.csv", "text/csv; charset=utf-8"),
        ("/a%20file%20%C3%A9.json", "application/json"),
        ("/a.unknown", "application/octet-stream"),
    ],
)
def test_files_come_with_their_type_and_may_load_nothing_else(server, folder, target, media_type):
    status, headers, content = ask(server, target)
    assert status == 200
    assert headers["Content-Type"] == media_type
    name = urllib.parse.unquote(target.split("?")[0])[1:] or "index.html"
    assert content == (folder / name).read_bytes()
    assert headers["Content-Length"] == str(len(content))
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-cache"
    policy = dict(part.split(None, 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert policy["img-src"] == "'self' data: blob:"
    assert "Python" not in headers["Server"]


def test_head_is_get_without_the_content(server):
    status, headers, content = ask(server, "/videos/a.mp4", "HEAD")
    assert (status, content) == (200, b"")
    assert headers["Content-Length"] == "10240"
    assert headers["Accept-Ranges"] == "bytes"
    # A range belongs to GET alone.
    assert ask(server, "/videos/a.mp4", "HEAD", Range="bytes=0-1")[0] == 200


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-", 0, 10239),
        ("bytes=0-0", 0, 0),
        ("bytes=100-355", 100, 355),
        ("bytes=10239-", 10239, 10239),
        ("bytes=10000-99999", 10000, 10239),
        ("bytes=-1", 10239, 10239),
        ("bytes=-99999", 0, 10239),
        ("Bytes=5-6 ", 5, 6),
    ],
)
def test_a_part_of_a_video(server, asked, first, last):
    status, headers, content = ask(server, "/videos/a.mp4", Range=asked)
    assert status == 206
    assert headers["Content-Range"] == f"bytes {first}-{last}/10240"
    assert headers["Content-Length"] == str(last - first + 1)
    assert content == VIDEO[first : last + 1]


@pytest.mark.parametrize("asked", ["bytes=10240-", "bytes=99999999-", "bytes=-0"])
def test_a_part_that_is_not_there(server, asked):
    status, headers, content = ask(server, "/videos/a.mp4", Range=asked)
    assert (status, content) == (416, b"")
    assert headers["Content-Range"] == "bytes */10240"


@pytest.mark.parametrize(
    "asked",
    [
        "bytes=5-2",
        "bytes=0-1,4-5",
        "bytes=-",
        "bytes=a-b",
        "frames=0-1",
        "bytes=" + "9" * 5000,
        "-5",
    ],
)
def test_what_is_no_single_range_gives_the_whole_file(server, asked):
    status, headers, content = ask(server, "/videos/a.mp4", Range=asked)
    assert (status, content) == (200, VIDEO)
    assert headers["Content-Range"] is None


def test_any_range_of_an_empty_file(server):
    assert ask(server, "/empty.css", Range="bytes=0-")[0] == 416
    assert ask(server, "/empty.css")[2] == b""


def test_a_file_that_the_browser_has_is_not_sent_again(server, folder):
    _, headers, _ = ask(server, "/a.js")
    assert ask(server, "/a.js", If_None_Match=headers["ETag"])[0] == 304
    assert ask(server, "/a.js", If_None_Match=f'"x", W/{headers["ETag"]}')[0] == 304
    assert ask(server, "/a.js", If_None_Match='"x"')[0] == 200
    assert ask(server, "/a.js", If_Modified_Since=headers["Last-Modified"])[0] == 304
    assert ask(server, "/a.js", If_Modified_Since="Thu, 01 Jan 1970 00:00:00 GMT")[0] == 200
    (folder / "a.js").write_text("changed")
    assert ask(server, "/a.js", If_None_Match=headers["ETag"])[2] == b"changed"


def test_the_rest_of_another_file_is_not_mixed_in(server):
    tag = ask(server, "/videos/a.mp4")[1]["ETag"]
    assert ask(server, "/videos/a.mp4", Range="bytes=5-9", If_Range=tag)[0] == 206
    status, _, content = ask(server, "/videos/a.mp4", Range="bytes=5-9", If_Range='"old"')
    assert (status, content) == (200, VIDEO)


def test_one_connection_serves_many_requests(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    for _ in range(3):
        for target, status in (("/", 200), ("/videos/a.mp4", 200)):
            connection.request("GET", target)
            response = connection.getresponse()
            response.read()
            assert response.status == status
    connection.close()


# ---- what it never gives -------------------------------------------------------------------------

OUTSIDE = [
    "/../../etc/passwd",
    "/../secret.txt",
    "/videos/../../secret.txt",
    "/./../secret.txt",
    "/%2e%2e/secret.txt",
    "/%2E%2E%2Fsecret.txt",
    "/..%2fsecret.txt",
    "/videos/..%2f..%2fsecret.txt",
    "/%252e%252e/secret.txt",
    "/%252e%252e%252fsecret.txt",
    "/..%5csecret.txt",
    "/..\\secret.txt",
    "/videos\\..\\..\\secret.txt",
    "/%c0%ae%c0%ae/secret.txt",
    "/%ef%bc%8e%ef%bc%8e/secret.txt",
    "/..;/secret.txt",
    "/....//secret.txt",
    "//etc/passwd",
    "///etc/passwd",
    "/%2fetc/passwd",
    "/%2f%2fetc%2fpasswd",
    "/videos//a.mp4",
    "/C:/secret.txt",
    "/C:%5csecret.txt",
    "/file:///etc/passwd",
    "/out.txt",
    "/out/secret.txt",
    "/up/secret.txt",
    "/shown.txt",
    "/circle",
    "/pipe.txt",
    "/.hidden",
    "/%2ehidden",
    "/.git/config",
    "/videos/",
    "/videos",
    "/index.html/",
    "/index.html/x",
    "/index.html%00.js",
    "/%00",
    "/a.js%0d%0aX-Injected:%20yes",
    "/%ff",
    "/" + "a" * 5000,
    "/" + "a/" * 2000,
    "http://example.org/index.html",
    "*",
    "?x",
    "..",
    "secret.txt",
]


@pytest.mark.parametrize("target", OUTSIDE, ids=lambda target: target[:40])
@pytest.mark.parametrize("method", [b"GET", b"HEAD"])
def test_nothing_outside_the_folder_is_read(server, target, method):
    answer = raw(server, b"%s %s HTTP/1.1\r\n" % (method, target.encode()) + host(server))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert SECRET not in answer
    assert b"X-Injected" not in answer


def test_the_same_server_does_give_its_own_files_to_a_raw_request(server):
    answer = raw(server, b"GET /a.csv HTTP/1.1\r\n" + host(server))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\nx")


def test_a_pipe_does_not_hold_it_up(server):
    assert ask(server, "/pipe.txt")[0] == 404


@pytest.mark.parametrize(
    "name",
    [
        "evil.example:{port}",
        "127.0.0.1:{port}1.evil.example",
        "127.0.0.1:",
        "127.0.0.1:{port}.evil.example",
        "localhost.evil.example:{port}",
        "user@127.0.0.1:{port}",
        "0.0.0.0:{port}",
        "",
    ],
)
def test_another_name_for_this_machine_is_refused(server, name):
    status, headers, content = ask(server, "/", Host=name.format(port=server.server_port))
    assert status == 421
    assert b"<title>" not in content
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_its_own_names_are_accepted(server, name):
    assert ask(server, "/", Host=f"{name}:{server.server_port}")[0] == 200


@pytest.mark.parametrize("name", ["127.0.0.1", "127.0.0.1:9000", "localhost:9000", "[::1]:1"])
def test_a_tunnel_may_have_another_port(server, name):
    """A name for this machine cannot be that of a page elsewhere, whatever the port."""
    assert ask(server, "/", Host=name)[0] == 200


def test_no_name_and_two_names_are_refused(server):
    two = b"Host: 127.0.0.1:%d\r\nHost: evil.example\r\n\r\n" % server.server_port
    assert raw(server, b"GET / HTTP/1.1\r\n" + two).startswith(b"HTTP/1.1 421 ")
    assert raw(server, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 421 ")
    assert raw(server, b"GET /\r\n\r\n").startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "X__class__"]
)
def test_other_methods_are_not_allowed(server, folder, method):
    status, headers, _ = ask(server, "/index.html", method)
    assert status == 405
    assert headers["Allow"] == "GET, HEAD"
    assert headers["Connection"] == "close"
    assert (folder / "index.html").is_file()


def test_a_request_inside_a_request_is_not_answered(server):
    inner = b"GET /a.csv HTTP/1.1\r\n" + host(server)
    head = b"GET / HTTP/1.1\r\nContent-Length: %d\r\n" % len(inner)
    answer = raw(server, head + host(server) + inner)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", b"431"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"one two three four five\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
    ],
)
def test_what_is_no_request_is_refused(server, request_, status, capfd):
    answer = raw(server, request_)
    assert answer.split(b"\r\n")[0].split()[1] == status
    assert capfd.readouterr() == ("", "")


# ---- company -------------------------------------------------------------------------------------


def test_clients_that_hang_up_leave_no_traces(tmp_path, capfd):
    (tmp_path / "large.mp4").write_bytes(bytes(30_000_000))
    with PageServer(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
                connection.sendall(b"GET /large.mp4 HTTP/1.1\r\n" + host(server))
                connection.recv(100)
                # At once, with what was sent still unread: the server's next write fails.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
            connection.sendall(b"GET /lar")
        assert ask(server, "/large.mp4", Range="bytes=-2")[2] == b"\0\0"
        server.shutdown()
    assert capfd.readouterr() == ("", "")


def test_many_connections_at_once(server):
    silent = [
        socket.create_connection(("127.0.0.1", server.server_port), timeout=20) for _ in range(50)
    ]
    with ThreadPoolExecutor(30) as pool:
        answers = list(
            pool.map(lambda n: ask(server, "/videos/a.mp4", Range=f"bytes={n}-{n}"), range(200))
        )
    assert [content for _, _, content in answers] == [VIDEO[n : n + 1] for n in range(200)]
    for connection in silent:
        connection.close()


def test_only_this_machine_is_served(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_and_no_port_are_errors(server, folder):
    with pytest.raises(GoalwardError, match=f"port {server.server_port} is in use by another"):
        PageServer(folder, server.server_port)
    with pytest.raises(GoalwardError, match="0 to 65535, got 70000"):
        PageServer(folder, 70_000)


# ---- notes --------------------------------------------------------------------------------------


@pytest.fixture
def noting(tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "index.html").write_text("<title>report</title>")
    with PageServer(tmp_path / "report", notes=tmp_path / "notes.json") as noting_server:
        thread = threading.Thread(target=noting_server.serve_forever)
        thread.start()
        yield noting_server
        noting_server.shutdown()
        thread.join()


def send_note(server, content: bytes, **changed) -> int:
    headers = {
        "Origin": f"http://127.0.0.1:{server.server_port}",
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
    } | {name.replace("_", "-"): value for name, value in changed.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    try:
        connection.request("POST", "/notes.json", content, headers)
        return connection.getresponse().status
    finally:
        connection.close()


NOTE = b'{"episode": "7", "note": "slips", "tags": ["dropped"], "wrong_label": true}'


def test_a_note_from_the_page_is_kept_beside_the_run(noting, tmp_path):
    status, headers, content = ask(noting, "/notes.json")
    assert (status, content, headers["X-Goalward-Notes"]) == (200, b"{}", "kept")
    assert send_note(noting, NOTE) == 204
    kept = {"7": {"note": "slips", "tags": ["dropped"], "wrong_label": True}}
    assert json.loads((tmp_path / "notes.json").read_text()) == kept
    assert json.loads(ask(noting, "/notes.json")[2]) == kept


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 403),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Content_Length": "65537"}, 413),
        ({"Content_Length": "-1"}, 413),
    ],
)
def test_a_note_from_elsewhere_or_too_long_is_refused(noting, tmp_path, changed, status):
    assert send_note(noting, NOTE, **changed) == status
    assert not (tmp_path / "notes.json").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"7"', b'{"note": "x"}', b"\xff"])
def test_what_is_no_note_is_refused(noting, tmp_path, content):
    assert send_note(noting, content) == 400
    assert not (tmp_path / "notes.json").exists()


def test_notes_that_cannot_be_read_are_not_written_over(noting, tmp_path):
    (tmp_path / "notes.json").write_text("mine")
    assert send_note(noting, NOTE) == 500
    assert ask(noting, "/notes.json")[0] == 500
    assert (tmp_path / "notes.json").read_text() == "mine"


def test_without_a_place_for_notes_nothing_can_be_written(server):
    assert send_note(server, NOTE) == 405
    assert ask(server, "/notes.json")[0] == 404
