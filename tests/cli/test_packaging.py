"""Wheel, source package and image: started in a clean environment, and without rights on a read-only tree."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.dashboard_server import free_port, wait_until_answered

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120
SHIPPED = ("evaluation", "dashboard", "propositions", *(f"data/{name}" for name in ("samples", "personas", "practice")))
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
WITHOUT_CAPABILITIES = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]


@dataclass(frozen=True)
class Built:
    """What the build made, and an environment in which only the wheel's own packages are installed."""

    wheel: Path
    source: Path
    environment: Path

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"


@pytest.fixture(scope="module")
def built() -> Iterator[Built]:
    # Not below pytest's folder, which other users cannot enter.
    place = Path(tempfile.mkdtemp(prefix="dramaturg-built-"))
    place.chmod(0o755)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place / "dist"), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    [wheel], [source] = (list((place / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    environment = place / "environment"
    subprocess.run([interpreter(), "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--no-compile", str(wheel)], check=True)
    # Its dependencies are those of the tests; behind its own packages, and without the editable installation.
    [own] = environment.glob("lib/python*/site-packages")
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    yield Built(wheel, source, environment)
    for folder in (place, *(path for path in place.rglob("*") if path.is_dir() and not path.is_symlink())):
        folder.chmod(0o755)
    shutil.rmtree(place)


def tracked(*folders: str) -> set[str]:
    done = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()}


def test_the_packages_hold_every_file_that_the_program_reads_and_no_tests(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        held = set(archive.namelist())
    moved = {
        re.sub(r"^data/|^(?=propositions/)", "evaluation/bundled/", name) if name[0] in "dp" and "/" in name else name
        for name in tracked(*SHIPPED)
        if not name.startswith("dashboard/")
    } | tracked("dashboard")
    assert {name for name in moved if name not in held and not name.startswith(".")} == set()
    assert {f"evaluation/bundled/docs/{name}.md" for name in ("ci", "formats", "glossary", "metrics")} <= held
    assert [name for name in held if name.startswith(("tests/", "docs/", "benchmarks/", "container/"))] == []
    # The wheel was built from the source package, so nothing is missing there.
    with tarfile.open(built.source) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert tops.isdisjoint({"tests", "benchmarks", ".venv", "requirements.lock", "test-results"})


def run(built: Built, *arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "DRAMATURG_DB": str(folder / "x.duckdb")}
    command = [str(built.environment / "bin" / "dramaturg"), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_installed_command_is_the_wheels_and_works(built: Built, tmp_path: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert run(built, "--version", folder=tmp_path).stdout == f"dramaturg {version}\n"
    code = "import dashboard, evaluation; print(evaluation.__file__, dashboard.__file__)"
    shown = subprocess.run([built.python, "-P", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert all(name.startswith(str(built.environment)) for name in shown.stdout.split())
    [sample, *_] = sorted((ROOT / "data" / "samples" / "native" / "prompt-v4").iterdir())
    done = run(built, "evaluate", sample, "--format", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["metrics"]["coherence"]["score"] > 90.0


def prefix_without_rights(built: Built) -> list[str]:
    """What a command begins with so that it may write nowhere but where everybody may."""
    if os.geteuid() != 0:
        return []
    return NOBODY if can_nobody_run(built.python) else WITHOUT_CAPABILITIES


def can_nobody_run(python: Path) -> bool:
    """Whether a user without rights may start it, from a process of theirs."""
    command = [*NOBODY, "sh", "-c", 'exec "$0" -c ""', str(python)]
    return subprocess.run(command, capture_output=True, check=False, cwd="/").returncode == 0


def interpreter() -> str:
    """This Python, or the system's of the same version where this one lies where only root may look."""
    same = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    return same if same and os.geteuid() == 0 and not can_nobody_run(Path(sys.executable)) else sys.executable


def test_the_images_entry_serves_samples_without_rights_on_a_read_only_tree(built: Built) -> None:
    place = built.environment.parent
    container = place / "container"
    shutil.copytree(ROOT / "container", container)
    for path in (built.environment, container):
        subprocess.run(["chmod", "-R", "a-w,a+rX", str(path)], check=True)
    data = place / "data"
    data.mkdir()
    data.chmod(0o777)
    port, prefix = free_port(), prefix_without_rights(built)
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(data),
        "TMPDIR": str(data),
        "DRAMATURG_DB": str(data / "dramaturg.duckdb"),
        "DRAMATURG_HOST": "127.0.0.1",
        "DRAMATURG_PORT": str(port),
        "DRAMATURG_ALLOW_ANONYMOUS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    entry = [*prefix, str(built.python), "-P", str(container / "entry.py")]
    denied = subprocess.run([*prefix, "touch", str(built.environment / "x")], capture_output=True, check=False)
    assert denied.returncode != 0
    with (place / "log").open("wb") as log:
        server = subprocess.Popen([*entry, "--samples"], cwd=data, env=environment, stdout=log, stderr=log)
    try:
        wait_until_answered(f"http://127.0.0.1:{port}/_stcore/health", server, place / "log")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE_SECONDS) as answer:
            assert b"<title>" in answer.read()
        healthy = subprocess.run([*entry, "--healthy"], env=environment, check=False).returncode
        assert healthy == 0
        # Beside the running server, as the backup service does it.
        backups = [*prefix, str(built.python), "-P", str(container / "backups.py"), str(data), "0", "1"]
        done = subprocess.run(backups, env=environment, cwd=data, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        [kept] = data.glob("dramaturg-*.duckdb")
        assert kept.stat().st_size > 100_000
    finally:
        server.terminate()
        server.wait(PATIENCE_SECONDS)
    assert subprocess.run([*entry, "--healthy"], env=environment, check=False).returncode == 1


def entry(tmp_path: Path, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), **variables}
    command = [sys.executable, "-c", f"import entry, os; {code}"]
    return subprocess.run(command, cwd=ROOT / "container", env=environment, capture_output=True, text=True, check=False)


LOGIN = {
    "OIDC_ISSUER": "https://login.example.org/realm/",
    "OIDC_CLIENT_ID": "dramaturg",
    "OIDC_COOKIE_SECRET": 'a "quoted" \\ secret ü',
    "DRAMATURG_URL": "https://dramaturg.example.org/",
}


def test_the_login_of_the_environment_is_a_secrets_file_that_only_its_user_reads(tmp_path: Path) -> None:
    (tmp_path / "client").write_text("s3cr3t\n", "utf-8")
    done = entry(
        tmp_path,
        "line = entry.command(os.environ, ['--samples']); print('\\n'.join(line))",
        OIDC_CLIENT_SECRET_FILE=str(tmp_path / "client"),
        **LOGIN,
    )
    line = done.stdout.splitlines()
    assert line[-3] == "--secrets", done.stderr
    place = Path(line[-2])
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700
    assert tomllib.loads(place.read_text("utf-8"))["auth"] == {
        "client_id": "dramaturg",
        "client_secret": "s3cr3t",
        "cookie_secret": 'a "quoted" \\ secret ü',
        "server_metadata_url": "https://login.example.org/realm/.well-known/openid-configuration",
        "redirect_uri": "https://dramaturg.example.org/oauth2callback",
    }


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (LOGIN, "A login needs OIDC_CLIENT_SECRET too"),
        ({"OIDC_CLIENT_SECRET_FILE": "/nowhere"}, "cannot be read"),
        ({}, "--allow-anonymous"),
    ],
)
def test_half_a_login_starts_nothing_and_without_one_the_image_serves_nobody(
    tmp_path: Path, variables: dict[str, str], told: str
) -> None:
    done = entry(tmp_path, "raise SystemExit(entry.main([]))", **variables)
    assert (done.returncode, told in done.stderr) == (2, True)


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n\s*", "", (ROOT / "Containerfile").read_text("utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def test_the_image_ends_without_root_and_takes_packages_by_their_hashes() -> None:
    found = instructions()
    assert [text for name, text in found if name == "USER"][-1] == "10001:10001"
    assert any("--require-hashes" in text for name, text in found if name == "RUN")


def test_everything_that_is_copied_into_the_image_is_there_and_not_ignored() -> None:
    # Docker reads no other file, and podman reads it too where there is no .containerignore.
    assert not (ROOT / ".containerignore").exists()
    ignore = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for name, text in instructions():
        if name == "COPY" and "--from" not in text:
            for source in [part for part in text.split()[:-1] if not part.startswith("--")]:
                assert (ROOT / source).exists(), source
                assert any(line in (f"!{source}", f"!{source.split('/')[0]}") for line in ignore), source


def test_the_image_is_built_with_every_page_that_the_wheel_takes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    pages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    copied = {part for name, text in instructions() if name == "COPY" for part in text.split()}
    assert set(pages) <= copied


def test_the_compose_file_gives_no_service_more_than_it_needs() -> None:
    body = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    assert set(body["services"]) == {"dashboard", "proxy", "backup"}
    for name, service in body["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    assert [name for name, service in body["services"].items() if "ports" in service] == ["proxy"]
    # No secret stands in the environment, which `inspect` shows.
    assert not any(
        "SECRET" in key and not key.endswith("_FILE") for key in body["services"]["dashboard"]["environment"]
    )


def test_a_tag_is_released_only_with_its_version_and_its_section(tmp_path: Path) -> None:
    script = tmp_path / "scripts" / "release_notes.py"
    script.parent.mkdir()
    shutil.copy(ROOT / "scripts" / "release_notes.py", script)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n', "utf-8")
    log = tmp_path / "CHANGELOG.md"

    def told(tag: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, script, tag], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    log.write_text("## Unreleased\n\n- More.\n\n## 1.2.0, 2026-12-01\n\n- Better.\n\n## 1.1.0, 2026-11-01\n")
    assert told("v1.2.0") == (0, "- Better.\n")
    assert told("v1.1.0")[0] == told("1.2.0")[0] == 1
    for missing_or_empty in ("## Unreleased\n\n- Better.\n", "## 1.2.0, 2026-12-01\n\n## 1.1.0\n\n- Old.\n"):
        log.write_text(missing_or_empty)
        assert told("v1.2.0")[0] == 1


def test_the_release_is_signed_and_puts_no_event_into_a_command() -> None:
    body = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    assert body["permissions"] == {"contents": "read"}
    steps = [step for job in body["jobs"].values() for step in job["steps"]]
    # `{{` alone is a template of the container engine.
    assert all("${{" not in step.get("run", "") for step in steps)
    used = {step["uses"].partition("@")[0] for step in steps if "uses" in step}
    assert "actions/attest-build-provenance" in used
    assert any("cosign sign" in step.get("run", "") for step in steps)
    scripts = [step["run"] for step in steps if "run" in step]
    assert all(subprocess.run(["bash", "-n", "-c", text], check=False).returncode == 0 for text in scripts)
