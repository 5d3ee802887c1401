"""``dramaturg backup`` and ``dramaturg restore``: the whole database to a file and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.options import open_store
from evaluation.cli.shared.terminal import safe, say

if TYPE_CHECKING:
    from evaluation.store.backup.backup import BackupInfo


def backup(
    path: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="The file to make; a new one.")],
) -> None:
    """Copy the whole database to a file, as it stands between two changes; the dashboard may go on meanwhile."""
    info = open_store().backups.write(path.expanduser())
    say(f"{path} holds {info.words}.")


def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="A backup.")],
    check_only: Annotated[
        bool, typer.Option("--check", help="Only say what the backup holds, and whether it can be used.")
    ] = False,
    with_addresses: Annotated[
        bool,
        typer.Option(
            "--with-addresses",
            help="Also restore settings that name servers or files. Keys are sent to these servers: look with --check.",
        ),
    ] = False,
) -> None:
    """Put a backup in the place of the database, whose file stays beside it under another name."""
    from evaluation.store.backup.backup import check_backup

    info = check_backup(path.expanduser())
    if check_only:
        say(f"{path} can be restored: {info.words}, schema {info.schema}.")
        _say_addresses(info, "It names addresses in settings, which are restored only with --with-addresses:")
        return
    store = open_store()
    kept = store.backups.restore(path.expanduser(), with_addresses=with_addresses)
    say(f"{store.place} now holds {info.words}.")
    if kept is not None:
        say(f"The database of before is {kept}.")
    if with_addresses:
        _say_addresses(info, "Addresses in settings are restored, too:")
    else:
        _say_addresses(info, "Settings that name these addresses are not restored; --with-addresses would do that:")


def _say_addresses(info: BackupInfo, heading: str) -> None:
    if info.addresses:
        say(heading)
    for line in info.address_lines:
        say(f"  {safe(line)}")
