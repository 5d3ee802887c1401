"""The seven metrics of the rubric, one module each."""
