"""What commands of ``sennit`` do that are more than a few lines: each file has the options of some, and runs them."""
