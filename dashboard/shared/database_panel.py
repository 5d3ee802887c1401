"""The database under Settings and help: its path, backups, and restoring one."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from dashboard import access_checks
from dashboard.shared import resources
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.page_links import HELP_PAGE
from evaluation.access import Action
from evaluation.errors import DramaturgError
from evaluation.store import Store
from evaluation.store.backup import BackupInfo, check_backup

_MIB = 1024 * 1024
_LARGEST_DOWNLOAD = 200 * _MIB
_PAGE = "Settings and help"
_ROUND = "restore_round"
_TOLD = "restored_from"


def database(store: Store) -> None:
    """Place, size and content."""
    st.subheader("Database", anchor=False)
    info = resources.read(store.backups.info)
    plain(store.place)
    st.caption(
        f"{info.size / _MIB:,.1f} MB, database version {info.schema}, with {info.words}. Start the server with "
        "DRAMATURG_DB or --db for another file."
    )
    backup(store, info)
    restore(store)


def backup(store: Store, info: BackupInfo) -> None:
    """A copy of the whole database as a download, made when it is asked for."""
    if info.size > _LARGEST_DOWNLOAD:
        st.caption("The database is too large for a download; copy it with: dramaturg backup FILE.")
        return
    access_checks.download_button(
        "backup",
        "Download a backup",
        lambda: backup_bytes(store),
        f"dramaturg-{datetime.now(UTC):%Y%m%d}.duckdb",
        "application/octet-stream",
        key="backup",
        help_text="The whole database as it stands at that moment. Work may go on meanwhile.",
    )


def backup_bytes(store: Store) -> bytes:
    """A backup's content."""
    with tempfile.TemporaryDirectory(prefix="dramaturg-") as folder:
        copy = Path(folder) / "backup.duckdb"
        store.backups.write(copy)
        return copy.read_bytes()


def way_out(store: Store, page: str) -> None:
    """For an admin whose database cannot be used: a backup in its place, on the page where that is done otherwise."""
    if identity.allowed(Action.RESTORE):
        if page == _PAGE:
            restore(store, is_needed=True)
        else:
            st.page_link(HELP_PAGE, label="Restore a backup")


def restore(store: Store, *, is_needed: bool = False) -> None:
    """A backup is checked first; the database of now stays beside it under another name."""
    with st.expander("Restore a backup", expanded=is_needed):
        st.caption(
            "Restoring replaces the database. What is in it now is saved beside it under another name first, so that "
            "you can go back. For files that are too large to send: dramaturg restore FILE."
        )
        file = st.file_uploader("Backup file", type=["duckdb"], key=f"backup_file_{st.session_state.get(_ROUND, 0)}")
        if told := st.session_state.pop(_TOLD, None):
            st.success("The backup is restored. The previous database is kept here:", icon=":material/check:")
            plain(told)
        if file is None:
            return
        with tempfile.TemporaryDirectory(prefix="dramaturg-") as folder:
            copy = Path(folder) / "backup.duckdb"
            copy.write_bytes(file.getvalue())
            _offer(store, copy)


def _offer(store: Store, copy: Path) -> None:
    try:
        info = check_backup(copy)
    except DramaturgError as error:
        st.error("That file cannot be restored. Nothing was changed.", icon=":material/error:")
        plain(f"{error.message} {error.remedy}")
        return
    st.info(f"The backup can be used: {info.words}, database version {info.schema}.", icon=":material/check:")
    if info.left_out_lines:
        st.warning("These parts of the backup are not restored:", icon=":material/warning:")
        for line in info.left_out_lines:
            plain(line)
    if st.button("Restore it", type="primary", key="restore", icon=":material/settings_backup_restore:"):
        try:
            identity.require(Action.RESTORE)
            kept = store.backups.restore(copy)
        except DramaturgError as error:
            st.error("It was not restored. Nothing was changed.", icon=":material/error:")
            plain(f"{error.message} {error.remedy}")
            return
        st.session_state[_TOLD] = str(kept or "there was none")
        st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
        st.rerun()
