"""Cable harnesses from tables: routes and clips are read, cables laid and brought to rest, and a report is written."""
