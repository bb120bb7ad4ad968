"""Who holds the rows: whatever is learnt from data is a sum over shards of them."""
