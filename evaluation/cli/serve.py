"""``dramaturg serve``: the dashboard."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from evaluation.access import ALLOW_ANONYMOUS_VARIABLE, Access, read_access, secrets_files
from evaluation.cli.options import Port, database_path
from evaluation.cli.terminal import note
from evaluation.errors import InfrastructureError, InputError

DEFAULT_PORT = 8501
LOOPBACK = "127.0.0.1"
SAMPLES_VARIABLE = "DRAMATURG_LOAD_SAMPLES"
MALLOC_VARIABLE = "MALLOC_ARENA_MAX"
"""How many heaps glibc makes for the threads of a process; read when the process starts."""
MOST_FILES = 65_536
"""How many files the server may have open, if the machine allows that many; every session takes a few."""


def serve(
    port: Port = DEFAULT_PORT,
    host: Annotated[
        str,
        typer.Option("--host", help="The address to listen on; by default only this machine reaches it."),
    ] = LOOPBACK,
    allow_anonymous: Annotated[
        bool,
        typer.Option(
            "--allow-anonymous",
            help="Allow other machines without a login: whoever reaches the address can see and change everything.",
        ),
    ] = False,
    secrets: Annotated[
        Path | None,
        typer.Option(help="The secrets file with the login (docs/deployment.md); by default .streamlit/secrets.toml."),
    ] = None,
    samples: Annotated[
        bool, typer.Option("--samples/--no-samples", help="Load the games that come with Dramaturg on the first start.")
    ] = False,
) -> None:
    """Serve the dashboard until interrupted.

    Others may reach it when a login is configured, or when --allow-anonymous says that they need none.
    """
    access = login_of(secrets)
    if not is_loopback(host) and access is None and not allow_anonymous:
        raise typer.BadParameter(
            f"{host} can be reached by others, and the dashboard asks nobody to log in. "
            "Configure a login (docs/deployment.md), or add --allow-anonymous if that is what you want.",
            param_hint="--host",
        )
    require_free_port(host, port)
    note(f"Dramaturg is at http://{_shown(host)}:{port}. Stop it with Ctrl+C.")
    sys.stdout.flush()
    environment = environment_for(database_path(), samples=samples, allow_anonymous=allow_anonymous)
    raise_file_limit()
    # Taking this process's place lets signals and the exit code go straight to the server and back.
    names = () if allow_anonymous or not is_loopback(host) else known_names(host, access)
    # What the database's engine puts beside it meanwhile is for this user only, too.
    os.umask(0o077)
    os.execve(sys.executable, command_line(host, port, secrets, names), environment)


def login_of(secrets: Path | None) -> Access | None:
    """The rules of the login that the server would run with; ``None`` when nobody has to log in.

    Raises:
        InputError: They are wrong, or the secrets file that was named is not there.
        InfrastructureError: What the login needs is not installed.
    """
    from importlib.util import find_spec

    if secrets is not None and not secrets.is_file():
        raise InputError("There is no such file.", place=f"--secrets {secrets}")
    if secrets is not None and secrets.suffix != ".toml":
        raise InputError("Its name must end in .toml.", place=f"--secrets {secrets}", remedy="Rename it.")
    access = read_access(secrets_files() if secrets is None else [secrets], os.environ)
    if access is not None and find_spec("authlib") is None:
        raise InfrastructureError(
            "A login is configured, but Authlib is not installed.", remedy="Install it: pip install 'dramaturg[auth]'."
        )
    return access


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_free_port(host: str, port: int) -> None:
    """Tries the address out.

    Raises:
        InfrastructureError: Another process listens there, or this machine has no such address.
    """
    import errno
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            raise InfrastructureError(
                "Another process listens there." if taken else f"It cannot be listened on: {error.strerror or error}.",
                place=f"{host}:{port}",
                remedy="Choose another with --port." if taken else "Choose another --host or --port.",
            ) from None


def known_names(host: str, access: Access | None) -> tuple[str, ...]:
    """The names under which browsers may reach a server on loopback: a page of strangers must not pass for it."""
    return tuple(dict.fromkeys(name for name in ("localhost", LOOPBACK, host, access.host if access else "") if name))


def command_line(host: str, port: int, secrets: Path | None = None, names: Sequence[str] = ()) -> list[str]:
    """The command that starts the server. ``-P`` keeps files of the current folder from being imported as modules."""
    settings = {
        "server.headless": "true",
        "server.address": host,
        "server.port": str(port),
        "server.fileWatcherType": "none",
        # A renamed iteration stays chosen: its new name is written to a widget that has a default.
        "global.disableWidgetStateDuplicationWarning": "true",
        "client.showErrorDetails": "none",
        "browser.gatherUsageStats": "false",
        "browser.serverAddress": _shown(host),
        "browser.serverPort": str(port),
        # Python collects garbage anyway; doing it after every click keeps all other people waiting meanwhile.
        "runner.postScriptGC": "false",
        # Else a second click throws the first one away when that still waits for its turn (Cancel, then another page).
        "runner.fastReruns": "false",
        # What a browser says that it still holds, it must hold when its click gets its turn, runs later (default: 2).
        "global.maxCachedMessageAge": "20",
        # It would let programs run pages without a browser and its checks.
        "server.enableAgentApi": "false",
    }
    options = [part for name, value in settings.items() for part in (f"--{name}", value)]
    # Named in any case: a configuration file of Streamlit's must not choose who is an admin.
    for path in secrets_files() if secrets is None else [secrets]:
        options += ["--secrets.files", str(path.expanduser().absolute())]
    options += [part for name in names for part in ("--server.allowedHosts", name)]
    return [sys.executable, "-P", "-m", "dashboard.server", *options]


def environment_for(database: Path, *, samples: bool, allow_anonymous: bool = False) -> Mapping[str, str]:
    """This process's environment, with what the dashboard needs to know."""
    return {
        **os.environ,
        "DRAMATURG_DB": str(database.absolute()),
        SAMPLES_VARIABLE: "1" if samples else "0",
        # The dashboard refuses other machines by itself, also where the login goes missing while it runs.
        ALLOW_ANONYMOUS_VARIABLE: "1" if allow_anonymous else "0",
        # Every session runs in threads of its own, and glibc gives threads up to eight heaps for each processor, of
        # which most of the memory lies idle. Two are enough where one thread runs at a time.
        MALLOC_VARIABLE: os.environ.get(MALLOC_VARIABLE, "2"),
    }


def raise_file_limit() -> None:
    """Lets this process, and the server that takes its place, open as many files as the machine allows it to."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _shown(host: str) -> str:
    return "localhost" if host == LOOPBACK else f"[{host}]" if ":" in host else host
