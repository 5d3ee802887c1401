"""Commands about what people and judges decide: ratings, overrides, agreement."""
