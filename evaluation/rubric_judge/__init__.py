"""A judge's decisions on rows of the rubric's ledgers, where the rubric asks for judgement."""
