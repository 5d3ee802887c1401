"""Who may enter and do what, and the proxies of the documentation."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.visitors import CLOSED, UPLOADS
from evaluation.access import Access, Action, Role, may, parse_grant, read_access, verified_email
from evaluation.errors import InputError
from tests.dashboard_server import login_secrets

ADA = {"sub": "1234", "iss": "https://login.example.org", "email": "Ada@Example.org", "email_verified": True}

SECRETS = login_secrets(admins=["ada@example.org"], raters=["*@example.org", "claim:groups=raters"])


def read(folder: Path, text: str, **environ: str) -> Access | None:
    path = folder / "secrets.toml"
    path.write_text(text, "utf-8")
    return read_access([folder / "missing.toml", path], environ)


def test_raters_may_rate_and_nothing_else() -> None:
    assert [action for action in Action if may(Role.RATER, action)] == [Action.RATE]
    assert all(may(Role.ADMIN, action) for action in Action)
    assert not any(may(None, action) for action in Action)


@pytest.mark.parametrize(
    ("entries", "covered"),
    [
        ("*|ada@example.org| ADA@example.ORG |*@example.org|sub:1234|sub:1234@https://login.example.org", True),
        ("claim:groups=admins|claim:tenant=acme", True),
        ("eve@example.org|*@ample.org|sub:123|sub:1234@https://evil.example|claim:groups=admin", False),
        ("claim:nothing=acme", False),
    ],
)
def test_an_entry_covers_whom_it_names(entries: str, covered: bool) -> None:
    claims = ADA | {"groups": ["raters", "admins"], "tenant": "acme"}
    for entry in entries.split("|"):
        assert parse_grant(entry, "here").covers(claims, trusts_email=False) is covered, entry


@pytest.mark.parametrize("entry", ["", "ada", "sub:", "claim:groups", "claim:=x", "@example.org", "a b@c.d", 7, None])
def test_an_entry_that_names_nobody_is_refused(entry: object) -> None:
    with pytest.raises(InputError, match="names nobody"):
        parse_grant(entry, "[access] admins")


@pytest.mark.parametrize("verified", [False, None, "false", 1, "yes"])
def test_an_address_that_nobody_checked_is_no_proof(verified: object) -> None:
    claims = ADA | {"email_verified": verified}
    assert verified_email(claims) is None
    assert verified_email(claims, trusts_email=True) == "ada@example.org"


@pytest.mark.parametrize(
    ("named", "email"),
    [
        ("kim@example.org", "\u212aim@example.org"),
        ("ross@example.org", "ro\u00df@example.org"),
        ("sam@example.org", "\u017fam@example.org"),
        ("fia@example.org", "\ufb01a@example.org"),
        ("*@kilo.example", "eve@\u212ailo.example"),
        ("*@strasse.example", "eve@stra\u00dfe.example"),
    ],
)
def test_an_address_that_looks_like_another_is_another(named: str, email: str) -> None:
    for entry, claimed in ((named, email), (named.replace("*", "eve"), email), (email.replace("eve", "*"), named)):
        covered = parse_grant(entry, "here").covers(ADA | {"email": claimed}, trusts_email=False)
        assert covered is False, (entry, claimed)
    assert verified_email(ADA | {"email": email}) != verified_email(ADA | {"email": named})
    assert parse_grant(named.upper(), "here").covers(ADA | {"email": named.replace("*", "Eve")}, trusts_email=False)


def test_a_blank_that_is_none_is_part_of_an_address() -> None:
    claims = ADA | {"email": "ada@example.org\u00a0"}
    rules = Access(admins=(parse_grant("ada@example.org", "here"),))
    assert rules.role_of(claims) is None
    # A rater's name is kept composed and without blanks around it, where such an address would become another's.
    assert rules.name_of(claims) == rules.name_of(ADA | {"email": "\u212aim@example.org"})
    assert rules.name_of(claims) == "1234 at https://login.example.org"


@given(st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.text(max_size=20) | st.lists(st.text())))
def test_no_claims_whatever_pass_for_an_address_or_subject_that_was_named(claims: dict[str, object]) -> None:
    rules = Access(admins=(parse_grant("ada@example.org", ""), parse_grant("sub:ada-1815", "")))
    assert rules.role_of(claims) is None


def test_roles_and_names_come_from_the_configuration_and_the_environment(tmp_path: Path) -> None:
    rules = read(tmp_path, SECRETS)
    assert rules.host == "dramaturg.example.org"
    assert rules.role_of(ADA) is Role.ADMIN
    assert rules.role_of(ADA | {"email": "eve@example.org"}) is Role.RATER
    assert rules.role_of({"sub": "x", "groups": ["raters"]}) is Role.RATER
    assert rules.role_of(ADA | {"email_verified": False}) is None
    # The environment replaces the lists.
    others = read(tmp_path, SECRETS, DRAMATURG_ADMINS="sub:9, eve@example.org", DRAMATURG_RATERS="*")
    assert (others.role_of({"sub": "9"}), others.role_of(ADA)) == (Role.ADMIN, Role.RATER)
    # A name that people choose for themselves is never what ratings stand under.
    assert rules.name_of(ADA | {"name": "Grace"}) == "ada@example.org"
    assert rules.name_of({"sub": "7", "iss": "https://i.example", "name": "Grace"}) == "7 at https://i.example"


def test_without_auth_nobody_has_to_log_in_and_nobody_can_have_a_role(tmp_path: Path) -> None:
    assert read_access([tmp_path / "missing.toml"], {}) is None
    assert read(tmp_path, '[judge]\nkey = "x"\n') is None
    with pytest.raises(InputError, match="no login is configured"):
        read_access([tmp_path / "missing.toml"], {"DRAMATURG_ADMINS": "ada@example.org"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[auth]", "[auth"), "cannot be read"),
        (("[auth]", f"number = {'9' * 5000}\n[auth]"), "cannot be read"),
        (("[auth]", f"deep = {'[' * 100_000}\n[auth]"), "cannot be read"),
        (('client_id = "dramaturg"\n', ""), "client_id is missing"),
        (('cookie_secret = "0123456789abcdef0123456789abcdef"', 'cookie_secret = "xxx"'), "could be guessed"),
        (("/oauth2callback", "/callback"), "does not lead back"),
        (('server_metadata_url = "https://', 'server_metadata_url = "'), "is not an address"),
        (('admins = ["ada@example.org"]', "admins = []"), "Nobody is named as admin"),
        (('admins = ["ada@example.org"]', 'admins = ["*"]'), "Everybody as admin"),
        (('admins = ["ada@example.org"]', 'admins = "ada@example.org"'), "not a list"),
        (("admins =", "admin ="), "has no 'admin'"),
        (("raters =", "trust_email = 1\nraters ="), "Write true or false"),
        ((SECRETS[: SECRETS.index("[access]")], ""), "no login is configured"),
    ],
)
def test_a_wrong_configuration_is_refused_with_place_and_remedy(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    with pytest.raises(InputError, match=said) as refused:
        read(tmp_path, SECRETS.replace(*change))
    assert "secrets.toml" in refused.value.place
    # What is secret is told nobody.
    assert "0123456789abcdef" not in str(refused.value)
    assert "s3cr3t" not in str(refused.value)


def test_several_providers_are_named_and_each_is_checked(tmp_path: Path) -> None:
    keys = SECRETS[SECRETS.index("client_id") : SECRETS.index("[access]")]
    text = SECRETS.replace(keys, f"[auth.google]\n{keys}[auth.work]\n{keys}")
    rules = read(tmp_path, text)
    assert rules.providers == ("google", "work")
    with pytest.raises(InputError, match="underscore"):
        read(tmp_path, text.replace("auth.work", "auth.my_work"))


ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "deployment.md").read_text("utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return str(found)


@pytest.mark.parametrize("language", ["caddyfile", "nginx"])
def test_a_proxy_closes_what_the_server_closes(language: str) -> None:
    text = block(language)
    for path in (*CLOSED, UPLOADS):
        assert path in text
    assert "_streamlit_user(__[0-9]+)?=" in text
    assert re.search(r"70 ?m", text, re.IGNORECASE)
    assert "secure" in text.lower()


def test_the_proxy_of_the_compose_file_is_the_one_of_the_page() -> None:
    own = (ROOT / "container" / "Caddyfile").read_text("utf-8").partition("\n")[2]
    swapped = own.replace("{$DRAMATURG_DOMAIN}", "dramaturg.example.org").replace("dashboard:8501", "127.0.0.1:8501")
    assert swapped == block("caddyfile")
