"""Pictures made of marks that open the messages or games behind them."""
