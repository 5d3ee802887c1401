"""Commands about agents: evaluation of personas, propositions and corrections."""
