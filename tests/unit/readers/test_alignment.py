import pytest

from evaluation.readers import alignment_of

MINORITY = ["MAFIA", "mafia", "Werewolf", "POSSESSED", "Minion", "Impostor", "evil", "wolf", "traitor", "werewolves"]
MINORITY += ["Alpha-Werewolf", "Mafia_Godfather", "minion of Mordred", "Evil Villager", "The werewolves win."]
TOWN = ["VILLAGER", "Seer", "doctor", "Crewmate", "loyal", "Mason", "bystander", "BODYGUARD", "medium", "non-mafia"]
TOWN += ["werewolf-hunter", "Loyal Servant of Arthur", "Bystanders win!", "town doctor"]


@pytest.mark.parametrize("role", MINORITY)
def test_the_informed_minority(role: str) -> None:
    assert alignment_of(role) == "mafia"


@pytest.mark.parametrize("role", TOWN)
def test_the_town(role: str) -> None:
    assert alignment_of(role) == "town"


@pytest.mark.parametrize("role", [None, "", "Facilitator", "serial killer", "Tanner", "玩家", "42"])
def test_roles_without_a_known_side(role: str | None) -> None:
    assert alignment_of(role) is None
