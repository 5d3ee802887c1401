"""The rubric: seven metrics, their rules, controls, and the verdict on games and tests."""
