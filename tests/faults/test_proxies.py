"""The proxies of docs/deployment.md for real: closed paths, cookies, and files of strangers with a forged cookie.

Caddy and nginx are needed (``apt install caddy nginx-light``), so these tests run under ``make test-long``.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.dashboard_server import Server, free_port, wait_until_answered
from tests.faults.tab import Tab
from tests.faults.test_roles_over_the_wire import Site

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "deployment.md"


def configuration(language: str, port: int, behind: int) -> str:
    """The example of the page, on plain HTTP and these ports of this machine."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    text = found[1].replace("127.0.0.1:8501", f"127.0.0.1:{behind}")
    if language == "caddyfile":
        return text.replace("dramaturg.example.org {", f"http://127.0.0.1:{port} {{")
    # The server for other names needs a certificate to refuse with.
    text = re.sub(r"# Whoever asks.*?return 444;\n}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"    ssl_certificate.*\n", "", text).replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    return text.replace("server_name dramaturg.example.org;", "server_name 127.0.0.1;")


def command(name: str, folder: Path, port: int, behind: int) -> list[str]:
    """Writes the configuration; what starts the proxy with it."""
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    assert program is not None, f"{name} is missing: apt install caddy nginx-light"
    if name == "caddy":
        (folder / "Caddyfile").write_text(configuration("caddyfile", port, behind))
        return [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = configuration("nginx", port, behind)
    around = f"daemon off;\npid {folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\n"
    (folder / "nginx.conf").write_text(f"{around}http {{\naccess_log off;\n{places}{text}}}\n")
    return [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]


class Behind(Site):
    """A site whose outer address is a proxy's."""

    outer = ""

    @property
    def url(self) -> str:
        return self.outer


@pytest.fixture(params=["caddy", "nginx"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Behind]:
    """A site with the proxy in front of it."""
    port, secrets = free_port(), tmp_path / "secrets.toml"
    made = Behind(Server(tmp_path / "site.duckdb", options=("--secrets", str(secrets)), port=free_port()), secrets)
    made.outer = f"http://127.0.0.1:{port}"
    made.name_admin("ada")
    made.server.start()
    started = command(request.param, tmp_path, port, made.server.port)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(started, stdout=log, stderr=log, env=environment) as process,
    ):
        wait_until_answered(f"{made.outer}/_stcore/health", process, tmp_path / "log")
        yield made
        process.terminate()
    made.server.stop()


def test_files_pass_for_those_who_may_send_them_alone(site: Behind) -> None:
    content = b"x" * 1_000_000
    found = {}
    visitors = {"nobody": "", "forged": "1", "admin": site.log_in("ada", 0), "rater": site.log_in("rae", 0)}
    for who, cookie in visitors.items():
        tab = Tab(site.url, cookie)
        found[who] = tab.open("rate" if who == "rater" else "games").upload(content)
        tab.close()
    # The forged cookie passes the proxy's look at its name, and not the server's at its signature.
    assert found == {"nobody": 403, "forged": 403, "admin": 204, "rater": 204}


def test_what_tells_about_the_server_is_closed_and_cookies_are_secure(site: Behind) -> None:
    found = {
        name: httpx.get(f"{site.url}/_stcore/{name}", trust_env=False)
        for name in ("health", "metrics", "script-health-check")
    }
    assert {name: answer.status_code for name, answer in found.items()} == {
        "health": 200,
        "metrics": 404,
        "script-health-check": 404,
    }
    for cookie in found["health"].headers.get_list("set-cookie"):
        assert "Secure" in cookie, cookie


def test_no_answer_may_be_shown_in_a_frame_of_another_page(site: Behind) -> None:
    for path in ("/", "/_stcore/health", "/_stcore/metrics"):
        found = httpx.get(site.url + path, trust_env=False)
        assert found.headers.get_list("content-security-policy") == ["frame-ancestors 'self'"], path


def test_a_file_above_the_limit_is_refused_by_the_proxy(site: Behind) -> None:
    tab = Tab(site.url, site.log_in("ada", 0)).open("games")
    address = f"{site.url}/_stcore/upload_file/{tab.session_id}/x"
    # More than the proxy takes is never sent: it answers, or drops the connection as Caddy does.
    with httpx.Client(trust_env=False) as client:
        try:
            status = client.put(address, content=(b"x" * 1_000_000 for _ in range(230))).status_code
        except httpx.HTTPError:
            status = 413
    assert status in (403, 413)
    tab.close()
